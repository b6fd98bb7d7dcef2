//! Streams: vectors of entries, maps of groups.
//!
//! Not imitated: how many entries a group has read, and trimming by whole nodes. The tests of the
//! type itself have both.

use super::spelled::spelled;
use crate::choice::{ends, word};
use basalt_env::random::Random;
use basalt_value::hash::Terms;
use basalt_value::stream::{
    Acknowledgement, Attempt, Consumer, EntryId, Exactness, Group, GroupPlace, Marks, Pending,
    Reader, Trim, TrimTo,
};
use basalt_value::{Collection, Edits, Stream};
use std::collections::BTreeMap;

type Pairs = Vec<(Vec<u8>, Vec<u8>)>;

/// Of every pair of groups and of consumers some shall meet.
const GROUPS: u64 = 3;
const CONSUMERS: u64 = 3;

/// A stream.
#[derive(Clone, Default, PartialEq)]
pub struct PlainStream {
    pub(crate) entries: Vec<(EntryId, Pairs)>,
    pub(crate) last_id: EntryId,
    max_deleted_id: EntryId,
    added: u64,
    pub(crate) groups: BTreeMap<Vec<u8>, PlainGroup>,
}

/// A consumer group.
#[derive(Clone, Default, PartialEq)]
pub struct PlainGroup {
    last_id: EntryId,
    /// When each was seen and active.
    consumers: BTreeMap<Vec<u8>, (u64, Option<u64>)>,
    /// To whom, when and how often.
    pending: BTreeMap<EntryId, (Vec<u8>, u64, u64)>,
}

impl std::fmt::Debug for PlainGroup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (consumers, pending) = (self.consumers.len(), self.pending.len());
        write!(f, "at {:?}, {consumers} consumers, {pending} pending", self.last_id)
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Edit {
    Add(Vec<(u64, Pairs)>),
    Delete(usize),
    TrimLength(usize),
    TrimFrom(usize),
    SetMarks(u64),
    CreateGroup(Vec<u8>, usize),
    DestroyGroup(Vec<u8>),
    SetGroup(Vec<u8>, usize),
    Deliver { group: Vec<u8>, consumer: Vec<u8>, count: usize, acknowledgement: Acknowledgement },
    Claim { group: Vec<u8>, consumer: Vec<u8>, nth: usize, deliveries: u64 },
    Acknowledge { group: Vec<u8>, nth: usize },
    DeleteConsumer { group: Vec<u8>, consumer: Vec<u8> },
}

pub(crate) fn plain(stream: &Stream) -> PlainStream {
    let entry = |entry: basalt_value::stream::Entry<'_>| {
        let pairs = entry.pairs().map(|(name, value)| (spelled(name), spelled(value)));
        (entry.id, pairs.collect())
    };
    let marks = stream.marks();
    let plain = PlainStream {
        entries: stream.entries(EntryId::MIN, EntryId::MAX).map(entry).collect(),
        last_id: marks.last_id,
        max_deleted_id: marks.max_deleted_id,
        added: marks.entries_added,
        groups: stream.groups().map(|(name, group)| (name.to_vec(), plain_group(group))).collect(),
    };
    assert_eq!(plain.entries.len(), stream.len(), "a stream counts its entries");
    plain
}

fn plain_group(group: &Group) -> PlainGroup {
    let times = |it: &Consumer| (it.name().to_vec(), (it.seen_ms(), it.active_ms()));
    let pending = |(id, it): (EntryId, &Pending)| {
        (id, (group.owner(it).name().to_vec(), it.delivered_ms, it.deliveries))
    };
    PlainGroup {
        last_id: group.last_id(),
        consumers: group.consumers().map(times).collect(),
        pending: group.pending(EntryId::MIN..=EntryId::MAX).map(pending).collect(),
    }
}

fn entry(random: &mut Random) -> (u64, Pairs) {
    let gap_ms = if random.chance(1, 2) { 0 } else { random.below(1_000) };
    let pairs = (0..1 + random.below(3)).map(|at| (format!("f{at}").into_bytes(), word(random)));
    (gap_ms, pairs.collect())
}

