//! Versions in the model: a number is the engine's, that there is one and that it is new is known.
//! Each one that a key is given stands in the log, so none is taken for granted: after a command
//! and after a crash a key has the last one that it was given and that has survived.

use crate::action::SOME_VERSION;
use crate::driver::Driver;
use crate::edit::version::SOME_NUMBER;
use crate::log::Given;
use crate::state::{Change, Value};
use crate::violation::Violation;
use basalt_engine::Version;
use std::collections::BTreeMap;
use std::sync::Arc;

impl Driver<'_> {
    /// The versions that a command has given, which changes these keys and no others.
    pub(crate) fn take_given(
        &mut self,
        touched: &[(u8, Vec<u8>)],
    ) -> Result<Vec<Given>, Violation> {
        let given = self.world.book.take();
        for given in &given {
            if !touched.iter().any(|(db, key)| given.is_of(*db, key)) {
                return Err(Violation(format!("a command has not changed this: {given:?}")));
            }
            self.note_given(given)?;
        }
        Ok(given)
    }

    /// Lets time do its work. What it changes is nobody's business, but it moves versions.
    pub(crate) fn let_time_work(&mut self) -> Result<(), Violation> {
        self.world.book.set_time_works(true);
        let engine = self.world.engine();
        let before = engine.expired_keys();
        engine.reap_due();
        self.report.reaped += engine.expired_keys() - before;
        engine.expire_due();
        self.world.book.set_time_works(false);
        let now_ms = self.world.now_ms();
        for given in self.world.book.take() {
            self.note_given(&given)?;
            self.state.move_version(&given, now_ms)?;
        }
        Ok(())
    }

    /// Asks for the version that a key has after a command, which is the last one that it was given
    /// if the command has changed the key, and enters it into the changes.
    pub(crate) fn ask_version(
        &mut self,
        db: u8,
        key: &[u8],
        given: &[Given],
        changes: &mut Vec<Change>,
    ) -> Result<(), Violation> {
        let now_ms = self.world.now_ms();
        let there = self.world.version(db, key);
        let given = given.iter().rev().find(|given| given.is_of(db, key));
        let given = given.map(|given| given.version);
        let last = changes.iter().rev().find_map(|change| match change {
            Change::Put(of_db, of, value) if (*of_db, &of[..]) == (db, key) => Some(Some(value)),
            Change::Delete(of_db, of) if (*of_db, &of[..]) == (db, key) => Some(None),
            _ => None,
        });
        let value = match last {
            Some(value) => value,
            None => self.state.value(db, key),
        };
        let Some(value) = value.filter(|value| value.is_live(now_ms)) else { return Ok(()) };
        let wanted = match last {
            // Nothing has changed, or has been put in the place of the same: then the version
            // moves, too.
            None if value.version.is_none() => None,
            None => Some(given.unwrap_or(value.version)),
            Some(_) if value.version == SOME_VERSION => given,
            // With a field that has expired, and that nobody has removed, a version may come.
            Some(_) => given.filter(|_| value.content.has_versions(0)),
        };
        let must_have_one = !value.version.is_none();
        if there != wanted.unwrap_or(Version::NONE) || must_have_one && wanted.is_none() {
            let name = String::from_utf8_lossy(key);
            let text = format!("{name} has {there:?} and was given {given:?} after {value:?}");
            return Err(Violation(text));
        }
        match (last, wanted) {
            (Some(_), Some(version)) => enter(db, key, version, changes),
            (None, Some(version)) if version != value.version => {
                let value = Value { version, ..value.clone() };
                changes.push(Change::Put(db, key.to_vec(), value));
            }
            _ => {}
        }
        Ok(())
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

    /// A key has been given a version: one that it has never had, not even in what a crash has
    /// taken back.
    fn note_given(&mut self, given: &Given) -> Result<(), Violation> {
        if self.given.entry(given.key.clone()).or_default().insert(given.version) {
            return Ok(());
        }
        Err(Violation(format!("this was given before: {given:?}")))
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
