//! Whether a commit came in between: readers look at the locator and at rows one after the other,
//! and what they bring has to be of one moment.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts the beginnings and ends of commits.
#[derive(Default)]
pub(crate) struct Moment(AtomicU64);

/// A commit is under way.
pub(crate) struct Passing<'a>(&'a Moment);

impl Moment {
    /// The moment now, or nothing while a commit is under way.
    pub(crate) fn now(&self) -> Option<u64> {
        let now = self.0.load(Ordering::Acquire);
        now.is_multiple_of(2).then_some(now)
    }

    /// No commit has begun since.
    pub(crate) fn is_still(&self, moment: u64) -> bool {
        // What was read before is not to be moved behind this.
        std::sync::atomic::fence(Ordering::Acquire);
        self.0.load(Ordering::Relaxed) == moment
    }

    /// Begins a commit; there is one at a time.
    pub(crate) fn pass(&self) -> Passing<'_> {
        self.0.fetch_add(1, Ordering::AcqRel);
        Passing(self)
    }
}

impl Drop for Passing<'_> {
    fn drop(&mut self) {
        self.0.0.fetch_add(1, Ordering::Release);
    }
}
