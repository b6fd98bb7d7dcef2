//! Asking to be told when something moves that is published without a lock.
//!
//! The watcher sets the flag, then looks at what it waits for; the publisher publishes, then looks
//! at the flag. A fence stands between the two on both sides: either the publisher sees the flag,
//! or the watcher sees what was published. Only the first publication after the flag was set tells
//! the watcher.

use crate::sync::atomic::{AtomicBool, Ordering, fence};

/// Whether a thread has just begun to watch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Watch {
    /// It has: it looks once more at what it waits for.
    Begins,
    /// It watches already, and nothing has moved since it began, or the news is on its way.
    GoesOn,
}

/// See the head of this file. One thread watches.
#[derive(Debug, Default)]
pub struct WatchFlag {
    watches: AtomicBool,
}

impl WatchFlag {
    /// The calling thread, always the same one, wants to be told.
    pub fn watch(&self) -> Watch {
        // This thread alone sets the flag: what it finds set has been so since then.
        if self.watches.load(Ordering::Relaxed) {
            return Watch::GoesOn;
        }
        self.watches.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        Watch::Begins
    }

    /// Something has been published: whether the caller has to tell the watcher.
    pub fn has_to_tell(&self) -> bool {
        fence(Ordering::SeqCst);
        self.watches.load(Ordering::Relaxed) && self.watches.swap(false, Ordering::Relaxed)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn one_publication_tells() {
        let flag = WatchFlag::default();
        assert!(!flag.has_to_tell(), "nobody watches");
        for _ in 0..2 {
            assert_eq!([flag.watch(), flag.watch()], [Watch::Begins, Watch::GoesOn]);
            assert_eq!([flag.has_to_tell(), flag.has_to_tell()], [true, false]);
        }
    }
}
