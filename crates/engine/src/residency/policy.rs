//! What becomes of keys that memory has no room for.

use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

/// What becomes of keys that memory has no room for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Eviction {
    /// They leave memory and stay on disk: none is deleted.
    #[default]
    Demote,
    /// Among these, keys are deleted in this order.
    Delete(Among, First),
}

/// Which keys may be deleted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Among {
    /// All of them.
    All,
    /// Those with an expiry. When there are none, keys leave memory and stay on disk.
    Expiring,
}

/// Which of some keys is deleted first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum First {
    /// The one that has not been used for the longest time.
    LeastRecent,
    /// The one that is used least often.
    LeastFrequent,
    /// The one that expires soonest.
    Soonest,
    /// Any.
    Any,
}

/// All that there are. Their places are how one is stored.
const ALL: [Eviction; 9] = [
    Eviction::Demote,
    Eviction::Delete(Among::All, First::LeastRecent),
    Eviction::Delete(Among::All, First::LeastFrequent),
    Eviction::Delete(Among::All, First::Soonest),
    Eviction::Delete(Among::All, First::Any),
    Eviction::Delete(Among::Expiring, First::LeastRecent),
    Eviction::Delete(Among::Expiring, First::LeastFrequent),
    Eviction::Delete(Among::Expiring, First::Soonest),
    Eviction::Delete(Among::Expiring, First::Any),
];

/// More keys are not compared for one that goes: the order is nearly exact by then.
const SAMPLES_MAX: u32 = 64;

impl Eviction {
    /// It goes by how often keys are used, not by when they were.
    pub fn is_by_frequency(self) -> bool {
        matches!(self, Eviction::Delete(_, First::LeastFrequent))
    }
}

/// What holds now. Relaxed throughout: figures by themselves.
#[derive(Default)]
pub(crate) struct EvictionCell {
    policy: AtomicU8,
    samples: AtomicU32,
}

impl EvictionCell {
    pub(crate) fn set(&self, policy: Eviction, samples: u32) {
        let place = ALL.iter().position(|&other| other == policy);
        self.policy.store(place.expect("all are listed") as u8, Ordering::Relaxed);
        self.samples.store(samples, Ordering::Relaxed);
    }

    pub(crate) fn policy(&self) -> Eviction {
        ALL[usize::from(self.policy.load(Ordering::Relaxed))]
    }

    /// Keys that are compared for one that goes, at least one.
    pub(crate) fn samples(&self) -> usize {
        self.samples.load(Ordering::Relaxed).clamp(1, SAMPLES_MAX) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_holds() {
        let cell = EvictionCell::default();
        assert_eq!((cell.policy(), cell.samples()), (Eviction::Demote, 1));
        for policy in ALL {
            cell.set(policy, u32::MAX);
            assert_eq!((cell.policy(), cell.samples()), (policy, SAMPLES_MAX as usize));
        }
        assert!(Eviction::Delete(Among::All, First::LeastFrequent).is_by_frequency());
        assert!(!Eviction::Demote.is_by_frequency());
    }
}
