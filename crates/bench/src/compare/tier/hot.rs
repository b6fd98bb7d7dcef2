//! Everything in memory, but not known to be: what a command on such keys costs, against the same
//! with `maxmemory 0`.
//!
//! A server that has started again without warming up, and whose keys have all been asked for once,
//! holds them all and cannot know that there are no others: each new key has to be looked for. The
//! other one has not started again: in both, entries stand in memory as their keys came, where a
//! warm-up would have put neighbours side by side.

use std::collections::BTreeMap;
use std::time::Duration;

use super::Amount;
use super::figures::{Bound, Figures};
use super::filled::{save, start_again};
use super::with_budget;
use crate::compare::cell::vocabulary;
use crate::compare::server::Server;
use crate::compare::{Arena, Life};
use crate::error::BenchError;
use crate::keys::Distribution;
use crate::plan::{Limit, Load, Plan};
use crate::process::CpuTime;
use crate::progress::Watch;
use crate::run::run as run_load;
use crate::template::Vocabulary;
use crate::workload::Workload;

const MAXMEMORY_BYTES: u64 = 4 << 30;
const STRINGS: u64 = 1_000_000;
/// Hashes of ten fields, and sorted sets of ten members.
const COLLECTIONS: u64 = 100_000;
const ELEMENTS: usize = 10;
const VALUE_BYTES: usize = 64;
/// Of a test, with each of the two servers in turn.
const REQUESTS: u64 = 600_000;
const TURNS: u64 = 5;
/// Memory lies better in one life than in the next.
const LIVES: usize = 3;
const PIPELINE: u32 = 50;
/// Against the speed of a server that knows all its keys.
const SPEED: Bound = Bound::AtLeast(0.9);
/// A million of them a second on one core.
const NEW_KEYS_CPU_US: Bound = Bound::AtMost(1.0);
const NEW_KEYS: &str = "set of new keys";

/// Keys of one type, and what is measured on them.
struct Kind {
    keys: Vocabulary,
    fill: String,
    /// Brings a key into memory.
    touch: &'static str,
    tests: Vec<Test>,
}

struct Test {
    name: &'static str,
    command: &'static str,
    keys: Vocabulary,
}

pub(super) fn run(
    arena: &Arena<'_>,
    amount: &Amount,
    figures: &mut Figures<'_, '_>,
) -> Result<(), BenchError> {
    let mut costs = Costs::default();
    for _ in 0..LIVES {
        let whole = born(arena, amount, 0)?;
        let partial = born(arena, amount, MAXMEMORY_BYTES)?;
        for kind in &kinds() {
            kind.tests
                .iter()
                .try_for_each(|test| compare(arena, test, [&whole, &partial], &mut costs))?;
        }
        whole.server.stop()?;
        partial.server.stop()?;
    }
    for (name, lives) in &costs {
        let what = format!("{name}, pipeline {PIPELINE}, {LIVES} lives of each");
        let [whole, partial] = [0, 1].map(|side| median(lives.iter().map(|life| life[side])));
        figures.say(&what, &[("CPU µs, maxmemory 0", whole), ("CPU µs, incomplete", partial)])?;
        let speed = median(lives.iter().map(|[whole, partial]| whole / partial));
        figures.hold(&what, ("share of its speed", speed), SPEED)?;
        if *name == NEW_KEYS {
            figures.hold(&what, ("CPU µs, incomplete", partial), NEW_KEYS_CPU_US)?;
        }
    }
    Ok(())
}

/// CPU time of each test, in microseconds a request, of both servers in each life.
type Costs = BTreeMap<&'static str, Vec<[f64; 2]>>;

