//! How a thread sleeps that others give work to, and which of them wakes it.
//!
//! The thread announces its sleep, then looks once more for work, taking each lock under which
//! others put it, and only then sleeps. Work that the look missed was put after that under its
//! lock, by a thread that therefore sees the announcement: the locks order the two, the flag itself
//! may be relaxed. The thread that takes the announcement down wakes the sleeper, so that one sleep
//! costs one system call however much work follows.

use crate::sync::Thread;
use crate::sync::atomic::{AtomicU8, Ordering};
use std::sync::OnceLock;
use std::time::Duration;

/// What wakes the sleeper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WakeOn {
    /// The first piece of work.
    Work = 1,
    /// The end of a caller's turn: its work should gather first.
    Kick = 2,
}

const AWAKE: u8 = 0;

/// See the head of this file.
#[derive(Debug, Default)]
pub struct Sleeper {
    announced: AtomicU8,
    thread: OnceLock<Thread>,
}

impl Sleeper {
    /// Names the sleeping thread; done before anyone can want to wake it.
    pub fn adopt(&self, thread: &Thread) {
        self.thread.get_or_init(|| thread.clone());
    }

    /// Work was put under its lock: wakes the thread if it sleeps until there is some.
    #[inline]
    pub fn after_work(&self) {
        if self.announced.load(Ordering::Relaxed) == WakeOn::Work as u8 {
            self.wake_announced();
        }
    }

    /// A turn ends in which there was work: wakes the thread if it sleeps.
    #[inline]
    pub fn kick(&self) {
        if self.announced.load(Ordering::Relaxed) != AWAKE {
            self.wake_announced();
        }
    }

    /// Ends the current sleep, or the next one if there is none now.
    pub fn wake(&self) {
        self.announced.store(AWAKE, Ordering::Relaxed);
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }

    /// The thread is going to sleep, after one more look for work.
    pub fn announce(&self, wake_on: WakeOn) {
        self.announced.store(wake_on as u8, Ordering::Relaxed);
    }

    /// The thread does not sleep after all.
    pub fn stay_awake(&self) {
        self.announced.store(AWAKE, Ordering::Relaxed);
    }

    /// Sleeps until woken, or as long as said.
    pub fn sleep(&self, limit: Duration) {
        crate::sync::park_timeout(limit);
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
