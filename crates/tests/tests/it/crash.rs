//! Kill -9 and restart: what was acknowledged is there.
//!
//! `BASALT_CRASH_ROUNDS` sets the number of rounds; `BASALT_SEED` reproduces their moments.

use std::time::Duration;

use basalt_tests::crash::{self, Outcome, Placement, Plan};
use basalt_tests::random::Random;
use basalt_tests::server::{Kind, is_redis};

const ROUNDS_IN_CI: u64 = 5;

/// Under `everysec` a second may be lost; a machine under load may be late by as much again.
const EVERYSEC_AGE_MAX: Duration = Duration::from_secs(2);

fn run(placement: Placement, options: &[(&str, &str)]) -> Outcome {
    let rounds = std::env::var("BASALT_CRASH_ROUNDS").ok().and_then(|rounds| rounds.parse().ok());
    let seed = Random::from_environment().seed();
    let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let plan = Plan {
        rounds: rounds.unwrap_or(ROUNDS_IN_CI),
        writers: 6,
        acknowledged_max: 4_000,
        placement,
        options: options.iter().map(own).collect(),
        seed,
    };
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let outcome = crash::run(&plan, dir.path());
    eprintln!(
        "{options:?}: {} rounds, {} acknowledged, {} lost (BASALT_SEED={seed})",
        plan.rounds,
        outcome.acknowledged,
        outcome.losses.len()
    );
    assert!(outcome.acknowledged >= plan.rounds, "the writers wrote nothing: {outcome:?}");
    outcome
}

#[test]
fn always_loses_nothing() {
    let outcome = run(Placement::Spread, &[("appendonly", "yes"), ("appendfsync", "always")]);
    assert!(outcome.losses.is_empty(), "{:?}", outcome.losses);
}

#[test]
fn always_loses_nothing_of_one_slot() {
    let outcome = run(Placement::OneSlot, &[("appendonly", "yes"), ("appendfsync", "always")]);
    assert!(outcome.losses.is_empty(), "{:?}", outcome.losses);
}

#[test]
fn everysec_loses_a_second_at_most_and_leaves_no_hole() {
    let outcome = run(Placement::OneSlot, &[("appendonly", "yes"), ("appendfsync", "everysec")]);
    let holes: Vec<_> = outcome.losses.iter().filter(|loss| loss.hole).collect();
    assert!(holes.is_empty(), "{holes:?}");
    let old: Vec<_> = outcome.losses.iter().filter(|loss| loss.age > EVERYSEC_AGE_MAX).collect();
    assert!(old.is_empty(), "{old:?}");
}

/// The canary: a server that acknowledges too early must be found out, or the tests above prove nothing.
#[test]
fn a_server_that_acknowledges_too_early_is_caught() {
    // Redis has no such option; without a log at all it is as careless.
    let careless: &[(&str, &str)] = match is_redis(Kind::Basalt) {
        true => &[("appendonly", "no")],
        false => &[("appendfsync", "always"), ("debug-acknowledge-before-fsync", "yes")],
    };
    let outcome = run(Placement::Spread, careless);
    assert!(!outcome.losses.is_empty(), "the crash test did not notice lost writes");
}
