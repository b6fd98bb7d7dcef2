//! 2 GB of values of 1 KiB under `maxmemory 256mb`: what is resident at most, whether all is right,
//! before and after `kill -9`, and how long a start takes.

use std::time::Instant;

use super::Amount;
use super::figures::{Bound, Figures};
use super::filled::start_again;
use super::{known, probe, with_budget};
use crate::compare::Arena;
use crate::error::BenchError;
use crate::random::Random;

const KEYS: u64 = 2_000_000;
const VALUE_BYTES: usize = 1024;
const MAXMEMORY_BYTES: u64 = 256 << 20;
const LOOKED_AT: usize = 3_000;
const WHAT: &str = "2 GB of values of 1 KiB, maxmemory 256mb";
const RESIDENT_MB: Bound = Bound::AtMost(282.0);
const WRONG: Bound = Bound::AtMost(0.0);
const START_SECONDS: Bound = Bound::AtMost(2.0);

pub(super) fn run(
    arena: &Arena<'_>,
    amount: &Amount,
    figures: &mut Figures<'_, '_>,
) -> Result<(), BenchError> {
    let contender = with_budget(arena, amount, MAXMEMORY_BYTES, &[]);
    let mut life = arena.start(&contender)?;
    let mut random = Random::new(7, 0);
    let data = (KEYS, VALUE_BYTES);
    let start = Instant::now();
    let target = life.server.target();
    let (filled, peak) = probe::watching_memory(life.server.pid(), || {
        known::fill(&target, KEYS, VALUE_BYTES)?;
        known::wrong(&target, data, LOOKED_AT, &mut random)
    });
    let wrong_before = filled?;
    let seconds = start.elapsed().as_secs_f64();
    life.server.kill()?;
    let (server, started) = start_again(arena, &contender, life.dir.path())?;
    let target = server.target();
    let (wrong, peak_after) = probe::watching_memory(server.pid(), || {
        known::wrong(&target, data, LOOKED_AT, &mut random)
    });
    figures.say(WHAT, &[("fill s", seconds)])?;
    figures.hold(WHAT, ("peak RSS MB", peak as f64 / 1e6), RESIDENT_MB)?;
    figures.hold(WHAT, ("wrong", wrong_before as f64), WRONG)?;
    figures.hold(WHAT, ("start s", started.as_secs_f64()), START_SECONDS)?;
    figures.hold(WHAT, ("wrong after kill -9", wrong? as f64), WRONG)?;
    figures.hold(WHAT, ("peak RSS MB after", peak_after as f64 / 1e6), RESIDENT_MB)?;
    server.stop()
}
