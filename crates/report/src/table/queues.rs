//! What is in queues, as it was last counted: about a second ago, longer if there are very many.
//! The largest by name, all others together under the empty name.

use crate::figures::Figures;
use crate::metric::{Metric, Sink, counter, gauge};
use basalt_engine::QueueFigures;
use basalt_observe::exposition::Unit::{None, Seconds};

const QUEUE: &[&str] = &["db", "queue"];

pub(super) const METRICS: &[Metric] = &[
    gauge(("basalt_queues", None, "Queues in memory."), &[], |figures, sink| {
        sink.value(&[], figures.queues.as_ref().map_or(0.0, |census| census.count as f64));
    }),
    gauge(
        ("basalt_queue_messages", None, "Messages of a queue by state."),
        &["db", "queue", "state"],
        |figures, sink| {
            each(figures, |db, queue, own| {
                for (state, count) in [
                    ("ready", own.ready),
                    ("delayed", own.delayed),
                    ("leased", own.leased),
                    ("dead", own.dead),
                ] {
                    sink.value(&[db, queue, state], count as f64);
                }
            });
        },
    ),
    gauge(
        (
            "basalt_queue_oldest_ready_seconds",
            Seconds,
            "Age of the oldest ready message of a queue, 0 if none is ready.",
        ),
        QUEUE,
        |figures, sink| value(figures, sink, |own| own.oldest_ready_ms as f64 / 1000.0),
    ),
    gauge(
        ("basalt_queue_waiters", None, "Clients that wait for a message of a queue."),
        QUEUE,
        |figures, sink| value(figures, sink, |own| own.waiters as f64),
    ),
    counter(
        ("basalt_queue_put_total", None, "Messages that were put into a queue."),
        QUEUE,
        |figures, sink| value(figures, sink, |own| own.totals.put as f64),
    ),
    counter(
        ("basalt_queue_delivered_total", None, "Deliveries of messages of a queue."),
        QUEUE,
        |figures, sink| value(figures, sink, |own| own.totals.delivered as f64),
    ),
    counter(
        ("basalt_queue_redelivered_total", None, "Deliveries that were not a message's first."),
        QUEUE,
        |figures, sink| value(figures, sink, |own| own.totals.redelivered as f64),
    ),
    counter(
        ("basalt_queue_acked_total", None, "Messages that are done."),
        QUEUE,
        |figures, sink| value(figures, sink, |own| own.totals.acknowledged as f64),
    ),
    counter(
        ("basalt_queue_dead_total", None, "Messages that became dead."),
        QUEUE,
        |figures, sink| {
            value(figures, sink, |own| own.totals.buried as f64);
        },
    ),
    counter(
        ("basalt_queue_expired_total", None, "Messages that expired or were taken back."),
        QUEUE,
        |figures, sink| value(figures, sink, |own| own.totals.expired as f64),
    ),
    counter(
        ("basalt_queue_dropped_total", None, "Messages that gave way in a full queue."),
        QUEUE,
        |figures, sink| value(figures, sink, |own| own.totals.dropped as f64),
    ),
];

/// Calls `show` for each queue with the number of its database, and for the others.
fn each(figures: &Figures<'_>, mut show: impl FnMut(&str, &str, &QueueFigures)) {
    let Some(census) = &figures.queues else { return };
    for queue in &census.largest {
        show(&queue.db.to_string(), &queue.name, &queue.figures);
    }
    // Always there, so that a server without queues has a series.
    show("", "", &census.others);
}

fn value(figures: &Figures<'_>, sink: &mut dyn Sink, of: fn(&QueueFigures) -> f64) {
    each(figures, |db, queue, own| sink.value(&[db, queue], of(own)));
}
