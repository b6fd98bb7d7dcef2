//! A database against plain maps, with random operations: all rules are checked after each.

use super::*;
use crate::entry::{Entry, EntryValue, SHARED_BYTES_MIN};
use crate::eviction::{EvictLimits, Evicted};
use crate::retire::{Big, FreeAtOnce};
use crate::table::scan::Picked;
use crate::unread::{ReplacedRow, Sight, UnreadKey};
use basalt_change::op::StringForm;
use basalt_value::hash::Field;
use basalt_value::item::Item;
use basalt_value::{Collection, Edits, FormLimits, Hash, Set, Variant};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

const KEYS: u64 = 24;
const STEPS: usize = if cfg!(miri) { 40 } else { 1_500 };
/// Members from which a set is spread.
const SPREAD_MIN: usize = 4;
/// Bytes from which a string is in pieces.
const PIECES_MIN: usize = SHARED_BYTES_MIN;
/// Keys that are put unread at a time.
const UNREAD_MAX: usize = 3;
const LIMITS: RoundLimits = RoundLimits { keys: 3, buckets: 1, pause_ms: 5 };

/// What is under a key.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Thing {
    value: Plain,
    expire_ms: u64,
    version: Version,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Plain {
    String(Vec<u8>),
    Set(BTreeSet<u8>),
    /// With one field, which expires then.
    Hash(u64),
}

/// A row of the cold tier.
#[derive(Clone, PartialEq, Eq, Debug)]
struct ColdRow {
    thing: Thing,
    spread_id: Option<u64>,
}

type Rows = BTreeMap<Vec<u8>, ColdRow>;

/// A checkpoint between its copy and its end.
struct UnderWay {
    rows: Rows,
    elements: BTreeSet<u64>,
    dead: usize,
}

struct World {
    pool: Arc<PagePool>,
    hasher: Arc<KeyHasher>,
    database: Database,
    /// What a client sees.
    truth: BTreeMap<Vec<u8>, Thing>,
    /// What the cold tier has.
    rows: Rows,
    /// Ids that have rows of elements there.
    elements: BTreeSet<u64>,
    under_way: Option<UnderWay>,
    /// Hashes of rows that a filter is still to be shown, if one is being made.
    unseen: Option<Vec<u64>>,
    next_id: u64,
    /// Checkpoints that have arrived.
    cold_version: u64,
    now_ms: u64,
    random: u64,
    /// What the evictor's clock says.
    seconds: u32,
}

impl Plain {
    fn to_value(&self) -> NewValue<'_> {
        match self {
            Plain::String(bytes) => NewValue::string(bytes, StringForm::Whole),
            Plain::Set(members) => {
                let mut set = Set::new();
                for member in members {
                    set.add(&[*member], &FormLimits::default(), &mut Edits::none());
                }
                NewValue::Collection(set.into_value())
            }
            Plain::Hash(field_ms) => {
                let mut hash = Hash::new();
                let (name, value) = (Item::of(b"f"), Item::of(b"v"));
                hash.put(Field { name, value, expire_ms: *field_ms }, &FormLimits::default());
                NewValue::Collection(hash.into_value())
            }
        }
    }
}

fn thing_of(entry: Entry<'_>) -> Option<Thing> {
    let value = match entry.value()? {
        EntryValue::String(string) => Plain::String(string.bytes().to_vec()),
        EntryValue::Collection(value) => match Set::of(value) {
            Some(set) => {
                let member = |item: Item<'_>| item.spell(&mut Default::default())[0];
                Plain::Set(set.iter().map(member).collect())
            }
            None => Plain::Hash(value.next_expiry_ms()),
        },
    };
    Some(Thing { value, expire_ms: entry.expire_ms(), version: entry.version() })
}

impl World {
    fn new(seed: u64) -> World {
        let (pool, hasher) = (Arc::new(PagePool::default()), Arc::new(KeyHasher::new(seed)));
        let database = Database::new(0, &pool, &hasher);
        World {
            pool,
            hasher,
            database,
            truth: BTreeMap::new(),
            rows: Rows::new(),
            elements: BTreeSet::new(),
            under_way: None,
            unseen: None,
            next_id: 1,
            cold_version: 0,
            now_ms: 1_000,
            random: seed,
            seconds: 1,
        }
    }

