//! The cold tier: reads that commands waited for, and what the store itself says.

use crate::metric::{Metric, counter, gauge, histogram};
use basalt_observe::exposition::Unit::{Bytes, None, Seconds};

pub(super) const METRICS: &[Metric] = &[
    counter(
        ("basalt_cold_reads_total", None, "Times that a command waited for the cold tier."),
        &[],
        |figures, sink| sink.value(&[], figures.sum(|own| &own.cold_reads)),
    ),
    histogram(
        (
            "basalt_cold_read_duration_seconds",
            Seconds,
            "How long reads of the cold tier took; what they waited for a thread is left out.",
        ),
        &[],
        |figures, sink| sink.distribution(&[], &figures.misses.durations),
    ),
    gauge(
        ("basalt_cold_queue_length", None, "Reads of the cold tier that wait for a thread."),
        &[],
        |figures, sink| sink.value(&[], figures.misses.queued as f64),
    ),
    gauge(("basalt_cold_rows", None, "Rows, estimated."), &[], |figures, sink| {
        sink.value(&[], figures.cold.rows_estimate as f64);
    }),
    gauge(("basalt_cold_files", None, "Files of a level in use."), &["level"], |figures, sink| {
        for (level, &files) in figures.cold.files_per_level.iter().enumerate() {
            sink.value(&[&level.to_string()], files as f64);
        }
    }),
    gauge(("basalt_cold_table_bytes", Bytes, "Bytes of files in use."), &[], |figures, sink| {
        sink.value(&[], (figures.cold.table_bytes + figures.cold.value_log_bytes) as f64);
    }),
    gauge(
        ("basalt_cold_value_log_bytes", Bytes, "Bytes of values that stand beside their rows."),
        &["state"],
        |figures, sink| {
            let cold = &figures.cold;
            sink.value(&["live"], cold.value_log_live_bytes as f64);
            let dead = cold.value_log_bytes.saturating_sub(cold.value_log_live_bytes);
            sink.value(&["dead"], dead as f64);
        },
    ),
    counter(
        (
            "basalt_cold_value_log_collected_bytes_total",
            Bytes,
            "Bytes of values that were moved to give space back.",
        ),
        &[],
        |figures, sink| sink.value(&[], figures.cold.value_log_collected_bytes as f64),
    ),
    gauge(
        ("basalt_cold_locator_bytes", Bytes, "Memory of where these values are."),
        &[],
        |figures, sink| sink.value(&[], figures.cold.locator_bytes as f64),
    ),
    gauge(
        ("basalt_cold_pending_compaction_bytes", Bytes, "Bytes that wait to be merged, estimated."),
        &[],
        |figures, sink| sink.value(&[], figures.pressure.pending_compaction_bytes as f64),
    ),
    gauge(
        ("basalt_cold_running_compactions", None, "Merges that run now."),
        &[],
        |figures, sink| sink.value(&[], figures.cold.merges_running as f64),
    ),
    gauge(
        ("basalt_cold_stalled", None, "1 if the store asks for no more writes now, else 0."),
        &[],
        |figures, sink| sink.value(&[], f64::from(u8::from(figures.pressure.stalled))),
    ),
    gauge(
        (
            "basalt_cold_behind_ratio",
            None,
            "How far merging is behind, of how far it may be before writers are slowed: 0 up to there, 1 at twice that.",
        ),
        &[],
        |figures, sink| sink.value(&[], f64::from(figures.pressure.behind_percent) / 100.0),
    ),
    gauge(
        (
            "basalt_cold_block_cache_bytes",
            Bytes,
            "Memory of cached blocks, of indexes and filters.",
        ),
        &["kind"],
        |figures, sink| {
            sink.value(&["blocks"], figures.cold.cache_bytes_used as f64);
            sink.value(&["index_filter"], figures.cold.index_filter_bytes as f64);
        },
    ),
    gauge(
        ("basalt_cold_block_cache_max_bytes", Bytes, "Limit of cached blocks."),
        &[],
        |figures, sink| sink.value(&[], figures.cold.cache_bytes_max as f64),
    ),
    counter(
        ("basalt_cold_background_errors_total", None, "Errors that background work has met."),
        &[],
        |figures, sink| sink.value(&[], figures.cold.background_errors as f64),
    ),
];
