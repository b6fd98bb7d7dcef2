//! Room for a number of keys in any server: `maxmemory` is moved, bit by bit and as long as the
//! load goes on, until that many are there.
//!
//! What a server counts as memory, and what it needs besides its keys, is its own affair; how many
//! keys it keeps is not.

use std::time::{Duration, Instant};

use crate::compare::info::Info;
use crate::error::BenchError;
use crate::target::{Client, Target};

/// Memory that has become free may count for a second.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// The part of what is missing that is given, or taken, is one of this many: freed memory counts a
/// while longer.
const STEPS: f64 = 4.0;
/// More than this part of the keys missing or too many is far off …
const FAR: f64 = 0.2;
/// … and has `maxmemory` changed by this part of itself: where keys are few, most of it is what the
/// server needs besides.
const FAR_STEP: f64 = 0.125;

/// See the head of this file.
pub(super) struct Room {
    client: Client,
    wanted: u64,
    bytes_a_key: f64,
    maxmemory: f64,
    looked: Instant,
    /// Keys that were there at each look that counts.
    seen: Vec<u64>,
}

impl Room {
    /// Has a server without a limit filled with the keys for which there is to be room, and limits
    /// it to what they take.
    pub(super) fn make(
        target: &Target,
        wanted: u64,
        fill: impl FnOnce() -> Result<(), BenchError>,
    ) -> Result<Room, BenchError> {
        let mut client = Client::connect(target)?;
        let used_before = Info::ask(target)?.number("used_memory");
        fill()?;
        let info = Info::ask(target)?;
        let bytes_a_key = (info.number("used_memory") - used_before) / wanted as f64;
        let maxmemory = info.number(counted(client.text(&["INFO", "server"])?.as_str()));
        limit(&mut client, maxmemory)?;
        let (looked, seen) = (Instant::now(), Vec::new());
        Ok(Room { client, wanted, bytes_a_key, maxmemory, looked, seen })
    }

    /// Looks again if it is time for that.
    pub(super) fn look(&mut self) -> Result<(), BenchError> {
        if self.looked.elapsed() < LOOK_EVERY {
            return Ok(());
        }
        self.looked = Instant::now();
        let found = number(&self.client.call(&["DBSIZE"])?);
        self.seen.push(found);
        self.maxmemory = moved(self.maxmemory, self.bytes_a_key, (self.wanted, found));
        limit(&mut self.client, self.maxmemory)
    }

    /// What was seen so far does not count.
    pub(super) fn begin(&mut self) {
        self.seen.clear();
    }

    pub(super) fn mean_keys(&self) -> f64 {
        self.seen.iter().sum::<u64>() as f64 / self.seen.len().max(1) as f64
    }
}

/// The figure that a server compares with `maxmemory`.
fn counted(server_info: &str) -> &'static str {
    if server_info.contains("basalt_version") { "used_memory_rss" } else { "used_memory" }
}

/// `maxmemory` after a look that has found this number of keys.
fn moved(maxmemory: f64, bytes_a_key: f64, (wanted, found): (u64, u64)) -> f64 {
    let missing = wanted as f64 - found as f64;
    match missing / wanted as f64 {
        share if share > FAR => maxmemory * (1.0 + FAR_STEP),
        share if share < -FAR => maxmemory * (1.0 - FAR_STEP),
        _ => maxmemory + missing / STEPS * bytes_a_key,
    }
}

fn limit(client: &mut Client, maxmemory: f64) -> Result<(), BenchError> {
    let bytes = (maxmemory as u64).max(1).to_string();
    client.text(&["CONFIG", "SET", "maxmemory", &bytes]).map(drop)
}

/// 0 for anything but an integer.
fn number(reply: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(reply);
    text.trim_end().strip_prefix(':').and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_grows_while_keys_are_missing_and_shrinks_while_there_are_too_many() {
        let moved = |found| moved(100_000.0, 10.0, (1_000, found));
        assert_eq!((moved(1_000), moved(900), moved(1_100)), (100_000.0, 100_250.0, 99_750.0));
        assert_eq!((moved(0), moved(9_000)), (112_500.0, 87_500.0));
    }

    #[test]
    fn an_integer_is_a_number() {
        assert_eq!((number(b":17\r\n"), number(b"-ERR no\r\n")), (17, 0));
    }
}
