//! Where the versions of elements come from: the owner of a collection gives them to it, with its
//! [`Edits`](crate::Edits).

/// The time, and the versions that are given by it.
#[derive(Debug)]
pub struct VersionClock {
    now_ms: u64,
    next: u64,
    last: Option<u64>,
}

impl VersionClock {
    /// A clock whose first version is `next`.
    #[inline]
    pub fn new(now_ms: u64, next: u64) -> VersionClock {
        VersionClock { now_ms, next, last: None }
    }

    /// The greatest version that it has given.
    #[inline]
    pub fn last(&self) -> Option<u64> {
        self.last
    }

    pub(crate) fn now_ms(&self) -> u64 {
        self.now_ms
    }

    /// This version, or the next one.
    pub(crate) fn give(&mut self, wanted: Option<u64>) -> u64 {
        let version = wanted.unwrap_or(self.next);
        self.next = self.next.max(version.saturating_add(1));
        self.last = self.last.max(Some(version));
        version
    }
}
