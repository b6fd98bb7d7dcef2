use super::*;
use crate::hash::{Field, OldExpiry, Terms};
use crate::item::Item;
use crate::list::Side;
use crate::sorted_set::{Direction, Scored};
use crate::stream::{
    Acknowledgement, Attempt, EntryId, Exactness, GroupPlace, Reader, Trim, TrimTo,
};
use crate::{
    Breaks, Collection, DirtyElements, Edits, FormLimits, Hash, Kind, List, Set, SortedSet, Stream,
    Value, Variant, VersionClock,
};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// A change, made of numbers.
type Step = (u8, u16, u16);

/// What stands on disk of one collection.
#[derive(Default)]
struct Disk {
    head: Vec<u8>,
    rows: BTreeMap<(Row, Vec<u8>), Vec<u8>>,
}

/// A collection of any kind, changed by steps.
trait Changed: Spread + Variant {
    fn change(&mut self, step: Step, limits: &FormLimits, edits: &mut Edits<'_>);
}

impl Changed for Set {
    fn change(&mut self, (what, which, _): Step, limits: &FormLimits, edits: &mut Edits<'_>) {
        let member = if which % 3 == 0 { format!("{which}") } else { format!("m{which}") };
        match what % 9 {
            7 => drop(self.add_versioned(Item::of(member.as_bytes()), 0, None, limits, edits)),
            8 => {
                let expire_ms = 900 + u64::from(which);
                self.add_versioned(Item::of(member.as_bytes()), expire_ms, None, limits, edits);
            }
            0 | 1 => drop(self.remove(member.as_bytes(), edits)),
            2 => drop(self.pop(which.into(), edits, |_| ())),
            _ => drop(self.add(member.as_bytes(), limits, edits)),
        }
    }
}

impl Changed for Hash {
    fn change(&mut self, (what, which, value): Step, limits: &FormLimits, edits: &mut Edits<'_>) {
        let (name, value) = (format!("f{which}"), format!("v{value}"));
        let name = Item::of(name.as_bytes());
        let terms = Terms { now_ms: 1_000, limits: *limits };
        let expire_ms = if what & 0x10 == 0 { 0 } else { 900 + u64::from(which) };
        let field = Field { name, value: Item::of(value.as_bytes()), expire_ms };
        match what % 6 {
            5 => drop(self.set_versioned(field, None, &terms, edits)),
            0 => drop(self.remove(name, 1_000, edits)),
            1 => self.set_expiry(name, expire_ms, edits),
            2 => drop(self.remove_expired(1_000, 2, edits)),
            _ => drop(self.set(field, OldExpiry::Keep, &terms, edits)),
        }
    }
}

impl Changed for SortedSet {
    fn change(&mut self, (what, which, score): Step, limits: &FormLimits, edits: &mut Edits<'_>) {
        let member = format!("{which}");
        let score = match score % 7 {
            0 => -0.0,
            1 => f64::from(score) / 3.0,
            2 => -f64::from(score),
            _ => f64::from(score),
        };
        let expire_ms = if what & 0x10 == 0 { 0 } else { 900 + u64::from(which) };
        let scored = Scored { score, expire_ms, version: None };
        match what % 12 {
            10 | 11 => drop(self.set_versioned(member.as_bytes(), scored, limits, edits)),
            0 => drop(self.remove(member.as_bytes(), edits)),
            1 => drop(self.remove_ranks(usize::from(which)..usize::from(which) + 3, edits)),
            2 => drop(self.pop(Direction::Forward, edits, |_| ())),
            3 => drop(self.pop(Direction::Backward, edits, |_| ())),
            _ => drop(self.set(member.as_bytes(), limits, edits, |_| Some(score))),
        }
    }
}

impl Changed for List {
    fn change(&mut self, (what, which, len): Step, limits: &FormLimits, edits: &mut Edits<'_>) {
        let value = vec![b'a' + (which % 26) as u8; usize::from(len % 700)];
        let at = usize::from(which) % (self.len() + 1);
        match what % 9 {
            0 => self.pop(Side::Left, usize::from(len % 5), limits, edits, |_| ()),
            1 => self.pop(Side::Right, usize::from(len % 5), limits, edits, |_| ()),
            2 if at < self.len() => self.set(at, &value, limits, edits),
            3 | 4 => self.insert(at, &value, limits, edits),
            5 if at < self.len() => {
                let count = usize::from(len % 20).min(self.len() - at);
                self.remove(at, count, limits, edits);
            }
            6 => self.push(Side::Left, &value, limits, edits),
            _ => self.push(Side::Right, &value, limits, edits),
        }
    }
}

impl Changed for Stream {
    fn change(&mut self, (what, which, count): Step, limits: &FormLimits, edits: &mut Edits<'_>) {
        let limits = FormLimits { stream_node_entries_max: 5, ..*limits };
        let group = format!("g{}", "x".repeat(usize::from(which % 3)));
        let consumer = format!("c{}", which % 4);
        let reader = Reader { group: group.as_bytes(), consumer: consumer.as_bytes(), now_ms: 7 };
        let id = EntryId { ms: 1 + u64::from(which) % (self.last_id().ms + 1), sequence: 0 };
        let known = self.group(reader.group).is_some();
        match what % 12 {
            0 => drop(self.delete(id, edits)),
            1 => {
                let to = TrimTo::Length(u64::from(count % 60));
                self.trim(Trim { to, exactness: Exactness::Exact }, edits);
            }
            2 => {
                let at = GroupPlace { last_id: EntryId::MIN, entries_read: None };
                self.create_group(reader.group, at, edits);
            }
            3 if count % 8 == 0 => drop(self.destroy_group(reader.group, edits)),
            4 if known => self.deliver(reader, &[id], Acknowledgement::Expected, edits),
            5 if known => self.claim(reader, Attempt::Fruitful, 3, &[(id, 4)], edits),
            6 => self.acknowledge(reader.group, &mut vec![id], edits),
            7 if count % 4 == 0 => {
                self.delete_consumer(reader.group, reader.consumer, edits);
            }
            8 => drop(self.see(reader, Attempt::Fruitless, edits)),
            _ => {
                let id = EntryId { ms: self.last_id().ms + 1, sequence: 0 };
                let words = [&b"n"[..], consumer.as_bytes()];
                self.add(id, words.into_iter(), &limits, edits).expect("it is small");
            }
        }
    }
}

impl Disk {
    fn write(&mut self, row: Row, name: &[u8], content: Option<&[u8]>) {
        match content {
            Some(content) => drop(self.rows.insert((row, name.to_vec()), content.to_vec())),
            None => drop(self.rows.remove(&(row, name.to_vec()))),
        }
    }

