//! `kill -9` under load: how long until the first reply, and until GETs take as long as before,
//! which is when what is asked for most is in memory again.
//!
//! The files are still in the kernel's cache when the server starts again, as they are after the
//! crash of a process (and not after that of a machine), as far as the server reads through it.

use std::time::{Duration, Instant};

use super::Amount;
use super::figures::{Bound, Figures};
use super::filled::{self, Filled, start_again};
use super::zipf::{DISTRIBUTION, VALUE_BYTES};
use crate::compare::Arena;
use crate::compare::restart::kill_under_load;
use crate::compare::table::summarise;
use crate::error::BenchError;
use crate::plan::{Limit, Load, Plan};
use crate::progress::Watch;
use crate::run::run as run_load;
use crate::stats::Latency;
use crate::workload::Workload;

/// What P99 is taken of.
const SLICE: Duration = Duration::from_secs(1);
/// Slices before the kill, of which the median counts.
const SLICES_BEFORE: usize = 5;
/// P99 at most, of that before the kill, for GETs to take as long as before.
const BACK: f64 = 2.0;
/// Slices in a row that have to say so.
const SLICES_IN_A_ROW: usize = 3;
const GIVEN_UP: Duration = Duration::from_secs(120);

const FIRST_REPLY_SECONDS: Bound = Bound::AtMost(2.0);
const BACK_SECONDS: Bound = Bound::AtMost(60.0);

pub(super) fn run(
    arena: &Arena<'_>,
    amount: &Amount,
    figures: &mut Figures<'_, '_>,
) -> Result<(), BenchError> {
    let mut filled = filled::fill(arena, amount, VALUE_BYTES)?;
    let mixed = mixed(&filled)?;
    let warm = Plan { load: Load::Closed(Limit::Duration(amount.duration)), ..mixed.clone() };
    run_load(&warm, &mut Watch::new("warming", arena.display, None))?;
    let before: Result<Vec<f64>, BenchError> =
        (0..SLICES_BEFORE).map(|_| p99_us(arena, &filled)).collect();
    let before_us = summarise(before?.into_iter()).median;
    kill_under_load(&mut filled.life.server, &mixed)?;
    let start = Instant::now();
    let (server, first_reply) = start_again(arena, &filled.contender, filled.life.dir.path())?;
    filled.life.server = server;
    let mut slices = Vec::new();
    while back(&slices, before_us).is_none() && start.elapsed() < GIVEN_UP {
        let p99_us = p99_us(arena, &filled)?;
        slices.push(Slice { ended: start.elapsed(), p99_us });
    }
    let what = "kill -9 under Zipf 0.99, 1024 bytes, 50 connections";
    let first_us = slices.first().map_or(0.0, |slice| slice.p99_us);
    figures.say(what, &[("P99 µs before", before_us), ("in the first second", first_us)])?;
    let reply = ("first reply s", first_reply.as_secs_f64());
    figures.hold(what, reply, FIRST_REPLY_SECONDS)?;
    let back = back(&slices, before_us).map_or(f64::INFINITY, |time| time.as_secs_f64());
    figures.hold(what, ("GET P99 within 2x after s", back), BACK_SECONDS)?;
    filled.finish(figures)
}

/// GETs of a second after a start.
#[derive(Debug, Clone, Copy)]
struct Slice {
    /// Since the process was started.
    ended: Duration,
    p99_us: f64,
}

/// When GETs began to take as long as before, and went on to.
fn back(slices: &[Slice], before_us: f64) -> Option<Duration> {
    let is_back = |slice: &Slice| slice.p99_us <= BACK * before_us;
    let run = slices.windows(SLICES_IN_A_ROW).find(|run| run.iter().all(is_back))?;
    run.first().map(|slice| slice.ended)
}

/// What is asked for before the kill, and during it.
fn mixed(filled: &Filled) -> Result<Plan, BenchError> {
    let workload = Workload::ratio(1, 9, &filled.words)?;
    let plan = filled::plan(filled.server(), workload, filled.words.clone());
    Ok(Plan { distribution: DISTRIBUTION, ..plan })
}

/// P99 of GETs alone in a slice.
fn p99_us(arena: &Arena<'_>, filled: &Filled) -> Result<f64, BenchError> {
    let plan = Plan {
        distribution: DISTRIBUTION,
        load: Load::Closed(Limit::Duration(SLICE)),
        ..filled.test("get", &filled.words)?
    };
    let outcome = run_load(&plan, &mut Watch::new("get", arena.display, None))?;
    Ok(Latency::of(&outcome.latencies()).p99_us)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slices(p99s_us: &[f64]) -> Vec<Slice> {
        let slice =
            |(second, &p99_us): (u64, &f64)| Slice { ended: Duration::from_secs(second), p99_us };
        (1..).zip(p99s_us).map(slice).collect()
    }

    #[test]
    fn one_good_second_is_not_back() {
        let slices = slices(&[900.0, 150.0, 500.0, 199.0, 200.0, 180.0, 900.0]);
        assert_eq!(back(&slices, 100.0), Some(Duration::from_secs(4)));
        assert_eq!(back(&slices[..5], 100.0), None);
        assert_eq!(back(&slices, 50.0), None);
    }
}
