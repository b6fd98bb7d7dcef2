//! Random operations against plain vectors and maps; after each the edits make an equal stream of a
//! copy, and the encoding reads back as the same.

use super::node::Node;
use super::*;
use crate::Edits;
use proptest::prelude::*;
use std::collections::BTreeMap;

type Pairs = Vec<(Vec<u8>, Vec<u8>)>;

#[derive(Clone, Debug)]
enum Op {
    Add { ms: u64, sequence: u64, pairs: Pairs },
    Delete { nth: usize },
    Trim { to: usize, by_id: bool, exactness: Exactness },
    CreateGroup { group: u8, nth: usize },
    DestroyGroup { group: u8 },
    SetGroup { group: u8, nth: usize, entries_read: Option<u64> },
    Deliver { group: u8, consumer: u8, count: usize, acknowledgement: Acknowledgement },
    Claim { group: u8, consumer: u8, nth: usize, deliveries: u64 },
    Acknowledge { group: u8, nth: usize },
    DeleteConsumer { group: u8, consumer: u8 },
    SetMarks { gap: u64 },
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => any::<i16>().prop_map(|number| number.to_string().into_bytes()),
        4 => proptest::collection::vec(any::<u8>(), 0..12),
        1 => proptest::collection::vec(any::<u8>(), 60..400),
    ]
}

fn pairs() -> impl Strategy<Value = Pairs> {
    let same = (bytes(), bytes())
        .prop_map(|(one, two)| vec![(b"first".to_vec(), one), (b"second".to_vec(), two)]);
    let own = proptest::collection::vec((bytes(), bytes()), 1..4);
    prop_oneof![3 => same, 1 => own]
}

fn exactness() -> impl Strategy<Value = Exactness> {
    let nodes = (0..20u64).prop_map(|entries_max| Exactness::Nodes { entries_max });
    prop_oneof![Just(Exactness::Exact), nodes]
}

fn op() -> impl Strategy<Value = Op> {
    let sequence = prop_oneof![Just(0), 0..4u64, any::<u64>()];
    let ms = prop_oneof![4 => 0..3u64, 2 => 0..100_000u64, 1 => any::<u32>().prop_map(u64::from)];
    let acknowledgement =
        prop_oneof![3 => Just(Acknowledgement::Expected), 1 => Just(Acknowledgement::Waived)];
    let (group, consumer, nth) = (0..3u8, 0..4u8, 0..60usize);
    prop_oneof![
        20 => (ms, sequence, pairs()).prop_map(|(ms, sequence, pairs)| Op::Add { ms, sequence, pairs }),
        4 => nth.clone().prop_map(|nth| Op::Delete { nth }),
        1 => (0..60usize, any::<bool>(), exactness())
            .prop_map(|(to, by_id, exactness)| Op::Trim { to, by_id, exactness }),
        1 => (group.clone(), nth.clone()).prop_map(|(group, nth)| Op::CreateGroup { group, nth }),
        1 => group.clone().prop_map(|group| Op::DestroyGroup { group }),
        1 => (group.clone(), nth.clone(), proptest::option::of(0..50u64))
            .prop_map(|(group, nth, entries_read)| Op::SetGroup { group, nth, entries_read }),
        6 => (group.clone(), consumer.clone(), 0..10usize, acknowledgement).prop_map(
            |(group, consumer, count, acknowledgement)| {
                Op::Deliver { group, consumer, count, acknowledgement }
            }),
        3 => (group.clone(), consumer.clone(), nth.clone(), any::<u64>()).prop_map(
            |(group, consumer, nth, deliveries)| Op::Claim { group, consumer, nth, deliveries }),
        3 => (group.clone(), nth).prop_map(|(group, nth)| Op::Acknowledge { group, nth }),
        1 => (group, consumer).prop_map(|(group, consumer)| Op::DeleteConsumer { group, consumer }),
        1 => (0..1000u64).prop_map(|gap| Op::SetMarks { gap }),
    ]
}

/// A group, in the plainest way.
#[derive(Default, Debug, PartialEq)]
struct ModelGroup {
    last_id: EntryId,
    consumers: BTreeMap<Vec<u8>, (u64, Option<u64>)>,
    pending: BTreeMap<EntryId, (Vec<u8>, u64, u64)>,
}

