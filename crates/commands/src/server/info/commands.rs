//! Sections Commandstats, Errorstats and Latencystats.

use super::Source;
use super::lines::{Lines, ratio};
use crate::server::latency::command_times;
use basalt_observe::counters::{CommandCounters, Counter};
use std::collections::BTreeMap;

pub(super) fn command_stats(source: &Source<'_>, lines: &mut Lines) {
    let server = source.server;
    for command in server.table.all() {
        let sum = |counter: fn(&CommandCounters) -> &Counter| {
            server.sum(|own| counter(&own.by_command[command.id.index()]).value())
        };
        let (calls, nanoseconds) = (sum(|own| &own.calls), sum(|own| &own.nanoseconds));
        let (rejected, failed) = (sum(|own| &own.rejected), sum(|own| &own.failed));
        if calls == 0 && rejected == 0 && failed == 0 {
            continue;
        }
        lines.put(
            format_args!("cmdstat_{}", command.spec.name),
            format_args!(
                "calls={calls},usec={},usec_per_call={:.2},rejected_calls={rejected},failed_calls={failed}",
                nanoseconds / 1000,
                ratio(nanoseconds, calls) / 1000.0,
            ),
        );
    }
}

pub(super) fn error_stats(source: &Source<'_>, lines: &mut Lines) {
    let mut sums: BTreeMap<String, u64> = BTreeMap::new();
    for counters in source.server.all_counters() {
        for (code, count) in counters.errors() {
            *sums.entry(code).or_default() += count;
        }
    }
    for (code, count) in sums {
        lines.put(format_args!("errorstat_{code}"), format_args!("count={count}"));
    }
}

pub(super) fn latency_stats(source: &Source<'_>, lines: &mut Lines) {
    if !source.settings.server.latency_tracking {
        return;
    }
    for command in source.server.table.all() {
        let times = command_times(source.server, command);
        let quantile = |percent: f64| times.quantile(percent / 100.0).unwrap_or(0.0) * 1e6;
        if times.count() == 0 {
            continue;
        }
        let percentiles: Vec<String> = source
            .settings
            .server
            .latency_percentiles
            .iter()
            .map(|&percent| format!("p{percent}={:.3}", quantile(percent)))
            .collect();
        let name = format_args!("latency_percentiles_usec_{}", command.spec.name);
        lines.put(name, percentiles.join(","));
    }
}
