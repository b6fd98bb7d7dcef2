//! Subscriptions and scripts.

use crate::metric::{Metric, gauge};
use basalt_observe::exposition::Unit::None;
use basalt_pubsub::Kind;
use std::sync::atomic::Ordering::Relaxed;

pub(super) const METRICS: &[Metric] = &[
    gauge(
        ("basalt_pubsub_channels", None, "Channels with subscribers, sharded ones included."),
        &[],
        |figures, sink| {
            let pubsub = &figures.server.pubsub;
            let count = pubsub.count(Kind::Channel) + pubsub.count(Kind::ShardChannel);
            sink.value(&[], count as f64);
        },
    ),
    gauge(("basalt_pubsub_patterns", None, "Patterns with subscribers."), &[], |figures, sink| {
        sink.value(&[], figures.server.pubsub.count(Kind::Pattern) as f64)
    }),
    gauge(
        ("basalt_streams_open", None, "Clients to which what happens is sent by HTTP."),
        &["kind"],
        |figures, sink| {
            let feeds = &figures.server.feeds;
            sink.value(&["sse"], feeds.events.load(Relaxed) as f64);
            sink.value(&["websocket"], feeds.sockets.load(Relaxed) as f64);
        },
    ),
    gauge(("basalt_scripts_cached", None, "Scripts that are known."), &[], |figures, sink| {
        sink.value(&[], figures.server.scripts.known.len() as f64);
    }),
    gauge(
        ("basalt_script_busy", None, "1 if a script has run for longer than busy-reply-threshold."),
        &[],
        |figures, sink| {
            sink.value(&[], f64::from(u8::from(figures.server.scripts.any_is_busy())));
        },
    ),
];
