//! Comparing the engine with the model.

use crate::access::wait_for;
use crate::content::Content;
use crate::driver::Driver;
use crate::violation::Violation;
use basalt_change::element::{self, ElementsOf};
use basalt_change::place::PartitionId;
use basalt_change::row::{Mark, ObjectRow, RowKind, SpreadHead, mark_key, split_object_key};
use basalt_cold::ColdTier;
use basalt_engine::{HeadContent, KeyHead, LockWait};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Keys that a short comparison looks at.
const SOME_KEYS: usize = 12;
/// Passes over the partitions after which a database must be in memory.
const LOADS_MAX: usize = 10;

/// What the cold tier has, as far as its rows lead to each other.
#[derive(Default)]
struct Rows {
    /// Rows of elements and pieces.
    found: BTreeMap<Owner, u64>,
    /// What objects say of theirs: how many, if that is known.
    owned: BTreeMap<Owner, Option<u64>>,
    /// Generations of objects.
    generations: BTreeMap<(PartitionId, u64), u64>,
}

/// Partition, generation and id.
type Owner = (PartitionId, u64, u64);

impl Driver<'_> {
    pub(crate) fn compare_key(&mut self, db: u8, key: &[u8]) -> Result<(), Violation> {
        if self.random.chance(1, 2) {
            self.compare_head(db, key)?;
        }
        let there = self.world.read(db, key)?;
        let now_ms = self.world.now_ms();
        let wanted = self.state.value(db, key).filter(|value| value.is_live(now_ms));
        let is_right = match (&there, wanted) {
            (Some(there), Some(wanted)) => wanted.may_be(there, now_ms),
            (there, wanted) => there.is_none() && wanted.is_none(),
        };
        if is_right {
            return Ok(());
        }
        let name = String::from_utf8_lossy(key);
        Err(Violation(format!("db {db}, {name}: {there:?} instead of {wanted:?}")))
    }

    /// Before the key is read: then it may be on disk only.
    fn compare_head(&self, db: u8, key: &[u8]) -> Result<(), Violation> {
        let there = self.world.head(db, key)?;
        let now_ms = self.world.now_ms();
        let wanted = self.state.value(db, key).filter(|value| value.is_live(now_ms));
        let wanted = wanted.map(|value| KeyHead {
            expire_ms: value.expire_ms,
            content: match (&*value.content, value.content.kind()) {
                (Content::String(bytes, _), _) => HeadContent::String(bytes.len() as u64),
                (_, kind) => HeadContent::Collection(kind.expect("it is a collection")),
            },
        });
        if there == wanted {
            return Ok(());
        }
        let name = String::from_utf8_lossy(key);
        Err(Violation(format!("db {db}, {name}: the row says {there:?} instead of {wanted:?}")))
    }

    pub(crate) fn compare_some(&mut self) -> Result<(), Violation> {
        for _ in 0..SOME_KEYS {
            let key = self.keys.any(&mut self.random);
            let db = self.random.below(3) as u8;
            self.compare_key(db, &key)?;
        }
        self.compare_counts()
    }

    /// A walk over memory and disk meets each live key, and no other but hashes on disk of which
    /// all fields have expired: it reads no values, and not each row says that.
    pub(crate) fn walk(&mut self) -> Result<(), Violation> {
        let (db, keys) = (self.database(), 1 + self.random.below(30) as usize);
        let met = self.world.walk(db, keys)?;
        let now_ms = self.world.now_ms();
        for (key, value) in self.state.keys(db) {
            let may_look_live = value.expire_ms == 0 || value.expire_ms > now_ms;
            let is_met = met.contains(key);
            if value.is_live(now_ms) && !is_met || is_met && !may_look_live {
                let name = String::from_utf8_lossy(key);
                return Err(Violation(format!("db {db}, {name}: a walk is wrong about {value:?}")));
            }
        }
        match met.iter().find(|key| self.state.value(db, key).is_none()) {
            Some(key) => {
                let name = String::from_utf8_lossy(key);
                Err(Violation(format!("db {db}, {name}: a walk met it, and it is not there")))
            }
            None => Ok(()),
        }
    }

    /// The number of keys: every live one counts, and an expired one may.
    fn compare_counts(&self) -> Result<(), Violation> {
        let now_ms = self.world.now_ms();
        for db in 0..self.world.setting.databases {
            let totals = self.world.engine().totals(db);
            let (keys, unread) = (totals.keys, totals.keys_unread);
            let all = self.state.keys(db).count() as u64;
            let live =
                self.state.keys(db).filter(|(_, value)| value.is_live(now_ms)).count() as u64;
            if keys + unread < live || keys > all {
                let text = format!("db {db}: {keys} keys, {unread} unread, not {live} to {all}");
                return Err(Violation(text));
            }
        }
        Ok(())
    }

    /// Brings everything into memory and compares all of it, and the counts before and after.
    pub(crate) fn compare_everything(&mut self) -> Result<(), Violation> {
        self.report.comparisons += 1;
        self.compare_counts()?;
        self.world.settle()?;
        for db in 0..self.world.setting.databases {
            let counted = self.world.engine().totals(db).keys;
            for _ in 0..LOADS_MAX {
                let incomplete =
                    self.world.engine().incomplete(db, LockWait::Endless).unwrap_or_default();
                if incomplete.is_empty() {
                    break;
                }
                wait_for(&self.world.start_load(incomplete))?;
            }
            self.compare_database(db, counted)?;
        }
        Ok(())
    }

    fn compare_database(&self, db: u8, counted: u64) -> Result<(), Violation> {
        let now_ms = self.world.now_ms();
        let there = self.world.dump(db)?;
        if there.len() as u64 != counted {
            return Err(Violation(format!(
                "db {db}: {counted} keys counted, {} there",
                there.len()
            )));
        }
        for (key, value) in &there {
            let wanted = self.state.value(db, key);
            if !wanted.is_some_and(|wanted| wanted.may_be(value, now_ms)) {
                let name = String::from_utf8_lossy(key);
                return Err(Violation(format!("db {db}, {name}: {value:?}, not {wanted:?}")));
            }
        }
        for (key, value) in self.state.keys(db) {
            if value.is_live(now_ms) && !there.contains_key(key) {
                let name = String::from_utf8_lossy(key);
                return Err(Violation(format!("db {db}, {name} is lost: {value:?}")));
            }
        }
        Ok(())
    }
}

