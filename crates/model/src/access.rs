//! Using an engine as commands do: keys under their locks, misses fetched first, replies held back
//! until their gate opens.

use crate::content::Content;
use crate::stage::Point;
use crate::state::Value;
use crate::violation::Violation;
use crate::world::World;
use basalt_change::place::PartitionId;
use basalt_engine::{
    ChangeSet, CommandContext, Cursor, EntryHint, Fate, Gate, Gating, Key, KeyHead, KnownHeads,
    LockWait, Missing, Object, ReadHeads, Touch, Txn, Unknown, Version, View, Walk, WalkEnd,
    WalkLimits, WalkedRows,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Longest that a fetch or an acknowledgement may take.
const WAIT_MAX: Duration = Duration::from_secs(120);
/// Most times that a command may have to ask for the same keys.
const FETCHES_MAX: usize = 100;

/// What a command has done that removes keys.
pub struct Removed {
    /// What its reply waits for.
    pub gate: Gate,
    /// How many there were.
    pub there: usize,
    /// How many of them were on disk only.
    pub unread: u64,
}

/// A fetch that has been asked for.
pub type Fetching = Receiver<Result<(), String>>;

impl World<'_> {
    /// For whom commands run.
    pub fn session(&self, db: u8) -> CommandContext {
        CommandContext { touch: Touch::Yes, ..CommandContext::background(db, self.now_ms()) }
    }

    /// Runs a write command; returns what its reply waits for.
    ///
    /// # Errors
    /// If its keys cannot be fetched.
    pub fn write(
        &self,
        db: u8,
        keys: &[&[u8]],
        work: impl Fn(&mut Txn<'_>, &[Key<'_>]),
    ) -> Result<Gate, Violation> {
        let engine = self.engine();
        let keys: Vec<Key<'_>> = keys.iter().map(|key| engine.key(key)).collect();
        let mut changes = ChangeSet::default();
        for _ in 0..FETCHES_MAX {
            let mut locked = engine.lock(&keys);
            let mut missing = engine.missing(&mut locked, db, &keys);
            if missing.is_none() {
                let mut txn = Txn::new(engine, locked, self.session(db), &mut changes);
                work(&mut txn, &keys);
                let mut gate = Gate::default();
                txn.commit(&mut gate);
                missing = changes.take_missing();
                if missing.is_none() {
                    return Ok(gate);
                }
            } else {
                drop(locked);
            }
            wait_for(&self.fetch(&keys, missing.expect("looked at above")))?;
        }
        Err(Violation::new("keys are fetched again and again"))
    }

    /// Overwrites a string in place; `None` if that cannot be, else what the reply waits for.
    pub fn overwrite(&self, db: u8, key: &[u8], value: &[u8]) -> Option<Gate> {
        let engine = self.engine();
        let (key, mut changes) = (engine.key(key), ChangeSet::default());
        let seen = engine.prefetch_entry(db, key.hash, key.partition);
        let (session, gating) = (self.session(db), engine.gating());
        let overwriting = engine.overwriting(&session, gating);
        let ticket = overwriting.put(&key, seen, value, &mut changes)?;
        let mut gate = Gate::default();
        if gating == Gating::On {
            gate.add(ticket);
        }
        Some(gate)
    }

    /// Runs a command that puts strings under all of these keys and does nothing else, without
    /// fetching them; `None`, and nothing has happened, if it has to wait.
    pub fn write_unread(
        &self,
        db: u8,
        keys: &[&[u8]],
        work: impl Fn(&mut Txn<'_>, &[Key<'_>]),
    ) -> Option<Gate> {
        let engine = self.engine();
        let keys: Vec<Key<'_>> = keys.iter().map(|key| engine.key(key)).collect();
        let mut changes = ChangeSet::default();
        let mut txn = Txn::new(engine, engine.lock(&keys), self.session(db), &mut changes);
        if !txn.may_put_unread(&keys) {
            return None;
        }
        work(&mut txn, &keys);
        let mut gate = Gate::default();
        txn.commit(&mut gate);
        Some(gate)
    }

    /// Runs a command that removes keys and does nothing else: of those that are on disk only it
    /// reads what their rows begin with, unless that is not enough.
    ///
    /// # Errors
    /// If that cannot be read.
    pub fn remove(&self, db: u8, keys: &[&[u8]]) -> Result<Removed, Violation> {
        let engine = self.engine();
        let keys: Vec<Key<'_>> = keys.iter().map(|key| engine.key(key)).collect();
        let (mut changes, read) = (ChangeSet::default(), Arc::<ReadHeads>::default());
        for _ in 0..FETCHES_MAX {
            let cold = engine.totals(db).keys_cold_only;
            let locked = engine.lock(&keys);
            let mut txn = Txn::new(engine, locked, self.session(db), &mut changes);
            let known = match txn.missing(&keys) {
                None => KnownHeads::default(),
                Some(missing) => match txn.heads_of(missing, Some(&read)) {
                    Ok(known) => known,
                    Err(unknown) => {
                        drop(txn);
                        self.read_unknown(&keys, unknown, &read)?;
                        continue;
                    }
                },
            };
            let there = txn.knowing(known, |txn| keys.iter().filter(|key| txn.delete(key)).count());
            let mut gate = Gate::default();
            txn.commit(&mut gate);
            let unread = cold.saturating_sub(engine.totals(db).keys_cold_only);
            return Ok(Removed { gate, there, unread });
        }
        Err(Violation::new("keys that are to be removed are fetched again and again"))
    }

    /// Waits until it is known of all keys whether they were there when they were put.
    ///
    /// # Errors
    /// If that takes too long.
    pub fn settle(&self) -> Result<(), Violation> {
        let start = Instant::now();
        while self.unread() > 0 {
            self.engine().settle_soon();
            if start.elapsed() > WAIT_MAX {
                return Err(Violation::new("keys that were put unread are never read"));
            }
            std::thread::yield_now();
        }
        Ok(())
    }

    /// Keys of which that is not known.
    pub fn unread(&self) -> u64 {
        (0..self.setting.databases).map(|db| self.engine().totals(db).keys_unread).sum()
    }

    /// Reads a key, fetching it first.
    ///
    /// # Errors
    /// If it cannot be fetched.
    pub fn read(&self, db: u8, key: &[u8]) -> Result<Option<Value>, Violation> {
        let engine = self.engine();
        let Key { hash, partition, .. } = engine.key(key);
        // Out of date if the key has to be fetched.
        let seen = engine.prefetch_entry(db, hash, partition);
        for _ in 0..FETCHES_MAX {
            match self.start_fetch(db, key) {
                Some(fetching) => wait_for(&fetching)?,
                None => {
                    let keys = [engine.key(key)];
                    let mut locked = engine.lock(&keys);
                    // Another thread may have come between.
                    if engine.missing(&mut locked, db, &keys).is_some() {
                        continue;
                    }
                    let mut view = View::new(engine, locked, self.session(db));
                    let mut gate = Gate::default();
                    view.gate_reads(&keys, &mut gate);
                    let value = view.get(&keys[0]).map(value_of);
                    drop(view);
                    return self.check_point((db, &keys[0]), seen, value, gate);
                }
            }
        }
        Err(Violation::new("a key is fetched again and again"))
    }

    /// What the row of a key says, or the key itself if it is in memory. Nothing is fetched but
    /// what a row does not say.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn head(&self, db: u8, key: &[u8]) -> Result<Option<KeyHead>, Violation> {
        let engine = self.engine();
        let keys = [engine.key(key)];
        let read = Arc::<ReadHeads>::default();
        for _ in 0..FETCHES_MAX {
            let mut view = View::new(engine, engine.lock(&keys), self.session(db));
            let Some(missing) = view.missing(&keys) else { return Ok(view.head(&keys[0])) };
            match view.heads_of(missing, Some(&read)) {
                Ok(known) => return Ok(view.with_heads(&known).head(&keys[0])),
                Err(unknown) => {
                    drop(view);
                    self.read_unknown(&keys, unknown, &read)?;
                }
            }
        }
        Err(Violation::new("the head of a key is fetched again and again"))
    }

    /// Reads what a command lacks that asks for what rows begin with.
    fn read_unknown(
        &self,
        keys: &[Key<'_>],
        unknown: Unknown,
        read: &Arc<ReadHeads>,
    ) -> Result<(), Violation> {
        match unknown {
            Unknown::Values(missing) => wait_for(&self.fetch(keys, missing)),
            Unknown::Heads(missing) => wait_for(&self.fetch_heads(missing, Arc::clone(read))),
        }
    }

    fn fetch_heads(&self, missing: Missing, read: Arc<ReadHeads>) -> Fetching {
        let (sender, fetching) = channel();
        let done = Box::new(move |result: Result<(), basalt_engine::EngineError>| {
            // The thread that asked may be gone.
            let _ = sender.send(result.map_err(|error| error.to_string()));
        });
        self.engine().fetch_heads(missing, read, done);
        fetching
    }

    /// The version of a key that is in memory.
    pub fn version(&self, db: u8, key: &[u8]) -> Version {
        let engine = self.engine();
        let keys = [engine.key(key)];
        let view = View::new(engine, engine.lock(&keys), self.session(db));
        view.peek(&keys[0]).map_or(Version::NONE, Object::version)
    }

    /// What a key holds that is in memory.
    pub(crate) fn content(&self, db: u8, key: &[u8]) -> Option<Content> {
        let engine = self.engine();
        let keys = [engine.key(key)];
        let view = View::new(engine, engine.lock(&keys), self.session(db));
        view.peek(&keys[0]).map(Content::of)
    }

    /// The shorter way to the same value, which may say that it does not know.
    fn check_point(
        &self,
        (db, key): (u8, &Key<'_>),
        seen: EntryHint,
        value: Option<Value>,
        mut gate: Gate,
    ) -> Result<Option<Value>, Violation> {
        let (engine, session) = (self.engine(), self.session(db));
        let mut point_gate = Gate::default();
        let point = engine
            .read_point(key, seen, &session, &mut point_gate, |point| point.object().map(value_of));
        // The point first: what the log acknowledges between the two then counts for the view.
        let is_acknowledged = |gate: &mut Gate| gate.poll(engine.log()) == Fate::Acknowledged;
        let point_is_open = is_acknowledged(&mut point_gate);
        let is_open = is_acknowledged(&mut gate);
        match point {
            Some(other) if other != value => Err(Violation::new("a point and a view differ")),
            Some(_) if !is_open && point_is_open => {
                Err(Violation::new("a point does not wait for what a view waits for"))
            }
            _ => Ok(value),
        }
    }

    /// Has a key fetched if it has to be.
    pub fn start_fetch(&self, db: u8, key: &[u8]) -> Option<Fetching> {
        let engine = self.engine();
        let keys = [engine.key(key)];
        let mut locked = engine.lock(&keys);
        let missing = engine.missing(&mut locked, db, &keys)?;
        drop(locked);
        Some(self.fetch(&keys, missing))
    }

    /// Has keys fetched; their partitions as a whole while a read is held up: it may be of one of
    /// these keys, and a command that asks for a key that is being read waits for that
    /// read.
    fn fetch(&self, keys: &[Key<'_>], missing: Missing) -> Fetching {
        if self.stage.is_waiting(Point::Read) {
            return self.start_load(keys.iter().map(|key| key.partition).collect());
        }
        let (sender, fetching) = channel();
        let done = Box::new(move |result: Result<(), basalt_engine::EngineError>| {
            // The thread that asked may be gone.
            let _ = sender.send(result.map_err(|error| error.to_string()));
        });
        self.engine().fetch(missing, done);
        fetching
    }

    /// Walks over a database, some keys at a time, in memory and on disk.
    ///
    /// # Errors
    /// Rows cannot be read, or a key is met twice: a cursor is a place among hashes.
    pub fn walk(&self, db: u8, keys: usize) -> Result<BTreeSet<Vec<u8>>, Violation> {
        let walk = Walk { db, now_ms: self.now_ms(), wait: LockWait::Endless };
        let limits = WalkLimits { keys, buckets: 64 };
        let (mut met, mut rows, mut at) = (BTreeSet::new(), WalkedRows::default(), Cursor::START);
        let mut twice = None;
        loop {
            let step = self.engine().walk_keys(walk, at, &mut { limits }, &rows, &mut |key, _| {
                if !met.insert(key.to_vec()) {
                    twice = Some(key.to_vec());
                }
            });
            if let Some(key) = twice {
                let key = String::from_utf8_lossy(&key);
                return Err(Violation(format!("a walk has met {key} twice")));
            }
            match step {
                Ok(Cursor::START) => return Ok(met),
                Ok(next) => at = next,
                Err(WalkEnd::Unread(wanted)) => {
                    let (sender, read) = channel();
                    let done = move |result: Result<WalkedRows, basalt_engine::EngineError>| {
                        // The thread that asked may be gone.
                        let _ = sender.send(result.map_err(|error| error.to_string()));
                    };
                    self.engine().fetch_rows(wanted, Box::new(done));
                    let result = read.recv_timeout(WAIT_MAX);
                    rows = result
                        .map_err(|_| Violation::new("rows are never read"))?
                        .map_err(|error| Violation(format!("rows cannot be read: {error}")))?;
                }
                Err(WalkEnd::Held) => return Err(Violation::new("an endless wait has ended")),
            }
        }
    }

    /// Has partitions fetched whole.
    pub fn start_load(&self, partitions: Vec<PartitionId>) -> Fetching {
        let (sender, fetching) = channel();
        let done = Box::new(move |result: Result<(), basalt_engine::EngineError>| {
            // The thread that asked may be gone.
            let _ = sender.send(result.map_err(|error| error.to_string()));
        });
        self.engine().fetch_partitions(partitions, done);
        fetching
    }

    /// Waits for a gate as a connection does.
    ///
    /// # Errors
    /// If it does not open.
    pub fn wait_for_gate(&self, mut gate: Gate) -> Result<(), Violation> {
        let log = self.engine().log();
        let start = Instant::now();
        while gate.poll(log) != Fate::Acknowledged {
            log.kick();
            if start.elapsed() > WAIT_MAX {
                return Err(Violation::new("a reply is never acknowledged"));
            }
            std::thread::yield_now();
        }
        Ok(())
    }

    /// Every key of a database that is in memory, expired ones included.
    ///
    /// # Errors
    /// If a partition is not wholly in memory.
    pub fn dump(&self, db: u8) -> Result<BTreeMap<Vec<u8>, Value>, Violation> {
        let walk = Walk { db, now_ms: 0, wait: LockWait::Endless };
        let mut keys = BTreeMap::new();
        self.engine()
            .scan(walk, Cursor::START, &mut { WalkLimits::NONE }, |key, object| {
                keys.insert(key.to_vec(), value_of(object));
            })
            .map_err(|_| Violation::new("a partition that was loaded is not in memory"))?;
        Ok(keys)
    }
}

/// Waits for a fetch.
///
/// # Errors
/// If it fails or never ends.
pub fn wait_for(fetching: &Fetching) -> Result<(), Violation> {
    match fetching.recv_timeout(WAIT_MAX) {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(Violation(format!("a fetch failed: {error}"))),
        Err(error) => Err(Violation(format!("a fetch never ends: {error}"))),
    }
}

fn value_of(object: Object<'_>) -> Value {
    let content = Arc::new(Content::of(object));
    Value { content, expire_ms: object.expire_ms(), version: object.version() }
}
