//! HOT PATH
//! The door to the log: what the engine asks of whatever makes changes durable.
//!
//! Alone, the journal is behind it; in a cluster, consensus will be. The engine therefore assumes
//! nothing that only a journal gives: acknowledgement is asked for per shard and position, comes
//! asynchronously and may never come; see `docs/commit-log.md`.

use basalt_change::place::{ShardId, ShardSet};
use basalt_stdx::lent::Parts;
use std::sync::Arc;

/// What a reply waits for: an acknowledgement by the log. Tickets of one stream are ordered, and an
/// acknowledgement covers all earlier tickets of its stream; between streams there is no order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ticket {
    /// Which sequence of acknowledgements: one for all shards in the journal, which acknowledges
    /// in groups over all of them; one a shard under consensus.
    pub stream: u16,
    /// Position in that sequence.
    pub position: u64,
}

const _: () = assert!(size_of::<Ticket>() == 16, "a gate of one ticket is two words and a vector");

/// What has become of a change; of several, the greatest counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Fate {
    /// It can no longer be taken back.
    Acknowledged,
    /// It has certainly not been made, and is safe to be made again.
    Lost,
    /// It is not known yet; the log wakes its subscribers when it is.
    Pending,
    /// The log failed before it knew. A restart may find the change or not.
    Unknown,
}

/// Until when the reply to a change waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Durability {
    /// As long as the log's policy says.
    #[default]
    ByPolicy,
    /// Until the change is on disk, whatever the policy.
    OnDisk,
}

/// Everything that one reply waits for.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Gate {
    /// At most one ticket a stream; nearly always none or one, so that one is held without memory
    /// of its own.
    first: Option<Ticket>,
    /// None if there is no first.
    others: Vec<Ticket>,
    /// For changes from now on.
    durability: Durability,
}

impl Gate {
    /// Has the changes from now on be waited for so long.
    #[inline]
    pub fn demand(&mut self, durability: Durability) {
        self.durability = durability;
    }

    /// How long the changes from now on are waited for.
    #[inline]
    pub fn durability(&self) -> Durability {
        self.durability
    }

    /// Waits for a change with this ticket, though the log's policy would not have it.
    #[inline]
    pub fn add_demanded(&mut self, ticket: Ticket, log: &dyn CommitLog) {
        if self.durability == Durability::OnDisk {
            self.add(log.on_disk(ticket));
        }
    }

    /// Waits for nothing but that what this one waits for is on disk.
    #[must_use]
    pub fn demanded_on_disk(&self, log: &dyn CommitLog) -> Gate {
        let mut gate = Gate::default();
        let tickets = self.first.iter().chain(&self.others);
        tickets.for_each(|&ticket| gate.add(log.on_disk(ticket)));
        gate
    }

    /// Waits for this ticket, too.
    #[inline]
    pub fn add(&mut self, ticket: Ticket) {
        match &mut self.first {
            Some(first) if first.stream == ticket.stream => {
                first.position = first.position.max(ticket.position);
            }
            Some(_) => self.add_to_others(ticket),
            None => self.first = Some(ticket),
        }
    }

    #[cold]
    fn add_to_others(&mut self, ticket: Ticket) {
        match self.others.iter_mut().find(|held| held.stream == ticket.stream) {
            Some(held) => held.position = held.position.max(ticket.position),
            None => self.others.push(ticket),
        }
    }

    /// Waits for all that `other` waits for, too.
    pub fn merge(&mut self, other: &Gate) {
        other.first.iter().chain(&other.others).for_each(|&ticket| self.add(ticket));
    }

    /// Waits for nothing.
    #[inline]
    pub fn is_open(&self) -> bool {
        self.first.is_none()
    }

    /// Forgets what the log has acknowledged, and returns what is known of all: `Acknowledged` if
    /// nothing is left to wait for.
    #[inline]
    pub fn poll(&mut self, log: &dyn CommitLog) -> Fate {
        let Some(first) = self.first else { return Fate::Acknowledged };
        if !self.others.is_empty() {
            return self.poll_several(log);
        }
        let fate = log.fate(first);
        if fate == Fate::Acknowledged {
            self.first = None;
        }
        fate
    }

    #[cold]
    fn poll_several(&mut self, log: &dyn CommitLog) -> Fate {
        let mut all = Fate::Acknowledged;
        self.others.extend(self.first.take());
        self.others.retain(|&ticket| {
            let fate = log.fate(ticket);
            all = all.max(fate);
            fate != Fate::Acknowledged
        });
        self.first = self.others.pop();
        all
    }

