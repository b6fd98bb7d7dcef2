//! How long GETs of keys in memory take, alone and while other connections miss as fast as they
//! can.
//!
//! The hits come at a pace, and their latency counts from when each was due: clients that send the
//! next request when the last one is answered would ask less often while the server is slow. What
//! both loads take from the cpus is in the figure: on a machine of few cores the hits wait for a
//! cpu, and not only for the server.

use std::time::{Duration, Instant};

use super::Amount;
use super::beside::beside;
use super::figures::{Bound, Figures, ratio};
use super::filled::{self, CONNECTIONS, Filled};
use super::measured::{Counted, MISSES};
use crate::compare::Arena;
use crate::error::BenchError;
use crate::plan::{Load, Plan};
use crate::progress::Watch;
use crate::report::TestReport;
use crate::run::run as run_load;
use crate::template::Vocabulary;

const VALUE_BYTES: usize = 1024;
/// One key in a thousand is asked for at the pace: a hundredth of what memory holds.
const KEYS_A_HOT_KEY: u64 = 1_000;
const HOT_KEYS_MIN: u64 = 100;
const HITS_PER_SECOND: f64 = 2_000.0;
const HIT_CONNECTIONS: usize = 8;
/// Requests that may be unanswered on a connection before others wait in the client.
const IN_FLIGHT: u32 = 4;
/// Loads before those that are counted.
const WARMED: Duration = Duration::from_secs(3);
/// P99 of the hits, of theirs alone.
const SLOWER: Bound = Bound::AtMost(2.0);

pub(super) fn run(
    arena: &Arena<'_>,
    amount: &Amount,
    figures: &mut Figures<'_, '_>,
) -> Result<(), BenchError> {
    let filled = filled::fill(arena, amount, VALUE_BYTES)?;
    let ceilings = filled.ceilings(&[CONNECTIONS], figures)?;
    let hits = hits(arena, &filled, amount.duration)?;
    let misses = Plan { warmup: WARMED, ..filled.test("get", &filled.words)? };
    let ask = || {
        let (counted, begun) = (Counted::begin(filled.server())?, Instant::now());
        let outcome = run_load(&hits, &mut Watch::new("hits", arena.display, None))?;
        let (reads, _) = counted.end(filled.server())?;
        let keys_per_second = ratio(reads.keys, begun.elapsed().as_secs_f64());
        Ok::<_, BenchError>((TestReport::new(&hits, &outcome, None), keys_per_second))
    };
    let (alone, misses_alone) = ask()?;
    let ((beside, misses_per_second), others) = beside(&misses, ask)?;
    say("hits alone", &alone, misses_alone, figures)?;
    say("hits while others miss", &beside, misses_per_second, figures)?;
    let most = ceilings.first().map_or(0.0, |ceiling| ceiling.reads_per_second);
    let what = "50 connections that miss";
    figures.say(what, &[("misses/s, of the disk's reads/s", ratio(misses_per_second, most))])?;
    let misses = ratio(misses_per_second, others.requests_per_second());
    figures.hold(what, ("misses a GET", misses), MISSES)?;
    let slower = ratio(beside.latency.p99_us, alone.latency.p99_us);
    figures.hold("hits while others miss", ("P99, of theirs alone", slower), SLOWER)?;
    filled.finish(figures)
}

/// Sets the keys that are to be in memory; returns what asks for them.
fn hits(arena: &Arena<'_>, filled: &Filled, duration: Duration) -> Result<Plan, BenchError> {
    let keyspace = (filled.words.keyspace / KEYS_A_HOT_KEY).max(HOT_KEYS_MIN);
    let words = Vocabulary { key_prefix: "hot:".into(), keyspace, ..filled.words.clone() };
    filled.write(arena, &words)?;
    Ok(Plan {
        connections: HIT_CONNECTIONS,
        pipeline: IN_FLIGHT,
        load: Load::Open { requests_per_second: HITS_PER_SECOND, duration },
        warmup: WARMED,
        ..filled.test("get", &words)?
    })
}

fn say(
    what: &str,
    report: &TestReport,
    misses_per_second: f64,
    figures: &mut Figures<'_, '_>,
) -> Result<(), BenchError> {
    let latency = &report.latency;
    figures.say(
        what,
        &[
            ("requests/s", report.requests_per_second),
            ("P50 µs", latency.p50_us),
            ("P99 µs", latency.p99_us),
            ("P99.9 µs", latency.p999_us),
            ("keys read/s for all", misses_per_second),
        ],
    )?;
    figures.hold_answers(what, report)
}
