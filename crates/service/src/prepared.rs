//! HOT PATH
//! What is known of a request before it runs: in a batch, and in the queue of a transaction.

use crate::collection_target::CollectionTarget;
use basalt_change::place::PartitionId;
use basalt_engine::{Engine, EntryHint, Key};
use basalt_resp::Arg;
use basalt_spec::CommandId;

/// A request whose command has been found.
#[derive(Clone, Copy, Debug, Default)]
pub struct Prepared {
    /// Its command, if there is one of that name.
    pub command: Option<CommandId>,
    /// Its first key, once it has a partition; before, the word behind its name, if that is known.
    pub key: Arg,
    /// Of its first key.
    pub hash: u64,
    /// Of its first key, if it has one.
    pub partition: Option<PartitionId>,
    /// The database that was selected when it was parsed; good enough to prefetch.
    pub db: u8,
    /// What of a collection is prefetched.
    pub target: CollectionTarget,
    /// A request before it in its batch has the same key.
    pub repeats: bool,
    /// Where the entry of its first key was seen.
    pub seen: EntryHint,
}

impl Prepared {
    /// There is something of a collection to be prefetched that no request before has named.
    #[inline]
    pub fn prefetches_collection(&self) -> bool {
        match self.target {
            CollectionTarget::Nothing => false,
            CollectionTarget::Collection { .. } => !self.repeats,
            _ => true,
        }
    }

    /// A request of this command, with nothing found out about it but which word follows its name.
    #[inline(always)]
    pub fn of(command: Option<CommandId>, db: u8, key: Arg) -> Prepared {
        Prepared { command, db, key, ..Prepared::default() }
    }

    /// Its first key, in the buffer of the batch in which it was found; `None` if it has none.
    #[inline(always)]
    pub fn key_in<'a>(&self, buffer: &'a [u8]) -> Option<Key<'a>> {
        Some(Key { bytes: self.key.of(buffer), hash: self.hash, partition: self.partition? })
    }

    /// Brings the bucket of the first key into the cache.
    #[inline]
    pub fn prefetch_bucket(&self, engine: &Engine) {
        if let Some(partition) = self.partition
            && !self.repeats
        {
            engine.prefetch_bucket(self.db, self.hash, partition);
        }
    }

    /// Brings into the cache where it is noted whether the first key's latest change is
    /// acknowledged.
    #[inline]
    pub fn prefetch_unacknowledged(&self, engine: &Engine) {
        if let Some(partition) = self.partition
            && !self.repeats
        {
            engine.prefetch_unacknowledged(partition);
        }
    }

    /// Brings the entry of the first key into the cache, and notes where it was seen.
    #[inline]
    pub fn prefetch_entry(&mut self, engine: &Engine) {
        if let Some(partition) = self.partition
            && !self.repeats
        {
            self.seen = engine.prefetch_entry(self.db, self.hash, partition);
        }
    }
}
