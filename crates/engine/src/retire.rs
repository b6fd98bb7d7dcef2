//! Big values that nobody needs any more: freed by the housekeeping thread.
//!
//! Giving a gigabyte back to the system takes tens of milliseconds, which no partition's lock shall
//! wait for. Whoever takes an entry with a big value out of a table first shows it here.

use crate::engine::Engine;
use basalt_keyspace::entry::StringValue;
use basalt_keyspace::table::{Found, Table};
use basalt_stdx::lock_rank::RankedMutex;
use basalt_value::Value;
use std::sync::Arc;

/// Values from this size on are freed in the background.
const RETIRED_BYTES_MIN: usize = 1 << 20;
/// Collections from this size on are freed in the background: they are many small pieces.
const RETIRED_COLLECTION_BYTES_MIN: usize = 64 << 10;
/// When so much waits to be freed, more is freed at once, so that memory in use stays bounded.
const WAITING_BYTES_MAX: usize = 1 << 30;

/// Values that wait to be freed.
#[derive(Default)]
pub(crate) struct Retired {
    waiting: RankedMutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    values: Vec<Arc<Vec<u8>>>,
    collections: Vec<Value>,
    bytes: usize,
}

impl Engine {
    /// The entry is about to be destroyed: keeps its value for the housekeeping thread if it is
    /// big. Who else holds the value, a reply or another key, frees it himself.
    #[inline]
    pub(crate) fn retire(&self, table: &mut Table, found: Found) {
        if table.entry(found).apart_bytes() >= RETIRED_COLLECTION_BYTES_MIN {
            self.retire_apart(table, found);
        }
    }

    #[cold]
    fn retire_apart(&self, table: &mut Table, found: Found) {
        match table.entry(found).string() {
            Some(StringValue::Shared(shared)) if shared.vec().capacity() >= RETIRED_BYTES_MIN => {
                self.retire_big(shared.to_arc());
            }
            Some(_) => {}
            None => {
                let bytes = table.entry(found).apart_bytes();
                let Some(value) = table.take_collection(found) else { return };
                let mut waiting = self.retired.waiting.lock();
                if waiting.bytes < WAITING_BYTES_MAX {
                    waiting.bytes += bytes;
                    waiting.collections.push(value);
                }
            }
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
