//! Commands: how many, how long, how often they fail.

use crate::figures::Figures;
use crate::metric::{Metric, Sink, counter, histogram};
use basalt_observe::exposition::Unit::{None, Seconds};
use std::collections::BTreeMap;

pub(super) const METRICS: &[Metric] = &[
    counter(
        ("basalt_commands_total", None, "Calls of a command that ran; only called ones are there."),
        &["cmd"],
        |figures, sink| {
            figures.for_each_command(|own| &own.calls, |name, sum| sink.value(&[name], sum as f64));
        },
    ),
    counter(
        ("basalt_commands_failed_total", None, "Calls that ran and answered an error."),
        &["cmd"],
        |figures, sink| {
            let take = |name: &str, sum| sink.value(&[name], sum as f64);
            figures.for_each_command(|own| &own.failed, take);
        },
    ),
    counter(
        ("basalt_commands_rejected_total", None, "Calls that were refused before they ran."),
        &["cmd"],
        |figures, sink| {
            let take = |name: &str, sum| sink.value(&[name], sum as f64);
            figures.for_each_command(|own| &own.rejected, take);
        },
    ),
    counter(
        (
            "basalt_command_seconds_total",
            Seconds,
            "Time that a command took; short ones have an equal share of their batch's.",
        ),
        &["cmd"],
        |figures, sink| {
            let take = |name: &str, sum| sink.value(&[name], sum as f64 / 1e9);
            figures.for_each_command(|own| &own.nanoseconds, take);
        },
    ),
    histogram(
        (
            "basalt_command_duration_seconds",
            Seconds,
            "How long commands of a family took; short ones have an equal share of their batch's.",
        ),
        &["family"],
        families,
    ),
    histogram(
        (
            "basalt_request_duration_seconds",
            Seconds,
            "From when a request's batch began to run until the replies of its turn were sent; \
             what it waited parked is left out.",
        ),
        &["front"],
        |figures, sink| {
            sink.distribution(&["resp"], &figures.durations(|own| &own.requests.resp));
            sink.distribution(&["http"], &figures.durations(|own| &own.requests.of_fronts));
        },
    ),
    counter(
        ("basalt_errors_total", None, "Error replies by the first word of their text."),
        &["code"],
        errors,
    ),
    counter(
        (
            "basalt_slow_commands_total",
            None,
            "Calls that took longer than slowlog-log-slower-than.",
        ),
        &[],
        |figures, sink| sink.value(&[], figures.server.slow_log.total() as f64),
    ),
    counter(
        ("basalt_loop_turns_total", None, "Turns of the event loop of a network thread."),
        &["thread"],
        |figures, sink| {
            let server = figures.server;
            let threads = server.counters.iter().zip(&server.stand_in_counters);
            for (number, (own, stand_in)) in threads.enumerate() {
                let turns = own.turns.value() + stand_in.turns.value();
                sink.value(&[&format!("net-{number}")], turns as f64);
            }
        },
    ),
];

/// Families of which a command was called.
fn families(figures: &Figures<'_>, sink: &mut dyn Sink) {
    let all = figures.server.table.all().iter().map(|command| command.spec.group);
    let families: BTreeMap<usize, &str> = all.map(|group| (group as usize, group.name())).collect();
    for (number, name) in families {
        let durations = figures.durations(|own| &own.by_family[number]);
        if durations.count() > 0 {
            sink.distribution(&[name], &durations);
        }
    }
}

fn errors(figures: &Figures<'_>, sink: &mut dyn Sink) {
    let mut sums: BTreeMap<String, u64> = BTreeMap::new();
    for counters in figures.server.all_counters() {
        for (code, count) in counters.errors() {
            *sums.entry(code).or_default() += count;
        }
    }
    sums.iter().for_each(|(code, count)| sink.value(&[code], *count as f64));
}
