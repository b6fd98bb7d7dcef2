//! Kill -9 and restart: what was acknowledged is there.
//!
//! `BASALT_CRASH_ROUNDS` sets the number of rounds; `BASALT_SEED` reproduces their moments.

use std::time::Duration;

use basalt_resp::Value;
use basalt_tests::client::Connection;
use basalt_tests::crash::{self, Outcome, Placement, Plan, collections, large, mixed};
use basalt_tests::random::Random;
use basalt_tests::server::{Kind, Launch, is_redis};

const ROUNDS_IN_CI: u64 = 5;

const ALWAYS: &[(&str, &str)] = &[("appendonly", "yes"), ("appendfsync", "always")];
const EVERYSEC: &[(&str, &str)] = &[("appendonly", "yes"), ("appendfsync", "everysec")];

/// Under `everysec` a second may be lost; a machine under load may be late by as much again.
const EVERYSEC_AGE_MAX: Duration = Duration::from_secs(2);

pub(crate) fn plan(placement: Placement, options: &[(&str, &str)]) -> Plan {
    let rounds = std::env::var("BASALT_CRASH_ROUNDS").ok().and_then(|rounds| rounds.parse().ok());
    let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    Plan {
        kind: Kind::Basalt,
        rounds: rounds.unwrap_or(ROUNDS_IN_CI),
        writers: 6,
        acknowledged_max: 4_000,
        duration_min: Duration::ZERO,
        placement,
        options: options.iter().map(own).collect(),
        seed: Random::from_environment().seed(),
    }
}

fn run(plan: &Plan) -> Outcome {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let outcome = crash::run(plan, dir.path());
    eprintln!(
        "{:?}: {} rounds, {} acknowledged, {} lost (BASALT_SEED={})",
        plan.options,
        plan.rounds,
        outcome.acknowledged,
        outcome.losses.len(),
        plan.seed
    );
    assert!(outcome.acknowledged >= plan.rounds, "the writers wrote nothing: {outcome:?}");
    outcome
}

#[test]
fn always_loses_nothing() {
    let outcome = run(&plan(Placement::Spread, ALWAYS));
    assert!(outcome.losses.is_empty(), "{:?}", outcome.losses);
}

#[test]
fn always_loses_nothing_of_one_slot() {
    let outcome = run(&plan(Placement::OneSlot, ALWAYS));
    assert!(outcome.losses.is_empty(), "{:?}", outcome.losses);
}

#[test]
fn everysec_leaves_no_hole() {
    let outcome = run(&plan(Placement::OneSlot, EVERYSEC));
    let holes: Vec<_> = outcome.losses.iter().filter(|loss| loss.hole).collect();
    assert!(holes.is_empty(), "{holes:?}");
}

/// Few rounds, but longer than what may be lost.
#[test]
fn everysec_loses_the_last_moments_only() {
    let mut plan = plan(Placement::OneSlot, EVERYSEC);
    plan.rounds = plan.rounds.div_ceil(5);
    plan.writers = 1;
    plan.duration_min = EVERYSEC_AGE_MAX * 2;
    let outcome = run(&plan);
    let old: Vec<_> = outcome.losses.iter().filter(|loss| loss.age > EVERYSEC_AGE_MAX).collect();
    assert!(old.is_empty(), "{} of them, the oldest {:?}", old.len(), old[0]);
}

fn run_collections(plan: &Plan) -> collections::Outcome {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let outcome = collections::run(plan, dir.path());
    eprintln!(
        "collections, {:?}: {} rounds, {} acknowledged, {} violations (BASALT_SEED={})",
        plan.placement,
        plan.rounds,
        outcome.acknowledged,
        outcome.violations.len(),
        plan.seed
    );
    assert!(outcome.acknowledged >= plan.rounds, "the writers wrote nothing: {outcome:?}");
    outcome
}

#[test]
fn always_keeps_every_element_once() {
    for placement in [Placement::Spread, Placement::OneSlot] {
        let outcome = run_collections(&plan(placement, ALWAYS));
        assert!(outcome.violations.is_empty(), "{:#?}", outcome.violations);
    }
}

/// Each transaction sets a few keys of different partitions to one number.
#[test]
fn transactions_are_there_as_a_whole_or_not_at_all() {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let mut random = Random::from_environment();
    let launch = || {
        let launch = Launch::new(Kind::Basalt).dir(dir.path()).allow_log("torn tail");
        ALWAYS.iter().fold(launch, |launch, (name, value)| launch.option(name, value)).start()
    };
    let mut server = launch();
    for round in 0..plan(Placement::Spread, ALWAYS).rounds {
        let connections: Vec<Connection> = (0..4).map(|_| server.connect()).collect();
        let pause = Duration::from_micros(20_000 + random.below(80_000));
        let acknowledged: Vec<u64> = std::thread::scope(|scope| {
            let start = |(writer, connection)| scope.spawn(move || set_keys(connection, writer));
            let writers: Vec<_> = connections.into_iter().enumerate().map(start).collect();
            std::thread::sleep(pause);
            server.kill();
            writers.into_iter().map(|writer| writer.join().expect("no panic")).collect()
        });
        drop(server);
        server = launch();
        let mut connection = server.connect();
        for (writer, acknowledged) in acknowledged.into_iter().enumerate() {
            let found = connection.run(&format!("MGET {}", keys_of(writer).join(" ")));
            let Ok(Value::Array(found)) = found else { panic!("{found:?}") };
            assert!(found.iter().all(|value| *value == found[0]), "round {round}: {found:?}");
            let last = match &found[0] {
                Value::Bulk(digits) => String::from_utf8_lossy(digits).parse().expect("a number"),
                _ => 0,
            };
            assert!(last >= acknowledged, "round {round}: {last} is older than {acknowledged}");
        }
        connection.run("FLUSHALL").expect("it runs");
    }
}

