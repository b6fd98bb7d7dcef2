//! The engine against its model over RocksDB, in a directory that is removed afterwards.
//!
//! `BASALT_MODEL_SECONDS` says how long (20 by default), `BASALT_MODEL_SEED` gives one seed to run
//! instead of those from `BASALT_MODEL_FIRST_SEED` (1 by default) on.
#![cfg(feature = "rocksdb")]

use basalt_cold::ColdTier;
use basalt_cold_rocks::{RocksOptions, RocksTier};
use basalt_model::{Plan, Report, run};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Fewer than over memory: opening RocksDB takes its time.
const STEPS: u32 = 250;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

fn walk(seed: u64) -> Report {
    let dir = tempfile::tempdir().expect("a directory");
    let options = RocksOptions { cache_bytes: 8 << 20, ..RocksOptions::default() };
    let open_cold = || -> Arc<dyn ColdTier> {
        let tier = RocksTier::open(&dir.path().join("cold"), &options);
        Arc::new(tier.expect("the cold tier opens"))
    };
    let plan = Plan { steps: STEPS, canary: None };
    run(seed, &plan, &open_cold).unwrap_or_else(|violation| panic!("{violation}"))
}

#[test]
fn what_is_there_after_any_crash_is_what_was_acknowledged() {
    let mut total = Report::default();
    if let Some(seed) = number("BASALT_MODEL_SEED") {
        total.add(&walk(seed));
    } else {
        let time = Duration::from_secs(number("BASALT_MODEL_SECONDS").unwrap_or(20));
        let start = Instant::now();
        for seed in number("BASALT_MODEL_FIRST_SEED").unwrap_or(1).. {
            total.add(&walk(seed));
            if start.elapsed() > time {
                break;
            }
        }
    }
    assert!(total.writes > 0 && total.recoveries > 0 && total.checkpoints > 0, "{total:?}");
}
