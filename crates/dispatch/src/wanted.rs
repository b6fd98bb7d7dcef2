//! HOT PATH
//! Partitions that commands have found held, and for which they will ask again.
//!
//! No network thread waits long for a partition: a command that finds one held tries again every
//! two milliseconds. A client that calls one long script after the other leaves it free for some
//! microseconds in between, and nobody else would ever meet these. So who comes to a partition that
//! is held notes that here, and what may take long lets such commands go first, once: it tries a
//! little later, and then takes what it needs whatever is noted. A note that nobody takes away
//! costs one later call that little.

use basalt_change::place::{PARTITIONS, PartitionId};
use basalt_engine::{Claims, Key};
use std::sync::atomic::{AtomicU64, Ordering};

const PARTITIONS_A_WORD: usize = 64;

/// See the head of this file. Relaxed: a note that is seen late costs one more attempt.
#[derive(Debug)]
pub(super) struct Wanted {
    words: Box<[AtomicU64]>,
}

impl Default for Wanted {
    fn default() -> Wanted {
        let words = PARTITIONS.div_ceil(PARTITIONS_A_WORD);
        Wanted { words: (0..words).map(|_| AtomicU64::new(0)).collect() }
    }
}

impl Wanted {
    /// A command has found a partition of its keys held.
    #[cold]
    pub(super) fn note(&self, keys: &[Key<'_>]) {
        for key in keys {
            let (word, bit) = self.place(key.partition);
            word.fetch_or(bit, Ordering::Relaxed);
        }
    }

    /// Whether nothing is noted.
    pub(super) fn is_empty(&self) -> bool {
        self.words.iter().all(|word| word.load(Ordering::Relaxed) == 0)
    }

    /// Whether commands wait for one of these partitions; that is no longer noted then.
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
        let mut is_wanted = false;
        for key in keys {
            let (word, bit) = self.place(key.partition);
            if word.load(Ordering::Relaxed) & bit != 0 {
                is_wanted |= word.fetch_and(!bit, Ordering::Relaxed) & bit != 0;
            }
        }
        is_wanted
    }

    fn take_all(&self) -> bool {
        let mut is_wanted = false;
        for word in &self.words {
            if word.load(Ordering::Relaxed) != 0 {
                is_wanted |= word.swap(0, Ordering::Relaxed) != 0;
            }
        }
        is_wanted
    }

    #[inline]
    fn place(&self, partition: PartitionId) -> (&AtomicU64, u64) {
        let number = partition.index();
        (&self.words[number / PARTITIONS_A_WORD], 1 << (number % PARTITIONS_A_WORD))
    }
}
