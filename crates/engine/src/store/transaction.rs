//! Several commands as one: all of their partitions are held from the first to the last, their
//! changes are one ChangeSet, and nothing waits between them.
//!
//! What a single command waits for, one of several must have found before the first runs: so all
//! keys of all commands are looked for, in every database in which one of them may look
//! ([`Claims`]). If one is not in memory, the whole waits and begins again, having changed nothing.
//!
//! A command that finds its keys out while it runs ([`crate::store::reach`]) can be one alone, run
//! as a transaction once it knows them.
//!
//! Commands on whole databases take part if every partition is held. Their changes stand in the
//! same ChangeSet, in the order in which they were made, as records for whole shards.

use crate::engine::Engine;
use crate::log::Gate;
use crate::residency::queue::Missing;
use crate::store::census::DatabaseTotals;
use crate::store::changes::{ChangeSet, TooLarge};
use crate::store::context::CommandContext;
use crate::store::context::RunMode;
use crate::store::key::Key;
use crate::store::txn::Txn;
use crate::store::view::{Object, View};
use crate::store::walk::{Cursor, Walk, WalkEnd, WalkLimits};
use crate::tracking::set_broadcasts;
use crate::waiting::watching::Watching;
use basalt_change::place::{PartitionId, ShardSet};
use basalt_env::random::Random;
use basalt_keyspace::keyspace::Locked;
use basalt_stdx::short_lock::LockWait;
use std::ops::Range;

/// What the commands of a transaction may touch.
#[derive(Debug, Default)]
pub struct Claims<'k> {
    /// The keys that they name.
    pub keys: Vec<Key<'k>>,
    /// The databases in which they may look for these.
    pub databases: Range<u8>,
    /// One of them looks at keys that it does not name, or changes them: every partition is held.
    pub everything: bool,
    /// One of them reads keys that it does not name: every key is brought into memory.
    pub reads_everything: bool,
}

impl Claims<'_> {
    /// The shards of the keys.
    pub fn shards(&self) -> ShardSet {
        if self.everything {
            return ShardSet::ALL;
        }
        self.keys.iter().map(|key| key.partition.shard()).collect()
    }
}

/// Why a transaction cannot begin yet.
#[derive(Debug)]
pub enum Unready {
    /// These keys have to be fetched.
    Keys(Missing),
    /// These partitions have to be fetched.
    Partitions(Vec<PartitionId>),
    /// Somebody holds a partition for longer than the thread waits.
    Held,
}

/// Commands that run as one.
pub struct Transaction<'e> {
    engine: &'e Engine,
    locked: Locked<'e>,
    changes: &'e mut ChangeSet,
    run_mode: RunMode,
}

