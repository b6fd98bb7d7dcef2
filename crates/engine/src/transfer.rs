//! Putting what is under one key under another, also of another database: RENAME, COPY, MOVE.

use crate::key::Key;
use crate::txn::{PutOptions, Txn};
use crate::view::access_at;
use basalt_change::op::{Op, Put};
use basalt_keyspace::entry::{Content, NewValue, StringValue};
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
    /// If something has been changed already: a change would be made twice.
    pub fn must_wait_for(&mut self, wanted: Destination<'_>) -> bool {
        assert!(self.changes.is_empty(), "a command asks for its keys before it changes any");
        let Destination { db, key } = wanted;
        let missing = self.engine.missing(&mut self.locked, db, std::slice::from_ref(key));
        self.changes.missing = missing;
        self.changes.missing.is_some()
    }

    /// Whether there is something at a destination.
    pub fn exists_at(&self, at: Destination<'_>) -> bool {
        self.object_in(at.db, at.key).is_some()
    }

    /// Puts what is under `from`, its expiry included, at a destination, whatever was there; says
    /// whether there was anything under `from`. A value that stands apart is shared, not copied.
    pub fn copy(&mut self, from: &Key<'_>, to: Destination<'_>) -> bool {
        let Some(object) = self.get(from) else { return false };
        let options = PutOptions { expire_ms: object.expire_ms(), form: object.form() };
        let value = Value::of(object.string());
        let selected = std::mem::replace(&mut self.session.db, to.db);
        match value {
            Value::Copied(bytes) => self.put(to.key, &bytes, options),
            Value::Shared(shared) => self.put_shared(to.key, shared, options),
        }
        self.session.db = selected;
        true
    }

    fn put_shared(&mut self, key: &Key<'_>, shared: Arc<Vec<u8>>, options: PutOptions) {
        let PutOptions { expire_ms, form } = options;
        let content = Content {
            key: key.bytes,
            value: NewValue::Shared(Arc::clone(&shared), form),
            expire_ms,
            access: access_at(self.session.now_ms),
        };
        let origin = self.store(key, content);
        let db = self.session.db;
        self.log(key, Op::Put(Put { db, key: key.bytes, value: &shared, expire_ms, origin, form }));
    }
}

/// A value that outlives a change of its table.
enum Value {
    Copied(Vec<u8>),
    Shared(Arc<Vec<u8>>),
}

impl Value {
    fn of(value: StringValue<'_>) -> Value {
        match value {
            StringValue::Inline(bytes) => Value::Copied(bytes.to_vec()),
            StringValue::Shared(shared) => Value::Shared(shared.to_arc()),
        }
    }
}
