//! What is known of which keys are in the cold tier only.
//!
//! A database that was complete knows of each key that has left memory since. One that was read
//! from its mark knows nothing, until somebody has shown it the keys of all its rows: meanwhile
//! those that leave are noted, too, so that at the end none is missing.

use super::Database;
use crate::cold_filter::ColdFilter;
use crate::cold_keys::ColdKeys;

impl Database {
    /// A key without an entry may be in the cold tier. If not, there is no such key.
    #[inline]
    pub fn may_be_cold(&self, hash: u64) -> bool {
        !self.is_complete && self.cold.known.as_ref().is_none_or(|filter| filter.may_have(hash))
    }

    /// Brings into the cache what [`Database::may_be_cold`] reads of a key.
    #[inline]
    pub(crate) fn prefetch_cold(&self, hash: u64) {
        if let (false, Some(filter)) = (self.is_complete, &self.cold.known) {
            filter.prefetch(hash);
        }
    }

    /// It is not complete and does not know which keys are in the cold tier only.
    pub fn lacks_cold_filter(&self) -> bool {
        !self.is_complete && self.cold.known.is_none()
    }

    /// Begins to learn which keys are in the cold tier only: all rows that the cold tier has from
    /// now on are to be [shown](Database::show_cold).
    pub fn begin_cold_filter(&mut self) {
        // Rows of keys that are in memory, too, are shown.
        let filter = ColdFilter::for_keys(self.keys() as usize);
        self.cold.coming = Some(Box::new(filter));
    }

    /// Shows it keys of rows, by the leading bits of their hashes that a row has; returns false if
    /// what was begun has been given up.
    pub fn show_cold(&mut self, hashes: &[u64]) -> bool {
        let (keys, cold) = (self.keys(), &mut self.cold);
        // What it knows already need not hear of it again.
        let known = cold.known.take();
        hashes.iter().for_each(|&hash| cold.add(hash, keys, true));
        cold.known = known;
        cold.coming.is_some()
    }

    /// All rows have been shown; returns false if what was begun has been given up.
    pub fn finish_cold_filter(&mut self) -> bool {
        let filter = self.cold.coming.take();
        let is_there = filter.is_some();
        if is_there && !self.is_complete {
            self.cold.known = filter;
        }
        is_there
    }

    /// Bytes of memory of what is known of keys in the cold tier.
    pub fn cold_filter_bytes(&self) -> usize {
        let ColdKeys { known, coming } = &self.cold;
        [known, coming].into_iter().flatten().map(|filter| filter.bytes()).sum()
    }

    /// A key is about to leave memory, as the first one or after others.
    pub(super) fn note_cold(&mut self, hash: u64, may_grow: bool) {
        if self.is_complete {
            let keys = self.table.counts().live;
            self.cold.known = may_grow.then(|| Box::new(ColdFilter::for_keys(keys)));
        }
        self.cold.add(hash, self.keys_cold_only, may_grow);
    }

    /// Nothing is cold, or it is not known what is.
    pub(super) fn forget_cold(&mut self) {
        self.cold = ColdKeys::default();
    }
}