impl<'e> Transaction<'e> {
    /// Locks what the commands may touch and what is watched. `changes` is empty.
    ///
    /// # Errors
    /// Somebody holds a partition for longer than the thread waits.
    pub fn lock(
        engine: &'e Engine,
        claims: &Claims<'_>,
        watching: Option<&Watching>,
        wait: LockWait,
        changes: &'e mut ChangeSet,
    ) -> Result<Transaction<'e>, Unready> {
        let locked = locked(engine, claims, watching, wait).ok_or(Unready::Held)?;
        let run_mode = if claims.everything && claims.reads_everything {
            RunMode::Everything
        } else {
            RunMode::Transaction
        };
        Ok(Transaction { engine, locked, changes, run_mode })
    }

    /// It takes long: threads that serve others do not wait for what it holds.
    pub fn hold_for_long(&mut self) {
        self.locked.hold_for_long();
    }

    /// Lets go of everything that it holds, and watches keys meanwhile, each of a database. It has
    /// changed nothing, and its commands run when it has taken everything again.
    pub fn let_go<'k>(
        &mut self,
        keys: impl Iterator<Item = (u8, Key<'k>)>,
        now_ms: u64,
    ) -> Watching {
        let mut watching = Watching::default();
        for (db, key) in keys {
            self.engine.watch(&mut self.locked, &mut watching, &key, db, now_ms);
        }
        self.locked.let_go();
        watching
    }

    /// Locks again what it was begun with; false if somebody holds a partition of it for longer
    /// than the thread waits.
    pub fn take_again(&mut self, claims: &Claims<'_>, wait: LockWait) -> bool {
        let taken = locked(self.engine, claims, None, wait);
        let is_taken = taken.is_some();
        if let Some(taken) = taken {
            self.locked = taken;
        }
        is_taken
    }

    /// Whether everything is in memory that the commands may touch.
    ///
    /// # Errors
    /// What has to be fetched first.
    pub fn check_resident(&mut self, claims: &Claims<'_>) -> Result<(), Unready> {
        for db in claims.databases.clone() {
            if let Some(missing) = self.engine.missing(&mut self.locked, db, &claims.keys) {
                return Err(Unready::Keys(missing));
            }
        }
        if !claims.reads_everything {
            return Ok(());
        }
        let is_incomplete = |id: &PartitionId| {
            let partition = self.locked.partition(*id);
            claims.databases.clone().any(|db| !partition.database(db).is_complete())
        };
        let incomplete: Vec<PartitionId> = PartitionId::all().filter(is_incomplete).collect();
        if incomplete.is_empty() { Ok(()) } else { Err(Unready::Partitions(incomplete)) }
    }

    /// Adds to `gate` what a reply has to wait for that saw the keys.
    pub fn gate_reads(&mut self, claims: &Claims<'_>, gate: &mut Gate) {
        let log = self.engine.log();
        if !log.gates_replies() {
            return;
        }
        if claims.reads_everything {
            log.latest(ShardSet::ALL, gate);
        } else {
            self.engine.gate_reads(&mut self.locked, &claims.keys, gate);
        }
    }

    /// Whether a key may be touched: its partition is held.
    pub fn holds(&self, key: &Key<'_>) -> bool {
        self.locked.holds(key.partition)
    }

    /// Locks the partitions of keys that the commands find out late; false if somebody holds one of
    /// them for longer than some milliseconds.
    pub fn hold_more(&mut self, keys: &[Key<'_>]) -> bool {
        keys.iter().all(|key| self.locked.add(key.partition))
    }

    /// Those of some keys that must be fetched before a command of it can look for them; their
    /// partitions are held.
    pub fn missing(&mut self, db: u8, keys: &[Key<'_>]) -> Option<Missing> {
        self.engine.missing(&mut self.locked, db, keys)
    }

    /// Adds to `gate` what a reply has to wait for that saw these keys.
    pub fn gate_reads_of(&mut self, keys: &[Key<'_>], gate: &mut Gate) {
        if self.engine.log().gates_replies() {
            self.engine.gate_reads(&mut self.locked, keys, gate);
        }
    }

    /// Something has been changed: it cannot begin again.
    pub fn has_changes(&self) -> bool {
        !self.changes.is_empty()
    }

    /// Whether every key of a database is held and in memory, so that a command may look at any; if
    /// so, the next one is told.
    pub fn reach_everything(&mut self, db: u8) -> bool {
        let is_here = |id: PartitionId| {
            let locked = &self.locked;
            locked.holds(id) && locked.partition(id).database(db).is_complete()
        };
        let reaches = PartitionId::all().all(is_here);
        self.run_mode = if reaches { RunMode::Everything } else { RunMode::Transaction };
        reaches
    }

    /// A client reads keys whose partitions are held, and keeps copies.
    pub fn track(&mut self, keys: &[Key<'_>], reader: u64, is_live: &dyn Fn(u64) -> bool) {
        let called = &mut self.changes.called;
        self.engine.track_held(&mut self.locked, keys, (reader, is_live), called);
    }

    /// Has all partitions, every one of which it holds, say what changes from here on.
    pub fn set_broadcasts(&mut self) {
        set_broadcasts(&mut self.locked);
    }

    /// As [`Engine::sweep_tracked`]; it holds every partition.
    pub fn sweep_tracked(
        &mut self,
        is_live: &dyn Fn(u64) -> bool,
        has_broadcasts: &dyn Fn() -> bool,
    ) {
        for id in PartitionId::all() {
            self.engine.sweep_held(self.locked.partition_mut(id), is_live, has_broadcasts);
        }
    }

    /// Stops watching keys whose partitions are held.
    pub fn unwatch(&mut self, watching: &Watching) {
        Engine::unwatch_held(&mut self.locked, watching);
    }

    /// Lends this transaction for a while, to something that wants one of its own.
    pub fn lend(&mut self) -> Transaction<'_> {
        Transaction {
            engine: self.engine,
            locked: self.locked.lend(),
            changes: self.changes,
            run_mode: self.run_mode,
        }
    }

    /// Before a command: if anybody wants events, removes those of its keys whose time has come,
    /// and says so. A listener for `expired` hears it before what the command does to the key.
    pub fn expire(&mut self, keys: &[Key<'_>], session: CommandContext) {
        if self.changes.classes.is_empty() {
            return;
        }
        let (engine, locked) = (self.engine, &self.locked);
        let is_due = |key| engine.is_due(locked, session.db, session.now_ms, key);
        let takes = |key: &Key<'_>| engine.log().admit_removal(key.partition.shard()).is_ok();
        if !keys.iter().any(is_due) || !keys.iter().all(takes) {
            return;
        }
        let mut txn = self.txn(session);
        let expired = keys.iter().filter(|key| txn.expire(key)).count();
        engine.count_expired(expired as u64);
    }

    /// Read access for one command.
    pub fn view(&mut self, session: CommandContext) -> View<'_> {
        View::within(self.engine, self.locked.lend(), session, self.run_mode)
    }

    /// Write access for one command, if the log takes more than what has been changed already.
    ///
    /// # Errors
    /// It does not.
    pub fn write(&mut self, session: CommandContext) -> Result<Txn<'_>, TooLarge> {
        let txn = self.txn(session);
        txn.check_room(0)?;
        Ok(txn)
    }

    /// Write access for one command. Its changes are kept for [`Transaction::commit`].
    pub fn txn(&mut self, session: CommandContext) -> Txn<'_> {
        Txn::within(self.engine, self.locked.lend(), session, self.changes, self.run_mode)
    }

    /// Appends what all commands changed to the log, all or nothing, and lets go of the locks.
    /// The reply waits for what goes to `gate`.
    pub fn commit(self, gate: &mut Gate) {
        let session = CommandContext::background(0, 0);
        Txn::within(self.engine, self.locked, session, self.changes, self.run_mode).commit(gate);
    }

    /// [`Engine::scan`] under the locks held.
    ///
    /// # Errors
    /// As there.
    pub fn scan(
        &self,
        walk: Walk,
        from: Cursor,
        left: &mut WalkLimits,
        visit: impl FnMut(&[u8], Object<'_>),
    ) -> Result<Cursor, WalkEnd> {
        self.engine.scan_in(Some(&self.locked), walk, from, left, visit)
    }

    /// Some live key, each about as likely as another, under the locks held.
    ///
    /// # Errors
    /// No key is in memory, but some are in a partition that is not.
    pub fn random_key(&self, walk: Walk, random: &mut Random) -> Result<Option<Vec<u8>>, WalkEnd> {
        self.engine.random_key_in(Some(&self.locked), walk, random)
    }

    /// [`Engine::totals`] under the locks held.
    pub fn totals(&self, db: u8) -> DatabaseTotals {
        let totals = self.engine.totals_in(Some(&self.locked), db, LockWait::Endless);
        totals.expect("what is held is not waited for")
    }

    /// Empties databases.
    pub fn flush(&mut self, databases: Range<u8>, session: CommandContext) {
        self.txn(session).flush(databases);
    }

    /// Exchanges two databases.
    pub fn swap(&mut self, db: u8, other: u8, session: CommandContext) {
        self.txn(session).swap(db, other);
    }
}

/// The partitions of what is claimed and of what is watched, locked.
fn locked<'e>(
    engine: &'e Engine,
    claims: &Claims<'_>,
    watching: Option<&Watching>,
    wait: LockWait,
) -> Option<Locked<'e>> {
    match claims.everything {
        true => engine.lock_all_within(wait),
        false => engine.lock_with_watched(&claims.keys, watching, wait),
    }
}
