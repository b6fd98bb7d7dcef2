//! HOT PATH
//! Partitions that commands have found held, and for which they will ask again.
//!
//! No network thread waits long for a partition: a command that finds one held tries again every
//! two milliseconds. A client that calls one long script after the other leaves it free for some
//! microseconds in between, which nobody else would ever meet. So a command that finds a partition
//! held notes it here, and what may take long lets such commands go first, once: it tries a little
//! later, and then takes what it needs whatever is noted. A note that nobody takes away costs one
//! later call that little.

use basalt_change::place::{PARTITIONS, PartitionId};
use basalt_engine::{Claims, Engine, Key};
use std::sync::atomic::{AtomicU64, Ordering};

const PARTITIONS_A_WORD: usize = u64::BITS as usize;

/// See the head of this file. Relaxed: a note that is seen late costs one more attempt.
#[derive(Debug)]
pub(super) struct Contested {
    words: [AtomicU64; PARTITIONS / PARTITIONS_A_WORD],
}

impl Default for Contested {
    fn default() -> Contested {
        Contested { words: [const { AtomicU64::new(0) }; _] }
    }
}

impl Contested {
    /// A command has found a partition of its keys held. The others' are not noted: a command with
    /// thousands of keys, of which one is held, would hold up scripts on all of them.
    #[cold]
    pub(super) fn note(&self, engine: &Engine, keys: &[Key<'_>]) {
        self.note_held(engine, keys.iter().map(|key| key.partition));
    }

    /// As [`Contested::note`], for what is claimed.
    #[cold]
    pub(super) fn note_claims(&self, engine: &Engine, claims: &Claims<'_>) {
        match claims.everything {
            true => self.note_held(engine, PartitionId::all()),
            false => self.note(engine, &claims.keys),
        }
    }

    fn note_held(&self, engine: &Engine, partitions: impl Iterator<Item = PartitionId>) {
        for partition in partitions.filter(|partition| engine.is_held(*partition)) {
            let (word, bit) = self.place(partition);
            word.fetch_or(bit, Ordering::Relaxed);
        }
    }

    /// Whether nothing is noted.
    pub(super) fn is_empty(&self) -> bool {
        self.words.iter().all(|word| word.load(Ordering::Relaxed) == 0)
    }

    /// Whether commands wait for a partition of what is claimed; that is no longer noted then.
    #[inline]
    pub(super) fn take(&self, claims: &Claims<'_>) -> bool {
        match claims.everything {
            true => self.take_all(),
            false => self.take_of(&claims.keys),
        }
    }

    /// Whether commands wait for the partition of one of these keys; that is no longer noted then.
    #[inline]
    pub(super) fn take_of(&self, keys: &[Key<'_>]) -> bool {
        let mut is_contested = false;
        for key in keys {
            let (word, bit) = self.place(key.partition);
            if word.load(Ordering::Relaxed) & bit != 0 {
                is_contested |= word.fetch_and(!bit, Ordering::Relaxed) & bit != 0;
            }
        }
        is_contested
    }

    fn take_all(&self) -> bool {
        let mut is_contested = false;
        for word in &self.words {
            if word.load(Ordering::Relaxed) != 0 {
                is_contested |= word.swap(0, Ordering::Relaxed) != 0;
            }
        }
        is_contested
    }

    #[inline]
    fn place(&self, partition: PartitionId) -> (&AtomicU64, u64) {
        let number = partition.index();
        (&self.words[number / PARTITIONS_A_WORD], 1 << (number % PARTITIONS_A_WORD))
    }
}