fn group(random: &mut Random) -> Vec<u8> {
    format!("group{}", random.below(GROUPS)).into_bytes()
}

fn consumer(random: &mut Random) -> Vec<u8> {
    format!("consumer{}", random.below(CONSUMERS)).into_bytes()
}

impl Edit {
    pub(crate) fn choose(random: &mut Random) -> Edit {
        let nth = random.below(60) as usize;
        match random.below(24) {
            0..=6 => Edit::Add(vec![entry(random)]),
            7 | 8 => {
                let count = if random.chance(1, 3) { 500 } else { 5 };
                Edit::Add((0..random.below(count)).map(|_| entry(random)).collect())
            }
            9 | 10 => Edit::Delete(nth),
            11 => Edit::TrimLength(ends(random).1),
            12 => Edit::TrimFrom(nth),
            13 => Edit::SetMarks(1 + random.below(1_000)),
            14 | 15 => Edit::CreateGroup(group(random), nth),
            16 if random.chance(1, 2) => Edit::DestroyGroup(group(random)),
            16 => Edit::SetGroup(group(random), nth),
            17..=19 => Edit::Deliver {
                group: group(random),
                consumer: consumer(random),
                count: random.below(12) as usize,
                acknowledgement: match random.below(4) {
                    0 => Acknowledgement::Waived,
                    _ => Acknowledgement::Expected,
                },
            },
            20 => {
                let (group, consumer) = (group(random), consumer(random));
                Edit::Claim { group, consumer, nth, deliveries: random.below(9) }
            }
            21 | 22 => Edit::Acknowledge { group: group(random), nth },
            _ => Edit::DeleteConsumer { group: group(random), consumer: consumer(random) },
        }
    }

    pub(super) fn change(&self, stream: &mut Stream, terms: &Terms, edits: &mut Edits<'_>) {
        // Which entries are meant follows from what is there.
        let before = plain(stream);
        let exact = |to| Trim { to, exactness: Exactness::Exact };
        let now_ms = terms.now_ms;
        match self {
            Edit::Add(entries) => {
                for (gap_ms, pairs) in entries {
                    let words = pairs.iter().flat_map(|(name, value)| [&name[..], value]);
                    let id = id_after(stream.last_id(), *gap_ms);
                    stream.add(id, words, &terms.limits, edits).expect("it is small");
                }
            }
            Edit::Delete(nth) => {
                stream.delete(before.nth_id(*nth), edits);
            }
            Edit::TrimLength(length) => {
                stream.trim(exact(TrimTo::Length(*length as u64)), edits);
            }
            Edit::TrimFrom(nth) => {
                stream.trim(exact(TrimTo::From(before.nth_id(*nth))), edits);
            }
            Edit::SetMarks(gap) => {
                let PlainStream { last_id, max_deleted_id, added, .. } = before;
                let last_id = EntryId { ms: last_id.ms + gap, ..last_id };
                let marks = Marks { last_id, max_deleted_id, entries_added: added + gap };
                stream.set_marks(marks, edits);
            }
            Edit::CreateGroup(name, nth) => {
                let at = GroupPlace { last_id: before.nth_id(*nth), entries_read: None };
                stream.create_group(name, at, edits);
            }
            Edit::DestroyGroup(name) => {
                stream.destroy_group(name, edits);
            }
            Edit::SetGroup(name, nth) => {
                let at = GroupPlace { last_id: before.nth_id(*nth), entries_read: None };
                stream.set_group(name, at, edits);
            }
            Edit::Deliver { group, consumer, count, acknowledgement } => {
                let ids = before.undelivered(group, *count);
                let reader = Reader { group, consumer, now_ms };
                stream.deliver(reader, &ids, *acknowledgement, edits);
            }
            Edit::Claim { group, consumer, nth, deliveries } => {
                let claims = [(before.nth_id(*nth), *deliveries)];
                let reader = Reader { group, consumer, now_ms };
                stream.claim(reader, Attempt::Fruitful, now_ms, &claims, edits);
            }
            Edit::Acknowledge { group, nth } => {
                stream.acknowledge(group, &mut vec![before.nth_id(*nth)], edits);
            }
            Edit::DeleteConsumer { group, consumer } => {
                stream.delete_consumer(group, consumer, edits);
            }
        }
    }

