//! Putting what is under one key under another, also of another database: RENAME, COPY, MOVE.

use crate::store::ask::Ask;
use crate::store::changes::TooLarge;
use crate::store::context::RunMode;
use crate::store::events::EventClass;
use crate::store::key::Key;
use crate::store::txn::{PutOptions, Txn};
use crate::store::view::access_at;
use basalt_keyspace::entry::{Access, EntryValue, StringValue};
use basalt_value::{FormLimits, Value};
use std::sync::Arc;

/// Where a value goes.
#[derive(Clone, Copy, Debug)]
pub struct Destination<'k> {
    /// Number of the database.
    pub db: u8,
    /// The key.
    pub key: &'k Key<'k>,
}

impl Txn<'_> {
    /// Whether the command has to wait because a key is not in memory that it wants to see in
    /// another database than the selected one; those of the selected one have been looked after. If
    /// so, the command returns at once, without a reply: it runs again once the key has been read.
    ///
    /// # Panics
    /// If something has been changed already: a change would be made twice. Never inside a
    /// [`Transaction`](crate::Transaction), which has looked for the key in all databases.
    pub fn must_wait_for(&mut self, wanted: Destination<'_>) -> bool {
        if self.run_mode != RunMode::Alone {
            return false;
        }
        assert!(self.changes.is_empty(), "a command asks for its keys before it changes any");
        let Destination { db, key } = wanted;
        let missing = self.engine.missing(&mut self.locked, db, std::slice::from_ref(key));
        self.changes.ask = missing.map(Ask::Fetch);
        self.changes.ask.is_some()
    }

    /// Whether there is something at a destination.
    pub fn exists_at(&self, at: Destination<'_>) -> bool {
        self.object_in(at.db, at.key).is_some()
    }

    /// Puts what is under `from`, its expiry included, at a destination, whatever was there; says
    /// whether there was anything under `from`. A value that stands apart is shared, not copied.
    ///
    /// # Errors
    /// It is too large for the log; nothing has changed.
    pub fn copy(&mut self, from: &Key<'_>, to: Destination<'_>) -> Result<bool, TooLarge> {
        let Some(object) = self.get(from) else { return Ok(false) };
        self.check_room(logged_bytes(object.value()))?;
        let options = PutOptions { expire_ms: object.expire_ms(), form: object.form() };
        let value = Copied::of(object.value(), &self.engine.limits());
        self.engine.note_used(to.db);
        let selected = std::mem::replace(&mut self.session.db, to.db);
        let replaces = self.make_way(to.key);
        match value {
            Copied::Bytes(bytes) => self.put(to.key, &bytes, options),
            Copied::Shared(shared) => self.put_shared(to.key, shared, options),
            Copied::Collection(value) => self.put_collection(to.key, value, options.expire_ms),
        }
        if replaces {
            // For Redis this is a deletion, of which it says nothing, and a new key.
            self.notify(EventClass::New, "new", to.key);
        }
        self.session.db = selected;
        Ok(true)
    }

    /// Moves what is under `from`, its expiry included, to a destination, whatever was there; says
    /// whether there was anything under `from`. In memory a collection is moved, not copied; the
    /// log has it whole.
    ///
    /// # Errors
    /// It is too large for the log; nothing has changed.
    pub fn rename(&mut self, from: &Key<'_>, to: Destination<'_>) -> Result<bool, TooLarge> {
        let Some(object) = self.get(from) else { return Ok(false) };
        let access = object.access();
        if object.collection().is_none() {
            let is_copied = self.copy(from, to)?;
            self.keep_frequency(to, access);
            return Ok(is_copied && self.delete(from));
        }
        self.check_room(logged_bytes(object.value()))?;
        let expire_ms = object.expire_ms();
        let Some(value) = self.take_value(from) else { return Ok(false) };
        self.engine.note_used(to.db);
        let selected = std::mem::replace(&mut self.session.db, to.db);
        let replaces = self.make_way(to.key);
        self.put_collection(to.key, value, expire_ms);
        if replaces {
            self.notify(EventClass::New, "new", to.key);
        }
        self.session.db = selected;
        self.keep_frequency(to, access);
        Ok(self.delete(from))
    }

    /// What has been moved to `to` is used as often as it was.
    fn keep_frequency(&mut self, to: Destination<'_>, access: Access) {
        let access = access.renewed(access_at(self.session.now_ms));
        let database = self.partition(to.key).database_mut(to.db);
        if let Some(found) = database.table().find(to.key.hash, to.key.bytes) {
            database.set_access(found, access);
        }
    }

    /// Says of a key that is about to be replaced that its time had come, if so, and whether there
    /// is one to replace; asks only if somebody wants to know.
    fn make_way(&mut self, key: &Key<'_>) -> bool {
        !self.changes.classes.is_empty() && !self.expire(key) && self.get(key).is_some()
    }
}

/// About how much the log takes for a value.
fn logged_bytes(value: EntryValue<'_>) -> usize {
    match value {
        EntryValue::String(string) => string.bytes().len(),
        EntryValue::Collection(value) => value.heap_bytes(),
    }
}

/// A value that outlives a change of its table.
enum Copied {
    Bytes(Vec<u8>),
    Shared(Arc<Vec<u8>>),
    Collection(Value),
}

impl Copied {
    fn of(value: EntryValue<'_>, limits: &FormLimits) -> Copied {
        match value {
            EntryValue::String(StringValue::Inline(bytes)) => Copied::Bytes(bytes.to_vec()),
            EntryValue::String(StringValue::Shared(shared)) => Copied::Shared(shared.to_arc()),
            EntryValue::Collection(value) => Copied::Collection(value.duplicate(limits)),
        }
    }
}
