//! HOT PATH
//! Overwriting a string in place, and nothing else.
//!
//! Most SETs put a string of a like length in the place of another. They wake nobody, make nothing
//! and leave nothing behind, so they need no [`Txn`](crate::Txn): the lock is taken, the bytes are
//! copied into the entry and the log, the lock is let go. At pipeline 50 a SET takes 860
//! instructions so, and by way of a transaction some 400 more.

use crate::engine::Engine;
use crate::log::{CommitLog, Gating, Ticket};
use crate::store::changes::ChangeSet;
use crate::store::context::CommandContext;
use crate::store::key::Key;
use crate::store::view::access_at;
use basalt_change::op::{Origin, Put, StringForm};
use basalt_change::version::Version;
use basalt_keyspace::entry::{Content, NewValue};
use basalt_keyspace::table::EntryHint;

/// What overwriting the strings of several keys, one after the other, has in common.
#[derive(Clone, Copy)]
pub struct Overwriting<'a> {
    engine: &'a Engine,
    /// The engine's: to find it takes as long as to copy a short value.
    log: &'a dyn CommitLog,
    context: &'a CommandContext,
    gating: Gating,
}

impl Engine {
    /// Begins to overwrite strings.
    #[inline]
    pub fn overwriting<'a>(
        &'a self,
        context: &'a CommandContext,
        gating: Gating,
    ) -> Overwriting<'a> {
        Overwriting { engine: self, log: self.log(), context, gating }
    }
}

impl<'a> Overwriting<'a> {
    /// The engine's log.
    #[inline]
    pub fn log(&self) -> &'a dyn CommitLog {
        self.log
    }

    /// Puts a string without expiry under a key that has one already, if it fits the same place,
    /// the key has no version and nobody wants to know; returns the ticket that the reply waits for
    /// if replies do. If not, nothing has happened, and [`Txn::put`](crate::Txn::put) can do it. It
    /// looks first where the entry was seen. `changes` is empty.
    #[inline(always)]
    pub fn put(
        &self,
        key: &Key<'_>,
        seen: EntryHint,
        value: &[u8],
        changes: &mut ChangeSet,
    ) -> Option<Ticket> {
        debug_assert!(changes.is_empty());
        let Overwriting { engine, log, context, gating } = *self;
        let (db, form) = (context.db, StringForm::Whole);
        let access = access_at(context.now_ms);
        let (value_put, version) = (NewValue::Bytes(value, form), Version::NONE);
        let content = Content { key: key.bytes, value: value_put, expire_ms: 0, access, version };
        let written = engine.keyspace.with_mut(key.partition, context.lock_wait, |partition| {
            let interest = partition.interest.is_some();
            let database = partition.database_mut(db);
            let found = database.table().find_again(seen, key.hash, key.bytes)?;
            if interest || !database.overwrite(found, &content) {
                return None;
            }
            let origin = Origin::Existing;
            let put = Put { db, key: key.bytes, value, expire_ms: 0, origin, form };
            let record = changes.only_put(key.partition, &put);
            let (seq, ticket) = log.append(key.partition.shard(), record);
            partition.advance(seq);
            changes.clear_only_put();
            if gating == Gating::On {
                engine.note_unacknowledged(key.partition, partition, key.hash, ticket);
            }
            Some(ticket)
        });
        written.flatten()
    }
}
