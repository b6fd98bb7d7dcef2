//! What takes a short way is answered, logged and held back as on the long way.
//!
//! Two servers get the same requests: one in batches with all short ways open, the other one by one
//! on the long way. `BASALT_BATCHES=1000000 cargo test --release -p basalt-dispatch --test main
//! short_ways` compares a million batches.

use super::random_batches::Batches;
use crate::harness::{START_MS, TestServer};
use crate::strings::random_commands::KEYS;
use basalt_dispatch::ShortWays;
use basalt_engine::Engine;
use basalt_resp::{Value, encode_request};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Batches that one pair of servers gets.
const BATCHES_A_ROUND: u64 = 50;
const ROUNDS: u64 = 12;

/// Longer than a request waits for a partition.
const HELD: Duration = Duration::from_millis(2);

/// How long nobody holds a partition then.
const FREE: Duration = Duration::from_micros(300);

/// What the log does, that of the server whose short ways are open first.
type Logs = [LogMode; 2];

const LOGS_ANSWER: Logs = [LogMode::Answers; 2];
const LOGS_HOLD_REPLIES: Logs = [LogMode::HoldsReplies; 2];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum LogMode {
    /// Replies do not wait for it.
    Answers,
    /// Replies wait for it.
    HoldsReplies,
    /// Replies wait for it, but it acknowledges everything at once: a lie, for canaries.
    Lies,
}

#[test]
fn the_short_ways_answer_and_log_as_the_long_way_does() {
    let batches = std::env::var("BASALT_BATCHES").ok();
    let batches = batches.map(|count| count.parse::<u64>().expect("a number of batches"));
    let rounds = batches.map_or(ROUNDS, |count| count.div_ceil(BATCHES_A_ROUND));
    for round in 0..rounds {
        let logs = if round % 2 == 0 { LOGS_ANSWER } else { LOGS_HOLD_REPLIES };
        if let Err(difference) = compare(crate::harness::seed::from_base(round), logs) {
            panic!("{difference}");
        }
    }
}

/// A request that finds its partition held for long waits, and those behind it wait with it.
#[test]
fn they_do_while_somebody_holds_partitions_for_long() {
    let hold_halves_in_turn = |engine: &Engine, ended: &AtomicBool| {
        let keys = KEYS.map(|key| engine.key(key.as_bytes()));
        let halves = keys.chunks(KEYS.len() / 2).cycle();
        for half in halves.take_while(|_| !ended.load(Ordering::Relaxed)) {
            let locked = engine.lock(half);
            std::thread::sleep(HELD);
            drop(locked);
            std::thread::sleep(FREE);
        }
    };
    for round in 0..ROUNDS {
        let seed = crate::harness::seed::from_base(round);
        if let Err(difference) = compare_with(seed, LOGS_ANSWER, hold_halves_in_turn) {
            panic!("{difference}");
        }
    }
}

/// Canary: a server whose replies do not wait where the other's do is told apart from it.
#[test]
fn a_reply_that_does_not_wait_is_noticed() {
    let difference = compare(1, [LogMode::Lies, LogMode::HoldsReplies]);
    assert!(difference.is_err_and(|text| text.starts_with("replies wait for")));
}

/// One of the two servers.
struct Side {
    server: TestServer,
    /// A connection that changes keys between batches.
    other: TestServer,
    /// A client that monitors, every other time.
    listener: Option<TestServer>,
}

impl Side {
    fn new(short_ways: ShortWays, log: LogMode, is_monitored: bool) -> Side {
        let mut server = TestServer::new();
        // Else LCS of long strings takes most of the time.
        server.configure("proto-max-bulk-len", "1048576");
        // With nothing in it no memory is used, and a batch may begin below any `maxmemory`.
        server.line("SELECT 15");
        server.line("SET lasting value");
        server.line("SELECT 0");
        match log {
            LogMode::Answers => {}
            LogMode::HoldsReplies => server.log.stop_acknowledging(),
            LogMode::Lies => server.log.acknowledge_early(),
        }
        // Expired keys go when a command meets them, not at a moment of a thread's own.
        server.server.engine.set_active_expiry(false);
        server.set_short_ways(short_ways);
        let mut other = server.another_connection();
        other.set_short_ways(short_ways);
        let listener = is_monitored.then(|| {
            let mut listener = server.another_connection();
            listener.line("MONITOR");
            listener
        });
        Side { server, other, listener }
    }