    fn random(&mut self, below: u64) -> u64 {
        let next = self.random.wrapping_mul(6_364_136_223_846_793_005);
        self.random = next.wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33) % below
    }

    fn key(&mut self) -> Vec<u8> {
        format!("key{}", self.random(KEYS)).into_bytes()
    }

    fn thing(&mut self) -> Thing {
        let expire_ms = if self.random(3) == 0 { self.now_ms + self.random(40) } else { 0 };
        let value = match self.random(6) {
            0 => Plain::String(vec![7; 3_000]),
            1 | 2 => {
                let (first, count) = (self.random(200) as u8, self.random(8) as u8);
                Plain::Set((first..=first + count).collect())
            }
            3 => Plain::Hash(self.now_ms + self.random(100)),
            _ => Plain::String(vec![1; self.random(40) as usize]),
        };
        let version = if self.random(3) == 0 { self.random(100) } else { 0 };
        Thing { value, expire_ms, version: Version::new(version) }
    }

    fn found(&self, key: &[u8]) -> Option<Found> {
        self.database.table.find(self.hasher.hash(key), key)
    }

    /// As before a command: the key is in memory, or known to be absent.
    fn fetch(&mut self, key: &[u8]) {
        let may_be_cold = self.database.may_be_cold(self.hasher.hash(key));
        if !may_be_cold || self.found(key).is_some() {
            return;
        }
        let hash = self.hasher.hash(key);
        match self.rows.get(key) {
            Some(ColdRow { thing, spread_id }) => {
                let Thing { expire_ms, version, ref value } = *thing;
                let (value, spread_id, state) = (value.to_value(), *spread_id, RowState::AsOnDisk);
                let access = Access::default();
                let row = Row { value, expire_ms, version, spread_id, state, access };
                self.database.adopt_row(hash, key, row);
            }
            None => self.database.adopt_absence(hash, key),
        }
    }

    fn step(&mut self) {
        let (key, access) = (self.key(), Access::default());
        let hash = self.hasher.hash(&key);
        let (kind, retired) = (self.random(36), FreeAtOnce);
        match kind {
            0..=4 => {
                let thing = self.thing();
                let Thing { expire_ms, version, ref value } = thing;
                let content =
                    Content { key: &key, value: value.to_value(), expire_ms, access, version };
                if kind < 3 {
                    self.fetch(&key);
                    let found = self.found(&key);
                    let before = self.database.put(hash, found, content, &retired);
                    assert_eq!(before == Before::Key, self.truth.contains_key(&key));
                } else {
                    let is_known = self.truth.contains_key(&key);
                    let known = if is_known { Known::Existing } else { Known::New };
                    self.bury_unread(&key);
                    self.database.apply_put(hash, content, known, &retired);
                }
                self.truth.insert(key, thing);
            }
            5 | 6 => {
                self.fetch(&key);
                let found = self.found(&key);
                let removed =
                    found.is_some_and(|found| self.database.remove(hash, &key, found, &retired));
                assert_eq!(removed, self.truth.remove(&key).is_some());
            }
            7 | 8 if self.truth.remove(&key).is_some() => {
                self.bury_unread(&key);
                self.database.apply_remove(hash, &key, &retired);
            }
            9 | 10 => {
                self.fetch(&key);
                let expire_ms = self.thing().expire_ms;
                let was_there = self.database.set_expiry(hash, &key, expire_ms, access);
                let thing = self.truth.get_mut(&key);
                assert_eq!(was_there, thing.is_some());
                thing.into_iter().for_each(|thing| thing.expire_ms = expire_ms);
            }
            22 | 23 => {
                self.fetch(&key);
                let version = self.thing().version;
                let was_there = self.database.set_version(hash, &key, version);
                let thing = self.truth.get_mut(&key);
                assert_eq!(was_there, thing.is_some());
                thing.into_iter().for_each(|thing| thing.version = version);
            }
            11 | 12 => self.edit(&key),
            13 => self.fetch(&key),
            14 | 15 => self.begin_checkpoint(),
            16 | 17 => self.end_checkpoint(kind == 16),
            18 => self.unload(),
            19 => {
                let departures = self.database.departures();
                (0..KEYS).for_each(|n| self.fetch(format!("key{n}").as_bytes()));
                let gone = if self.random(4) == 0 { self.evict().keys } else { 0 };
                let may_finish = gone == 0 && self.database.unread().is_empty();
                let finished = self.database.finish_load(departures);
                assert_eq!(finished, may_finish.then_some(0));
            }
            24 | 25 => drop(self.evict()),
            26..=28 => self.make_filter(),
            29..=32 => self.put_unread(&key, kind < 32),
            33 | 34 => self.settle(4),
            _ => self.expire(),
        }
    }

    /// As a command does, or as a log says.
    fn put_unread(&mut self, key: &[u8], by_command: bool) {
        let thing = Thing { version: Version::NONE, ..self.thing() };
        let (hash, access) = (self.hasher.hash(key), Access::default());
        let (expire_ms, version) = (thing.expire_ms, thing.version);
        let value = thing.value.to_value();
        let content = Content { key, value, expire_ms, access, version };
        if !by_command {
            let known = Known::Unread { cold_version: self.cold_version };
            self.database.apply_put(hash, content, known, &FreeAtOnce);
        } else if self.found(key).is_none()
            && self.database.sight(hash, key, UNREAD_MAX) == Sight::Unclear
        {
            self.database.put_unread(hash, content, self.cold_version);
        } else {
            return;
        }
        self.truth.insert(key.to_vec(), thing);
    }

    /// Says of some keys that were put unread what their rows say; sometimes twice.
    fn settle(&mut self, keys_max: usize) {
        let unread: Vec<UnreadKey> = self.database.unread().iter().take(keys_max).collect();
        for unread in unread {
            let key = self.database.unread_name(unread).expect("it has an entry").to_vec();
            let row = self.rows.get(&key).map(|row| ReplacedRow { spread_id: row.spread_id });
            let late = UnreadKey { cold_version: unread.cold_version + 1, ..unread };
            assert!(!self.database.settle(late, &key, row), "another put of the key");
            assert!(self.database.settle(unread, &key, row));
            assert!(!self.database.settle(unread, &key, row), "twice");
        }
    }

    /// Keys that were put unread, with a row or without.
    fn unread(&self, has_row: bool) -> impl Iterator<Item = Vec<u8>> {
        let name = |unread| self.database.unread_name(unread).map(<[u8]>::to_vec);
        let all = self.database.unread().iter().filter_map(name);
        all.filter(move |key| self.rows.contains_key(key) == has_row)
    }

    /// What may leave memory is up to the database; that it was allowed to is checked by `broken`.
    fn evict(&mut self) -> Evicted {
        let limits = EvictLimits {
            now_ms: self.now_ms,
            bytes: usize::MAX,
            entries: 1 + self.random(6) as usize,
            looks: 40 + self.random(200) as usize,
            may_filter: self.random(20) > 0,
        };
        self.seconds += self.random(2) as u32;
        self.database.evict(Access::at(self.seconds), limits, &FreeAtOnce)
    }

    /// One step of it, while everything else goes on.
    fn make_filter(&mut self) {
        let Some(mut unseen) = self.unseen.take() else {
            if self.database.lacks_cold_filter() {
                self.database.begin_cold_filter();
                self.unseen = Some(self.rows.keys().map(|key| self.hasher.hash(key)).collect());
            }
            return;
        };
        let count = (self.random(6) as usize).min(unseen.len());
        let goes_on = self.database.show_cold(&unseen.split_off(unseen.len() - count));
        if goes_on && unseen.is_empty() {
            assert!(self.database.finish_cold_filter());
        } else if goes_on {
            self.unseen = Some(unseen);
        }
    }

    /// As before a key is replaced that need not be in memory.
    fn bury_unread(&mut self, key: &[u8]) {
        if self.found(key).is_none()
            && let Some(ColdRow { spread_id: Some(id), .. }) = self.rows.get(key)
        {
            self.database.bury_unread(key, *id);
        }
    }

    fn edit(&mut self, key: &[u8]) {
        self.fetch(key);
        let (hash, access, number) = (self.hasher.hash(key), Access::default(), self.random(250));
        let Some(found) = self.found(key) else { return };
        match self.truth.get_mut(key).map(|thing| &mut thing.value) {
            Some(Plain::Set(members)) => {
                let member = [number as u8];
                let is_new = members.insert(member[0]);
                let added =
                    self.database.edit_collection(hash, key, found, access, |value, dirty| {
                        let mut edits = Edits::none().noting(dirty);
                        let set = Set::of_mut(value)?;
                        let added = set.add(&member, &FormLimits::default(), &mut edits);
                        let changed = Edited::Changed { earlier_field_ms: u64::MAX };
                        Some((added, if added { changed } else { Edited::Nothing }))
                    });
                assert_eq!(added, Some(is_new));
            }
            Some(Plain::String(bytes)) => {
                let offset = number as usize % (bytes.len() + 2);
                bytes.resize(bytes.len().max(offset + 1), 0);
                bytes[offset] = 9;
                self.database.splice(key, found, offset, &[9], access);
            }
            Some(Plain::Hash(_)) | None => {}
        }
    }

    fn begin_checkpoint(&mut self) {
        if self.under_way.is_some() {
            return;
        }
        self.settle(usize::MAX);
        let (mut rows, mut elements) = (self.rows.clone(), self.elements.clone());
        let (table, spread) = self.database.to_copy();
        table.walk(DIRTY, |entry, _| {
            let (hash, key) = (self.hasher.hash(entry.key()), entry.key().to_vec());
            let Some(thing) = thing_of(entry) else { return drop(rows.remove(&key)) };
            let is_large =
                matches!(&thing.value, Plain::Set(members) if members.len() >= SPREAD_MIN);
            let is_long = matches!(&thing.value, Plain::String(bytes) if bytes.len() >= PIECES_MIN);
            let mut spread_id = None;
            if is_long {
                spread.forget(hash, &key);
            }
            if let Some(existing) = spread.resident_mut(hash, &key)
                && is_large
            {
                existing.in_flight = true;
                spread_id = Some(existing.id);
            } else if is_large || is_long {
                spread_id = Some(self.next_id);
                let dirty = DirtyElements::default();
                let (key, id) = (key.clone().into(), self.next_id);
                spread.insert(SpreadKey { hash, key, id, dirty, in_flight: true });
                self.next_id += 1;
            } else {
                spread.forget(hash, &key);
            }
            elements.extend(spread_id);
            rows.insert(key, ColdRow { thing, spread_id });
        });
        // A string's old id dies here.
        for id in spread.dead() {
            elements.remove(id);
        }
        let dead = spread.dead().len();
        self.database.note_copied();
        self.under_way = Some(UnderWay { rows, elements, dead });
    }

    fn end_checkpoint(&mut self, arrives: bool) {
        let Some(under_way) = self.under_way.take() else { return };
        if arrives {
            (self.rows, self.elements) = (under_way.rows, under_way.elements);
            self.cold_version += 1;
            self.database.note_arrived(under_way.dead, &self.hasher);
        } else {
            self.database.note_lost();
        }
    }

    fn unload(&mut self) {
        while self.under_way.is_some() || self.database.has_unwritten() {
            self.begin_checkpoint();
            self.end_checkpoint(true);
        }
        let empty = Database::new(0, &self.pool, &self.hasher);
        self.cold_version += 1;
        let old = self.database.unload_to(empty);
        assert!(!old.has_unwritten());
    }

    fn expire(&mut self) {
        self.now_ms += self.random(10);
        let mut due = Vec::new();
        self.database.go_on_with_round(self.now_ms, LIMITS, &mut due);
        for key in due {
            let (hash, found) = (self.hasher.hash(&key), self.found(&key).expect("it is there"));
            assert!(self.truth.remove(&key).is_some_and(|thing| thing.expire_ms <= self.now_ms));
            assert!(self.database.remove(hash, &key, found, &FreeAtOnce));
        }
        while self.database.take_due_field(self.now_ms).is_some() {}
        // Those whose fields were due are looked at: their next field, which here is the same, is
        // noted.
        let mut due = Vec::new();
        self.database.table.walk(0, |entry, _| {
            let field_ms = entry.collection().map_or(u64::MAX, |value| value.next_expiry_ms());
            due.push((field_ms, self.hasher.hash(entry.key())));
        });
        due.into_iter().for_each(|(ms, hash)| self.database.note_field_expiry(ms, hash));
    }

    /// Which rule is broken, if one is.
    fn broken(&self) -> Option<String> {
        let mut broken = self.broken_entries();
        let database = &self.database;
        let is_cold = |key: &&Vec<u8>| self.found(key).is_none();
        let cold: Vec<&ColdRow> =
            self.rows.iter().filter(|(key, _)| is_cold(key)).map(|(_, row)| row).collect();
        let is_known = |key: &Vec<u8>| database.may_be_cold(self.hasher.hash(key));
        let all_known = self.rows.keys().filter(is_cold).all(is_known);
        let unread: Vec<&ColdRow> = self.unread(true).map(|key| &self.rows[&key]).collect();
        let counted = cold.iter().chain(&unread);
        let spread = counted.clone().filter(|row| row.spread_id.is_some()).count() as u64;
        let ids = counted.clone().filter_map(|row| row.spread_id);
        let mut known: BTreeSet<u64> = ids.chain(database.spread.dead().iter().copied()).collect();
        known.extend(database.spread.resident().map(|spread| spread.id));
        // One that was put unread and had no row is taken for one that had.
        let keys = self.truth.len() as u64;
        let may_be_counted = keys - self.unread(false).count() as u64..=keys;
        let rules = [
            (database.keys_cold_only == counted.count() as u64, "the count of cold keys"),
            (database.spread.cold_only() == spread, "the count of cold spread keys"),
            (may_be_counted.contains(&database.keys()), "the count of keys"),
            (!database.is_complete || cold.is_empty(), "complete without a cold key"),
            (all_known, "a cold key that is not known"),
            (self.elements.is_subset(&known), "rows of elements that nothing knows"),
        ];
        for (holds, rule) in rules {
            if !holds {
                broken.push(rule.to_owned());
            }
        }
        (!broken.is_empty()).then(|| broken.join("; "))
    }

    fn broken_entries(&self) -> Vec<String> {
        let mut broken = Vec::new();
        let database = &self.database;
        let mut check = |holds: bool, what: &str, key: &[u8]| {
            if !holds {
                broken.push(format!("{}: {what}", String::from_utf8_lossy(key)));
            }
        };
        let (mut seen, mut dirty) = (BTreeSet::new(), 0);
        database.table.walk(0, |entry, flags| {
            let key = entry.key();
            let thing = thing_of(entry);
            check(thing.as_ref() == self.truth.get(key), "what a client sees", key);
            let copied = self.under_way.as_ref().map_or(&self.rows, |under_way| &under_way.rows);
            let is = |rows: &Rows| rows.get(key).map(|row| &row.thing) == thing.as_ref();
            match flags & (DIRTY | COLD) {
                COLD => check(is(&self.rows), "clean and not in the cold tier", key),
                0 => check(
                    self.under_way.is_some() && is(copied),
                    "in flight and not on its way",
                    key,
                ),
                DIRTY => {
                    let may_have_row = self.rows.contains_key(key) || copied.contains_key(key);
                    check(!may_have_row, "new and with a row", key);
                }
                _ => {}
            }
            let expire_ms = if entry.expire_ms() == 0 { u64::MAX } else { entry.expire_ms() };
            // A round that has just ended puts the next one off.
            let latest_ms = expire_ms.max(self.now_ms + LIMITS.pause_ms);
            check(database.next_expiry_ms() <= latest_ms, "expires before the bound", key);
            if let Some(value) = entry.collection() {
                let noted_ms = database.next_field_expiry_ms();
                check(noted_ms <= value.next_expiry_ms(), "a field expires before all notes", key);
            }
            dirty += usize::from(flags & DIRTY != 0);
            seen.insert(key.to_vec());
        });
        check(dirty == database.table.counts().dirty, "the count of dirty entries", b"all");
        for (key, thing) in self.truth.iter().filter(|(key, _)| !seen.contains(*key)) {
            let row = self.rows.get(key).map(|row| &row.thing);
            check(row == Some(thing), "gone from memory and not in the cold tier", key);
            let of_key = if thing.expire_ms == 0 { u64::MAX } else { thing.expire_ms };
            let of_field =
                if let Plain::Hash(expiry_ms) = thing.value { expiry_ms } else { u64::MAX };
            // As of a resident one: a round may have put it off.
            let latest_ms = of_key.min(of_field).max(self.now_ms + LIMITS.pause_ms);
            let is_bound = database.cold_expiry_ms() <= latest_ms;
            check(is_bound, "expires on disk before the bound", key);
        }
        for spread in database.spread.resident() {
            let value = self.truth.get(&*spread.key).map(|thing| &thing.value);
            let is_spread = match value {
                Some(Plain::Set(_)) => true,
                Some(Plain::String(bytes)) => bytes.len() >= PIECES_MIN,
                _ => false,
            };
            check(is_spread, "spread and neither a collection nor a long string", &spread.key);
        }
        broken
    }
}