/// A stream, in the plainest way.
#[derive(Default)]
struct Model {
    entries: Vec<(EntryId, Pairs)>,
    last_id: EntryId,
    max_deleted_id: EntryId,
    added: u64,
    groups: BTreeMap<Vec<u8>, ModelGroup>,
    now_ms: u64,
}

fn name(prefix: &str, number: u8) -> Vec<u8> {
    format!("{prefix}{number}").into_bytes()
}

impl Model {
    fn nth_id(&self, nth: usize) -> EntryId {
        self.entries.get(nth).map_or(self.last_id, |entry| entry.0)
    }

    /// Does the same to itself and to the stream.
    fn run(&mut self, op: &Op, stream: &mut Stream, limits: &FormLimits, edits: &mut Edits<'_>) {
        self.now_ms += 1;
        match op {
            Op::Add { ms, sequence, pairs } => {
                let base = if *ms == 0 { self.last_id.sequence } else { 0 };
                let sequence = base.saturating_add(*sequence);
                let id = EntryId { ms: self.last_id.ms + ms, sequence };
                if id > self.last_id {
                    let words = pairs.iter().flat_map(|(name, value)| [&name[..], value]);
                    stream.add(id, words, limits, edits).unwrap();
                    self.entries.push((id, pairs.clone()));
                    self.last_id = id;
                    self.added += 1;
                }
            }
            Op::Delete { nth } => {
                let id = self.nth_id(*nth);
                let is_there = self.entries.iter().any(|entry| entry.0 == id);
                assert_eq!(stream.delete(id, edits), is_there);
                self.entries.retain(|entry| entry.0 != id);
                if is_there {
                    self.max_deleted_id = self.max_deleted_id.max(id);
                }
            }
            Op::Trim { to, by_id, exactness } => self.trim(*to, *by_id, *exactness, stream, edits),
            Op::SetMarks { gap } => {
                self.last_id.ms += gap;
                self.added += gap;
                let marks = Marks {
                    last_id: self.last_id,
                    max_deleted_id: self.max_deleted_id,
                    entries_added: self.added,
                };
                stream.set_marks(marks, edits);
            }
            _ => self.run_on_group(op, stream, edits),
        }
    }

    fn trim(
        &mut self,
        to: usize,
        by_id: bool,
        exactness: Exactness,
        stream: &mut Stream,
        edits: &mut Edits<'_>,
    ) {
        let to = if by_id { TrimTo::From(self.nth_id(to)) } else { TrimTo::Length(to as u64) };
        let removed = stream.trim(Trim { to, exactness }, edits) as usize;
        let expected = match to {
            TrimTo::From(first) => self.entries.iter().take_while(|entry| entry.0 < first).count(),
            TrimTo::Length(length) => self.entries.len().saturating_sub(length as usize),
        };
        match exactness {
            Exactness::Exact => assert_eq!(removed, expected),
            Exactness::Nodes { entries_max } => {
                assert!(removed <= expected);
                assert!(entries_max == 0 || removed as u64 <= entries_max);
            }
        }
        self.entries.drain(..removed);
    }

