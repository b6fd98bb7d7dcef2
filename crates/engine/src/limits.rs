//! HOT PATH
//! Up to where collections stay packed, as every thread reads it.

use basalt_value::FormLimits;
use basalt_value::limits::PackedLimits;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};

/// [`FormLimits`] that may change while they are read. Relaxed throughout: each number is right by
/// itself, and a collection that is made native a moment too soon or too late harms nobody.
#[derive(Debug, Default)]
pub(crate) struct LimitsCell {
    list_node: AtomicI32,
    intset_entries_max: AtomicU32,
    set: PackedCell,
    sorted_set: PackedCell,
    hash: PackedCell,
    hll_sparse_bytes_max: AtomicU32,
    stream_node_bytes_max: AtomicU32,
    stream_node_entries_max: AtomicU32,
}

#[derive(Debug, Default)]
struct PackedCell {
    entries_max: AtomicU32,
    value_bytes_max: AtomicU32,
}

impl PackedCell {
    #[inline]
    fn get(&self) -> PackedLimits {
        PackedLimits {
            entries_max: self.entries_max.load(Ordering::Relaxed),
            value_bytes_max: self.value_bytes_max.load(Ordering::Relaxed),
        }
    }

    fn set(&self, limits: PackedLimits) {
        self.entries_max.store(limits.entries_max, Ordering::Relaxed);
        self.value_bytes_max.store(limits.value_bytes_max, Ordering::Relaxed);
    }
}

impl LimitsCell {
    pub(crate) fn new(limits: FormLimits) -> LimitsCell {
        let cell = LimitsCell::default();
        cell.set(limits);
        cell
    }

    #[inline]
    pub(crate) fn get(&self) -> FormLimits {
        FormLimits {
            list_node: self.list_node.load(Ordering::Relaxed),
            intset_entries_max: self.intset_entries_max.load(Ordering::Relaxed),
            set: self.set.get(),
            sorted_set: self.sorted_set.get(),
            hash: self.hash.get(),
            hll_sparse_bytes_max: self.hll_sparse_bytes_max.load(Ordering::Relaxed),
            stream_node_bytes_max: self.stream_node_bytes_max.load(Ordering::Relaxed),
            stream_node_entries_max: self.stream_node_entries_max.load(Ordering::Relaxed),
        }
    }

    pub(crate) fn set(&self, limits: FormLimits) {
        self.list_node.store(limits.list_node, Ordering::Relaxed);
        self.intset_entries_max.store(limits.intset_entries_max, Ordering::Relaxed);
        self.set.set(limits.set);
        self.sorted_set.set(limits.sorted_set);
        self.hash.set(limits.hash);
        self.hll_sparse_bytes_max.store(limits.hll_sparse_bytes_max, Ordering::Relaxed);
        self.stream_node_bytes_max.store(limits.stream_node_bytes_max, Ordering::Relaxed);
        self.stream_node_entries_max.store(limits.stream_node_entries_max, Ordering::Relaxed);
    }
}
