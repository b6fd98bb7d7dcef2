//! `compare tail`: how long the slowest answers take at a pace that the servers can keep, while
//! they write to disk in the background.
//!
//! Each side holds all keys in memory and is asked for them at the same rate, half by GET and half
//! by SET. Latency counts from when a request was due, so that a pause is charged to each request
//! that it kept waiting. What a server does in the background it does by itself, but for the first:
//! it is told to rewrite its log when the load begins, which is a checkpoint for Basalt.

use std::time::{Duration, Instant};

use crate::compare::Arena;
use crate::compare::cell::vocabulary;
use crate::compare::figures::{Bound, Figures};
use crate::compare::info::Info;
use crate::compare::server::Contender;
use crate::error::BenchError;
use crate::keys::Distribution;
use crate::plan::{Load, Plan};
use crate::report::TestReport;
use crate::run::{Observer, run as run_load};
use crate::shared::Shared;
use crate::target::{Client, Target};
use crate::workload::Workload;

const VALUE_BYTES: usize = 1024;
const CONNECTIONS: usize = 50;
/// Requests that may be unanswered on a connection before others wait in the client.
const IN_FLIGHT: u32 = 8;
/// Load that does not count, before the one that does.
const WARMED: Duration = Duration::from_secs(3);
/// How often is asked what goes on in the background.
const LOOK_EVERY: Duration = Duration::from_secs(1);

const P999_MS: Bound = Bound::AtMost(5.0);
const LONGEST_MS: Bound = Bound::AtMost(15.0);
/// A load beside which nothing is written in the background says nothing.
const CHECKPOINTS: Bound = Bound::AtLeast(1.0);

/// What the servers are asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    pub(super) keys: u64,
    pub(super) requests_per_second: f64,
    pub(super) lasts: Duration,
}

pub(super) fn run(arena: &Arena<'_>, pace: &Pace) -> Result<(), BenchError> {
    let servers = arena.introduce()?;
    let mut figures = Figures::new(arena);
    arena.rounds(|round, contender| {
        (figures.round, figures.check) = (round, contender.name);
        one_life(arena, contender, pace, &mut figures)
    })?;
    figures.finish(servers)
}

fn one_life(
    arena: &Arena<'_>,
    contender: &Contender,
    pace: &Pace,
    figures: &mut Figures<'_, '_>,
) -> Result<(), BenchError> {
    let mut contender = contender.clone();
    contender.extra.extend(["--maxmemory", "0"].map(str::to_owned));
    let life = arena.start(&contender)?;
    let target = life.server.target();
    let plan = plan(&target, pace)?;
    run_load(&plan.clone().into_fill()?, &mut Quietly)?;
    life.server.wait_settled();
    Client::connect(&target)?.call(&["BGREWRITEAOF"])?;
    let saves =
        || Ok::<_, BenchError>(Info::of_section(&target, "persistence")?.number("rdb_saves"));
    let saves_before = saves()?;
    let mut background = Background::new(&target);
    let outcome = run_load(&plan, &mut background)?;
    let report = TestReport::new(&plan, &outcome, None);
    let checkpoints = saves()? - saves_before;
    let what = format!(
        "{:.0} requests/s, GET and SET of {VALUE_BYTES} bytes, {} keys",
        pace.requests_per_second, pace.keys
    );
    let latency = &report.latency;
    figures.say(
        &what,
        &[
            ("requests/s", report.requests_per_second),
            ("P50 ms", latency.p50_us / 1e3),
            ("P99 ms", latency.p99_us / 1e3),
            ("P99.99 ms", latency.p9999_us / 1e3),
            ("looks that saw a merge or a rewrite", f64::from(background.seen)),
        ],
    )?;
    figures.hold_answers(&what, &report)?;
    let (p999, longest) =
        (("P99.9 ms", latency.p999_us / 1e3), ("longest ms", latency.max_us / 1e3));
    // The peer stands beside, and has no bounds.
    if contender.name == "redis" {
        figures.say(&what, &[p999, longest])?;
    } else {
        figures.hold(&what, ("checkpoints", checkpoints), CHECKPOINTS)?;
        figures.hold(&what, p999, P999_MS)?;
        figures.hold(&what, longest, LONGEST_MS)?;
    }
    life.server.stop()
}

fn plan(target: &Target, pace: &Pace) -> Result<Plan, BenchError> {
    let vocabulary = vocabulary(pace.keys, VALUE_BYTES, 1);
    let Pace { requests_per_second, lasts: duration, .. } = *pace;
    Ok(Plan {
        target: target.clone(),
        workload: Workload::ratio(1, 1, &vocabulary)?,
        vocabulary,
        distribution: Distribution::Uniform,
        connections: CONNECTIONS,
        threads: 1,
        pipeline: IN_FLIGHT,
        load: Load::Open { requests_per_second, duration },
        warmup: WARMED,
        seed: 23,
    })
}

/// Watches nothing.
struct Quietly;

impl Observer for Quietly {}

/// Asks now and then whether something goes on in the background.
struct Background<'a> {
    target: &'a Target,
    looked: Instant,
    /// Looks that saw something.
    seen: u32,
}

impl Background<'_> {
    fn new(target: &Target) -> Background<'_> {
        Background { target, looked: Instant::now(), seen: 0 }
    }
}

impl Observer for Background<'_> {
    fn tick(&mut self, _: &Shared) {
        if self.looked.elapsed() < LOOK_EVERY {
            return;
        }
        self.looked = Instant::now();
        // A look that fails is one the less.
        let Ok(info) = Info::of_section(self.target, "persistence") else { return };
        let running = ["cold_merges_running", "aof_rewrite_in_progress"];
        self.seen += u32::from(running.iter().any(|name| info.number(name) > 0.0));
    }
}