    fn run_on_group(&mut self, op: &Op, stream: &mut Stream, edits: &mut Edits<'_>) {
        let now_ms = self.now_ms;
        match op {
            Op::CreateGroup { group, nth } => {
                let (group, last_id) = (name("g", *group), self.nth_id(*nth));
                let at = GroupPlace { last_id, entries_read: None };
                let is_new = !self.groups.contains_key(&group);
                assert_eq!(stream.create_group(&group, at, edits), is_new);
                self.groups.entry(group).or_insert(ModelGroup { last_id, ..Default::default() });
            }
            Op::DestroyGroup { group } => {
                let group = name("g", *group);
                let was_there = self.groups.remove(&group).is_some();
                assert_eq!(stream.destroy_group(&group, edits), was_there);
            }
            Op::SetGroup { group, nth, entries_read } => {
                let (group, last_id) = (name("g", *group), self.nth_id(*nth));
                let at = GroupPlace { last_id, entries_read: *entries_read };
                let found = self.groups.get_mut(&group).map(|it| it.last_id = last_id).is_some();
                assert_eq!(stream.set_group(&group, at, edits), found);
            }
            Op::Deliver { group, consumer, count, acknowledgement } => {
                let (group, consumer) = (name("g", *group), name("c", *consumer));
                let Some(it) = self.groups.get_mut(&group) else { return };
                let new = self.entries.iter().map(|entry| entry.0).filter(|&id| id > it.last_id);
                let ids: Vec<EntryId> = new.take(*count).collect();
                let reader = Reader { group: &group, consumer: &consumer, now_ms };
                stream.deliver(reader, &ids, *acknowledgement, edits);
                let times = it.consumers.entry(consumer.clone()).or_default();
                times.0 = now_ms;
                it.last_id = ids.last().copied().unwrap_or(it.last_id);
                if *acknowledgement == Acknowledgement::Expected && !ids.is_empty() {
                    times.1 = Some(now_ms);
                    let pending = ids.iter().map(|&id| (id, (consumer.clone(), now_ms, 1)));
                    it.pending.extend(pending);
                }
            }
            Op::Claim { group, consumer, nth, deliveries } => {
                let id = self.nth_id(*nth);
                let (group, consumer) = (name("g", *group), name("c", *consumer));
                let reader = Reader { group: &group, consumer: &consumer, now_ms };
                stream.claim(reader, Attempt::Fruitful, 7, &[(id, *deliveries)], edits);
                let Some(it) = self.groups.get_mut(&group) else { return };
                it.consumers.insert(consumer.clone(), (now_ms, Some(now_ms)));
                it.pending.insert(id, (consumer, 7, *deliveries));
            }
            Op::Acknowledge { group, nth } => {
                let group = name("g", *group);
                let mut ids = vec![self.nth_id(*nth), self.nth_id(nth + 1)];
                let given = ids.clone();
                stream.acknowledge(&group, &mut ids, edits);
                let Some(it) = self.groups.get_mut(&group) else { return assert!(ids.is_empty()) };
                let expected = given.iter().filter(|id| it.pending.remove(id).is_some());
                assert_eq!(ids, expected.copied().collect::<Vec<_>>());
            }
            Op::DeleteConsumer { group, consumer } => {
                let (group, consumer) = (name("g", *group), name("c", *consumer));
                let deleted = stream.delete_consumer(&group, &consumer, edits);
                let Some(it) = self.groups.get_mut(&group) else { return };
                let before = it.pending.len();
                it.pending.retain(|_, pending| pending.0 != consumer);
                let pending = it.consumers.remove(&consumer).map(|_| before - it.pending.len());
                assert_eq!(deleted, pending);
            }
            _ => unreachable!("not about a group"),
        }
    }

    fn check(&self, stream: &Stream) {
        assert_eq!(stream.len(), self.entries.len());
        let marks = stream.marks();
        assert_eq!((marks.last_id, marks.entries_added), (self.last_id, self.added));
        assert_eq!(marks.max_deleted_id, self.max_deleted_id);
        assert_eq!(stream.first_id(), self.entries.first().map_or(EntryId::MIN, |it| it.0));
        assert_eq!(stream.last_entry_id(), self.entries.last().map_or(EntryId::MIN, |it| it.0));
        let all: Vec<_> = stream.entries(EntryId::MIN, EntryId::MAX).map(owned).collect();
        assert_eq!(all, self.entries);
        let (from, to) = (self.nth_id(self.entries.len() / 3), self.nth_id(self.entries.len() / 2));
        for (from, to) in [(from, to), (to, from)] {
            let mut part: Vec<_> = stream.entries(from, to).map(owned).collect();
            let within = self.entries.iter().filter(|entry| from <= entry.0 && entry.0 <= to);
            assert_eq!(part, within.cloned().collect::<Vec<_>>());
            part.reverse();
            assert_eq!(stream.entries_back(from, to).map(owned).collect::<Vec<_>>(), part);
        }
        let groups: BTreeMap<_, _> =
            stream.groups().map(|(name, group)| (name.to_vec(), plain(group))).collect();
        assert_eq!(groups, self.groups);
    }
}

