//! Many cold keys that one client asks for at once, by MGET and by a pipeline of GETs, against as
//! many reads of the disk at a depth of 32.
//!
//! Keys are drawn by chance, so that some are in memory. It is the keys that were read that are
//! compared with the disk's own reads.

use super::Amount;
use super::figures::{Bound, Figures, ratio};
use super::filled::{self, Filled};
use super::measured::measure;
use crate::compare::Arena;
use crate::error::BenchError;
use crate::plan::Plan;
use crate::template::Vocabulary;

const VALUE_BYTES: usize = 1024;
const DEPTH: usize = 32;
const KEYS_A_MGET: usize = 1_000;
const PIPELINE: usize = 64;
/// Time of a batch, of that of the disk's own reads.
const SLOWER: Bound = Bound::AtMost(3.0);

pub(super) fn run(
    arena: &Arena<'_>,
    amount: &Amount,
    figures: &mut Figures<'_, '_>,
) -> Result<(), BenchError> {
    let filled = filled::fill(arena, amount, VALUE_BYTES)?;
    let ceilings = filled.ceilings(&[DEPTH], figures)?;
    let reads_per_second = ceilings.first().map_or(0.0, |ceiling| ceiling.reads_per_second);
    for (what, plan, keys) in [
        ("MGET of 1,000 keys", mget(&filled)?, KEYS_A_MGET),
        ("64 GETs in a pipeline", pipeline(&filled)?, PIPELINE),
    ] {
        let measured = measure(arena, filled.server(), &plan, amount.duration)?;
        let batches = Batches {
            count: measured.report.requests as f64 / f64::from(plan.pipeline),
            seconds: measured.report.seconds,
            keys_read: measured.reads.keys,
        };
        figures.say(
            what,
            &[
                ("keys", keys as f64),
                ("keys read", ratio(batches.keys_read, batches.count)),
                ("ms", batches.mean_ms()),
                ("ms of the disk's own reads", batches.ideal_ms(reads_per_second)),
                ("P99 ms of a reply", measured.report.latency.p99_us / 1e3),
                ("blocks read a miss", measured.reads.blocks_a_miss()),
            ],
        )?;
        figures.hold_answers(what, &measured.report)?;
        let slower = ratio(batches.mean_ms(), batches.ideal_ms(reads_per_second));
        figures.hold(what, ("time, of the disk's own reads", slower), SLOWER)?;
    }
    filled.finish(figures)
}

fn mget(filled: &Filled) -> Result<Plan, BenchError> {
    let words = Vocabulary { keys_per_request: KEYS_A_MGET, ..filled.words.clone() };
    Ok(Plan { connections: 1, ..filled.test("mget", &words)? })
}

fn pipeline(filled: &Filled) -> Result<Plan, BenchError> {
    let plan = filled.test("get", &filled.words)?;
    Ok(Plan { connections: 1, pipeline: PIPELINE as u32, ..plan })
}

/// Batches of one client, each sent when the one before it was answered.
#[derive(Debug, Clone, Copy)]
struct Batches {
    count: f64,
    seconds: f64,
    keys_read: f64,
}

impl Batches {
    fn mean_ms(&self) -> f64 {
        ratio(self.seconds * 1e3, self.count)
    }

    /// How long the disk takes for the reads of a batch at a depth with this rate.
    fn ideal_ms(&self, reads_per_second: f64) -> f64 {
        ratio(ratio(self.keys_read, self.count) * 1e3, reads_per_second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_compared_with_as_many_reads_as_it_made() {
        let batches = Batches { count: 50.0, seconds: 2.0, keys_read: 45_000.0 };
        assert_eq!(batches.mean_ms(), 40.0);
        assert_eq!(batches.ideal_ms(45_000.0), 20.0);
    }

    #[test]
    fn batches_that_read_nothing_are_no_proof() {
        let batches = Batches { count: 50.0, seconds: 2.0, keys_read: 0.0 };
        let slower = ratio(batches.mean_ms(), batches.ideal_ms(45_000.0));
        assert!(slower.is_infinite());
    }
}
