//! The log between the engine and the journal: it writes down which versions keys are given, so
//! that the model also knows those that no command has asked for. It can be broken on purpose, so
//! that a test can show that it would notice.

use basalt_change::op::{self, Op, Origin, Scope};
use basalt_change::place::{ShardId, ShardSet};
use basalt_change::version::Version;
use basalt_engine::{CommitLog, Fate, Gate, LogError, Refusal, Ticket};
use basalt_journal_log::JournalLog;
use basalt_stdx::lent::Parts;
use basalt_stdx::varint;
use basalt_value::Kind;
use basalt_value::item::Item;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Of this number of changes of the kind that is forgotten, one is.
const CHANGES_A_LOSS: u64 = 8;

/// What is wrong with the log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Lie {
    /// It acknowledges what is not on disk.
    Early,
    /// It forgets some changes of elements.
    Forgetful,
    /// It forgets some versions.
    Unversioned,
    /// It forgets some versions of sets' members.
    Unattributed,
    /// Of versions that time has moved, it keeps some earlier one of the key.
    Backward,
}

/// A key was given a version, by the record at this position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Given {
    pub(crate) shard: ShardId,
    pub(crate) position: u64,
    pub(crate) db: u8,
    pub(crate) key: Vec<u8>,
    pub(crate) version: Version,
}

impl Given {
    pub(crate) fn is_of(&self, db: u8, key: &[u8]) -> bool {
        (self.db, &self.key[..]) == (db, key)
    }
}

/// The versions that keys were given and nobody has asked about yet.
#[derive(Default)]
pub(crate) struct Book {
    given: Mutex<Vec<Given>>,
    /// What is logged now is done by time, and not by a command.
    time_works: AtomicBool,
}

impl Book {
    /// Those since this was called last.
    pub(crate) fn take(&self) -> Vec<Given> {
        std::mem::take(&mut *self.given.lock())
    }

    /// What is logged from now on is done by time, or by commands.
    pub(crate) fn set_time_works(&self, works: bool) {
        // Relaxed: asked by the thread that sets it.
        self.time_works.store(works, Ordering::Relaxed);
    }

    fn note(&self, shard: ShardId, position: u64, record: &[u8]) {
        let (_, ops) = op::decode(record).expect("the engine wrote it");
        for op in ops.map(|op| op.expect("the engine wrote it")) {
            if let Op::Version { db, key, version } = op {
                let key = key.to_vec();
                self.given.lock().push(Given { shard, position, db, key, version });
            }
        }
    }
}

/// See the head of this file.
pub(crate) struct WatchedLog {
    log: Arc<JournalLog>,
    lie: Option<Lie>,
    book: Arc<Book>,
    /// Changes of the kind that is forgotten.
    candidates: AtomicU64,
    /// The first version of each key.
    first: Mutex<BTreeMap<Vec<u8>, Version>>,
}

impl WatchedLog {
    pub(crate) fn new(log: Arc<JournalLog>, lie: Option<Lie>, book: Arc<Book>) -> WatchedLog {
        WatchedLog { log, lie, book, candidates: AtomicU64::new(0), first: Mutex::default() }
    }

    /// What is kept of a record.
    fn kept(&self, lie: Lie, record: &[u8]) -> Vec<u8> {
        let Ok((Scope::Partition(partition), ops)) = op::decode(record) else {
            return record.to_vec();
        };
        let mut kept = Vec::new();
        op::begin(&mut kept, partition);
        for op in ops.map(|op| op.expect("the engine wrote it")) {
            let op = if lie == Lie::Backward { self.backward(op) } else { op };
            let is_candidate = match lie {
                Lie::Early => false,
                // Of collections that are there already.
                Lie::Forgetful => matches!(op, Op::Edit(edit) if edit.origin == Origin::Existing),
                Lie::Unversioned => matches!(op, Op::Version { .. }),
                Lie::Unattributed => {
                    matches!(op, Op::Edit(edit) if edit.kind == Kind::Set as u8)
                }
                Lie::Backward => false,
            };
            // Relaxed: a lone number.
            let number = || self.candidates.fetch_add(1, Ordering::Relaxed);
            if !is_candidate || !number().is_multiple_of(CHANGES_A_LOSS) {
                op.encode(&mut kept);
            } else if let (Lie::Unattributed, Op::Edit(edit)) = (lie, op) {
                let edits = &without_attributes(edit.edits);
                if !edits.is_empty() {
                    Op::Edit(op::Edit { edits, ..edit }).encode(&mut kept);
                }
            }
        }
        kept
    }

