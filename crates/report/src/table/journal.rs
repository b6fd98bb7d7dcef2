//! The journal.

use crate::figures::Figures;
use crate::metric::{Metric, Sink, counter, gauge, histogram};
use basalt_observe::exposition::Unit::{Bytes, None, Seconds};
use basalt_service::host::JournalFigures;

pub(super) const METRICS: &[Metric] = &[
    counter(
        ("basalt_journal_appended_bytes_total", Bytes, "Bytes written to the journal."),
        &[],
        |figures, sink| journal(figures, sink, |journal| journal.written_bytes),
    ),
    counter(
        ("basalt_journal_groups_total", None, "Groups of records written at once."),
        &[],
        |figures, sink| journal(figures, sink, |journal| journal.groups),
    ),
    histogram(
        ("basalt_journal_sync_duration_seconds", Seconds, "How long syncs of the journal took."),
        &[],
        |figures, sink| {
            if let Some(journal) = &figures.host.journal {
                sink.distribution(&[], &journal.syncs);
            }
        },
    ),
    gauge(
        ("basalt_journal_buffered_bytes", Bytes, "Bytes that the kernel has not been given yet."),
        &[],
        |figures, sink| journal(figures, sink, |journal| journal.buffered_bytes),
    ),
    gauge(
        ("basalt_journal_replay_bytes", Bytes, "Bytes of the journal that a start would replay."),
        &[],
        |figures, sink| journal(figures, sink, |journal| journal.replay_bytes),
    ),
    gauge(
        ("basalt_journal_segments", None, "Files of the journal that are in use."),
        &[],
        |figures, sink| journal(figures, sink, |journal| journal.segments),
    ),
    gauge(
        ("basalt_journal_healthy", None, "1 if the journal can be written and synced, else 0."),
        &[],
        |figures, sink| journal(figures, sink, |journal| u64::from(journal.is_healthy)),
    ),
];

fn journal(figures: &Figures<'_>, sink: &mut dyn Sink, read: fn(&JournalFigures) -> u64) {
    if let Some(journal) = &figures.host.journal {
        sink.value(&[], read(journal) as f64);
    }
}
