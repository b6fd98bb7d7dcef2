//! HOT PATH
//! The journal as the engine's log: one process, nobody to agree with.
//!
//! All shards share the journal's group commit, so there is one stream of tickets, and a ticket is
//! a group's number. Replies wait for it only under `appendfsync always`; those that are to be on
//! disk whatever the policy wait for a second stream of the same groups.

use basalt_change::place::{ShardId, ShardSet};
use basalt_engine::{CommitLog, Fate, Gate, LogError, Refusal, Ticket};
use basalt_journal::{FsyncPolicy, Group, Health, Journal, Seq, Stats, StreamId};
use basalt_stdx::lent::Parts;
use basalt_stdx::prefetch::prefetch;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The stream of the tickets of all changes.
const ALL: u16 = 0;
/// That of changes that are to be on disk before they are answered.
const ON_DISK: u16 = 1;

/// Whether checkpoints cut the journal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trimming {
    /// They do.
    AfterCheckpoint,
    /// The cold tier does not survive the process, so that the journal must keep everything.
    Never,
}

/// See the head of this file.
pub struct JournalLog {
    pub(crate) journal: Journal,
    pub(crate) trimming: Trimming,
    pub(crate) gates: AtomicBool,
    /// The highest group that any append got; kept only while replies are gated.
    pub(crate) latest: AtomicU64,
}

impl JournalLog {
    /// Changes when groups are synced (`CONFIG SET appendfsync`).
    pub fn set_policy(&self, policy: FsyncPolicy) {
        // Before the journal wakes its subscribers: else they find that replies still wait, and
        // nothing wakes them again.
        self.gates.store(policy == FsyncPolicy::Always, Ordering::Release);
        self.journal.set_policy(policy);
    }

    /// Numbers for the operator.
    pub fn stats(&self) -> Stats {
        self.journal.stats()
    }

    /// Whether the journal can take and keep records.
    pub fn health(&self) -> Health {
        self.journal.health()
    }

    /// See [`Journal::set_on_reserve`].
    pub fn set_on_reserve(&self, on_reserve: bool) {
        self.journal.set_on_reserve(on_reserve);
    }

    /// See [`Journal::set_backlog`].
    pub fn set_backlog(&self, percent: u32) {
        self.journal.set_backlog(percent);
    }

    #[inline]
    fn ticket(&self, group: u64) -> Ticket {
        // Looked at first: of the changes of a group only one has to write there.
        if self.gates_replies() && self.latest.load(Ordering::Relaxed) < group {
            self.latest.fetch_max(group, Ordering::Relaxed);
        }
        Ticket { stream: ALL, position: group }
    }
}

impl JournalLog {
    /// Makes the journal's steps that are due, if the caller drives it: [`Journal::step`].
    ///
    /// # Errors
    /// The journal has failed.
    pub fn step(&self) -> Result<bool, LogError> {
        self.journal.step().map_err(|error| LogError(error.to_string()))
    }
}

impl CommitLog for JournalLog {
    #[inline]
    fn append(&self, shard: ShardId, record: &[u8]) -> (u64, Ticket) {
        let (seq, group) = self.journal.append(StreamId(shard.number()), &[record]);
        (seq.0, self.ticket(group.0))
    }

    #[inline]
    fn prefetch(&self, shard: ShardId) {
        prefetch(self.journal.address(StreamId(shard.number())));
    }

    fn append_all(&self, records: &[(ShardId, Parts<'_>)], appended: &mut Vec<(u64, Ticket)>) {
        let records: Vec<(StreamId, Parts<'_>)> =
            records.iter().map(|&(shard, record)| (StreamId(shard.number()), record)).collect();
        let mut seqs = Vec::with_capacity(records.len());
        let group = self.journal.append_atomically(&records, &mut seqs);
        let ticket = self.ticket(group.0);
        appended.extend(seqs.iter().map(|seq| (seq.0, ticket)));
    }

    #[inline]
    fn gates_replies(&self) -> bool {
        // Relaxed: a change of policy takes effect with some command soon after.
        self.gates.load(Ordering::Relaxed)
    }

    fn ticket_stream(&self, _: ShardId) -> u16 {
        ALL
    }

    #[cold]
    fn on_disk(&self, ticket: Ticket) -> Ticket {
        self.journal.want_durable(Group(ticket.position));
        Ticket { stream: ON_DISK, ..ticket }
    }

    #[inline]
    fn fate(&self, ticket: Ticket) -> Fate {
        // Asked first: after it has failed, no group becomes durable.
        let has_failed = self.journal.has_failed();
        let is_waited_for = ticket.stream == ON_DISK || self.gates_replies();
        if self.journal.durable().0 >= ticket.position || !is_waited_for {
            Fate::Acknowledged
        } else if has_failed {
            Fate::Unknown
        } else {
            Fate::Pending
        }
    }

    fn latest(&self, _: ShardSet, gate: &mut Gate) {
        let position = self.latest.load(Ordering::Relaxed);
        gate.add(Ticket { stream: ALL, position });
    }

    #[inline]
    fn admit(&self, _: ShardId) -> Result<(), Refusal> {
        if self.journal.accepting() { Ok(()) } else { Err(self.refusal()) }
    }

    #[inline]
    fn admitting(&self) -> ShardSet {
        if self.journal.accepting() { ShardSet::ALL } else { ShardSet::EMPTY }
    }

    fn admit_all(&self, _: ShardSet) -> Result<(), Refusal> {
        if self.journal.accepting() { Ok(()) } else { Err(self.refusal()) }
    }

    fn admit_removal(&self, _: ShardId) -> Result<(), Refusal> {
        if self.journal.accepting_removals() { Ok(()) } else { Err(self.refusal()) }
    }

    fn kick(&self) {
        self.journal.kick();
    }

    fn subscribe(&self, wake: Arc<dyn Fn() + Send + Sync>) {
        self.journal.subscribe(wake);
    }

    fn sync(&self, _: &[(ShardId, u64)]) -> Result<(), LogError> {
        self.journal.sync().map(|_| ()).map_err(|error| LogError(error.to_string()))
    }

    fn positions(&self) -> Vec<u64> {
        self.journal.positions().iter().map(|seq| seq.0).collect()
    }

    #[cold]
    fn trim(&self, through: &[u64]) {
        if self.trimming == Trimming::Never {
            return;
        }
        let through: Vec<Seq> = through.iter().map(|&position| Seq(position)).collect();
        if let Err(error) = self.journal.trim(&through) {
            tracing::warn!(%error, "the journal could not be trimmed");
        }
    }

    fn bytes_to_replay(&self) -> u64 {
        match self.trimming {
            Trimming::AfterCheckpoint => self.journal.bytes_since_trim(),
            Trimming::Never => 0,
        }
    }
}

impl JournalLog {
    #[cold]
    fn refusal(&self) -> Refusal {
        match self.journal.health() {
            Health::Ok => Refusal::Busy,
            Health::DiskFull => Refusal::DiskFull,
            Health::Failed(reason) => Refusal::Failed(reason),
        }
    }
}
