//! HOT PATH
//! Whether commands have to be looked at more closely before they run: clients are paused,
//! a script takes long.
//!
//! Every command asks, and the answer is nearly always no, so all reasons of a server are one
//! number.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// How many reasons there are.
#[derive(Debug, Default)]
pub struct Unusual(AtomicU32);

/// A reason, as long as it lives.
#[derive(Debug)]
pub struct Reason(Arc<Unusual>);

impl Unusual {
    /// There may be a reason.
    #[inline]
    pub fn any(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }

    /// A reason comes up.
    pub fn raise(self: &Arc<Self>) -> Reason {
        // Relaxed: a command that is under way when a reason comes up is before it.
        self.0.fetch_add(1, Ordering::Relaxed);
        Reason(Arc::clone(self))
    }
}

impl Drop for Reason {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
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
}
