//! Keys and their memory. What was counted by a walk over all partitions is about a second old,
//! and older while a script holds them.

use crate::figures::Figures;
use crate::metric::{Metric, Sink, counter, gauge};
use basalt_engine::DatabaseTotals;
use basalt_observe::exposition::Unit::{Bytes, None};
use basalt_service::memory_parts::MemoryParts;

pub(super) const METRICS: &[Metric] = &[
    gauge(
        ("basalt_keys", None, "Keys of a database, in memory or not; empty ones are left out."),
        &["db"],
        |figures, sink| databases(figures, sink, |totals| totals.keys),
    ),
    gauge(
        ("basalt_keys_expiring", None, "Keys in memory that expire."),
        &["db"],
        |figures, sink| databases(figures, sink, |totals| totals.expires),
    ),
    gauge(("basalt_keys_resident", None, "Keys in memory."), &["db"], |figures, sink| {
        databases(figures, sink, |totals| totals.keys - totals.keys_cold_only)
    }),
    counter(
        ("basalt_keyspace_hits_total", None, "Keys that reads found."),
        &[],
        |figures, sink| sink.value(&[], figures.sum(|own| &own.keyspace_hits)),
    ),
    counter(
        ("basalt_keyspace_misses_total", None, "Keys that reads did not find."),
        &[],
        |figures, sink| sink.value(&[], figures.sum(|own| &own.keyspace_misses)),
    ),
    counter(
        ("basalt_expired_keys_total", None, "Keys that were removed because they expired."),
        &[],
        |figures, sink| sink.value(&[], figures.server.engine.expired_keys() as f64),
    ),
    counter(
        ("basalt_expired_fields_total", None, "Fields of hashes that were removed as expired."),
        &[],
        |figures, sink| sink.value(&[], figures.server.engine.expired_fields() as f64),
    ),
    counter(
        ("basalt_evicted_keys_total", None, "Keys that were deleted for lack of memory."),
        &[],
        |figures, sink| sink.value(&[], figures.server.engine.eviction_stats().deleted as f64),
    ),
    counter(("basalt_changes_total", None, "Changes of keys."), &[], |figures, sink| {
        sink.value(&[], figures.sum(|own| &own.changes));
    }),
    gauge(
        (
            "basalt_memory_bytes",
            Bytes,
            "Memory of the keyspace, which is a part of what maxmemory limits.",
        ),
        &["part"],
        memory,
    ),
    gauge(
        (
            "basalt_memory_part_bytes",
            Bytes,
            "Resident memory of the process by what holds it; other is what no counter knows.",
        ),
        &["part"],
        parts,
    ),
    gauge(
        (
            "basalt_keyspace_target_bytes",
            Bytes,
            "What maxmemory leaves the keyspace beside all else; none without a limit.",
        ),
        &[],
        |figures, sink| {
            let target = figures.server.engine.memory_target();
            target.iter().for_each(|&bytes| sink.value(&[], bytes as f64));
        },
    ),
    gauge(
        ("basalt_memory_max_bytes", Bytes, "Most memory of the process (maxmemory); 0: no limit."),
        &[],
        |figures, sink| sink.value(&[], figures.settings.memory.memory_bytes_max as f64),
    ),
];

fn databases(figures: &Figures<'_>, sink: &mut dyn Sink, count: fn(&DatabaseTotals) -> u64) {
    let Some(census) = &figures.census else { return };
    for (db, totals) in census.databases.iter().enumerate() {
        // The first is always there, so that an empty server has a series.
        if db == 0 || totals.keys > 0 {
            sink.value(&[&db.to_string()], count(totals) as f64);
        }
    }
}

fn parts(figures: &Figures<'_>, sink: &mut dyn Sink) {
    let Some(census) = &figures.census else { return };
    let parts = MemoryParts::of(figures.server, &census.memory).parts;
    parts.into_iter().for_each(|(part, bytes)| sink.value(&[part], bytes as f64));
}

fn memory(figures: &Figures<'_>, sink: &mut dyn Sink) {
    let Some(census) = &figures.census else { return };
    let memory = census.memory;
    let parts = [
        ("pages", memory.page_bytes),
        ("large", memory.large_bytes),
        ("apart", memory.apart_bytes),
        ("index", memory.index_bytes),
    ];
    parts.into_iter().for_each(|(part, bytes)| sink.value(&[part], bytes as f64));
}