fn keys_of(writer: usize) -> [String; 5] {
    [0, 1, 2, 3, 4].map(|key| format!("{writer}:{key}"))
}

/// Sets all keys to 1, 2, 3 … in one transaction each until the connection breaks; returns the last
/// number that was acknowledged.
fn set_keys(mut connection: Connection, writer: usize) -> u64 {
    let mut number = 0;
    loop {
        let lines = keys_of(writer).map(|key| format!("SET {key} {}\r\n", number + 1));
        let request = format!("MULTI\r\n{}EXEC\r\n", lines.concat());
        let is_sent = connection.send_raw(request.as_bytes()).is_ok();
        let replies = (0..lines.len() + 2).map(|_| connection.receive()).last();
        match replies {
            Some(Ok(Value::Array(_))) if is_sent => number += 1,
            Some(Ok(other)) => panic!("EXEC answered {other:?}"),
            _ => return number,
        }
    }
}

/// Checkpoints are small, so that kills fall into them, and large collections have rows of their
/// own.
pub(crate) const BUSY_WITH_CHECKPOINTS: &[(&str, &str)] = &[
    ("appendonly", "yes"),
    ("appendfsync", "always"),
    ("checkpoint-log-size", "1mb"),
    ("collection-row-max", "4kb"),
];

fn run_mixed(plan: &Plan) -> mixed::Outcome {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let outcome = mixed::run(plan, dir.path(), &|_| {});
    eprintln!(
        "mixed: {} rounds, {} starts killed, {} steps acknowledged, {} violations (BASALT_SEED={})",
        plan.rounds,
        outcome.killed_starts,
        outcome.acknowledged,
        outcome.violations.len(),
        plan.seed
    );
    assert!(outcome.acknowledged >= plan.rounds, "the writers wrote nothing: {outcome:?}");
    outcome
}

#[test]
fn always_keeps_transactions_and_scripts_of_all_types() {
    let outcome = run_mixed(&plan(Placement::Spread, BUSY_WITH_CHECKPOINTS));
    assert!(outcome.violations.is_empty(), "{:#?}", outcome.violations);
}

/// As little as the server can be told to keep to, so that ten times as much is soon written.
const MEMORY: u64 = 64 << 20;

fn run_large(plan: &Plan, data_bytes: u64) -> large::Outcome {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let outcome = large::run(plan, data_bytes, dir.path());
    eprintln!(
        "{} MB in {:?}: {} rounds, {} starts killed, {} answered ({} OOM), {} MB resident at most, {} \
         violations (BASALT_SEED={})",
        data_bytes / 1_000_000,
        plan.options,
        plan.rounds,
        outcome.killed_starts,
        outcome.acknowledged,
        outcome.refused,
        outcome.resident_bytes_max / 1_000_000,
        outcome.violations.len(),
        plan.seed
    );
    assert!(outcome.acknowledged >= plan.rounds, "the writers wrote nothing: {outcome:?}");
    outcome
}

#[test]
fn always_loses_nothing_of_ten_times_its_memory() {
    let memory = MEMORY.to_string();
    let mut options = ALWAYS.to_vec();
    options.extend([("maxmemory", &*memory), ("checkpoint-log-size", "8mb")]);
    let outcome = run_large(&plan(Placement::Spread, &options), 10 * MEMORY);
    assert!(outcome.violations.is_empty(), "{:#?}", outcome.violations);
    assert!(outcome.resident_bytes_max < 3 * MEMORY, "it keeps all in memory: {outcome:?}");
}

/// The canary: a server that acknowledges too early must be found out, or the tests above prove
/// nothing.
#[test]
fn a_server_that_acknowledges_too_early_is_caught() {
    let plan = careless_plan();
    let outcome = run(&plan);
    assert!(!outcome.losses.is_empty(), "the crash test did not notice lost writes");
    let outcome = run_collections(&plan);
    assert!(!outcome.violations.is_empty(), "the crash test did not notice lost elements");
    let outcome = run_mixed(&plan);
    assert!(!outcome.violations.is_empty(), "the crash test did not notice lost steps");
    let outcome = run_large(&plan, 1_000_000);
    assert!(!outcome.violations.is_empty(), "the crash test did not notice lost keys");
}

fn careless_plan() -> Plan {
    if is_redis(Kind::Basalt) {
        // Without a log at all it is as careless.
        return plan(Placement::Spread, &[("appendonly", "no")]);
    }
    Plan { kind: Kind::Careless, ..plan(Placement::Spread, &[("appendfsync", "always")]) }
}
