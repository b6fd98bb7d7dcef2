//! HOT PATH
//! Whether commands have to be looked at more closely before they run: clients are paused,
//! a script takes long.
//!
//! Every command asks, and the answer is nearly always no, so all reasons are one number. It is the
//! process's, not the server's: a thread that asks needlessly, because another server of the same
//! process has a reason, finds that out by looking.

use std::sync::atomic::{AtomicU32, Ordering};

static REASONS: AtomicU32 = AtomicU32::new(0);

/// A reason, as long as it lives.
#[derive(Debug)]
pub struct Reason(());

impl Reason {
    /// A reason comes up.
    pub fn raise() -> Reason {
        // Relaxed: a command that is under way when a reason comes up is before it.
        REASONS.fetch_add(1, Ordering::Relaxed);
        Reason(())
    }
}

impl Drop for Reason {
    fn drop(&mut self) {
        REASONS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// There may be a reason.
#[inline]
pub fn any() -> bool {
    REASONS.load(Ordering::Relaxed) != 0
}
