//! SCAN through all keys, in memory and on disk, while others write, with a restart in the middle.
//!
//! Of the keys that are filled in, all exist from beginning to end: some are overwritten, others
//! beside them come and go. SCAN has to return each at least once.

use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use super::Amount;
use super::beside::beside;
use super::figures::{Bound, Figures};
use super::filled::{self, Filled, start_again};
use super::probe;
use crate::compare::Arena;
use crate::error::BenchError;
use crate::plan::{Load, Plan};
use crate::process::Memory;
use crate::stats::{Latency, latency_histogram};
use crate::target::Client;
use crate::workload::Workload;

/// Small, so that there are many keys.
const VALUE_BYTES: usize = 100;
/// COUNT of a call.
const COUNT: &str = "1000";
const WRITES: [(&str, u64); 3] = [
    ("SET __key__ __data__", 2),
    ("SET new:__rand_int__ __data__", 1),
    ("DEL new:__rand_int__", 1),
];
const WRITES_PER_SECOND: f64 = 2_000.0;
const WRITERS: usize = 8;
/// Requests of a writer that may be unanswered before others wait in it.
const IN_FLIGHT: u32 = 4;

const MISSING: Bound = Bound::AtMost(0.0);
const CALL_MS: Bound = Bound::AtMost(10.0);
const MEMORY_MB: Bound = Bound::AtMost(16.0);

pub(super) fn run(
    arena: &Arena<'_>,
    amount: &Amount,
    figures: &mut Figures<'_, '_>,
) -> Result<(), BenchError> {
    let mut filled = filled::fill(arena, amount, VALUE_BYTES)?;
    let keys = filled.words.keyspace;
    let mut scan = Scan::new(keys);
    let start = Instant::now();
    let resident_before = Memory::of(filled.server().pid()).resident_bytes;
    let (first, resident) = probe::watching_resident(filled.server().pid(), || {
        beside(&writes(&filled)?, || scan.run(&filled, keys / 2))
    });
    let ((), _) = first?;
    let Filled { contender, life, .. } = &mut filled;
    life.server.terminate()?;
    (life.server, _) = start_again(arena, contender, life.dir.path())?;
    let ((), _) = beside(&writes(&filled)?, || scan.run(&filled, u64::MAX))?;
    let seconds = start.elapsed().as_secs_f64();
    let what = format!("SCAN through {keys} keys under writes, a restart in the middle");
    let latency = Latency::of(&scan.calls);
    figures.say(
        &what,
        &[
            ("s", seconds),
            ("calls", scan.calls.len() as f64),
            ("P50 ms of a call", latency.p50_us / 1e3),
            ("longest ms", latency.max_us / 1e3),
            ("returned again", scan.again as f64),
        ],
    )?;
    figures.hold(&what, ("lasting keys not seen", (keys - scan.found) as f64), MISSING)?;
    figures.hold(&what, ("P99 ms of a call", latency.p99_us / 1e3), CALL_MS)?;
    let grown = resident as f64 - resident_before as f64;
    figures.hold(&what, ("RSS MB more until the restart", grown / 1e6), MEMORY_MB)?;
    filled.finish(figures)
}

/// What goes on beside SCAN.
fn writes(filled: &Filled) -> Result<Plan, BenchError> {
    let workload = Workload::mixed("writes".into(), &WRITES, &filled.words)?;
    let load = Load::Open { requests_per_second: WRITES_PER_SECOND, duration: Duration::MAX };
    let plan = filled::plan(filled.server(), workload, filled.words.clone());
    Ok(Plan { load, connections: WRITERS, pipeline: IN_FLIGHT, ..plan })
}

/// A walk with what it has seen.
struct Scan {
    cursor: String,
    /// By the number of the key.
    seen: Vec<bool>,
    /// How many keys have been seen.
    found: u64,
    /// Keys that were returned once more.
    again: u64,
    calls: Histogram<u64>,
}

impl Scan {
    fn new(keys: u64) -> Scan {
        Scan {
            cursor: "0".into(),
            seen: vec![false; keys as usize],
            found: 0,
            again: 0,
            calls: latency_histogram(),
        }
    }

    /// Goes on until the end, or until this number of keys has been seen.
    fn run(&mut self, filled: &Filled, keys: u64) -> Result<(), BenchError> {
        let mut client = Client::connect(&filled.server().target())?;
        loop {
            let start = Instant::now();
            let reply = client.call(&["SCAN", &self.cursor, "COUNT", COUNT])?;
            self.calls.saturating_record(start.elapsed().as_nanos() as u64);
            self.note(&String::from_utf8_lossy(&reply), &filled.words.key_prefix)?;
            if self.cursor == "0" || self.found >= keys {
                return Ok(());
            }
        }
    }

    /// Notes the keys of a reply, which is an array of the next cursor and an array of keys.
    fn note(&mut self, reply: &str, key_prefix: &str) -> Result<(), BenchError> {
        let mut lines = reply.split("\r\n");
        let (Some("*2"), Some(_), Some(cursor), Some(_)) =
            (lines.next(), lines.next(), lines.next(), lines.next())
        else {
            let reply = reply.lines().next().unwrap_or_default().to_owned();
            return Err(BenchError::Handshake { command: "SCAN".into(), reply });
        };
        self.cursor = cursor.to_owned();
        // A length stands before each key.
        for key in lines.skip(1).step_by(2) {
            let number = key.strip_prefix(key_prefix).and_then(|number| number.parse().ok());
            let Some(seen) = number.and_then(|number: usize| self.seen.get_mut(number)) else {
                continue;
            };
            let is_first = !std::mem::replace(seen, true);
            self.found += u64::from(is_first);
            self.again += u64::from(!is_first);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_a_reply_are_noted_once() {
        let mut scan = Scan::new(3);
        let reply = "*2\r\n$2\r\n17\r\n*3\r\n$5\r\nkey:2\r\n$5\r\nkey:0\r\n$5\r\nnew:1\r\n";
        scan.note(reply, "key:").expect("it is a reply of SCAN");
        assert_eq!((scan.cursor.as_str(), scan.found, scan.again), ("17", 2, 0));
        scan.note("*2\r\n$1\r\n0\r\n*1\r\n$5\r\nkey:2\r\n", "key:").expect("it is one, too");
        assert_eq!((scan.cursor.as_str(), scan.found, scan.again), ("0", 2, 1));
        assert_eq!(scan.seen, [true, false, true]);
        scan.note("*2\r\n$1\r\n0\r\n*0\r\n", "key:").expect("a reply may be empty");
        assert_eq!(scan.found, 2);
    }

    #[test]
    fn an_error_is_no_end_of_the_walk() {
        let error = Scan::new(3).note("-ERR invalid cursor\r\n", "key:").expect_err("it is one");
        assert!(error.to_string().contains("invalid cursor"), "{error}");
    }
}
