//! What a database knows of the keys that it has in the cold tier only.

use crate::cold_filter::ColdFilter;

/// A filter is made again rather than enlarged if it has more than this many keys for each that is
/// cold.
const STALE_TIMES: u64 = 2;

/// See the head of this file; `database/cold_keys.rs` keeps it true.
#[derive(Default)]
pub(crate) struct ColdKeys {
    /// Has all keys that are cold.
    pub(crate) known: Option<Box<ColdFilter>>,
    /// Is going to.
    pub(crate) coming: Option<Box<ColdFilter>>,
}

impl ColdKeys {
    /// Notes a key wherever it is missing, while `cold_only` keys are cold.
    pub(crate) fn add(&mut self, hash: u64, cold_only: u64, may_grow: bool) {
        for filter in [&mut self.known, &mut self.coming] {
            let Some(there) = filter else { continue };
            if there.add(hash) {
                continue;
            }
            if may_grow && there.keys() as u64 <= cold_only.saturating_mul(STALE_TIMES) {
                there.grow();
                there.add(hash);
            } else {
                *filter = None;
            }
        }
    }
}
