//! Random walks.
//!
//! `BASALT_MODEL_SECONDS` says how long (20 by default, divided among the tests), and
//! `BASALT_MODEL_SEED` gives one seed to run instead.

use basalt_cold::{ColdTier, MemoryDisk, MemoryTier, Residency};
use basalt_model::{Canary, Plan, Report, Violation, run};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

const STEPS: u32 = 600;
/// Seeds that a canary may take to be noticed.
const CANARY_SEEDS: u64 = 40;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

fn walk(seed: u64, canary: Option<Canary>) -> Result<Report, Violation> {
    let disk = Arc::new(MemoryDisk::new());
    let residency = if seed.is_multiple_of(2) { Residency::Uncached } else { Residency::Cached };
    let open_cold =
        || -> Arc<dyn ColdTier> { Arc::new(MemoryTier::open(&disk, Path::new("cold"), residency)) };
    run(seed, &Plan { steps: STEPS, canary }, &open_cold)
}

#[test]
fn what_is_there_after_any_crash_is_what_was_acknowledged() {
    if let Some(seed) = number("BASALT_MODEL_SEED") {
        let report = walk(seed, None).unwrap_or_else(|violation| panic!("{violation}"));
        assert!(report.recoveries > 0);
        return;
    }
    let time = Duration::from_secs(number("BASALT_MODEL_SECONDS").unwrap_or(15));
    let first = number("BASALT_MODEL_FIRST_SEED").unwrap_or(1);
    let start = Instant::now();
    let mut total = Report::default();
    let mut seeds = 0;
    while start.elapsed() < time {
        let report = walk(first + seeds, None).unwrap_or_else(|violation| panic!("{violation}"));
        total.add(&report);
        seeds += 1;
    }
    report(seeds, &total);
    assert!(total.writes > 0 && total.recoveries > 0 && total.checkpoints > 0, "{total:?}");
    assert!(total.checkpoints_failed > 0 && total.slow_reads > 0, "{total:?}");
    assert!(total.collections > 0 && total.large_collections > 0, "{total:?}");
    assert!(total.strings_in_pieces > 0 && total.sweeps > 0 && total.evicted > 0, "{total:?}");
    assert!(total.unread_puts > 0 && total.unread_deletes > 0, "{total:?}");
    assert!(total.reaped > 0, "{total:?}");
}

#[allow(clippy::print_stderr, reason = "how much was tested is worth knowing")]
fn report(seeds: u64, total: &Report) {
    eprintln!("{seeds} seeds: {total:?}");
}

/// An assertion of the engine's own may be what notices it.
fn notices(canary: Canary) {
    let is_noticed = |seed| {
        let walked = catch_unwind(AssertUnwindSafe(|| walk(seed, Some(canary))));
        walked.map_or(true, |result| result.is_err())
    };
    assert!((1..=CANARY_SEEDS).any(is_noticed), "{canary:?} was not noticed");
}

#[test]
fn a_log_that_acknowledges_early_is_noticed() {
    notices(Canary::AcknowledgesEarly);
}

#[test]
fn a_cold_tier_that_forgets_deletions_is_noticed() {
    notices(Canary::DropsDeletes);
}

#[test]
fn a_cold_tier_that_forgets_rows_is_noticed() {
    notices(Canary::DropsRows);
}

#[test]
fn a_cold_tier_that_forgets_rows_of_elements_is_noticed() {
    notices(Canary::DropsElementRows);
}

#[test]
fn a_cold_tier_that_forgets_deletions_of_ranges_is_noticed() {
    notices(Canary::DropsRanges);
}

#[test]
fn a_log_that_forgets_changes_of_elements_is_noticed() {
    notices(Canary::DropsEdits);
}

#[test]
fn a_log_that_forgets_versions_of_members_is_noticed() {
    notices(Canary::DropsAttributes);
}

#[test]
fn a_log_that_forgets_versions_is_noticed() {
    notices(Canary::DropsVersions);
}

#[test]
fn a_version_that_time_has_moved_and_that_was_given_before_is_noticed() {
    notices(Canary::RepeatsVersions);
}
