//! The search for what a quick run cannot find: random seeds, fuzzers, crashes, long walks, for a
//! given time.
//!
//! What runs once comes first. What is left of the time is then shared by weight: each step gets
//! its part of what is left when it begins, so that a slow one shortens the others and the end
//! stays where it was. Steps in a row that take one core each share all of them, and their time is
//! as much longer. A step that cannot run counts as a failure, unless `--allow-missing` is
//! given: otherwise a search that never happened would look like one that found nothing.

mod steps;

use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::ci::tally::Tally;
use crate::ci::{Outcome, run_step, summarize};
use steps::{Pace, Plan};

const HOURS_DEFAULT: f64 = 2.0;
/// A step gets at least this, even if the time is over.
const SHARE_MIN: Duration = Duration::from_secs(10);
/// Seeds are below this: every test and every fuzzer takes them.
const SEEDS: u64 = 1_000_000_000;

#[derive(Debug, PartialEq)]
struct Request {
    time: Duration,
    seed: Option<u64>,
    allows_missing: bool,
    lists: bool,
    names: Vec<String>,
}

/// Runs all steps, or those whose names are given; returns true if nothing failed.
pub fn run(root: &Path, args: &[String]) -> bool {
    let request = parse(args);
    let chosen = request.and_then(|request| Ok((choose(steps::all(root)?, &request)?, request)));
    let (plans, request) = match chosen {
        Ok(chosen) => chosen,
        Err(error) => {
            eprintln!("nightly: {error}");
            return false;
        }
    };
    if request.lists {
        for plan in &plans {
            let share =
                if plan.pace == Pace::Once { "once".to_owned() } else { plan.weight.to_string() };
            let missing = plan.missing.as_ref().map(|reason| format!("  (missing: {reason})"));
            println!(
                "{:<22} {share:>5} {}{}",
                plan.name,
                plan.command(),
                missing.unwrap_or_default()
            );
        }
        return true;
    }
    let base = request.seed.unwrap_or_else(|| RandomState::new().hash_one("nightly") % SEEDS);
    println!("base seed {base} (cargo xtask nightly --seed {base})");
    let mut outcomes = run_all(root, &plans, base, Instant::now() + request.time);
    for outcome in &mut outcomes {
        if outcome.tally == Tally::default() && !request.allows_missing {
            outcome.tally = Tally::failed();
        }
    }
    summarize(&outcomes)
}

fn parse(args: &[String]) -> Result<Request, String> {
    let mut request = Request {
        time: Duration::from_secs_f64(HOURS_DEFAULT * 3600.0),
        seed: None,
        allows_missing: false,
        lists: false,
        names: Vec::new(),
    };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--hours" => {
                let hours = args.next().and_then(|text| text.parse::<f64>().ok());
                let time = hours.and_then(|hours| Duration::try_from_secs_f64(hours * 3600.0).ok());
                request.time = time.ok_or("--hours takes a number")?;
            }
            "--seed" => {
                let seed = args.next().and_then(|text| text.parse::<u64>().ok());
                request.seed = Some(seed.ok_or("--seed takes a number")?);
            }
            "--allow-missing" => request.allows_missing = true,
            "--list" => request.lists = true,
            option if option.starts_with('-') => return Err(format!("no option {option}")),
            name => request.names.push(name.to_owned()),
        }
    }
    Ok(request)
}

/// Leaves the steps that are named; the name of a group, as `fuzz`, names all its steps.
fn choose(plans: Vec<Plan>, request: &Request) -> Result<Vec<Plan>, String> {
    let is_named = |plan: &Plan, name: &str| {
        let rest = plan.name.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || (rest.starts_with('-') && name == "fuzz"))
    };
    for name in &request.names {
        if !plans.iter().any(|plan| is_named(plan, name)) {
            return Err(format!("no step called {name}: see cargo xtask nightly --list"));
        }
    }
    let names = &request.names;
    let is_chosen = |plan: &Plan| names.is_empty() || names.iter().any(|name| is_named(plan, name));
    Ok(plans.into_iter().filter(is_chosen).collect())
}

fn run_all(root: &Path, plans: &[Plan], base: u64, end: Instant) -> Vec<Outcome> {
    let weight_left =
        plans.iter().filter(|plan| plan.missing.is_none()).map(|plan| plan.weight).sum();
    let night = Night { root, base, end, weight_left: Mutex::new(weight_left) };
    let (once, timed): (Vec<&Plan>, Vec<&Plan>) =
        plans.iter().partition(|plan| plan.pace == Pace::Once);
    let ordered: Vec<(usize, &Plan)> = once.into_iter().chain(timed).enumerate().collect();
    let rows = ordered.chunk_by(|(_, one), (_, next)| one.takes_one_core && next.takes_one_core);
    rows.flat_map(|row| night.run_row(row)).collect()
}

/// What the steps of a night have in common.
struct Night<'a> {
    root: &'a Path,
    base: u64,
    end: Instant,
    /// Of the steps that have not begun.
    weight_left: Mutex<f64>,
}

