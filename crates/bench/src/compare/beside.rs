//! `compare handshakes` and `compare scripts`: how long answers to plain clients take while others
//! are a burden.
//!
//! ```text
//! time   quiet │ elsewhere │ attacked │ …     GET at a pace, counted from when each was due
//! P99      q         e           a            medians: a / q, and a / the greater one of q and e
//! ```
//! Elsewhere is the same burden on another server of the same program beside it: what plain clients
//! feel of that is the work on cores that they share with it, its clients' ends included, and no
//! fault of the server that they ask. The phases take turns, because the machine is not the same
//! from one second to the next.

use std::time::Duration;

use serde::Serialize;

use crate::compare::Arena;
use crate::compare::cell::vocabulary;
use crate::compare::figures;
use crate::compare::made::Made;
use crate::compare::scripting::{self, Script};
use crate::compare::server::Contender;
use crate::compare::shaking;
use crate::compare::table::summarise;
use crate::error::BenchError;
use crate::keys::Distribution;
use crate::plan::{Load, Plan};
use crate::progress::Watch;
use crate::report::TestReport;
use crate::run::run as run_load;
use crate::target::Target;
use crate::workload::Workload;

const KEYS: u64 = 100_000;
const VALUE_BYTES: usize = 64;
const CONNECTIONS: usize = 20;
const REQUESTS_PER_SECOND: f64 = 5_000.0;
/// Requests that may be unanswered on a connection before others wait in the client.
const IN_FLIGHT: u32 = 4;
/// Load, and the burden, before what is counted.
const WARMED: Duration = Duration::from_millis(500);
/// How often the phases take turns in a server's life. They are short, since the machine may stand
/// still for many milliseconds in any of them, and a median leaves out those in which it did.
const TURNS: usize = 5;
/// From a phase to the next one.
const REST: Duration = Duration::from_millis(300);
/// P99 beside the burden, of the greater one of the other two.
const SLOWER_MAX: f64 = 2.0;

/// What others do meanwhile, again and again.
#[derive(Debug, Clone, Copy)]
pub(super) enum Burden {
    /// They shake hands by TLS, this often a second.
    Handshakes { per_second: f64 },
    /// They run a script that does not end by itself.
    Script(&'static Script),
}

/// What is measured, and for how long.
#[derive(Debug, Clone)]
pub(super) struct Course {
    pub(super) burdens: Vec<Burden>,
    pub(super) phase: Duration,
    /// Network threads of the server, a row for each.
    pub(super) io_threads: Vec<usize>,
}

/// Where the burden is meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Phase {
    Quiet,
    Elsewhere,
    Attacked,
}

const PHASES: [Phase; 3] = [Phase::Quiet, Phase::Elsewhere, Phase::Attacked];

/// One life of a server.
#[derive(Debug, Clone, Serialize)]
struct Round {
    round: usize,
    side: &'static str,
    burden: &'static str,
    io_threads: usize,
    phases: Vec<Felt>,
}

/// What plain clients felt in a phase.
#[derive(Debug, Clone, Serialize)]
struct Felt {
    phase: Phase,
    made: Made,
    plain: TestReport,
}

pub(super) fn run(arena: &Arena<'_>, course: &Course) -> Result<(), BenchError> {
    let is_idle =
        |burden: &Burden| matches!(burden, Burden::Handshakes { per_second } if *per_second <= 0.0);
    let is_nothing = course.burdens.is_empty() || course.burdens.iter().any(is_idle);
    if is_nothing || course.phase.is_zero() || course.io_threads.is_empty() {
        return Err(BenchError::Usage(
            "there must be something to measure; raise --per-second or --seconds, or mend --only"
                .into(),
        ));
    }
    let servers = arena.introduce()?;
    let lives = arena.rounds(|round, side| {
        let lives = course.rows().map(|row| one_life(arena, course, (round, side), row));
        lives.collect::<Result<Vec<Round>, BenchError>>()
    })?;
    let rounds = lives.concat();
    let (table, not_held) = table(arena, course, &rounds);
    arena.print(&format!(
        "P99 µs of {REQUESTS_PER_SECOND} GETs a second, {CONNECTIONS} plain connections\n{table}"
    ))?;
    arena.write_json(servers, &rounds)?;
    figures::all_hold(not_held)
}

impl Course {
    /// A life of the server each.
    fn rows(&self) -> impl Iterator<Item = (Burden, usize)> {
        let threads = |&burden| self.io_threads.iter().map(move |&threads| (burden, threads));
        self.burdens.iter().flat_map(threads)
    }
}

impl Burden {
    fn name(self) -> &'static str {
        match self {
            Burden::Handshakes { .. } => "handshakes",
            Burden::Script(script) => script.name,
        }
    }

    /// What the servers are started with for it.
    fn contender(self, side: &Contender) -> Contender {
        match self {
            Burden::Handshakes { .. } => Contender { tls: true, ..side.clone() },
            Burden::Script(_) => scripting::contender(side),
        }
    }

    fn beside<R>(
        self,
        target: &Target,
        work: impl FnOnce() -> Result<R, BenchError>,
    ) -> Result<(R, Made), BenchError> {
        match self {
            Burden::Handshakes { per_second } => shaking::beside(target, per_second, work),
            Burden::Script(script) => scripting::beside(target, script, work),
        }
    }
}

