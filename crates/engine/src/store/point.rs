//! HOT PATH
//! Reading one key, and nothing else.
//!
//! Most reads ask one thing of one key. They may not wait, draw up what others are to fetch or look
//! at a second key, so they need no [`View`]: the lock is taken, the entry is found, the reply is
//! written, the lock is let go, and nothing is carried from one to the next. At pipeline 50 a GET
//! takes 690 instructions so, from parsing to sending, and by way of a view some 250 more.

use crate::engine::Engine;
use crate::log::Gate;
use crate::residency::heads::KeyHead;
use crate::store::collections::WrongType;
use crate::store::context::CommandContext;
use crate::store::key::Key;
use crate::store::view::{Object, View, used};
use basalt_keyspace::table::EntryHint;
use basalt_value::Variant;

/// What a command that reads one key sees of it.
pub struct Point<'a> {
    object: Option<Object<'a>>,
    on_disk: Option<&'a KeyHead>,
    session: &'a CommandContext,
}

impl<'a> Point<'a> {
    /// The object under the key.
    #[inline]
    pub fn object(&self) -> Option<Object<'a>> {
        self.object
    }

    /// What is known of the key without its value: the object may be on disk only.
    #[inline]
    pub fn head(&self) -> Option<KeyHead> {
        self.object.map(Object::head).or(self.on_disk.copied())
    }

    /// The collection of this type under the key.
    ///
    /// # Errors
    /// Something else is under the key.
    #[inline]
    pub fn collection<C: Variant + 'a>(&self) -> Result<Option<&'a C>, WrongType> {
        self.object.map(Object::as_collection).transpose()
    }

    /// Now, in unix milliseconds.
    #[inline]
    pub fn now_ms(&self) -> u64 {
        self.session.now_ms
    }

    /// Largest value that a command may make, in bytes.
    #[inline]
    pub fn value_bytes_max(&self) -> usize {
        self.session.value_bytes_max
    }
}

impl View<'_> {
    /// Looks at one of its keys, counted as a hit or a miss and as a use of the key.
    #[inline]
    pub fn point(&self, key: &Key<'_>) -> Point<'_> {
        let object = self.get(key);
        let on_disk = if object.is_none() { self.head_on_disk(key) } else { None };
        Point { object, on_disk, session: self.session() }
    }
}

impl Engine {
    /// Reads a key, which counts as a use of it; looks first where its entry was seen. `None`, and
    /// nothing has been read, if it may have to be fetched first or if somebody holds its partition
    /// for longer than the thread waits: that takes a [`View`]. Has `gate` wait for what a crash
    /// could still take back of it.
    #[inline(always)]
    pub fn read_point<R>(
        &self,
        key: &Key<'_>,
        seen: EntryHint,
        session: &CommandContext,
        gate: &mut Gate,
        read: impl FnOnce(&Point<'_>) -> R,
    ) -> Option<R> {
        let read = self.keyspace.with_mut(key.partition, session.lock_wait, |partition| {
            if !partition.guard().is_clear() {
                self.gate_read(partition, key, gate);
            }
            let database = partition.database(session.db);
            let CommandContext { now_ms, touch, .. } = *session;
            let found = database.table().find_again(seen, key.hash, key.bytes);
            let object = used(database.table(), found, now_ms, touch);
            let is_known = object.is_some() || !database.may_be_cold(key.hash);
            is_known.then(|| read(&Point { object, on_disk: None, session }))
        });
        read.flatten()
    }
}
