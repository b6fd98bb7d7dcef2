//! Checkpoints.

use crate::metric::{Metric, counter, gauge, histogram};
use basalt_observe::exposition::Unit::{Bytes, None, Seconds};

pub(super) const METRICS: &[Metric] = &[
    counter(
        ("basalt_checkpoints_total", None, "Checkpoints that completed or failed."),
        &["result"],
        |figures, sink| {
            sink.value(&["ok"], figures.checkpoints.completed as f64);
            sink.value(&["error"], figures.checkpoints.failed as f64);
        },
    ),
    histogram(
        ("basalt_checkpoint_duration_seconds", Seconds, "How long complete checkpoints took."),
        &[],
        |figures, sink| sink.distribution(&[], &figures.checkpoints.durations),
    ),
    gauge(
        (
            "basalt_checkpoint_last_success_timestamp_seconds",
            Seconds,
            "When the last checkpoint completed, in unix time; the start, if none has since.",
        ),
        &[],
        |figures, sink| {
            let last_ms = figures.checkpoints.last_ms.max(figures.server.started_ms);
            sink.value(&[], last_ms as f64 / 1e3);
        },
    ),
    gauge(
        (
            "basalt_checkpoint_lock_max_seconds",
            Seconds,
            "The longest time that a checkpoint has held a partition.",
        ),
        &[],
        |figures, sink| sink.value(&[], figures.checkpoints.longest_hold.by_clock.as_secs_f64()),
    ),
    counter(
        ("basalt_checkpoint_written_bytes_total", Bytes, "Bytes of files of checkpoints."),
        &[],
        |figures, sink| sink.value(&[], figures.cold.checkpoint_bytes as f64),
    ),
    gauge(
        (
            "basalt_checkpoint_pending_changes",
            None,
            "Changes since the last complete checkpoint began.",
        ),
        &[],
        |figures, sink| sink.value(&[], figures.server.engine.changes_since_checkpoint() as f64),
    ),
];