    /// What is kept of a version that time has moved: the first that the key has had in this life.
    fn backward<'op>(&self, op: Op<'op>) -> Op<'op> {
        let Op::Version { db, key, version } = op else { return op };
        let first = *self.first.lock().entry(key.to_vec()).or_insert(version);
        // Relaxed: see `Book::set_time_works`.
        let is_moved_by_time = self.book.time_works.load(Ordering::Relaxed);
        Op::Version { db, key, version: if is_moved_by_time { first } else { version } }
    }
}

/// The edits of a set but for its attributes.
fn without_attributes(edits: &[u8]) -> Vec<u8> {
    const ATTRIBUTE: u8 = 3;
    let (mut kept, mut rest) = (Vec::new(), edits);
    while let Some((&code, mut after)) = rest.split_first() {
        Item::take(&mut after).expect("an edit is of a member");
        if code == ATTRIBUTE {
            for _ in ["version", "expiry"] {
                varint::take(&mut after).expect("the engine wrote it");
            }
        } else {
            kept.extend_from_slice(&rest[..rest.len() - after.len()]);
        }
        rest = after;
    }
    kept
}

impl CommitLog for WatchedLog {
    fn append(&self, shard: ShardId, record: &[u8]) -> (u64, Ticket) {
        let appended = match self.lie {
            Some(lie) => self.log.append(shard, &self.kept(lie, record)),
            None => self.log.append(shard, record),
        };
        self.book.note(shard, appended.0, record);
        appended
    }

    fn prefetch(&self, shard: ShardId) {
        self.log.prefetch(shard);
    }

    fn append_all(&self, records: &[(ShardId, Parts<'_>)], appended: &mut Vec<(u64, Ticket)>) {
        let before = appended.len();
        let copies: Vec<_> =
            records.iter().map(|(shard, record)| (*shard, record.to_vec())).collect();
        match self.lie {
            Some(lie) => {
                let kept: Vec<_> =
                    copies.iter().map(|(shard, copy)| (*shard, self.kept(lie, copy))).collect();
                let kept: Vec<_> =
                    kept.iter().map(|(shard, record)| (*shard, record[..].into())).collect();
                self.log.append_all(&kept, appended);
            }
            None => self.log.append_all(records, appended),
        }
        for ((shard, record), (position, _)) in copies.iter().zip(&appended[before..]) {
            self.book.note(*shard, *position, record);
        }
    }

    fn gates_replies(&self) -> bool {
        self.log.gates_replies()
    }

    fn ticket_stream(&self, shard: ShardId) -> u16 {
        self.log.ticket_stream(shard)
    }

    fn fate(&self, ticket: Ticket) -> Fate {
        if self.lie == Some(Lie::Early) { Fate::Acknowledged } else { self.log.fate(ticket) }
    }

    fn latest(&self, shards: ShardSet, gate: &mut Gate) {
        self.log.latest(shards, gate);
    }

    fn admit(&self, shard: ShardId) -> Result<(), Refusal> {
        self.log.admit(shard)
    }

    fn admit_removal(&self, shard: ShardId) -> Result<(), Refusal> {
        self.log.admit_removal(shard)
    }

    fn kick(&self) {
        if self.lie != Some(Lie::Early) {
            self.log.kick();
        }
    }

    fn subscribe(&self, wake: Arc<dyn Fn() + Send + Sync>) {
        self.log.subscribe(wake);
    }

    fn sync(&self, through: &[(ShardId, u64)]) -> Result<(), LogError> {
        self.log.sync(through)
    }

    fn positions(&self) -> Vec<u64> {
        self.log.positions()
    }

    fn trim(&self, through: &[u64]) {
        self.log.trim(through);
    }

    fn bytes_to_replay(&self) -> u64 {
        self.log.bytes_to_replay()
    }
}
