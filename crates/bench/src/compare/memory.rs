//! `compare memory`: what a key costs, and how long the server pauses while keys are loaded.
//!
//! A probe on a connection of its own asks once a millisecond (`probe.rs`). How long the server
//! waited for its cpu, which other programs may have had, is shown beside it, and what the longest
//! pause is without the time in which the host of a virtual machine had one of the cpus
//! (`absences.rs`).

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde::Serialize;

use crate::compare::Arena;
use crate::compare::absences;
use crate::compare::cell::vocabulary;
use crate::compare::probe::{Pauses, ask_for_real_time, probe};
use crate::compare::server::{Contender, Server};
use crate::compare::table::{Quantity, Summary, render, summarise};
use crate::cpu_waits::{self, LongestWait};
use crate::error::BenchError;
use crate::keys::Distribution;
use crate::plan::{Limit, Load, Plan};
use crate::process::Memory;
use crate::progress::Watch;
use crate::report::TestReport;
use crate::run::run as run_plan;
use crate::steal::stolen_ms;
use crate::target::Client;
use crate::workload::Workload;

const KEY_BYTES: usize = 16;
/// Keys and values of a load whose number of keys is not given.
const DATA_BYTES: u64 = 800_000_000;
/// Few connections with a moderate pipeline: enough to saturate the server, and a short queue, so
/// that the probe sees pauses and not the queue.
const LOAD_CONNECTIONS: usize = 8;
const LOAD_PIPELINE: u32 = 32;

/// What a server is filled with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Filling {
    keys: u64,
    value_bytes: usize,
}

/// One life of one side.
#[derive(Debug, Serialize)]
struct Round {
    round: usize,
    side: &'static str,
    keys: u64,
    value_bytes: usize,
    at_start: Memory,
    /// Right after the last key.
    loaded: Memory,
    /// When background work had come to rest.
    settled: Memory,
    /// What the server itself says (`used_memory`).
    used_memory_bytes: u64,
    load: TestReport,
    pauses: Pauses,
    /// Of the thread that was busiest while keys were loaded.
    longest_cpu_wait: LongestWait,
    /// Of all cpus while keys were loaded, by the host of a virtual machine.
    stolen_ms: f64,
    /// Whether the probe got its real-time priority.
    probe_has_priority: bool,
}

const QUANTITIES: &[Quantity] = &[
    Quantity { name: "bytes/key, loaded", decimals: 1 },
    Quantity { name: "bytes/key, settled", decimals: 1 },
    Quantity { name: "  of key + value", decimals: 3 },
    Quantity { name: "  with start-up", decimals: 1 },
    Quantity { name: "start MB", decimals: 1 },
    Quantity { name: "settled MB", decimals: 1 },
    Quantity { name: "peak MB", decimals: 1 },
    Quantity { name: "load keys/s", decimals: 0 },
    Quantity { name: "load cpu µs/key", decimals: 3 },
    Quantity { name: "server waited share", decimals: 2 },
    Quantity { name: "probe p99.9 ms", decimals: 3 },
    Quantity { name: "longest pause ms", decimals: 3 },
    Quantity { name: "  without absences of a cpu ms", decimals: 3 },
    Quantity { name: "absences of a cpu ms", decimals: 0 },
    Quantity { name: "longest wait for cpu ms", decimals: 3 },
    Quantity { name: "  behind own threads ms", decimals: 3 },
    Quantity { name: "stolen by the host ms", decimals: 0 },
];

/// A filling for each size of values.
pub(super) fn fillings(value_bytes: &[usize], keys: Option<u64>) -> Vec<Filling> {
    let filling = |&value_bytes: &usize| {
        let all = DATA_BYTES / (KEY_BYTES + value_bytes) as u64;
        Filling { keys: keys.unwrap_or(all).max(1), value_bytes }
    };
    value_bytes.iter().map(filling).collect()
}

pub(super) fn run(arena: &Arena<'_>, fillings: &[Filling]) -> Result<(), BenchError> {
    let servers = arena.introduce()?;
    let mut rounds = Vec::new();
    for &filling in fillings {
        let lives = arena.rounds(|round, contender| one_life(arena, filling, round, contender))?;
        let sides: Vec<(&str, Vec<Summary>)> = arena
            .contenders
            .iter()
            .map(|contender| (contender.name, summaries(&lives, contender.name)))
            .collect();
        let Filling { keys, value_bytes } = filling;
        let table = render(QUANTITIES, &sides);
        arena.print(&format!(
            "{keys} keys of {KEY_BYTES} bytes with values of {value_bytes} bytes\n{table}"
        ))?;
        rounds.extend(lives);
    }
    if rounds.iter().any(|round| !round.probe_has_priority) {
        arena.print(
            "the probe had no real-time priority (chrt): pauses may be the client's own\n",
        )?;
    }
    arena.write_json(servers, &rounds)
}

