//! A log that acknowledges what is not on disk: broken on purpose, so that a test can show that it
//! would notice.

use basalt_change::place::ShardId;
use basalt_engine::{CommitLog, Gate, JournalLog, LogError, Refusal, Ticket};
use std::sync::Arc;

/// See the head of this file.
pub(crate) struct EarlyLog(pub(crate) JournalLog);

impl CommitLog for EarlyLog {
    fn append(&self, shard: ShardId, record: &[u8]) -> (u64, Ticket) {
        self.0.append(shard, record)
    }

    fn append_atomically(&self, records: &[(ShardId, &[u8])], positions: &mut Vec<u64>) -> Ticket {
        self.0.append_atomically(records, positions)
    }

    fn gates_replies(&self) -> bool {
        self.0.gates_replies()
    }

    fn ticket_stream(&self, shard: ShardId) -> u16 {
        self.0.ticket_stream(shard)
    }

    fn is_acknowledged(&self, _: Ticket) -> bool {
        true
    }

    fn latest(&self, gate: &mut Gate) {
        self.0.latest(gate);
    }

    fn admit(&self) -> Result<(), Refusal> {
        self.0.admit()
    }

    fn kick(&self) {}

    fn subscribe(&self, wake: Arc<dyn Fn() + Send + Sync>) {
        self.0.subscribe(wake);
    }

    fn sync(&self) -> Result<(), LogError> {
        self.0.sync()
    }

    fn positions(&self) -> Vec<u64> {
        self.0.positions()
    }

    fn trim(&self, through: &[u64]) {
        self.0.trim(through);
    }

    fn bytes_to_replay(&self) -> u64 {
        self.0.bytes_to_replay()
    }
}