    /// What the client that monitors has been told, without the times.
    fn told(&mut self) -> Vec<Vec<u8>> {
        let lines = self.listener.as_mut().map_or(Vec::new(), TestServer::messages);
        let without_time = |line| match line {
            Value::Simple(line) => {
                let time = line.iter().position(|&byte| byte == b'[').expect("a sender");
                line[time..].to_vec()
            }
            other => panic!("no line: {other:?}"),
        };
        lines.into_iter().map(without_time).collect()
    }
}

/// Returns what differs.
fn compare(seed: u64, logs: Logs) -> Result<(), String> {
    compare_with(seed, logs, |_, _| {})
}

/// Returns what differs while `disturb` runs beside each of the servers, until it is told that the
/// comparison has ended.
fn compare_with(
    seed: u64,
    logs: Logs,
    disturb: impl Fn(&Engine, &AtomicBool) + Sync,
) -> Result<(), String> {
    let is_monitored = seed % 4 < 2;
    let short = Side::new(ShortWays::Open, logs[0], is_monitored);
    let long = Side::new(ShortWays::Closed, logs[1], is_monitored);
    let servers = [&short, &long].map(|side| Arc::clone(&side.server.server));
    let (ended, disturb) = (AtomicBool::new(false), &disturb);
    std::thread::scope(|scope| {
        for server in &servers {
            scope.spawn(|| disturb(&server.engine, &ended));
        }
        // Also if the comparison panics: the scope waits for its threads.
        let _ended = SetAtEnd(&ended);
        compare_sides(seed, short, long)
    })
}

/// Where two lists of records differ first, with what is there in each.
fn difference_of<T: PartialEq + std::fmt::Debug>(one: &[T], other: &[T]) -> String {
    let at = one.iter().zip(other).take_while(|(one, other)| one == other).count();
    let shown = |list: &[T]| format!("{:?}", list.get(at));
    format!("number {at} of {} and {}: {}, {}", one.len(), other.len(), shown(one), shown(other))
}

struct SetAtEnd<'a>(&'a AtomicBool);

impl Drop for SetAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn compare_sides(seed: u64, mut short: Side, mut long: Side) -> Result<(), String> {
    let mut batches = Batches::new(seed, START_MS);
    for number in 0..BATCHES_A_ROUND {
        let pause_ms = batches.pause_ms();
        let interlude = batches.one_in(3).then(|| batches.interlude());
        let (acknowledges, together) = (batches.one_in(3), batches.together());
        let requests = batches.next();
        let mut input = Vec::new();
        requests.iter().for_each(|words| encode_request(words, &mut input));
        for side in [&mut short, &mut long] {
            side.server.clock.advance_ms(pause_ms);
            if let Some(words) = &interlude {
                side.other.run_for_bytes(words);
            }
            if acknowledges {
                side.server.log.acknowledge();
            }
            side.server.session.gate.take();
        }
        let what = || {
            let shown = |words: &Vec<Vec<u8>>| {
                let shown =
                    words.iter().map(|word| word[..word.len().min(12)].escape_ascii().to_string());
                shown.collect::<Vec<_>>().join(" ")
            };
            let requests: Vec<String> = requests.iter().map(shown).collect();
            format!("seed {seed}, batch {number}, by {together}:\n{}", requests.join("\n"))
        };
        let replies = short.server.run_bytes(input.clone(), together);
        let expected = long.server.run_bytes(input, 1);
        let difference = if replies != expected {
            let at = replies.iter().zip(&expected).position(|(one, other)| one != other);
            format!("replies differ at {at:?}")
        } else if let (one, other) =
            (short.server.log.take_changes(), long.server.log.take_changes())
            && one != other
        {
            format!("changes in the log differ: {}", difference_of(&one, &other))
        } else if short.server.session.gate != long.server.session.gate {
            let gates = [&short, &long].map(|side| format!("{:?}", side.server.session.gate));
            format!("replies wait for {gates:?}")
        } else if short.server.messages() != long.server.messages() {
            "messages differ".to_owned()
        } else if let (one, other) = (short.told(), long.told())
            && one != other
        {
            format!("who monitors is told other things: {}", difference_of(&one, &other))
        } else {
            String::new()
        };
        if !difference.is_empty() {
            return Err(format!("{difference}: {}", what()));
        }
        if short.server.is_closed() {
            break;
        }
    }
    Ok(())
}