#[test]
fn each_operation_keeps_all_rules() {
    for seed in 0..if cfg!(miri) { 2 } else { 6 } {
        let mut world = World::new(seed);
        for step in 0..STEPS {
            world.step();
            assert_eq!(world.broken(), None, "seed {seed}, step {step}");
        }
    }
}

type Break = fn(&mut World);

/// Each rule, broken by hand, is noticed.
#[test]
#[cfg_attr(miri, ignore = "it takes Miri minutes, and is about the rules")]
fn a_broken_rule_is_noticed() {
    let breaks: [(&str, Break); 12] = [
        ("on disk before the bound", |world| world.database.set_cold_expiry(u64::MAX)),
        ("before the bound", |world| {
            (world.database.next_expiry_ms, world.database.round) = (u64::MAX, None);
        }),
        ("before all notes", |world| world.database.field_expiries = FieldExpiries::default()),
        ("count of cold keys", |world| world.database.keys_cold_only += 1),
        ("complete", |world| world.database.is_complete = true),
        ("clean and not", |world| {
            world.database.table.mark_in_flight(|_, _| ());
            world.database.table.mark_arrived();
        }),
        ("in flight and not", |world| world.database.table.mark_in_flight(|_, _| ())),
        ("clean and not", |world| world.database.table.mark_arrived()),
        // A dirty entry leaves.
        ("gone from memory", |world| {
            let picked = world
                .database
                .table
                .pick(0, usize::MAX, |slot, entry| slot.has(DIRTY) && !entry.is_tombstone());
            if let Picked::Entry(hash, found) = picked {
                let how = (&FreeAtOnce, true);
                world.database.leave(hash, found, how, &mut Evicted::default());
            }
        }),
        ("cold key that is not known", |world| {
            world.database.begin_cold_filter();
            world.database.finish_cold_filter();
        }),
        ("that nothing knows", |world| drop(std::mem::take(&mut world.database.spread))),
        ("spread and neither", |world| {
            let (hash, key) = (world.hasher.hash(b"gone"), Box::from(*b"gone"));
            let dirty = DirtyElements::default();
            world.database.spread.insert(SpreadKey { hash, key, id: 0, dirty, in_flight: false });
        }),
    ];
    for (rule, break_it) in breaks {
        let noticed = (0..40).any(|seed| {
            let mut world = World::new(seed);
            (0..200 + seed).for_each(|_| world.step());
            assert_eq!(world.broken(), None);
            break_it(&mut world);
            world.broken().is_some_and(|broken| broken.contains(rule))
        });
        assert!(noticed, "nothing was noticed of: {rule}");
    }
}