fn one_life(
    arena: &Arena<'_>,
    filling: Filling,
    round: usize,
    contender: &Contender,
) -> Result<Round, BenchError> {
    let Filling { keys, value_bytes } = filling;
    let life = arena.start(contender)?;
    let server = &life.server;
    server.wait_quiet();
    let at_start = Memory::of(server.pid());
    let stop = AtomicBool::new(false);
    let stolen_before_ms = stolen_ms();
    let cpus = arena.setting.pins.map_or(Vec::new(), |pins| vec![pins.server_cpu, pins.load_cpu]);
    let (load, waits, absences, longest_cpu_wait) = thread::scope(|scope| {
        let stop = &stop;
        let cpu_waits = scope.spawn(|| cpu_waits::watch(server.pid(), stop));
        let watches: Vec<_> =
            cpus.iter().map(|&cpu| scope.spawn(move || absences::watch(cpu, stop))).collect();
        let probe = scope.spawn(|| (ask_for_real_time(), probe(&server.target(), keys, stop)));
        let load = load(arena, server, filling);
        // They look at this all the time and need nothing else of ours to be visible.
        stop.store(true, Ordering::Relaxed);
        let reports = "it reports errors and does not panic";
        let absences: Result<Vec<_>, _> =
            watches.into_iter().map(|watch| watch.join().expect(reports)).collect();
        (load, probe.join().expect(reports), absences, cpu_waits.join().expect(reports))
    });
    let stolen_ms = stolen_ms() - stolen_before_ms;
    let (probe_has_priority, waits) = waits;
    let pauses = Pauses::new(&waits?, absences?.concat());
    let loaded = Memory::of(server.pid());
    server.wait_settled();
    let settled = Memory::of(server.pid());
    let used_memory_bytes = used_memory(server)?;
    let (load, side) = (load?, contender.name);
    life.server.stop()?;
    Ok(Round {
        round,
        side,
        keys,
        value_bytes,
        at_start,
        loaded,
        settled,
        used_memory_bytes,
        load,
        pauses,
        longest_cpu_wait,
        stolen_ms,
        probe_has_priority,
    })
}

fn load(
    arena: &Arena<'_>,
    server: &Server,
    Filling { keys, value_bytes }: Filling,
) -> Result<TestReport, BenchError> {
    let vocabulary = vocabulary(keys, value_bytes, 1);
    let plan = Plan {
        target: server.target(),
        workload: Workload::named("set", &vocabulary)?,
        vocabulary,
        distribution: Distribution::Sequential,
        connections: LOAD_CONNECTIONS,
        threads: 1,
        pipeline: LOAD_PIPELINE,
        load: Load::Closed(Limit::Requests(keys)),
        warmup: Duration::ZERO,
        seed: 1,
    };
    let mut watch = Watch::new("loading", arena.display, Some(server.pid()));
    let outcome = run_plan(&plan, &mut watch)?;
    Ok(TestReport::new(&plan, &outcome, watch.server_cpu))
}

/// What the server says that it uses.
pub(super) fn used_memory(server: &Server) -> Result<u64, BenchError> {
    let info = Client::connect(&server.target())?.text(&["INFO", "memory"])?;
    let field = info.lines().find_map(|line| line.strip_prefix("used_memory:"));
    Ok(field.and_then(|text| text.trim().parse().ok()).unwrap_or(0))
}

fn summaries(rounds: &[Round], side: &str) -> Vec<Summary> {
    let of = |quantity: &dyn Fn(&Round) -> f64| {
        summarise(rounds.iter().filter(|round| round.side == side).map(quantity))
    };
    let per_key = |round: &Round, memory: Memory| {
        memory.resident_bytes.saturating_sub(round.at_start.resident_bytes) as f64
            / round.keys as f64
    };
    vec![
        of(&|round| per_key(round, round.loaded)),
        of(&|round| per_key(round, round.settled)),
        of(&|round| per_key(round, round.settled) / (KEY_BYTES + round.value_bytes) as f64),
        of(&|round| round.settled.resident_bytes as f64 / round.keys as f64),
        of(&|round| round.at_start.resident_bytes as f64 / 1e6),
        of(&|round| round.settled.resident_bytes as f64 / 1e6),
        of(&|round| round.settled.resident_bytes_peak as f64 / 1e6),
        of(&|round| round.load.requests_per_second),
        of(&|round| round.load.server_cpu_us_per_request.unwrap_or(0.0)),
        of(&|round| round.load.server_cpu_wait_share.unwrap_or(0.0)),
        of(&|round| round.pauses.p999_ms),
        of(&|round| round.pauses.longest_ms),
        of(&|round| round.pauses.longest_own_ms),
        of(&|round| round.pauses.absent_ms),
        of(&|round| round.longest_cpu_wait.ms),
        of(&|round| round.longest_cpu_wait.behind_own_threads_ms),
        of(&|round| round.stolen_ms),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::cli::{CompareArgs, Suite};
    use clap::Parser;

    #[test]
    fn sizes_of_values_are_a_list() {
        let sizes = |args: &[&str]| {
            let args = ["compare", "memory"].iter().chain(args);
            match CompareArgs::try_parse_from(args).map(|args| args.suite) {
                Ok(Suite::Memory { value_bytes, .. }) => value_bytes,
                _ => Vec::new(),
            }
        };
        assert_eq!(sizes(&[]), [64]);
        assert_eq!(sizes(&["--value-bytes", "600,1024,1536,3072"]), [600, 1024, 1536, 3072]);
        assert!(sizes(&["--value-bytes", "much"]).is_empty());
    }

    #[test]
    fn the_number_of_keys_follows_from_the_size_of_values() {
        let keys = |fillings: Vec<Filling>| -> Vec<u64> {
            fillings.iter().map(|filling| filling.keys).collect()
        };
        assert_eq!(keys(fillings(&[64, 1024], None)), [10_000_000, 769_230]);
        assert_eq!(keys(fillings(&[64, 1024], Some(5))), [5, 5]);
        assert_eq!(keys(fillings(&[900_000_000], None)), [1]);
    }

    #[test]
    fn each_summary_has_its_quantity() {
        assert_eq!(summaries(&[], "basalt").len(), QUANTITIES.len());
    }
}