fn median(figures: impl Iterator<Item = f64>) -> f64 {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_unstable_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// A server that holds all keys. With a budget it has started again since they came.
fn born(arena: &Arena<'_>, amount: &Amount, maxmemory_bytes: u64) -> Result<Life, BenchError> {
    // What is measured has no checkpoint beside it.
    let options = ["--warm-up", "no", "--checkpoint-log-size", "4gb"];
    let contender = with_budget(arena, amount, maxmemory_bytes, &options);
    let Life { dir, mut server } = arena.start(&contender)?;
    let kinds = kinds();
    for kind in &kinds {
        each_once(arena, &server, "filling", (&kind.fill, &kind.keys))?;
    }
    save(&server)?;
    if maxmemory_bytes > 0 {
        server.stop()?;
        (server, _) = start_again(arena, &contender, dir.path())?;
    }
    for kind in &kinds {
        each_once(arena, &server, "touching", (kind.touch, &kind.keys))?;
    }
    server.wait_settled();
    Ok(Life { server, dir })
}

/// Both servers take turns, so that both have the machine's fast and slow moments.
fn compare(
    arena: &Arena<'_>,
    test: &Test,
    servers: [&Life; 2],
    costs: &mut Costs,
) -> Result<(), BenchError> {
    let (mut used_ns, mut completed) = ([0, 0], [0, 0]);
    for turn in 0..TURNS {
        for (side, Life { server, .. }) in servers.into_iter().enumerate() {
            let plan = Plan { seed: turn, ..plan(server, test.command, &test.keys)? };
            let before = CpuTime::of(server.pid());
            let outcome = run_load(&plan, &mut Watch::new(test.name, arena.display, None))?;
            used_ns[side] += CpuTime::of(server.pid()).since(before).own_ns;
            completed[side] += outcome.stats.completed;
        }
    }
    let cost = |side: usize| used_ns[side] as f64 / 1e3 / completed[side].max(1) as f64;
    costs.entry(test.name).or_default().push([cost(0), cost(1)]);
    // What that leaves to be done is not the next one's.
    for Life { server, .. } in servers {
        save(server)?;
    }
    servers.into_iter().for_each(|life| life.server.wait_settled());
    Ok(())
}

fn kinds() -> [Kind; 3] {
    let words = |prefix: &str, keyspace| Vocabulary {
        key_prefix: prefix.into(),
        ..vocabulary(keyspace, VALUE_BYTES, 1)
    };
    let strings = vocabulary(STRINGS, VALUE_BYTES, 1);
    let (hashes, sorted) = (words("hash:", COLLECTIONS), words("zset:", COLLECTIONS));
    let elements = |start: &str, element: &dyn Fn(usize) -> String| {
        (0..ELEMENTS).map(element).fold(start.to_owned(), |all, next| all + " " + &next)
    };
    let test = |name, command, keys: &Vocabulary| Test { name, command, keys: keys.clone() };
    [
        Kind {
            fill: "SET __key__ __data__".into(),
            touch: "GET __key__",
            tests: vec![
                test("get", "GET __key__", &strings),
                test("set", "SET __key__ __data__", &strings),
                test(NEW_KEYS, "SET __key__ __data__", &words("new:", REQUESTS * TURNS * 10)),
            ],
            keys: strings,
        },
        Kind {
            fill: elements("HSET __key__", &|number| format!("field:0{number} __data__")),
            touch: "HLEN __key__",
            tests: vec![test("hget", "HGET __key__ field:0__rand:10__", &hashes)],
            keys: hashes,
        },
        Kind {
            fill: elements("ZADD __key__", &|number| format!("{number} member:0{number}")),
            touch: "ZCARD __key__",
            tests: vec![test("zadd", "ZADD __key__ __rand:1000__ member:0__rand:10__", &sorted)],
            keys: sorted,
        },
    ]
}

/// Sends a command once for each key.
fn each_once(
    arena: &Arena<'_>,
    server: &Server,
    what: &str,
    (command, keys): (&str, &Vocabulary),
) -> Result<(), BenchError> {
    let plan = Plan {
        distribution: Distribution::Sequential,
        load: Load::Closed(Limit::Requests(keys.keyspace)),
        ..plan(server, command, keys)?
    };
    run_load(&plan, &mut Watch::new(what, arena.display, None)).map(drop)
}

fn plan(server: &Server, command: &str, keys: &Vocabulary) -> Result<Plan, BenchError> {
    Ok(Plan {
        target: server.target(),
        workload: Workload::mixed(command.into(), &[(command, 1)], keys)?,
        vocabulary: keys.clone(),
        distribution: Distribution::Uniform,
        connections: 50,
        threads: 1,
        pipeline: PIPELINE,
        load: Load::Closed(Limit::Requests(REQUESTS)),
        warmup: Duration::ZERO,
        seed: 5,
    })
}