fn owned(entry: Entry<'_>) -> (EntryId, Pairs) {
    let text = |item: crate::item::Item<'_>| item.spell(&mut [0; 20]).to_vec();
    let pairs: Pairs = entry.pairs().map(|(name, value)| (text(name), text(value))).collect();
    assert_eq!(pairs.len(), entry.field_count);
    (entry.id, pairs)
}

fn plain(group: &Group) -> ModelGroup {
    let all = EntryId::MIN..=EntryId::MAX;
    for consumer in group.consumers() {
        let own =
            group.pending(all.clone()).filter(|it| group.owner(it.1).name() == consumer.name());
        assert!(consumer.pending(all.clone()).eq(own.map(|it| it.0)));
        assert_eq!(consumer.pending(all.clone()).count(), consumer.pending_count());
    }
    let times = |it: &Consumer| (it.name().to_vec(), (it.seen_ms(), it.active_ms()));
    let pending = |(id, it): (EntryId, &Pending)| {
        (id, (group.owner(it).name().to_vec(), it.delivered_ms, it.deliveries))
    };
    ModelGroup {
        last_id: group.last_id(),
        consumers: group.consumers().map(times).collect(),
        pending: group.pending(all).map(pending).collect(),
    }
}

fn encoded(stream: &Stream) -> Vec<u8> {
    let mut bytes = Vec::new();
    stream.encode(&mut bytes);
    bytes
}

fn limits(entries_max: u32, bytes_max: u32) -> FormLimits {
    FormLimits {
        stream_node_entries_max: entries_max,
        stream_node_bytes_max: bytes_max,
        ..FormLimits::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 200 }))]
    #[test]
    fn does_as_plain_vectors_do(
        ops in proptest::collection::vec(op(), 0..if cfg!(miri) { 30 } else { 120 }),
        node in prop_oneof![Just((100, 4096)), Just((5, 0)), Just((0, 300)), Just((1, 1))],
    ) {
        let limits = limits(node.0, node.1);
        let (mut stream, mut copy, mut model) = (Stream::new(), Stream::new(), Model::default());
        for op in &ops {
            let mut edits = Vec::new();
            model.run(op, &mut stream, &limits, &mut Edits::to(&mut edits));
            model.check(&stream);
            // Under other limits, which recovery must not mind.
            copy.apply(&edits, &FormLimits::default()).unwrap();
            let bytes = encoded(&stream);
            prop_assert_eq!(&encoded(&copy), &bytes, "replay of {:?}", op);
            let decoded = Stream::decode(&bytes, &limits).unwrap();
            prop_assert_eq!(&encoded(&decoded), &bytes);
            model.check(&decoded);
            let (before, after) = (stream.native().node_bytes, decoded.native().node_bytes);
            prop_assert!(before == stream.native().nodes.values().map(Node::heap_bytes).sum());
            prop_assert!(after <= before, "{} {}", after, before);
        }
    }

    #[test]
    fn foreign_edits_never_panic(
        ops in proptest::collection::vec(op(), 0..if cfg!(miri) { 8 } else { 20 }),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        tail in proptest::collection::vec(any::<u8>(), 0..20),
    ) {
        let (mut stream, mut model, mut edits) = (Stream::new(), Model::default(), Vec::new());
        for op in &ops {
            model.run(op, &mut stream, &limits(3, 0), &mut Edits::to(&mut edits));
        }
        edits.extend(tail);
        if !edits.is_empty() {
            let at = at.index(edits.len());
            edits[at] = byte;
        }
        let mut other = Stream::new();
        let _ = other.apply(&edits, &FormLimits::default());
        // Whatever came of it is a stream.
        let bytes = encoded(&other);
        let decoded = Stream::decode(&bytes, &FormLimits::default()).unwrap();
        prop_assert_eq!(encoded(&decoded), bytes);
    }

    #[test]
    fn foreign_bytes_never_panic(
        ops in proptest::collection::vec(op(), 0..if cfg!(miri) { 8 } else { 20 }),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let (mut stream, mut model) = (Stream::new(), Model::default());
        for op in &ops {
            model.run(op, &mut stream, &limits(3, 0), &mut Edits::none());
        }
        let mut bytes = encoded(&stream);
        for cut in 0..bytes.len() {
            prop_assert!(Stream::decode(&bytes[..cut], &FormLimits::default()).is_err());
        }
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(mut foreign) = Stream::decode(&bytes, &FormLimits::default()) {
            // It can be used.
            let id = foreign.last_id().next();
            if let Some(id) = id {
                let words = [&b"name"[..], b"value"];
                foreign.add(id, words.into_iter(), &limits(3, 0), &mut Edits::none()).unwrap();
            }
            let count = foreign.entries(EntryId::MIN, EntryId::MAX).count();
            prop_assert_eq!(count, foreign.len());
        }
    }
}

