//! Versions in the model: a number is the engine's, that there is one and that it is new is known.

use crate::action::SOME_VERSION;
use crate::driver::Driver;
use crate::edit::version::SOME_NUMBER;
use crate::state::{Change, Value};
use crate::violation::Violation;
use basalt_engine::Version;
use std::collections::BTreeMap;
use std::sync::Arc;

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
                // With a field that has expired, and that nobody has removed, a version may come.
                let may_have_one = value.content.has_versions(0);
                let has_one = value.version == SOME_VERSION
                    || value.version.is_none() && may_have_one && !there.is_none();
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

    /// Asks for the versions that elements of a key have after a command, and enters them into the
    /// changes.
    pub(crate) fn ask_element_versions(
        &mut self,
        db: u8,
        key: &[u8],
        changes: &mut [Change],
    ) -> Result<(), Violation> {
        let last = changes.iter_mut().rev().find_map(|change| match change {
            Change::Put(of_db, of, value) if (*of_db, &of[..]) == (db, key) => Some(Some(value)),
            Change::Delete(of_db, of) if (*of_db, &of[..]) == (db, key) => Some(None),
            _ => None,
        });
        let now_ms = self.world.now_ms();
        let Some(value) = last.flatten().filter(|value| value.is_live(now_ms)) else {
            return Ok(());
        };
        let mut content = (*value.content).clone();
        let mut unknown = content.versions_mut();
        unknown.retain(|(_, version)| **version == SOME_NUMBER);
        if unknown.is_empty() {
            return Ok(());
        }
        let there = self.world.content(db, key);
        let mut there = there.ok_or_else(|| Violation(format!("{key:?} is not there")))?;
        let numbers: BTreeMap<_, _> = there.versions_mut().into_iter().collect();
        for (name, version) in unknown {
            *version = numbers.get(name).map_or(0, |number| **number);
            let mut element = key.to_vec();
            element.push(b'/');
            element.extend_from_slice(name);
            if *version == 0
                || !self.given.entry(element).or_default().insert(Version::new(*version))
            {
                let name = String::from_utf8_lossy(name);
                return Err(Violation(format!("{name} of {key:?} has version {version}")));
            }
        }
        value.content = Arc::new(content);
        Ok(())
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
        let (has_aged, value) =
            (value.content.has_aged(now_ms), Value { version: there, ..value.clone() });
        let noted = self.note_given(key, there);
        // What time does is not the command's: it may have been seen, and lost to the model with
        // the command that had seen it.
        if !has_aged {
            noted?;
        }
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
