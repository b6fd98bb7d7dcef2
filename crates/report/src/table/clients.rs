//! Connections and what they transfer.

use crate::metric::{Metric, counter, gauge};
use basalt_observe::exposition::Unit::{Bytes, None};
use std::sync::atomic::Ordering::Relaxed;

pub(super) const METRICS: &[Metric] = &[
    gauge(("basalt_connections", None, "Connected clients."), &["front"], |figures, sink| {
        sink.value(&["resp"], figures.clients.resp as f64);
        sink.value(&["http"], figures.clients.http as f64);
    }),
    gauge(
        ("basalt_connections_max", None, "Most connected clients, as maxclients says."),
        &[],
        |figures, sink| sink.value(&[], figures.settings.clients.clients_max as f64),
    ),
    counter(
        ("basalt_connections_accepted_total", None, "Connections that were accepted."),
        &["front"],
        |figures, sink| {
            sink.value(&["resp"], figures.sum(|own| &own.connections));
            sink.value(&["http"], figures.sum(|own| &own.connections_of_fronts));
        },
    ),
    counter(
        (
            "basalt_connections_rejected_total",
            None,
            "Connections that were refused: too many, from outside without a password, \
             not among those that may come, or not through with their TLS handshake.",
        ),
        &["reason"],
        |figures, sink| {
            let server = figures.server;
            sink.value(&["maxclients"], server.rejected_connections.load(Relaxed) as f64);
            sink.value(&["protected-mode"], server.refused_connections.load(Relaxed) as f64);
            sink.value(&["http-allow"], server.barred_connections.load(Relaxed) as f64);
            sink.value(&["tls"], server.failed_handshakes.load(Relaxed) as f64);
        },
    ),
    counter(
        ("basalt_connections_closed_total", None, "Connections that have ended, for any reason."),
        &[],
        |figures, sink| sink.value(&[], figures.sum(|own| &own.connections_closed)),
    ),
    counter(
        (
            "basalt_connections_over_limit_total",
            None,
            "Connections that were ended because a buffer of theirs was over its limit.",
        ),
        &["buffer"],
        |figures, sink| {
            sink.value(&["query"], figures.sum(|own| &own.query_limit_disconnections));
            sink.value(&["output"], figures.sum(|own| &own.output_limit_disconnections));
        },
    ),
    gauge(
        ("basalt_clients_blocked", None, "Clients whose command waits."),
        &[],
        |figures, sink| sink.value(&[], figures.clients.blocked as f64),
    ),
    counter(
        ("basalt_network_receive_bytes_total", Bytes, "Bytes read from clients."),
        &[],
        |figures, sink| sink.value(&[], figures.sum(|own| &own.bytes_in)),
    ),
    counter(
        ("basalt_network_transmit_bytes_total", Bytes, "Bytes written to clients."),
        &["front"],
        |figures, sink| {
            sink.value(&["resp"], figures.sum(|own| &own.bytes_out));
            sink.value(&["http"], figures.sum(|own| &own.bytes_out_of_fronts));
        },
    ),
    counter(
        (
            "basalt_http_responses_total",
            None,
            "Responses by HTTP, by the class of their status; of a feed, its beginning.",
        ),
        &["class"],
        |figures, sink| {
            for (index, class) in ["1xx", "2xx", "3xx", "4xx", "5xx"].iter().enumerate() {
                sink.value(&[class], figures.sum(|own| &own.responses[index]));
            }
        },
    ),
    gauge(
        ("basalt_client_buffer_bytes", Bytes, "Memory of the clients' buffers."),
        &["kind"],
        |figures, sink| {
            sink.value(&["query"], figures.clients.query_bytes as f64);
            sink.value(&["output"], figures.clients.output_bytes as f64);
        },
    ),
];
