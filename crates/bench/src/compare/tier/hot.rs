//! Everything in memory, but not known to be: what a command on such keys costs, against the same
//! with `maxmemory 0`.
//!
//! A server that has started again without warming up, and whose keys have all been asked for once,
//! holds them all and cannot know that there are no others: each new key has to be looked for. The
//! other one has not started again: in both, entries stand in memory as their keys came, where a
//! warm-up would have put neighbours side by side.

use std::time::Duration;

use super::Amount;
use super::figures::{Bound, Figures};
use super::filled::{save, start_again};
use super::with_budget;
use crate::compare::Arena;
use crate::compare::cell::vocabulary;
use crate::compare::server::Server;
use crate::error::BenchError;
use crate::keys::Distribution;
use crate::plan::{Limit, Load, Plan};
use crate::process::CpuTime;
use crate::progress::Watch;
use crate::run::run as run_load;
use crate::template::Vocabulary;
use crate::workload::Workload;

const KEYS: u64 = 1_000_000;
const VALUE_BYTES: usize = 64;
const REQUESTS: u64 = 3_000_000;
const PIPELINE: u32 = 50;
/// Against the speed of a server that knows all its keys.
const SPEED: Bound = Bound::AtLeast(0.9);

pub(super) fn run(
    arena: &Arena<'_>,
    _amount: &Amount,
    figures: &mut Figures<'_, '_>,
) -> Result<(), BenchError> {
    let whole = life(arena, "0", true)?;
    let partial = life(arena, "4gb", false)?;
    for ((name, whole), (_, partial)) in whole.iter().zip(&partial) {
        figures.say(
            &format!("{name}, pipeline {PIPELINE}"),
            &[("CPU µs, maxmemory 0", *whole), ("CPU µs, incomplete", *partial)],
        )?;
        let share = ("share of its speed", whole / partial);
        figures.hold(&format!("{name}, pipeline {PIPELINE}"), share, SPEED)?;
    }
    Ok(())
}

fn life(
    arena: &Arena<'_>,
    maxmemory: &str,
    is_whole: bool,
) -> Result<Vec<(&'static str, f64)>, BenchError> {
    let contender =
        with_budget(arena, maxmemory, &["--warm-up", if is_whole { "yes" } else { "no" }]);
    let life = arena.start(&contender)?;
    let words = vocabulary(KEYS, VALUE_BYTES, 1);
    let fill = plan(&life.server, "set", words.clone())?.into_fill()?;
    run_load(&fill, &mut Watch::new("filling", arena.display, None))?;
    save(&life.server)?;
    let (dir, mut server) = (life.dir, life.server);
    if !is_whole {
        server.stop()?;
        (server, _) = start_again(arena, &contender, dir.path())?;
    }
    // Each key is asked for, some more than once.
    let touch = Plan {
        load: Load::Closed(Limit::Requests(KEYS * 20)),
        ..plan(&server, "get", words.clone())?
    };
    run_load(&touch, &mut Watch::new("touching", arena.display, None))?;
    server.wait_settled();
    let mut costs = Vec::new();
    for (name, test, vocabulary) in [
        ("get", "get", words.clone()),
        ("set", "set", words.clone()),
        (
            "set of new keys",
            "set",
            Vocabulary { key_prefix: "new:".into(), keyspace: REQUESTS * 10, ..words },
        ),
    ] {
        let plan = plan(&server, test, vocabulary)?;
        let before = CpuTime::of(server.pid());
        let outcome = run_load(&plan, &mut Watch::new(name, arena.display, None))?;
        let used = CpuTime::of(server.pid()).since(before).own_ns;
        costs.push((name, used as f64 / 1e3 / outcome.stats.completed.max(1) as f64));
    }
    server.stop()?;
    Ok(costs)
}

fn plan(server: &Server, test: &str, vocabulary: Vocabulary) -> Result<Plan, BenchError> {
    Ok(Plan {
        target: server.target(),
        workload: Workload::named(test, &vocabulary)?,
        vocabulary,
        distribution: Distribution::Uniform,
        connections: 50,
        threads: 1,
        pipeline: PIPELINE,
        load: Load::Closed(Limit::Requests(REQUESTS)),
        warmup: Duration::ZERO,
        seed: 5,
    })
}
