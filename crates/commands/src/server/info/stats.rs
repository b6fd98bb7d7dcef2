//! Section Stats.

use super::Source;
use super::lines::Lines;
use basalt_observe::counters::{Counter, ThreadCounters};
use basalt_pubsub::Kind;
use std::sync::atomic::Ordering::Relaxed;

/// Redis has these; here there is nothing that they could count.
const NONE: &[&str] = &[
    "sync_full",
    "sync_partial_ok",
    "sync_partial_err",
    "expired_time_cap_reached_count",
    "expire_cycle_cpu_milliseconds",
    "evicted_clients",
    "latest_fork_usec",
    "total_forks",
    "migrate_cached_sockets",
    "slave_expires_tracked_keys",
    "active_defrag_hits",
    "active_defrag_misses",
    "active_defrag_key_hits",
    "active_defrag_key_misses",
    "total_active_defrag_time",
    "current_active_defrag_time",
    "unexpected_error_replies",
    "dump_payload_sanitizations",
    "reply_buffer_shrinks",
    "reply_buffer_expands",
];

pub(super) fn stats(source: &Source<'_>, lines: &mut Lines) {
    let server = source.server;
    let sum = |counter: fn(&ThreadCounters) -> &Counter| server.sum(|own| counter(own).value());
    let rates = server.sampler.rates();
    let errors = server.sum(|counters| counters.errors().values().sum());
    let kib = |bytes: f64| format!("{:.2}", bytes / 1024.0);
    lines.put("total_connections_received", server.sum(ThreadCounters::all_connections));
    lines.put("total_commands_processed", sum(|own| &own.commands));
    lines.put("instantaneous_ops_per_sec", rates.commands as u64);
    lines.put("total_net_input_bytes", sum(|own| &own.bytes_in));
    lines.put("total_net_output_bytes", server.sum(ThreadCounters::all_bytes_out));
    lines.put_all(&["total_net_repl_input_bytes", "total_net_repl_output_bytes"], 0);
    lines.put("instantaneous_input_kbps", kib(rates.bytes_in));
    lines.put("instantaneous_output_kbps", kib(rates.bytes_out));
    let none = ["instantaneous_input_repl_kbps", "instantaneous_output_repl_kbps"];
    lines.put_all(&none, "0.00");
    lines.put("rejected_connections", server.rejected_connections.load(Relaxed));
    lines.put("expired_subkeys", server.engine.expired_fields());
    lines.put("expired_keys", server.engine.expired_keys());
    lines.put("expired_stale_perc", "0.00");
    lines.put("keyspace_hits", sum(|own| &own.keyspace_hits));
    lines.put("keyspace_misses", sum(|own| &own.keyspace_misses));
    lines.put("total_error_replies", errors);
    let over_query_limit = sum(|own| &own.query_limit_disconnections);
    lines.put("client_query_buffer_limit_disconnections", over_query_limit);
    let over_output_limit = sum(|own| &own.output_limit_disconnections);
    lines.put("client_output_buffer_limit_disconnections", over_output_limit);
    let pubsub = &server.pubsub;
    lines.put("pubsub_channels", pubsub.count(Kind::Channel));
    lines.put("pubsub_patterns", pubsub.count(Kind::Pattern));
    lines.put("pubsubshard_channels", pubsub.count(Kind::ShardChannel));
    let (tracked_keys, tracked_items) = server.engine.tracked();
    lines.put("tracking_total_keys", tracked_keys);
    lines.put("tracking_total_items", tracked_items);
    lines.put("tracking_total_prefixes", server.trackers.prefixes());
    let evicted = server.engine.eviction_stats();
    lines.put("evicted_keys", evicted.deleted);
    lines.put("total_eviction_exceeded_time", evicted.exceeded.as_millis());
    lines.put("current_eviction_exceeded_time", evicted.exceeded_now.as_millis());
    lines.put_all(NONE, 0);
    let denials = server.access.denials();
    lines.put("acl_access_denied_auth", denials.auth.load(Relaxed));
    lines.put("acl_access_denied_cmd", denials.command.load(Relaxed));
    lines.put("acl_access_denied_key", denials.key.load(Relaxed));
    lines.put("acl_access_denied_channel", denials.channel.load(Relaxed));
    lines.put("total_changes", sum(|own| &own.changes));
    lines.put("total_cold_reads", sum(|own| &own.cold_reads));
    lines.put("total_event_loop_turns", sum(|own| &own.turns));
}