fn add(stream: &mut Stream, ms: u64, words: &[&[u8]]) {
    let id = EntryId { ms, sequence: 0 };
    stream.add(id, words.iter().copied(), &FormLimits::default(), &mut Edits::none()).unwrap();
}

#[test]
fn an_untouched_stream_takes_no_memory() {
    assert_eq!(Stream::new().heap_bytes(), 0);
    assert_eq!(size_of::<Stream>(), 8);
}

#[test]
fn nodes_end_where_those_of_redis_end() {
    // 100 entries of one short field; 4 KiB of longer values: Redis 7 says the same.
    let mut stream = Stream::new();
    (1..=1000).for_each(|ms| add(&mut stream, ms, &[b"f", b"v"]));
    assert_eq!(stream.node_count(), 10);
    let mut stream = Stream::new();
    (1..=1000).for_each(|ms| add(&mut stream, ms, &[b"f", &[b'x'; 200]]));
    assert_eq!(stream.node_count(), 53);
}

#[test]
fn the_edit_of_an_entry_is_its_identity_and_its_words() {
    let (mut stream, mut edits) = (Stream::new(), Vec::new());
    let id = EntryId { ms: 1, sequence: 2 };
    let words = [&b"name"[..], b"7"];
    stream.add(id, words.into_iter(), &FormLimits::default(), &mut Edits::to(&mut edits)).unwrap();
    assert_eq!(edits, b"\x02\x01\x02\x01\x04name\xd7");
}

#[test]
fn a_stream_is_built_of_its_parts() {
    let id = |ms| EntryId { ms, sequence: 0 };
    let mut builder = Builder::new(FormLimits::default());
    builder.entry(id(3), [&b"f"[..], b"v"].into_iter()).unwrap();
    assert!(builder.entry(id(3), [&b"f"[..], b"v"].into_iter()).is_err());
    assert!(builder.entry(id(4), [&b"f"[..]].into_iter()).is_err());
    assert!(builder.entry(id(4), [].into_iter()).is_err());
    let at = GroupPlace { last_id: id(3), entries_read: Some(1) };
    builder.group(b"g", at).unwrap();
    assert!(builder.group(b"g", at).is_err());
    let part = ConsumerPart { name: b"c", seen_ms: 5, active_ms: None };
    builder.consumer(b"g", part).unwrap();
    assert!(builder.consumer(b"g", part).is_err());
    assert!(builder.consumer(b"h", part).is_err());
    let delivery = Delivery { delivered_ms: 4, deliveries: 2 };
    builder.pending(b"g", b"c", id(3), delivery).unwrap();
    assert!(builder.pending(b"g", b"c", id(3), delivery).is_err());
    assert!(builder.pending(b"g", b"d", id(2), delivery).is_err());
    let marks = Marks { last_id: id(9), max_deleted_id: id(1), entries_added: 4 };
    let stream = builder.finish(marks).unwrap();
    assert_eq!((stream.len(), stream.marks()), (1, marks));
    assert_eq!(stream.group(b"g").unwrap().pending_count(), 1);
    let low = Marks { last_id: id(2), ..marks };
    let mut builder = Builder::new(FormLimits::default());
    builder.entry(id(3), [&b"f"[..], b"v"].into_iter()).unwrap();
    assert!(builder.finish(low).is_err());
}