/// A server, another one beside it, and all phases.
fn one_life(
    arena: &Arena<'_>,
    course: &Course,
    (round, side): (usize, &Contender),
    (burden, io_threads): (Burden, usize),
) -> Result<Round, BenchError> {
    let mut contender = burden.contender(side);
    contender.extra.extend(["--io-threads".to_owned(), io_threads.to_string()]);
    let (asked, other) = (arena.start(&contender)?, arena.start(&contender)?);
    let gets = gets(asked.server.plain_target(), course.phase)?;
    let fill = gets.clone().into_fill()?;
    run_load(&fill, &mut Watch::new("filling", arena.display, None))?;
    asked.server.wait_quiet();
    let mut phases = Vec::with_capacity(TURNS * PHASES.len());
    for step in 0..TURNS * PHASES.len() {
        let phase = PHASES[(round + step) % PHASES.len()];
        let measure = || {
            let outcome = run_load(&gets, &mut Watch::new("gets", arena.display, None))?;
            Ok::<TestReport, BenchError>(TestReport::new(&gets, &outcome, None))
        };
        let (plain, made) = match phase {
            Phase::Quiet => (measure()?, Made::default()),
            Phase::Elsewhere => burden.beside(&other.server.target(), measure)?,
            Phase::Attacked => burden.beside(&asked.server.target(), measure)?,
        };
        phases.push(Felt { phase, made, plain });
        std::thread::sleep(REST);
    }
    asked.server.stop()?;
    other.server.stop()?;
    Ok(Round { round, side: side.name, burden: burden.name(), io_threads, phases })
}

/// What plain clients do in a phase.
fn gets(target: Target, duration: Duration) -> Result<Plan, BenchError> {
    let vocabulary = vocabulary(KEYS, VALUE_BYTES, 1);
    Ok(Plan {
        target,
        workload: Workload::named("get", &vocabulary)?,
        vocabulary,
        distribution: Distribution::Uniform,
        connections: CONNECTIONS,
        threads: 1,
        pipeline: IN_FLIGHT,
        load: Load::Open { requests_per_second: REQUESTS_PER_SECOND, duration },
        warmup: WARMED,
        seed: 1,
    })
}

/// A row for each side, burden and number of threads: medians of all phases, and whether the bound
/// holds; and of how many it does not.
fn table(arena: &Arena<'_>, course: &Course, rounds: &[Round]) -> (String, usize) {
    let mut not_held = 0;
    let mut text = format!(
        "  {:48}{:>9}{:>11}{:>10}{:>10}{:>18}{:>14}{:>8}\n",
        "", "quiet", "elsewhere", "attacked", "of quiet", "of the greater", "made/s", "failed"
    );
    for contender in &arena.contenders {
        for (burden, io_threads) in course.rows() {
            let (side, burden) = (contender.name, burden.name());
            let of_row =
                |it: &&Round| (it.side, it.burden, it.io_threads) == (side, burden, io_threads);
            let rounds: Vec<&Round> = rounds.iter().filter(of_row).collect();
            let p99s = P99s::of(&rounds);
            not_held += usize::from(!p99s.is_held());
            let name = format!("{side}, {burden}, {io_threads} threads");
            text.push_str(&row(&name, p99s, &rounds));
        }
    }
    (text, not_held)
}

fn row(name: &str, p99s: P99s, rounds: &[&Round]) -> String {
    let phases = || rounds.iter().flat_map(|it| &it.phases);
    let pace = |phase| median(rounds, phase, |felt| felt.made.per_second);
    let pace = format!("{:.1}, {:.1}", pace(Phase::Elsewhere), pace(Phase::Attacked));
    let failed: u64 = phases().map(|felt| felt.made.failed).sum();
    format!("  {name:48}{}{pace:>14}{failed:>8}\n", p99s.text())
}

fn median(rounds: &[&Round], phase: Phase, of: fn(&Felt) -> f64) -> f64 {
    let phases = rounds.iter().flat_map(|it| &it.phases);
    summarise(phases.filter(|felt| felt.phase == phase).map(of)).median
}

/// Medians of the phases, in microseconds.
#[derive(Debug, Clone, Copy)]
struct P99s {
    quiet: f64,
    elsewhere: f64,
    attacked: f64,
}

impl P99s {
    fn of(rounds: &[&Round]) -> P99s {
        let p99 = |phase| median(rounds, phase, |felt| felt.plain.latency.p99_us);
        P99s {
            quiet: p99(Phase::Quiet),
            elsewhere: p99(Phase::Elsewhere),
            attacked: p99(Phase::Attacked),
        }
    }

    fn is_held(self) -> bool {
        self.of_greater() <= SLOWER_MAX
    }

    fn of_greater(self) -> f64 {
        self.attacked / self.quiet.max(self.elsewhere)
    }

    fn text(self) -> String {
        let P99s { quiet, elsewhere, attacked } = self;
        let of_quiet = format!("{:.2}x", attacked / quiet);
        let verdict = if self.is_held() { "held" } else { "NOT held" };
        let of_greater = format!("{:.2}x, {verdict}", self.of_greater());
        format!("{quiet:>9.0}{elsewhere:>11.0}{attacked:>10.0}{of_quiet:>10}{of_greater:>18}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_is_of_the_greater_one() {
        let p99s = P99s { quiet: 100.0, elsewhere: 300.0, attacked: 500.0 };
        assert!(p99s.text().contains("5.00x"), "{}", p99s.text());
        assert!(p99s.text().ends_with(" 1.67x, held"), "{}", p99s.text());
        let p99s = P99s { quiet: 300.0, elsewhere: 100.0, attacked: 601.0 };
        assert!(p99s.text().ends_with(" NOT held"), "{}", p99s.text());
    }
}