    pub(super) fn imitate(&self, stream: &mut PlainStream, now_ms: u64) {
        match self {
            Edit::Add(entries) => {
                for (gap_ms, pairs) in entries {
                    stream.last_id = id_after(stream.last_id, *gap_ms);
                    stream.entries.push((stream.last_id, pairs.clone()));
                    stream.added += 1;
                }
            }
            Edit::Delete(nth) => {
                let id = stream.nth_id(*nth);
                let before = stream.entries.len();
                stream.entries.retain(|entry| entry.0 != id);
                if stream.entries.len() < before {
                    stream.max_deleted_id = stream.max_deleted_id.max(id);
                }
            }
            Edit::TrimLength(length) => {
                drop(stream.entries.drain(..stream.entries.len().saturating_sub(*length)));
            }
            Edit::TrimFrom(nth) => {
                let first = stream.nth_id(*nth);
                stream.entries.retain(|entry| entry.0 >= first);
            }
            Edit::SetMarks(gap) => {
                stream.last_id.ms += gap;
                stream.added += gap;
            }
            Edit::CreateGroup(name, nth) => {
                let last_id = stream.nth_id(*nth);
                let new = PlainGroup { last_id, ..PlainGroup::default() };
                stream.groups.entry(name.clone()).or_insert(new);
            }
            Edit::DestroyGroup(name) => drop(stream.groups.remove(name)),
            _ => self.imitate_on_group(stream, now_ms),
        }
    }

    fn imitate_on_group(&self, stream: &mut PlainStream, now_ms: u64) {
        let (name, nth) = match self {
            Edit::SetGroup(group, nth)
            | Edit::Claim { group, nth, .. }
            | Edit::Acknowledge { group, nth } => (group, *nth),
            Edit::Deliver { group, .. } | Edit::DeleteConsumer { group, .. } => (group, 0),
            _ => unreachable!("not about a group"),
        };
        let id = stream.nth_id(nth);
        let undelivered = match self {
            Edit::Deliver { count, .. } => stream.undelivered(name, *count),
            _ => Vec::new(),
        };
        let Some(group) = stream.groups.get_mut(name) else { return };
        match self {
            Edit::SetGroup(..) => group.last_id = id,
            Edit::Deliver { consumer, acknowledgement, .. } => {
                let times = group.consumers.entry(consumer.clone()).or_default();
                times.0 = now_ms;
                group.last_id = undelivered.last().copied().unwrap_or(group.last_id);
                if *acknowledgement == Acknowledgement::Expected && !undelivered.is_empty() {
                    times.1 = Some(now_ms);
                    let pending = (consumer.clone(), now_ms, 1);
                    group.pending.extend(undelivered.into_iter().map(|id| (id, pending.clone())));
                }
            }
            Edit::Claim { consumer, deliveries, .. } => {
                group.consumers.insert(consumer.clone(), (now_ms, Some(now_ms)));
                group.pending.insert(id, (consumer.clone(), now_ms, *deliveries));
            }
            Edit::Acknowledge { .. } => drop(group.pending.remove(&id)),
            Edit::DeleteConsumer { consumer, .. } => {
                group.consumers.remove(consumer);
                group.pending.retain(|_, pending| pending.0 != *consumer);
            }
            _ => unreachable!("not about a group"),
        }
    }
}

impl PlainStream {
    /// The identity of an entry, or else the last one given.
    fn nth_id(&self, nth: usize) -> EntryId {
        self.entries.get(nth).map_or(self.last_id, |entry| entry.0)
    }

    /// Entries that are new to a group.
    fn undelivered(&self, group: &[u8], count: usize) -> Vec<EntryId> {
        let last_id = self.groups.get(group).map_or(EntryId::MAX, |group| group.last_id);
        self.entries.iter().map(|entry| entry.0).filter(|&id| id > last_id).take(count).collect()
    }
}

fn id_after(last: EntryId, gap_ms: u64) -> EntryId {
    match gap_ms {
        0 => EntryId { sequence: last.sequence + 1, ..last },
        _ => EntryId { ms: last.ms + gap_ms, sequence: 0 },
    }
}
