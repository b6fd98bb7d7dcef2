//! Big values that nobody needs any more: freed by the housekeeping thread.
//!
//! Giving a gigabyte back to the system takes tens of milliseconds, which no partition's lock shall
//! wait for. Whoever takes an entry with a big value out of a table first shows it here.

use crate::engine::Engine;
use basalt_keyspace::entry::{Entry, StringValue};
use parking_lot::Mutex;
use std::sync::Arc;

/// Values from this size on are freed in the background.
const RETIRED_BYTES_MIN: usize = 1 << 20;
/// When so much waits to be freed, more is freed at once, so that memory in use stays bounded.
const WAITING_BYTES_MAX: usize = 1 << 30;

/// Values that wait to be freed.
#[derive(Default)]
pub(crate) struct Retired {
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    values: Vec<Arc<Vec<u8>>>,
    bytes: usize,
}

impl Engine {
    /// The entry is about to be destroyed: keeps its value for the housekeeping thread if it is
    /// big. Who else holds the value, a reply or another key, frees it himself.
    #[inline]
    pub(crate) fn retire(&self, entry: Entry<'_>) {
        if let Some(StringValue::Shared(shared)) = entry.value()
            && shared.vec().capacity() >= RETIRED_BYTES_MIN
        {
            self.retire_big(shared.to_arc());
        }
    }

    #[cold]
    fn retire_big(&self, value: Arc<Vec<u8>>) {
        // Two owners: the entry and this one.
        if Arc::strong_count(&value) > 2 {
            return;
        }
        let mut waiting = self.retired.waiting.lock();
        if waiting.bytes < WAITING_BYTES_MAX {
            waiting.bytes += value.capacity();
            waiting.values.push(value);
        }
    }

    /// Frees what waits; called by the housekeeping thread.
    pub(crate) fn free_retired(&self) {
        let waiting = std::mem::take(&mut *self.retired.waiting.lock());
        drop(waiting);
    }

    /// Bytes of big values that are deleted and not yet freed.
    pub fn retired_bytes(&self) -> usize {
        self.retired.waiting.lock().bytes
    }
}
