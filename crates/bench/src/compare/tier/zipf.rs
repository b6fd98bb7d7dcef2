//! Nine GETs for each SET, of keys of which some are asked for far more often than others. The
//! issue of the tier bounds it by a peer; without one there is nothing to hold it to.

use super::Amount;
use super::figures::{Figures, ratio};
use super::filled;
use super::measured::measure;
use crate::compare::Arena;
use crate::error::BenchError;
use crate::keys::Distribution;
use crate::plan::Plan;
use crate::workload::Workload;

pub(super) const VALUE_BYTES: usize = 1024;
/// As in YCSB.
pub(super) const DISTRIBUTION: Distribution = Distribution::Zipf { theta: 0.99 };

pub(super) fn run(
    arena: &Arena<'_>,
    amount: &Amount,
    figures: &mut Figures<'_, '_>,
) -> Result<(), BenchError> {
    let filled = filled::fill(arena, amount, VALUE_BYTES)?;
    let workload = Workload::ratio(1, 9, &filled.words)?;
    let plan = Plan {
        distribution: DISTRIBUTION,
        ..filled::plan(filled.server(), workload, filled.words.clone())
    };
    // The keys that are asked for most are to be in memory before anything is counted.
    measure(arena, filled.server(), &plan, amount.duration)?;
    let measured = measure(arena, filled.server(), &plan, amount.duration)?;
    let mut all = measured.load();
    let reads = &measured.reads;
    all.extend([
        ("hit ratio", reads.hit_ratio(measured.report.requests as f64)),
        ("blocks read a miss", reads.blocks_a_miss()),
        ("disk bytes a request", ratio(reads.disk_bytes, measured.report.requests as f64)),
    ]);
    let what = "Zipf 0.99, 90% GET, 10% SET, 1024 bytes, 50 connections";
    figures.say(what, &all)?;
    figures.hold_answers(what, &measured.report)?;
    filled.finish(figures)
}
