//! HOT PATH
//! Whether commands have to be looked at more closely before they run: clients are paused,
//! a script takes long; or whether somebody is told of them.
//!
//! Every command asks, and the answer is nearly always no, so all reasons of a server are one
//! number.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// One reason why commands may have to wait.
const HOLDING: u64 = 1;
/// One client that is told of commands. There are fewer than 2^32 of either.
const TOLD: u64 = 1 << 32;

/// How many reasons there are: those why commands may have to wait in the lower half, clients that
/// are told of commands in the upper one.
#[derive(Debug, Default)]
pub struct Unusual(AtomicU64);

/// A reason, as long as it lives.
#[derive(Debug)]
pub struct Reason {
    unusual: Arc<Unusual>,
    kind: u64,
}

impl Unusual {
    /// There may be a reason.
    #[inline]
    pub fn any(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }

    /// There may be a reason why commands have to wait.
    pub fn may_hold(&self) -> bool {
        self.0.load(Ordering::Relaxed) & (TOLD - 1) != 0
    }

    /// A reason comes up why commands may have to wait.
    pub fn raise(self: &Arc<Self>) -> Reason {
        self.raise_kind(HOLDING)
    }

    /// A client is told of all commands from now on.
    pub fn raise_told(self: &Arc<Self>) -> Reason {
        self.raise_kind(TOLD)
    }

    fn raise_kind(self: &Arc<Self>, kind: u64) -> Reason {
        // Relaxed: a command that is under way when a reason comes up is before it.
        self.0.fetch_add(kind, Ordering::Relaxed);
        Reason { unusual: Arc::clone(self), kind }
    }
}

impl Drop for Reason {
    fn drop(&mut self) {
        self.unusual.0.fetch_sub(self.kind, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::Unusual;
    use std::sync::Arc;

    #[test]
    fn a_reason_is_its_own_servers_as_long_as_it_lives() {
        let (one, other) = (Arc::<Unusual>::default(), Arc::<Unusual>::default());
        let (first, second) = (one.raise(), one.raise());
        drop(first);
        assert!(one.any() && !other.any());
        drop(second);
        assert!(!one.any());
    }

    #[test]
    fn nothing_waits_because_somebody_is_told_of_it() {
        let unusual = Arc::<Unusual>::default();
        let told = [unusual.raise_told(), unusual.raise_told()];
        assert!(unusual.any() && !unusual.may_hold());
        let pause = unusual.raise();
        drop(told);
        assert!(unusual.any() && unusual.may_hold());
        drop(pause);
        assert!(!unusual.any());
    }
}