    /// Takes the tickets out, and what is demanded.
    pub fn take(&mut self) -> Gate {
        std::mem::take(self)
    }
}

/// Whether replies wait for the log's acknowledgement: [`CommitLog::gates_replies`] as asked once
/// for several commands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gating {
    /// They do.
    On,
    /// They do not.
    Off,
}

/// Why the log does not take changes now.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Refusal {
    /// The disk is full. It is tried again; reads go on.
    #[error("No space left on device")]
    DiskFull,
    /// Changes come faster than the disk takes them; wait for a wake-up and try again.
    #[error("the log's buffers are full")]
    Busy,
    /// The log failed for good: the process must be restarted.
    #[error("the log failed and takes no more changes until a restart: {0}")]
    Failed(String),
}

/// A log operation that failed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct LogError(pub String);

/// Takes ChangeSet records, one stream a shard, and acknowledges them.
pub trait CommitLog: Send + Sync {
    /// Appends one record. The caller holds the lock of the record's partition, so that the order
    /// of calls is the order of changes. Returns the record's position in the stream and the ticket
    /// that its reply waits for.
    fn append(&self, shard: ShardId, record: &[u8]) -> (u64, Ticket);

    /// Brings into the cache what the next append to this shard touches first.
    fn prefetch(&self, _: ShardId) {}

