//! FLUSHALL of data that is mostly on disk: how soon it replies, and how soon its space is free.

use std::thread;
use std::time::{Duration, Instant};

use super::Amount;
use super::figures::{Bound, Figures};
use super::filled::{self, Filled};
use crate::compare::Arena;
use crate::error::BenchError;
use crate::target::Client;

/// Space has come back when no more than this is taken, of the data.
const SPACE_SHARE: f64 = 0.01;
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// When most of it should have.
const LOOKED_AT: Duration = Duration::from_secs(5);
const GIVEN_UP: Duration = Duration::from_secs(60);

const REPLY_MS: Bound = Bound::AtMost(10.0);
const SPACE_SECONDS: Bound = Bound::AtMost(5.0);

pub(super) fn run(
    arena: &Arena<'_>,
    amount: &Amount,
    figures: &mut Figures<'_, '_>,
) -> Result<(), BenchError> {
    for &value_bytes in &amount.value_bytes {
        let filled = filled::fill(arena, amount, value_bytes)?;
        flush(&filled, figures)?;
        filled.finish(figures)?;
    }
    Ok(())
}

fn flush(filled: &Filled, figures: &mut Figures<'_, '_>) -> Result<(), BenchError> {
    let mut client = Client::connect(&filled.server().target())?;
    client.set_read_timeout(GIVEN_UP)?;
    let (keys, value_bytes) = (filled.words.keyspace, filled.value_bytes);
    let what = format!("FLUSHALL of {keys} keys, {value_bytes} bytes");
    let before = filled.space_share();
    let start = Instant::now();
    client.text(&["FLUSHALL"])?;
    let reply_ms = start.elapsed().as_secs_f64() * 1e3;
    let (left, free_seconds) = watch(filled, start);
    figures.say(&what, &[("space before, of the data", before), ("left after 5 s", left)])?;
    figures.hold(&what, ("reply ms", reply_ms), REPLY_MS)?;
    figures.hold(&what, ("99% of the space free after s", free_seconds), SPACE_SECONDS)
}

/// The space that is taken after some seconds, of the data, and how long it took until it was free;
/// without end if it was not for long.
fn watch(filled: &Filled, start: Instant) -> (f64, f64) {
    let (mut left, mut free_seconds) = (None, f64::INFINITY);
    while start.elapsed() < GIVEN_UP && (left.is_none() || free_seconds.is_infinite()) {
        let share = filled.space_share();
        let elapsed = start.elapsed();
        if share <= SPACE_SHARE {
            free_seconds = free_seconds.min(elapsed.as_secs_f64());
        }
        if elapsed >= LOOKED_AT {
            left.get_or_insert(share);
        }
        thread::sleep(LOOK_EVERY);
    }
    (left.unwrap_or(f64::INFINITY), free_seconds)
}