impl Driver<'_> {
    /// Behind a checkpoint beside which nothing happens, each row of an element or a piece belongs
    /// to an object, each object to a database, and a string has as many pieces as it says.
    pub(crate) fn sweep(&mut self) -> Result<(), Violation> {
        if self.disk_is_limited {
            return Ok(());
        }
        let checkpoint = self.world.engine().checkpoint();
        checkpoint.map_err(|error| Violation(format!("a checkpoint failed: {error}")))?;
        let rows = Rows::of(self.world.engine().cold())?;
        for (&(partition, generation, id), count) in &rows.found {
            let mark = self.mark(partition)?;
            let what = format!("partition {}, id {id}: {count} rows", partition.number());
            match rows.owned.get(&(partition, generation, id)) {
                // A crash may leave some of a collection that became spread.
                None if id >= mark.next_id => {}
                None => return Err(Violation(format!("{what} that nobody owns"))),
                Some(Some(owned)) if owned != count => {
                    return Err(Violation(format!("{what}, its object says {owned}")));
                }
                Some(_) => {}
            }
        }
        for (&(partition, generation), count) in &rows.generations {
            let mark = self.mark(partition)?;
            if mark.databases.iter().all(|database| database.generation != generation) {
                let partition = partition.number();
                let what = format!("partition {partition}: {count} rows of a flushed database");
                return Err(Violation(what));
            }
        }
        self.report.sweeps += 1;
        Ok(())
    }

    fn mark(&self, id: PartitionId) -> Result<Mark, Violation> {
        let mut key = Vec::new();
        mark_key(id, &mut key);
        let rows = self.world.engine().cold().read_many(&[key]);
        let row = rows.ok().and_then(|mut rows| rows.pop()?);
        let mark = row.and_then(|row| Mark::decode(&row).ok());
        mark.ok_or_else(|| Violation::new("rows without a mark"))
    }
}

impl Rows {
    fn of(cold: &dyn ColdTier) -> Result<Rows, Violation> {
        let mut rows = Rows::default();
        let mut outcome = Ok(());
        let scanned = cold.scan(b"", &[0xFF; 3], &mut |key, value| {
            outcome = rows.add(key, value);
            if outcome.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        scanned.map_err(|error| Violation(format!("the rows cannot be read: {error}")))?;
        outcome.map(|()| rows)
    }

    fn add(&mut self, key: &[u8], value: &[u8]) -> Result<(), Violation> {
        if let Some(ElementsOf { partition, generation, id }) = element::of_row(key) {
            *self.found.entry((partition, generation, id)).or_default() += 1;
            return Ok(());
        }
        let Some((generation, _)) = split_object_key(key) else { return Ok(()) };
        let partition = PartitionId::new(u16::from_be_bytes([key[0], key[1]]));
        let partition = partition.ok_or_else(|| Violation::new("an object of no partition"))?;
        *self.generations.entry((partition, generation)).or_default() += 1;
        let bad = |error| Violation(format!("an object cannot be read: {error}"));
        let row = ObjectRow::decode(value).map_err(bad)?;
        let count = |head: SpreadHead<'_>| match row.kind {
            RowKind::StringInPieces(_) => Some(head.elements),
            _ => None,
        };
        if let RowKind::Spread(_) | RowKind::StringInPieces(_) = row.kind {
            let head = SpreadHead::decode(row.value).map_err(bad)?;
            let owner = (partition, generation, head.id);
            if self.owned.insert(owner, count(head)).is_some() {
                return Err(Violation(format!("two objects have the id {}", head.id)));
            }
        }
        Ok(())
    }
}
