//! Forgetting memory, for DEBUG RELOAD.
//!
//! A partition without changes is in the cold tier as it is, row by row: forgetting it means an
//! empty table and a count of keys that are to be read again. That is the state after a restart,
//! reached without one, so that every path that reads the cold tier can be exercised at will.

use crate::engine::Engine;
use basalt_change::place::PartitionId;

/// How much was forgotten.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Unloaded {
    /// Partitions that are no longer in memory.
    pub partitions: usize,
    /// Partitions that had changed since the checkpoint and stay.
    pub kept: usize,
}

impl Engine {
    /// Forgets every partition that has no change which the cold tier lacks.
    ///
    /// Run a checkpoint before; what changes between the two stays in memory.
    pub fn unload(&self) -> Unloaded {
        // While a checkpoint runs, an entry that is clean need not have arrived yet.
        let _no_checkpoint = self.lock_out_checkpoints();
        let mut unloaded = Unloaded::default();
        for id in PartitionId::all() {
            match self.unload_partition(id) {
                true => unloaded.partitions += 1,
                false => unloaded.kept += 1,
            }
        }
        unloaded
    }

    fn unload_partition(&self, id: PartitionId) -> bool {
        let mut locked = self.keyspace.lock(id);
        let partition = locked.partition_mut(id);
        if !partition.can_be_unloaded() {
            return false;
        }
        let mut old = partition.unload(|generation| self.keyspace.empty_database(generation));
        drop(locked);
        self.flushed.lock().append(&mut old);
        true
    }
}
