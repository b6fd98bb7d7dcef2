//! Comparing the engine with the model.

use crate::access::wait_for;
use crate::driver::Driver;
use crate::violation::Violation;
use basalt_engine::LockWait;

/// Keys that a short comparison looks at.
const SOME_KEYS: usize = 12;
/// Passes over the partitions after which a database must be in memory.
const LOADS_MAX: usize = 10;

impl Driver<'_> {
    pub(crate) fn compare_key(&mut self, db: u8, key: &[u8]) -> Result<(), Violation> {
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

    pub(crate) fn compare_some(&mut self) -> Result<(), Violation> {
        for _ in 0..SOME_KEYS {
            let key = self.keys.any(&mut self.random);
            let db = self.random.below(3) as u8;
            self.compare_key(db, &key)?;
        }
        self.compare_counts()
    }

    /// The number of keys: every live one counts, and an expired one may.
    fn compare_counts(&self) -> Result<(), Violation> {
        let now_ms = self.world.now_ms();
        for db in 0..self.world.setting.databases {
            let keys = self.world.engine().totals(db).keys;
            let all = self.state.keys(db).count() as u64;
            let live =
                self.state.keys(db).filter(|(_, value)| value.is_live(now_ms)).count() as u64;
            if keys < live || keys > all {
                return Err(Violation(format!("db {db}: {keys} keys, not {live} to {all}")));
            }
        }
        Ok(())
    }

    /// Brings everything into memory and compares all of it, and the counts before and after.
    pub(crate) fn compare_everything(&mut self) -> Result<(), Violation> {
        self.report.comparisons += 1;
        self.compare_counts()?;
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
