//! How the writer sleeps and who may wake it.
//!
//! The writer announces its sleep, then looks at every stream once more, taking each stream's lock,
//! and only then sleeps. An append that the look missed took its lock afterwards and so sees the
//! announcement: the locks order the two, the flag itself may be relaxed. The thread that takes the
//! announcement down wakes the writer, so that one sleep costs one system call however many records
//! follow.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread::Thread;
use std::time::Duration;

/// What wakes the writer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WakeOn {
    /// The first append.
    Append = 1,
    /// The end of a caller's turn: its records should gather first.
    Kick = 2,
}

const AWAKE: u8 = 0;

#[derive(Debug, Default)]
pub(crate) struct Sleeper {
    announced: AtomicU8,
    thread: OnceLock<Thread>,
}

impl Sleeper {
    /// Names the sleeping thread; done before anyone can want to wake it.
    pub(crate) fn adopt(&self, thread: &Thread) {
        self.thread.get_or_init(|| thread.clone());
    }

    #[inline]
    pub(crate) fn after_append(&self) {
        if self.announced.load(Ordering::Relaxed) == WakeOn::Append as u8 {
            self.wake_announced();
        }
    }

    #[inline]
    pub(crate) fn kick(&self) {
        if self.announced.load(Ordering::Relaxed) != AWAKE {
            self.wake_announced();
        }
    }

    /// Ends the current sleep, or the next one if there is none now.
    pub(crate) fn wake(&self) {
        self.announced.store(AWAKE, Ordering::Relaxed);
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }

    pub(crate) fn announce(&self, wake_on: WakeOn) {
        self.announced.store(wake_on as u8, Ordering::Relaxed);
    }

    pub(crate) fn stay_awake(&self) {
        self.announced.store(AWAKE, Ordering::Relaxed);
    }

    /// Sleeps until woken, or as long as said.
    pub(crate) fn sleep(&self, limit: Duration) {
        std::thread::park_timeout(limit);
        self.stay_awake();
    }

    #[cold]
    fn wake_announced(&self) {
        if self.announced.swap(AWAKE, Ordering::Relaxed) != AWAKE
            && let Some(thread) = self.thread.get()
        {
            thread.unpark();
        }
    }
}