impl Night<'_> {
    /// Runs steps with their numbers, as many at a time as there are cores for.
    fn run_row(&self, row: &[(usize, &Plan)]) -> Vec<Outcome> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let side_by_side = cores.min(row.len());
        let (next, outcomes) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        std::thread::scope(|scope| {
            for _ in 0..side_by_side {
                scope.spawn(|| {
                    while let Some(&(number, plan)) = row.get(next.fetch_add(1, Ordering::Relaxed))
                    {
                        let outcome = self.run_numbered(number, plan, side_by_side);
                        lock(&outcomes).push((number, outcome));
                    }
                });
            }
        });
        let mut outcomes = outcomes.into_inner().unwrap_or_else(PoisonError::into_inner);
        outcomes.sort_by_key(|&(number, _)| number);
        outcomes.into_iter().map(|(_, outcome)| outcome).collect()
    }

    fn run_numbered(&self, number: usize, plan: &Plan, side_by_side: usize) -> Outcome {
        let left = self.end.saturating_duration_since(Instant::now());
        let share = {
            let mut weight_left = lock(&self.weight_left);
            let share = share(left, plan.weight * side_by_side as f64, *weight_left);
            if plan.missing.is_none() {
                *weight_left -= plan.weight;
            }
            share
        };
        // Each step draws from a range of its own.
        let seed = self.base.wrapping_add(number as u64 * (SEEDS / 1000)) % SEEDS;
        run_for(self.root, plan, seed, share)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A step's part of the time that is left.
fn share(left: Duration, weight: f64, weight_left: f64) -> Duration {
    if weight <= 0.0 || weight_left <= 0.0 {
        return Duration::ZERO;
    }
    left.mul_f64((weight / weight_left).min(1.0)).max(SHARE_MIN)
}

/// Runs a step for its share of the time: once, or with one seed after the other until one of them
/// fails.
fn run_for(root: &Path, plan: &Plan, seed: u64, share: Duration) -> Outcome {
    let start = Instant::now();
    let mut step = plan.step(seed, share.as_secs());
    let mut outcome = run_step(root, &step);
    if plan.pace == Pace::Repeated {
        for next in 1.. {
            let is_over = start.elapsed() >= share || step.unavailable.is_some();
            if outcome.tally.failed > 0 || is_over {
                break;
            }
            step = plan.step((seed + next * (SEEDS / 1_000_000)) % SEEDS, share.as_secs());
            let Outcome { tally, note, .. } = run_step(root, &step);
            outcome.tally = outcome.tally.plus(tally);
            outcome.note = note;
        }
    }
    if outcome.tally == Tally::default() && plan.missing.is_none() {
        outcome.tally = Tally::failed();
        outcome.note = "no test of that name".to_owned();
    }
    if outcome.tally.failed > 0 {
        outcome.note = format!("{} again: {}", outcome.note, step.command_line()).trim().to_owned();
        println!("=== {} failed; to run it again: {}", step.name, step.command_line());
    }
    outcome.duration = start.elapsed();
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn reads_its_options() {
        let request =
            parse(&args("--hours 0.5 --seed 7 --allow-missing crash fuzz")).expect("good");
        assert_eq!(request.time, Duration::from_secs(1800));
        assert_eq!(request.seed, Some(7));
        assert!(request.allows_missing && !request.lists);
        assert_eq!(request.names, ["crash", "fuzz"]);
        for bad in ["--hours", "--hours x", "--hours -1", "--seed", "--nonsense"] {
            assert!(parse(&args(bad)).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_group_names_its_steps() {
        let root = crate::workspace_root();
        let chosen = |names: &str| {
            let request = parse(&args(names)).expect("good");
            let plans = choose(steps::all(&root).expect("a list"), &request)?;
            Ok::<Vec<String>, String>(plans.into_iter().map(|plan| plan.name).collect())
        };
        assert!(chosen("fuzz").is_ok_and(|names| names.len() > 1));
        assert_eq!(chosen("model"), Ok(vec!["model".to_owned()]));
        assert!(chosen("nonsense").is_err());
    }

    #[test]
    fn steps_side_by_side_are_reported_in_their_order() {
        let root = crate::workspace_root();
        let plans = steps::all(&root).expect("a list");
        // None is there, so that none runs.
        let absent = |mut plan: Plan| {
            plan.missing = Some("not here".to_owned());
            plan
        };
        let plans: Vec<Plan> = plans.into_iter().map(absent).collect();
        let outcomes = run_all(&root, &plans, 1, Instant::now());
        let names: Vec<&str> = outcomes.iter().map(|outcome| outcome.name.as_str()).collect();
        let (once, timed): (Vec<&Plan>, Vec<&Plan>) =
            plans.iter().partition(|plan| plan.pace == Pace::Once);
        let ordered: Vec<&str> = once.iter().chain(&timed).map(|plan| plan.name.as_str()).collect();
        assert_eq!(names, ordered);
        assert!(plans.iter().filter(|plan| plan.takes_one_core).count() > 5);
    }

    #[test]
    fn time_is_shared_by_weight() {
        let minute = Duration::from_secs(60);
        assert_eq!(share(minute, 1.0, 3.0), Duration::from_secs(20));
        assert_eq!(share(minute, 2.0, 2.0), minute);
        assert_eq!(share(Duration::ZERO, 1.0, 3.0), SHARE_MIN);
        assert_eq!(share(minute, 0.0, 3.0), Duration::ZERO);
    }
}