    fn read<C: Changed>(&self, limits: &FormLimits) -> C {
        let mut collection = C::from_head(&self.head).expect("a head that was written");
        let wanted = if is_ordered(C::KIND) { Row::Order } else { Row::Name };
        for ((_, name), content) in self.rows.iter().filter(|((row, _), _)| *row == wanted) {
            collection.adopt(name, content, limits).expect("a row that was written");
        }
        let named = self.rows.keys().filter(|(row, _)| *row == Row::Name).count();
        let ordered = self.rows.keys().filter(|(row, _)| *row == Row::Order).count();
        assert!(!is_ordered(C::KIND) || named == ordered, "a row of either kind for each");
        collection
    }
}

fn sorted_parts<C: Collection>(collection: &C) -> Vec<Vec<u8>> {
    let mut parts = Vec::new();
    collection.visit_parts(&mut |part| parts.push(part.to_vec()));
    parts.sort();
    parts
}

/// Changes a collection by steps; at every round gathers what changed, in slices between further
/// steps, and compares what can be read back with the moment when the gathering began.
fn rounds<C: Changed>(steps: &[Step], every: usize, slice: usize) {
    let mut limits = FormLimits { list_node: -1, intset_entries_max: 4, ..FormLimits::default() };
    limits.hash.entries_max = 8;
    limits.set.entries_max = 4;
    limits.sorted_set.entries_max = 8;
    let mut collection = C::new();
    let mut disk: Option<Disk> = None;
    let mut touched = DirtyElements::new(C::KEEPING);
    let mut clock = VersionClock::new(1_000, 1);
    let mut steps = steps.iter();
    while steps.len() > 0 {
        for &step in steps.by_ref().take(every) {
            let edits = Edits::none().noting(Some(&mut touched));
            collection.change(step, &limits, &mut edits.versioning(Some(&mut clock)));
        }
        let Some(value) = as_ref(&collection) else {
            disk = None;
            continue;
        };
        let mut gathering = match &disk {
            None => Gathering::all(C::KIND, &mut touched),
            Some(_) => Gathering::changed(C::KIND, &mut touched),
        };
        let mut now = disk.take().unwrap_or_default();
        now.head.clear();
        value.put_head(&mut now.head);
        let then = sorted_parts(&collection);
        let mut goes_on = true;
        while goes_on && let Some(value) = as_ref(&collection) {
            goes_on = gathering.step(value, &mut touched, slice, &mut |row, name, content| {
                now.write(row, name, content);
            });
            for &step in steps.by_ref().take(2) {
                let edits = Edits::none().noting(Some(&mut touched));
                collection.change(step, &limits, &mut edits.versioning(Some(&mut clock)));
            }
        }
        if goes_on {
            continue; // It cannot be spread any more: given up.
        }
        assert_eq!(sorted_parts(&now.read::<C>(&limits)), then);
        disk = Some(now);
    }
}

/// Changes a collection by steps, has it write itself as edits, and applies these to an empty one,
/// cut where it says that they can be cut.
fn written_as_edits<C: Changed>(steps: &[Step], every: usize) {
    let mut limits = FormLimits { list_node: -1, intset_entries_max: 4, ..FormLimits::default() };
    limits.hash.entries_max = 8;
    limits.set.entries_max = 4;
    limits.sorted_set.entries_max = 8;
    let (mut collection, mut clock) = (C::new(), VersionClock::new(1_000, 1));
    for &step in steps {
        let edits = &mut Edits::none().versioning(Some(&mut clock));
        collection.change(step, &limits, edits);
    }
    let (mut out, mut breaks) = (b"before".to_vec(), Breaks::default());
    let begin = out.len();
    breaks.restart(every);
    collection.write_as_edits(&mut Edits::to_log(&mut out, &mut breaks, None, None));
    let mut again = C::new();
    let ends = breaks.places().iter().copied().chain([out.len()]);
    let mut start = begin;
    for end in ends {
        assert!(end == out.len() || end - start >= every, "a break comes too early");
        again.apply(&out[start..end], &limits).expect("edits that were written");
        start = end;
    }
    assert_eq!(sorted_parts(&again), sorted_parts(&collection));
    assert_eq!(again.len(), collection.len());
}

#[test]
fn a_list_finds_places_for_any_number_of_chunks_at_one_spot() {
    let insertions: Vec<Step> =
        (0..if cfg!(miri) { 30 } else { 2_000 }).map(|_| (3, 7, 699)).collect();
    let ends: Vec<Step> =
        (0..if cfg!(miri) { 20 } else { 200 }).map(|number| (7, number, 650)).collect();
    rounds::<List>(&[ends, insertions].concat(), 50, 7);
}

#[test]
fn a_list_that_was_packed_in_between_leaves_no_chunk_behind() {
    let pushes = |count| (0..count).map(|_| (7, 1, 100));
    // Two chunks go whole, the third is packed, and what comes then has places of its own.
    let pops = (0..20).map(|_| (0, 0, 4));
    let steps: Vec<Step> = pushes(90).chain(pops).chain(pushes(50)).collect();
    rounds::<List>(&steps, 90, 1_000);
}

/// A collection that can be spread.
fn as_ref<C: Changed>(collection: &C) -> Option<crate::ValueRef<'_>> {
    collection.can_spread().then(|| C::as_value_ref(collection))
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let which = prop_oneof![3 => 0..60u16, 1 => 0..2_000u16];
    proptest::collection::vec(
        (any::<u8>(), which, any::<u16>()),
        1..if cfg!(miri) { 60 } else { 1_500 },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 1 } else { 48 }))]

    #[test]
    fn sets_are_read_back_as_of_the_moment(steps in steps(), every in 1..90usize, slice in 1..40usize) {
        rounds::<Set>(&steps, every, slice);
    }

    #[test]
    fn hashes_are_read_back_as_of_the_moment(steps in steps(), every in 1..90usize, slice in 1..40usize) {
        rounds::<Hash>(&steps, every, slice);
    }

    #[test]
    fn sorted_sets_are_read_back_as_of_the_moment(steps in steps(), every in 1..90usize, slice in 1..40usize) {
        rounds::<SortedSet>(&steps, every, slice);
    }

    #[test]
    fn lists_are_read_back_as_of_the_moment(steps in steps(), every in 1..90usize, slice in 1..40usize) {
        rounds::<List>(&steps, every, slice);
    }

    #[test]
    fn streams_are_read_back_as_of_the_moment(steps in steps(), every in 1..90usize, slice in 1..40usize) {
        rounds::<Stream>(&steps, every, slice);
    }

    #[test]
    fn any_collection_can_be_written_as_edits(steps in steps(), every in 1..5_000usize) {
        written_as_edits::<Set>(&steps, every);
        written_as_edits::<Hash>(&steps, every);
        written_as_edits::<SortedSet>(&steps, every);
        written_as_edits::<List>(&steps, every);
        written_as_edits::<Stream>(&steps, every);
    }

    #[test]
    fn foreign_rows_never_panic(
        kind in 2..=6u8,
        head in proptest::collection::vec(any::<u8>(), 0..4),
        rows in proptest::collection::vec(
            (proptest::collection::vec(any::<u8>(), 0..40), proptest::collection::vec(any::<u8>(), 0..60)),
            0..6,
        ),
    ) {
        let kind = Kind::from_number(kind).expect("a kind");
        if let Ok(mut value) = Value::from_head(kind, &head) {
            for (name, content) in &rows {
                let _ = value.adopt(name, content, &FormLimits::default());
            }
        }
    }
}
