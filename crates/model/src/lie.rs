//! A log that is broken on purpose, so that a test can show that it would notice.

use basalt_change::op::{self, Op, Origin, Scope};
use basalt_change::place::{ShardId, ShardSet};
use basalt_engine::{CommitLog, Fate, Gate, LogError, Refusal, Ticket};
use basalt_journal_log::JournalLog;
use basalt_stdx::lent::Parts;
use basalt_stdx::varint;
use basalt_value::Kind;
use basalt_value::item::Item;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

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
}

/// See the head of this file.
pub(crate) struct LyingLog {
    log: Arc<JournalLog>,
    lie: Lie,
    /// Changes of the kind that is forgotten.
    candidates: AtomicU64,
}

impl LyingLog {
    pub(crate) fn new(log: Arc<JournalLog>, lie: Lie) -> LyingLog {
        LyingLog { log, lie, candidates: AtomicU64::new(0) }
    }

    /// What is kept of a record.
    fn kept(&self, record: &[u8]) -> Vec<u8> {
        let Ok((Scope::Partition(partition), ops)) = op::decode(record) else {
            return record.to_vec();
        };
        let mut kept = Vec::new();
        op::begin(&mut kept, partition);
        for op in ops.map(|op| op.expect("the engine wrote it")) {
            let is_candidate = match self.lie {
                Lie::Early => false,
                // Of collections that are there already.
                Lie::Forgetful => matches!(op, Op::Edit(edit) if edit.origin == Origin::Existing),
                Lie::Unversioned => matches!(op, Op::Version { .. }),
                Lie::Unattributed => {
                    matches!(op, Op::Edit(edit) if edit.kind == Kind::Set as u8)
                }
            };
            // Relaxed: a lone number.
            let number = || self.candidates.fetch_add(1, Ordering::Relaxed);
            if !is_candidate || !number().is_multiple_of(CHANGES_A_LOSS) {
                op.encode(&mut kept);
            } else if let (Lie::Unattributed, Op::Edit(edit)) = (self.lie, op) {
                let edits = &without_attributes(edit.edits);
                if !edits.is_empty() {
                    Op::Edit(op::Edit { edits, ..edit }).encode(&mut kept);
                }
            }
        }
        kept
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

impl CommitLog for LyingLog {
    fn append(&self, shard: ShardId, record: &[u8]) -> (u64, Ticket) {
        self.log.append(shard, &self.kept(record))
    }

    fn append_all(&self, records: &[(ShardId, Parts<'_>)], appended: &mut Vec<(u64, Ticket)>) {
        let kept: Vec<_> =
            records.iter().map(|&(shard, record)| (shard, self.kept(&record.to_vec()))).collect();
        let kept: Vec<_> = kept.iter().map(|(shard, record)| (*shard, record[..].into())).collect();
        self.log.append_all(&kept, appended);
    }

    fn gates_replies(&self) -> bool {
        self.log.gates_replies()
    }

    fn ticket_stream(&self, shard: ShardId) -> u16 {
        self.log.ticket_stream(shard)
    }

    fn fate(&self, ticket: Ticket) -> Fate {
        if self.lie == Lie::Early { Fate::Acknowledged } else { self.log.fate(ticket) }
    }

    fn latest(&self, shards: ShardSet, gate: &mut Gate) {
        self.log.latest(shards, gate);
    }

    fn admit(&self, shard: ShardId) -> Result<(), Refusal> {
        self.log.admit(shard)
    }

    fn kick(&self) {
        if self.lie != Lie::Early {
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
