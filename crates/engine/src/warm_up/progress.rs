//! Which keys a start brings in, and how far it has come.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Which keys are brought back into memory after a restart, in the background.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WarmUp {
    /// Those that were in use before.
    Hot,
    /// These first, and then all others.
    All,
    /// None: they come as they are asked for.
    No,
}

/// How far the warm-up has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WarmUpStats {
    /// Keys that it has brought in because they were listed as hot.
    pub keys: u64,
    /// It has not ended.
    pub is_running: bool,
}

/// What [`WarmUpStats`] are made of. Relaxed throughout: figures by themselves.
#[derive(Default)]
pub(crate) struct WarmUpProgress {
    keys: AtomicU64,
    is_running: AtomicBool,
}

impl WarmUpProgress {
    pub(super) fn stats(&self) -> WarmUpStats {
        WarmUpStats {
            keys: self.keys.load(Ordering::Relaxed),
            is_running: self.is_running.load(Ordering::Relaxed),
        }
    }

    pub(super) fn set_running(&self, is_running: bool) {
        self.is_running.store(is_running, Ordering::Relaxed);
    }

    /// As many keys more have been brought in.
    pub(super) fn add(&self, keys: u64) {
        self.keys.fetch_add(keys, Ordering::Relaxed);
    }
}