    /// Appends records that must survive together or not at all, as far as they are of one shard;
    /// in a log that acknowledges all shards as one, whatever their shards. The end of a record may
    /// be lent: the log keeps a share of it in place of a copy, for as long as it needs it. What
    /// [`CommitLog::append`] returns for each goes to `appended`, in the order of `records`.
    fn append_all(&self, records: &[(ShardId, Parts<'_>)], appended: &mut Vec<(u64, Ticket)>);

    /// Whether replies and dirty reads wait for tickets at all. Constant while the log is open,
    /// except that an operator may switch it; a change takes effect with the next command.
    fn gates_replies(&self) -> bool;

    /// The stream of the tickets that changes of this shard get.
    fn ticket_stream(&self, shard: ShardId) -> u16;

    /// What a reply waits for that is to survive a loss of power, though replies wait for nothing
    /// otherwise: that the change with this ticket is on disk, where the log begins to bring it.
    fn on_disk(&self, ticket: Ticket) -> Ticket {
        ticket
    }

    /// What has become of the change with this ticket. Once it is not `Pending`, it stays what it
    /// is.
    fn fate(&self, ticket: Ticket) -> Fate;

    /// Everything that waits for this ticket may go.
    #[inline]
    fn is_acknowledged(&self, ticket: Ticket) -> bool {
        self.fate(ticket) == Fate::Acknowledged
    }

    /// Waits for every change so far of these shards: for replies that saw whole databases.
    fn latest(&self, shards: ShardSet, gate: &mut Gate);

    /// Whether a change of this shard may be appended now.
    ///
    /// # Errors
    /// Why not now.
    fn admit(&self, shard: ShardId) -> Result<(), Refusal>;

    /// The shards of which changes may be appended now.
    fn admitting(&self) -> ShardSet {
        ShardId::all().filter(|&shard| self.admit(shard).is_ok()).collect()
    }

    /// Whether changes of all these shards may be appended now.
    ///
    /// # Errors
    /// Why not now. That of a shard that takes none for long counts more than that of one whose
    /// buffers are full.
    fn admit_all(&self, shards: ShardSet) -> Result<(), Refusal> {
        let refusals = shards.iter().filter_map(|shard| self.admit(shard).err());
        refusals.max_by_key(|refusal| *refusal != Refusal::Busy).map_or(Ok(()), Err)
    }

    /// As [`CommitLog::admit`], for a record that is short and makes data smaller: a full disk
    /// takes such records for as long as it can, since nothing else makes room.
    ///
    /// # Errors
    /// Why not now.
    fn admit_removal(&self, shard: ShardId) -> Result<(), Refusal> {
        self.admit(shard)
    }

    /// A thread has appended all that it had at hand and is about to wait.
    fn kick(&self);

    /// Calls `wake` from the log's own thread whenever more is acknowledged or `admit` may answer
    /// differently.
    fn subscribe(&self, wake: Arc<dyn Fn() + Send + Sync>);

    /// Waits until what has been appended to these shards up to these positions can no longer be
    /// taken back: it is on disk, or committed.
    fn sync(&self, through: &[(ShardId, u64)]) -> Result<(), LogError>;

    /// [`CommitLog::sync`] for everything that has been appended so far.
    fn sync_all(&self) -> Result<(), LogError> {
        let through: Vec<(ShardId, u64)> = ShardId::all().zip(self.positions()).collect();
        self.sync(&through)
    }

    /// The position of each shard's latest record.
    fn positions(&self) -> Vec<u64>;

    /// Records up to these positions, one a shard, are not needed for recovery any more.
    fn trim(&self, through: &[u64]);

    /// Bytes that recovery would have to read now.
    fn bytes_to_replay(&self) -> u64;
}

#[cfg(test)]
mod tests {
    use super::{CommitLog, Fate, Gate, LogError, Refusal, Ticket};
    use basalt_change::place::{ShardId, ShardSet};
    use basalt_stdx::lent::Parts;
    use std::sync::Arc;

    /// Positions of which other things are known.
    const LOST: u64 = u64::MAX;
    const UNKNOWN: u64 = u64::MAX - 1;

    /// Has acknowledged the same position of every stream, and nothing else works.
    struct Acknowledged(u64);

    impl CommitLog for Acknowledged {
        fn append(&self, _: ShardId, _: &[u8]) -> (u64, Ticket) {
            unreachable!("a gate appends nothing")
        }
        fn append_all(&self, _: &[(ShardId, Parts<'_>)], _: &mut Vec<(u64, Ticket)>) {
            unreachable!("a gate appends nothing")
        }
        fn gates_replies(&self) -> bool {
            true
        }
        fn ticket_stream(&self, shard: ShardId) -> u16 {
            shard.number()
        }
        fn fate(&self, ticket: Ticket) -> Fate {
            match ticket.position {
                UNKNOWN => Fate::Unknown,
                LOST => Fate::Lost,
                position if position <= self.0 => Fate::Acknowledged,
                _ => Fate::Pending,
            }
        }
        fn latest(&self, _: ShardSet, _: &mut Gate) {}
        fn admit(&self, _: ShardId) -> Result<(), Refusal> {
            Ok(())
        }
        fn kick(&self) {}
        fn subscribe(&self, _: Arc<dyn Fn() + Send + Sync>) {}
        fn sync(&self, _: &[(ShardId, u64)]) -> Result<(), LogError> {
            Ok(())
        }
        fn positions(&self) -> Vec<u64> {
            Vec::new()
        }
        fn trim(&self, _: &[u64]) {}
        fn bytes_to_replay(&self) -> u64 {
            0
        }
    }

    #[test]
    fn a_gate_opens_when_the_last_ticket_of_every_stream_is_acknowledged() {
        let ticket = |stream, position| Ticket { stream, position };
        for order in [[0, 1, 2], [2, 0, 1], [1, 2, 0]] {
            let mut gate = Gate::default();
            assert!(gate.is_open());
            for stream in order {
                gate.add(ticket(stream, 5));
                gate.add(ticket(stream, 10 + u64::from(stream)));
                gate.add(ticket(stream, 7));
            }
            let mut merged = Gate::default();
            merged.merge(&gate);
            assert_eq!(merged, gate);
            for position in [9, 10, 11] {
                assert_eq!(gate.poll(&Acknowledged(position)), Fate::Pending, "{position}");
                assert!(!gate.is_open());
            }
            assert_eq!(gate.poll(&Acknowledged(12)), Fate::Acknowledged);
            assert!(gate.is_open());
        }
    }

    #[test]
    fn a_gate_says_the_worst_that_is_known() {
        for (positions, fate) in [
            (&[3][..], Fate::Acknowledged),
            (&[7], Fate::Pending),
            (&[LOST], Fate::Lost),
            (&[UNKNOWN], Fate::Unknown),
            (&[3, LOST], Fate::Lost),
            (&[LOST, 3], Fate::Lost),
            (&[LOST, 7], Fate::Pending),
            (&[7, 3, LOST], Fate::Pending),
            (&[LOST, 7, UNKNOWN], Fate::Unknown),
        ] {
            let mut gate = Gate::default();
            for (stream, &position) in (0..).zip(positions) {
                gate.add(Ticket { stream, position });
            }
            for _ in 0..2 {
                assert_eq!(gate.poll(&Acknowledged(5)), fate, "{positions:?}");
            }
            assert_eq!(gate.is_open(), fate == Fate::Acknowledged);
        }
    }
}
