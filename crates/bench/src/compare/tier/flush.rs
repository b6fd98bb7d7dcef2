//! FLUSHALL of data that is mostly on disk: how soon it replies, and how soon its space is free.

use std::thread;
use std::time::{Duration, Instant};

use super::Amount;
use super::figures::{Bound, Figures};
use super::filled::{self, Filled};
use crate::compare::Arena;
use crate::error::BenchError;
use crate::target::Client;

const VALUE_BYTES: usize = 1024;
/// Space has come back when no more than this is taken, of the data.
const SPACE_SHARE: f64 = 0.01;
const LOOK_EVERY: Duration = Duration::from_millis(50);
const GIVEN_UP: Duration = Duration::from_secs(60);

const REPLY_MS: Bound = Bound::AtMost(10.0);
const SPACE_SECONDS: Bound = Bound::AtMost(5.0);

pub(super) fn run(
    arena: &Arena<'_>,
    amount: &Amount,
    figures: &mut Figures<'_, '_>,
) -> Result<(), BenchError> {
    let filled = filled::fill(arena, amount, VALUE_BYTES)?;
    let mut client = Client::connect(&filled.server().target())?;
    client.set_read_timeout(GIVEN_UP)?;
    let what = format!("FLUSHALL of {} keys", filled.words.keyspace);
    let before = filled.space_share();
    let start = Instant::now();
    client.text(&["FLUSHALL"])?;
    let reply_ms = start.elapsed().as_secs_f64() * 1e3;
    let free_seconds = free_after(&filled, start);
    let left = filled.space_share();
    figures.say(&what, &[("space before, of the data", before), ("space left", left)])?;
    figures.hold(&what, ("reply ms", reply_ms), REPLY_MS)?;
    figures.hold(&what, ("99% of the space free after s", free_seconds), SPACE_SECONDS)?;
    filled.finish(figures)
}

/// How long it took until the space was free; without end if it was not for long.
fn free_after(filled: &Filled, start: Instant) -> f64 {
    while start.elapsed() < GIVEN_UP {
        if filled.space_share() <= SPACE_SHARE {
            return start.elapsed().as_secs_f64();
        }
        thread::sleep(LOOK_EVERY);
    }
    f64::INFINITY
}
