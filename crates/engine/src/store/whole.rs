//! Flushing and swapping of whole databases, as one partition sees it: commands and recovery do it
//! in the same way.

use basalt_change::op::Op;
use basalt_keyspace::database::Database;
use basalt_keyspace::partition::Partition;

/// Whether a flush or a swap makes a difference to a partition.
pub(crate) fn concerns(partition: &Partition, op: Op<'_>) -> bool {
    let is_used = |db: u8| {
        let database = partition.databases().numbered(usize::from(db));
        database.is_some_and(|database| !database.is_untouched())
    };
    match op {
        Op::FlushDb { db, .. } => is_used(db),
        Op::SwapDb { db, other } => is_used(db) || is_used(other),
        _ => false,
    }
}

/// Applies a flush or a swap to one partition; returns the database that was flushed.
pub(crate) fn apply(
    partition: &mut Partition,
    op: Op<'_>,
    empty: &dyn Fn(u64) -> Database,
) -> Option<Database> {
    if !concerns(partition, op) {
        return None;
    }
    match op {
        Op::FlushDb { db, generation } => partition.flush(db, empty(generation)),
        Op::SwapDb { db, other } => {
            partition.swap(db, other);
            None
        }
        _ => None,
    }
}
