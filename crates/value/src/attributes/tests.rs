//! Random changes of collections with versions, against plain maps.

use crate::hash::{Field, OldExpiry, Terms};
use crate::item::{Digits, Item};
use crate::limits::{FormLimits, PackedLimits};
use crate::sorted_set::{Direction, Scored};
use crate::{Collection, Edits, Hash, Set, SortedSet, VersionClock};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// What an element is.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Plain {
    /// A field's value, a score; 0 in a set.
    value: i64,
    /// 0 for none.
    version: u64,
    expire_ms: u64,
}

type Model = BTreeMap<Vec<u8>, Plain>;

#[derive(Clone, Copy, Debug)]
enum Step {
    /// Sets it as plain commands do.
    Put(u8, i64),
    /// … with a version, and an expiry after this number of milliseconds, 0 for none.
    Give(u8, i64, u64),
    /// … with this version.
    Force(u8, i64, u64),
    /// Another expiry, of a field.
    Expire(u8, u64),
    Remove(u8),
    /// Removes some, as far as there are any.
    Pop(u8),
    RemoveExpired(u8),
    Wait(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let which = 0..14u8;
    prop_oneof![
        5 => (which.clone(), 0..4i64).prop_map(|(which, value)| Step::Put(which, value)),
        5 => (which.clone(), 0..4i64, 0..12u64).prop_map(|(which, value, ms)| Step::Give(which, value, ms)),
        1 => (which.clone(), 0..4i64, 1..1_000_000u64).prop_map(|(which, value, version)| Step::Force(which, value, version)),
        2 => (which.clone(), 0..12u64).prop_map(|(which, ms)| Step::Expire(which, ms)),
        3 => which.clone().prop_map(Step::Remove),
        1 => which.prop_map(Step::Pop),
        1 => (0..4u8).prop_map(Step::RemoveExpired),
        2 => (1..6u64).prop_map(Step::Wait),
    ]
}

/// Numbers and words.
fn name(which: u8) -> Vec<u8> {
    if which.is_multiple_of(2) { which.to_string() } else { format!("m{which}") }.into_bytes()
}

fn limits() -> FormLimits {
    let few = PackedLimits { entries_max: 4, value_bytes_max: 64 };
    let some = FormLimits::default();
    FormLimits { hash: few, set: few, sorted_set: few, intset_entries_max: 4, ..some }
}

/// A collection of one of the three kinds.
trait Subject: Collection {
    /// A plain change keeps the expiry.
    const KEEPS: bool;
    /// A plain change does something if the value is the same.
    const HAS_VALUES: bool;
    fn put(&mut self, name: &[u8], value: i64, now_ms: u64, edits: &mut Edits<'_>);
    fn give(
        &mut self,
        name: &[u8],
        plain: Plain,
        version: Option<u64>,
        now_ms: u64,
        edits: &mut Edits<'_>,
    ) -> u64;
    fn expire(&mut self, name: &[u8], expire_ms: u64, now_ms: u64, edits: &mut Edits<'_>) -> bool;
    fn take(&mut self, name: &[u8], now_ms: u64, edits: &mut Edits<'_>) -> bool;
    /// Removes some element, and returns it.
    fn pop_one(&mut self, random: u8, now_ms: u64, edits: &mut Edits<'_>) -> Option<Vec<u8>>;
    fn clean(&mut self, now_ms: u64, max: usize, edits: &mut Edits<'_>);
    /// All that is stored.
    fn all(&self) -> Model;
}

fn spelled(item: Item<'_>) -> Vec<u8> {
    item.spell(&mut Digits::default()).to_vec()
}

impl Subject for Hash {
    const KEEPS: bool = false;
    const HAS_VALUES: bool = true;

    fn put(&mut self, name: &[u8], value: i64, now_ms: u64, edits: &mut Edits<'_>) {
        let field = Field { name: Item::of(name), value: Item::Number(value), expire_ms: 0 };
        self.set(field, OldExpiry::Forget, &Terms { now_ms, limits: limits() }, edits);
    }

    fn give(
        &mut self,
        name: &[u8],
        plain: Plain,
        version: Option<u64>,
        now_ms: u64,
        edits: &mut Edits<'_>,
    ) -> u64 {
        let Plain { value, expire_ms, .. } = plain;
        let field = Field { name: Item::of(name), value: Item::Number(value), expire_ms };
        self.set_versioned(field, version, &Terms { now_ms, limits: limits() }, edits)
    }

    fn expire(&mut self, name: &[u8], expire_ms: u64, now_ms: u64, edits: &mut Edits<'_>) -> bool {
        let name = Item::of(name);
        let is_there = self.field(name, now_ms).is_some();
        if is_there {
            self.set_expiry(name, expire_ms, edits);
        }
        is_there
    }

    fn take(&mut self, name: &[u8], now_ms: u64, edits: &mut Edits<'_>) -> bool {
        self.remove(Item::of(name), now_ms, edits)
    }

    fn pop_one(&mut self, random: u8, now_ms: u64, edits: &mut Edits<'_>) -> Option<Vec<u8>> {
        let name = self.random(random.into(), now_ms).map(|field| spelled(field.name))?;
        assert!(self.remove(Item::of(&name), now_ms, edits));
        Some(name)
    }

    fn clean(&mut self, now_ms: u64, max: usize, edits: &mut Edits<'_>) {
        self.remove_expired(now_ms, max, edits);
    }

    fn all(&self) -> Model {
        let mut all = Model::new();
        self.visit(0, |Field { name, value, expire_ms }| {
            let Item::Number(value) = value else { panic!("not a number") };
            let version = self.version(name, 0).unwrap_or(0);
            all.insert(spelled(name), Plain { value, version, expire_ms });
        });
        all
    }
}

impl Subject for Set {
    const KEEPS: bool = true;
    const HAS_VALUES: bool = false;

    fn put(&mut self, name: &[u8], _: i64, _: u64, edits: &mut Edits<'_>) {
        self.add(name, &limits(), edits);
    }

    fn give(
        &mut self,
        name: &[u8],
        plain: Plain,
        version: Option<u64>,
        _: u64,
        edits: &mut Edits<'_>,
    ) -> u64 {
        self.add_versioned(Item::of(name), plain.expire_ms, version, &limits(), edits)
    }

    fn expire(&mut self, _: &[u8], _: u64, _: u64, _: &mut Edits<'_>) -> bool {
        false
    }

    fn take(&mut self, name: &[u8], _: u64, edits: &mut Edits<'_>) -> bool {
        self.remove(name, edits)
    }

    fn pop_one(&mut self, random: u8, _: u64, edits: &mut Edits<'_>) -> Option<Vec<u8>> {
        let mut popped = None;
        self.pop(random.into(), edits, |item| popped = Some(spelled(item)));
        popped
    }

    fn clean(&mut self, now_ms: u64, max: usize, edits: &mut Edits<'_>) {
        self.remove_expired(now_ms, max, edits);
    }

    fn all(&self) -> Model {
        let plain = |item| {
            let it = self.attribute(item);
            let (version, expire_ms) = it.map_or((0, 0), |it| (it.version, it.expire_ms));
            (spelled(item), Plain { value: 0, version, expire_ms })
        };
        self.iter().map(plain).collect()
    }
}

impl Subject for SortedSet {
    const KEEPS: bool = true;
    const HAS_VALUES: bool = true;

    fn put(&mut self, name: &[u8], value: i64, _: u64, edits: &mut Edits<'_>) {
        self.set(name, &limits(), edits, |_| Some(value as f64));
    }

    fn give(
        &mut self,
        name: &[u8],
        plain: Plain,
        version: Option<u64>,
        _: u64,
        edits: &mut Edits<'_>,
    ) -> u64 {
        let scored = Scored { score: plain.value as f64, expire_ms: plain.expire_ms, version };
        self.set_versioned(name, scored, &limits(), edits)
    }

    fn expire(&mut self, _: &[u8], _: u64, _: u64, _: &mut Edits<'_>) -> bool {
        false
    }

    fn take(&mut self, name: &[u8], _: u64, edits: &mut Edits<'_>) -> bool {
        self.remove(name, edits)
    }

    fn pop_one(&mut self, random: u8, _: u64, edits: &mut Edits<'_>) -> Option<Vec<u8>> {
        let backward = random.is_multiple_of(2);
        let direction = if backward { Direction::Backward } else { Direction::Forward };
        let mut popped = None;
        self.pop(direction, edits, |element| popped = Some(spelled(element.member)));
        popped
    }

    fn clean(&mut self, now_ms: u64, max: usize, edits: &mut Edits<'_>) {
        self.remove_expired(now_ms, max, edits);
    }

    fn all(&self) -> Model {
        let plain = |element: crate::sorted_set::Element<'_>| {
            let it = self.attribute(element.member);
            let (version, expire_ms) = it.map_or((0, 0), |it| (it.version, it.expire_ms));
            (spelled(element.member), Plain { value: element.score as i64, version, expire_ms })
        };
        self.elements().map(plain).collect()
    }
}

fn is_live(plain: &Plain, now_ms: u64) -> bool {
    plain.expire_ms == 0 || plain.expire_ms > now_ms
}

/// One walk: memory, its replay and what is read back from an encoding are as the model says.
fn walk<C: Subject>(steps: &[Step]) -> Result<(), TestCaseError> {
    let (mut collection, mut replayed) = (C::new(), C::new());
    let mut model = Model::new();
    let (mut now_ms, mut given) = (1_000_000, 0);
    for &step in steps {
        let mut log = Vec::new();
        let mut clock = VersionClock::new(now_ms, given + 1);
        let edits = &mut Edits::to(&mut log).versioning(Some(&mut clock));
        imitate_and_change(step, &mut collection, &mut model, &mut now_ms, edits)?;
        given = given.max(clock.last().unwrap_or(0));
        replayed.apply(&log, &limits()).expect("edits that were just written");
        check(&collection, &model, now_ms)?;
        prop_assert_eq!(collection.all(), replayed.all(), "after {:?}", step);
        prop_assert_eq!(collection.next_expiry_ms(), replayed.next_expiry_ms());
        let mut bytes = Vec::new();
        collection.encode(&mut bytes);
        let read = C::decode(&bytes, &limits()).expect("what was just written");
        prop_assert_eq!(collection.all(), read.all());
        prop_assert_eq!(collection.next_expiry_ms(), read.next_expiry_ms());
        let (mut edits, mut made) = (Vec::new(), C::new());
        collection.write_as_edits(&mut Edits::to(&mut edits));
        made.apply(&edits, &limits()).expect("edits that make it");
        prop_assert_eq!(collection.all(), made.all());
        prop_assert_eq!(collection.all(), collection.duplicate(&limits()).all());
    }
    Ok(())
}

/// What is stored is the model, but for what has expired, which may have been removed.
fn check<C: Subject>(collection: &C, model: &Model, now_ms: u64) -> Result<(), TestCaseError> {
    let all = collection.all();
    prop_assert_eq!(collection.len(), all.len());
    for (name, plain) in &all {
        prop_assert_eq!(model.get(name), Some(plain));
    }
    for (name, plain) in model.iter().filter(|(_, plain)| is_live(plain, now_ms)) {
        prop_assert_eq!(all.get(name), Some(plain));
    }
    let first = all.values().map(|plain| plain.expire_ms).filter(|&ms| ms != 0).min();
    prop_assert_eq!(collection.next_expiry_ms(), first.unwrap_or(u64::MAX));
    Ok(())
}

fn imitate_and_change<C: Subject>(
    step: Step,
    collection: &mut C,
    model: &mut Model,
    now_ms: &mut u64,
    edits: &mut Edits<'_>,
) -> Result<(), TestCaseError> {
    let now = *now_ms;
    let value_of = |value| if C::HAS_VALUES { value } else { 0 };
    let live =
        |model: &Model, name: &[u8]| model.get(name).copied().filter(|plain| is_live(plain, now));
    match step {
        Step::Put(which, value) => {
            let (name, value) = (name(which), value_of(value));
            let before = live(model, &name);
            let expire_ms = before.map_or(0, |it| if C::KEEPS { it.expire_ms } else { 0 });
            collection.put(&name, value, now, edits);
            let is_same = before.is_some_and(|it| it.value == value && it.expire_ms == expire_ms);
            let version = before.map_or(0, |it| it.version);
            if is_same {
                return Ok(());
            }
            let version = moved(collection, &name, version)?;
            model.insert(name, Plain { value, version, expire_ms });
        }
        Step::Give(which, value, ms) => {
            let (name, value) = (name(which), value_of(value));
            let plain = Plain { value, version: 0, expire_ms: if ms == 0 { 0 } else { now + ms } };
            let newest = model.values().map(|it| it.version).max().unwrap_or(0);
            let version = collection.give(&name, plain, None, now, edits);
            prop_assert!(version > newest, "{} after {}", version, newest);
            model.insert(name, Plain { version, ..plain });
        }
        Step::Force(which, value, version) => {
            let (name, value) = (name(which), value_of(value));
            let plain = Plain { value, version, expire_ms: 0 };
            prop_assert_eq!(collection.give(&name, plain, Some(version), now, edits), version);
            model.insert(name, plain);
        }
        Step::Expire(which, ms) => {
            let name = name(which);
            let expire_ms = if ms == 0 { 0 } else { now + ms };
            if let Some(before) = live(model, &name)
                && collection.expire(&name, expire_ms, now, edits)
                && before.expire_ms != expire_ms
            {
                let version = moved(collection, &name, before.version)?;
                model.insert(name, Plain { expire_ms, version, ..before });
            }
        }
        Step::Remove(which) => {
            let name = name(which);
            prop_assert_eq!(collection.take(&name, now, edits), live(model, &name).is_some());
            model.remove(&name);
        }
        Step::Pop(random) => match collection.pop_one(random, now, edits) {
            Some(name) => {
                prop_assert!(model.remove(&name).is_some(), "{:?} was not there", name);
            }
            None => prop_assert!(model.values().all(|plain| !is_live(plain, now))),
        },
        Step::RemoveExpired(max) => collection.clean(now, max.into(), edits),
        Step::Wait(ms) => *now_ms += ms,
    }
    Ok(())
}

/// The version that an element has after a change: a greater one, if it had one.
fn moved<C: Subject>(collection: &C, name: &[u8], before: u64) -> Result<u64, TestCaseError> {
    let after = collection.all().get(name).map_or(0, |plain| plain.version);
    prop_assert_eq!(before == 0, after == 0, "{} became {}", before, after);
    prop_assert!(before == 0 || after > before);
    Ok(after)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 200 }))]