/// Counts what it gets.
struct Counting<'a>(&'a Cell<(usize, usize)>);

impl Retire for Counting<'_> {
    fn retire(&self, value: Big, bytes: usize) {
        let (strings, collections) = self.0.get();
        assert!(bytes >= crate::retire::RETIRED_COLLECTION_BYTES_MIN);
        self.0.set(match value {
            Big::String(_) => (strings + 1, collections),
            Big::Collection(_) => (strings, collections + 1),
        });
    }
}

#[test]
fn big_values_are_retired_however_they_go() {
    let mut world = World::new(1);
    let (key, hash, access) = (b"k", world.hasher.hash(b"k"), Access::default());
    let count = Cell::new((0, 0));
    let retired = Counting(&count);
    let big = || NewValue::string(&[0; crate::retire::RETIRED_BYTES_MIN], StringForm::Whole);
    // For Miri fewer members, which are longer.
    let (members, width) = if cfg!(miri) { (20, 4_000) } else { (20_000, 0) };
    let large_set = || {
        let mut set = Set::new();
        for number in 0..members {
            let mut member = format!("member {number}").into_bytes();
            member.resize(member.len() + width, 0);
            set.add(&member, &FormLimits::default(), &mut Edits::none());
        }
        NewValue::Collection(set.into_value())
    };
    let values: [&dyn Fn() -> NewValue<'static>; 2] = [&big, &large_set];
    for value in values {
        let content = |value| Content { key, value, expire_ms: 0, access, version: Version::NONE };
        let small = || NewValue::Bytes(b"v", StringForm::Whole);
        // Replaced, removed, and both as a log says.
        for way in 0..4 {
            let found = world.found(key);
            world.database.put(hash, found, content(value()), &retired);
            let found = world.found(key).expect("it was put");
            match way {
                0 => drop(world.database.put(hash, Some(found), content(small()), &retired)),
                1 => drop(world.database.remove(hash, key, found, &retired)),
                2 => world.database.apply_put(hash, content(small()), Known::Existing, &retired),
                _ => world.database.apply_remove(hash, key, &retired),
            }
        }
    }
    assert_eq!(count.get(), (4, 4));
    // Another owner frees it.
    let shared = Arc::new(vec![0; crate::retire::RETIRED_BYTES_MIN]);
    let value = NewValue::Shared(Arc::clone(&shared), StringForm::Whole);
    let content = Content { key, value, expire_ms: 0, access, version: Version::NONE };
    world.database.put(hash, None, content, &retired);
    world.database.apply_remove(hash, key, &retired);
    assert_eq!(count.get(), (4, 4));
}
