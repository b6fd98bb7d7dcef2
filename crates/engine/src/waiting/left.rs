//! Where traces of clients are noted that are to be cleared soon: see [`super::leftovers`].

use crate::waiting::request::Places;
use crate::waiting::watching::Watching;
use basalt_stdx::lock_rank::RankedMutex;
use std::sync::atomic::AtomicUsize;

/// What clients have left behind.
#[derive(Debug, Default)]
pub(crate) struct Leftovers {
    pub(super) watches: RankedMutex<Vec<Watching>>,
    /// Count of keys of these.
    pub(super) keys: AtomicUsize,
    /// Places in queues, by client.
    pub(super) places: RankedMutex<Vec<(u64, Places)>>,
}