    #[test]
    fn a_hash_is_as_a_map(steps in proptest::collection::vec(step(), 1..60)) {
        walk::<Hash>(&steps)?;
    }

    #[test]
    fn a_set_is_as_a_map(steps in proptest::collection::vec(step(), 1..60)) {
        walk::<Set>(&steps)?;
    }

    #[test]
    fn a_sorted_set_is_as_a_map(steps in proptest::collection::vec(step(), 1..60)) {
        walk::<SortedSet>(&steps)?;
    }

    #[test]
    fn foreign_tails_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
        let tails = [&b"\x01a\xCF"[..], b"\x01a\xD1\xCF", b"\x02"];
        for front in tails {
            let bytes = [front, &bytes[..]].concat();
            let _ = Set::decode(&bytes, &limits());
            let _ = SortedSet::decode(&bytes, &limits());
            let _ = Hash::decode(&bytes, &limits());
        }
        let _ = Set::new().apply(&[&b"\x01\x01a\x03\x01a"[..], &bytes].concat(), &limits());
    }
}

#[test]
fn what_no_collection_wrote_is_refused() {
    let limits = limits();
    // A member that is not there, one twice, version 0, an expiry beyond all times, no version.
    for tail in [
        &b"\x01b\x07\x00"[..],
        b"\x01a\x07\x00\x01a\x07\x00",
        b"\x01a\x00\x00",
        b"\x01a\x07\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01",
        b"\x01a",
    ] {
        assert!(Set::decode(&[b"\x01a\xCF", tail].concat(), &limits).is_err(), "{tail:?}");
        let scored = [b"\x01a\xD1\xCF", tail].concat();
        assert!(SortedSet::decode(&scored, &limits).is_err(), "{tail:?}");
    }
    assert!(Hash::decode(b"\x02\x01a\x01v\xD0\x07\x01a\x01v\xD0\x08", &limits).is_err());
    assert!(Set::decode(b"\x01a\xCF\x01a\x07\x00", &limits).is_ok());
    assert!(SortedSet::decode(b"\x01a\xD1\xCF\x01a\x07\x00", &limits).is_ok());
    assert!(Hash::decode(b"\x02\x01a\x01v\xD0\x07", &limits).is_ok());
}

#[test]
fn collections_without_attributes_take_no_more_memory() {
    assert_eq!(size_of::<crate::set::Table>(), 48);
    assert_eq!(size_of::<crate::hash::table::Table>(), 48);
}
