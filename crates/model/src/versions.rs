//! Versions in the model: a number is the engine's, that there is one and that it is new is known.

use crate::action::SOME_VERSION;
use crate::driver::Driver;
use crate::state::{Change, Value};
use crate::violation::Violation;
use basalt_engine::Version;

impl Driver<'_> {
    /// Asks for the version that a key has after a command, which is a new one if the command has
    /// changed the key, and enters it into the changes.
    pub(crate) fn ask_version(
        &mut self,
        db: u8,
        key: &[u8],
        changes: &mut Vec<Change>,
    ) -> Result<(), Violation> {
        let now_ms = self.world.now_ms();
        let there = self.world.version(db, key);
        let last = changes.iter().rev().find_map(|change| match change {
            Change::Put(of_db, of, value) if (*of_db, &of[..]) == (db, key) => Some(Some(value)),
            Change::Delete(of_db, of) if (*of_db, &of[..]) == (db, key) => Some(None),
            _ => None,
        });
        match last {
            Some(None) => Ok(()),
            Some(Some(value)) if !value.is_live(now_ms) => Ok(()),
            Some(Some(value)) => {
                let has_one = value.version == SOME_VERSION;
                if has_one == there.is_none() {
                    return Err(Violation(format!("{key:?} has {there:?} after {value:?}")));
                }
                if has_one {
                    self.note_given(key, there)?;
                    enter(db, key, there, changes);
                }
                Ok(())
            }
            None => self.ask_version_of_unchanged(db, key, there, changes),
        }
    }

    /// A command may put in place what was there: then the version moves, too.
    fn ask_version_of_unchanged(
        &mut self,
        db: u8,
        key: &[u8],
        there: Version,
        changes: &mut Vec<Change>,
    ) -> Result<(), Violation> {
        let now_ms = self.world.now_ms();
        let Some(value) = self.state.value(db, key).filter(|value| value.is_live(now_ms)) else {
            return Ok(());
        };
        if value.version == there {
            return Ok(());
        }
        if value.version.is_none() {
            return Err(Violation(format!("{key:?} has {there:?} and should have none")));
        }
        let value = Value { version: there, ..value.clone() };
        self.note_given(key, there)?;
        changes.push(Change::Put(db, key.to_vec(), value));
        Ok(())
    }

    /// A key has been given a version: one that it has never had, not even in what a crash has
    /// taken back.
    fn note_given(&mut self, key: &[u8], version: Version) -> Result<(), Violation> {
        if self.given.entry(key.to_vec()).or_default().insert(version) {
            return Ok(());
        }
        let name = String::from_utf8_lossy(key);
        Err(Violation(format!("{name}: {version:?} was given before, or has not been moved")))
    }
}

fn enter(db: u8, key: &[u8], version: Version, changes: &mut [Change]) {
    for change in changes {
        if let Change::Put(of_db, of, value) = change
            && (*of_db, &of[..]) == (db, key)
        {
            value.version = version;
        }
    }
}
