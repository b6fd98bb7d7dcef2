//! Commands on a queue that share its lock answer, log and are told of as those that have it to
//! themselves.
//!
//! Two servers get the same requests: one in batches with all short ways open, the other one by one
//! on the long way. What is logged is compared change by change: how many stand in a record is what
//! differs.

use super::random_commands::{Commands, KEYS};
use crate::harness::TestServer;
use basalt_dispatch::ShortWays;
use basalt_env::random::Random;
use basalt_resp::{Value, decode, encode_request};
use std::collections::BTreeMap;

const ROUNDS: u64 = 12;
const BATCHES: usize = 60;
/// Requests that repeat one another at most: more than share a lock.
const REPEATS_MAX: u64 = 40;

type Words = Vec<String>;

/// One of the two servers.
struct Side {
    server: TestServer,
    /// A client that monitors, in some rounds.
    listener: Option<TestServer>,
}

impl Side {
    fn new(short_ways: ShortWays, round: u64) -> Side {
        let mut server = TestServer::new();
        server.server.engine.set_active_expiry(false);
        server.set_short_ways(short_ways);
        if round % 2 == 1 {
            server.log.stop_acknowledging();
        }
        let listener = (round % 3 == 1).then(|| {
            let mut listener = server.another_connection();
            listener.line("MONITOR");
            listener
        });
        Side { server, listener }
    }

    /// Runs a batch; returns the bytes of its replies and what else can be seen of it.
    fn run(&mut self, input: Vec<u8>, batch_max: usize) -> (Vec<u8>, Vec<String>) {
        self.server.clock.advance_ms(7);
        self.server.session.gate.take();
        let replies = self.server.run_bytes(input, batch_max);
        let mut seen = vec![format!("answers at once: {}", self.server.session.gate.is_open())];
        seen.extend(self.server.log.take_changes());
        let told = self.listener.as_mut().map_or(Vec::new(), TestServer::messages);
        seen.extend(told.into_iter().map(|line| match line {
            // Without its time.
            Value::Simple(line) => String::from_utf8_lossy(&line).split_once('[').unwrap().1.into(),
            other => panic!("no line: {other:?}"),
        }));
        (replies, seen)
    }

    /// How often each command has been called, and how often it has failed.
    fn calls(&mut self) -> BTreeMap<String, (String, String)> {
        let Value::Bulk(text) = self.server.line("INFO commandstats") else { panic!("no text") };
        let text = String::from_utf8(text).unwrap();
        let lines = text.lines().filter_map(|line| line.strip_prefix("cmdstat_q."));
        let of = |line: &str, name: &str| {
            let figure = line.split([':', ',']).find_map(|figure| figure.strip_prefix(name));
            figure.expect("a figure").to_owned()
        };
        let calls = |line: &str| (of(line, "calls="), of(line, "failed_calls="));
        lines.map(|line| (line.split(':').next().unwrap().to_owned(), calls(line))).collect()
    }
}

/// Requests of which many follow one another and name the same queue.
fn batch(commands: &mut Commands, random: &mut Random) -> Vec<Words> {
    let words = |line: String| line.split(' ').map(str::to_owned).collect::<Words>();
    let mut requests = Vec::new();
    for _ in 0..random.below(6) + 1 {
        let key = KEYS[random.below(2) as usize];
        let repeats = random.below(REPEATS_MAX) + 1;
        match random.below(7) {
            0 => requests.push(commands.next()),
            1 | 2 => {
                let body = "b".repeat(random.below(300) as usize);
                let put = |number| words(format!("Q.PUT {key} {number}-{body}"));
                requests.extend((0..repeats).map(put));
            }
            3 | 4 => {
                let options = [
                    "QUEUES KEY",
                    "LEASE 900 QUEUES KEY",
                    "WORKER w1 COUNT 20 QUEUES KEY",
                    "WORKER queues LEASE 900 QUEUES KEY",
                    "COUNT 2 QUEUES KEY other",
                    "NOACK QUEUES KEY",
                    "BLOCK 0 LEASE 900 QUEUES KEY",
                    "LEASE 0 QUEUES KEY",
                ];
                let options = options[random.below(options.len() as u64) as usize];
                let get = words(format!("Q.GET {}", options.replace("KEY", key)));
                requests.extend((0..repeats).map(|_| get.clone()));
            }
            5 => {
                let acknowledge = |(key, token): &(String, String)| {
                    ["Q.ACK", key, token].map(str::to_owned).to_vec()
                };
                requests.extend(commands.tokens().iter().map(acknowledge));
                requests.push(words(format!("Q.ACK {key} nonsense")));
            }
            _ => {
                let uses = ["Q.EXTEND", "Q.NACK"][random.below(2) as usize];
                let last = if uses == "Q.NACK" { "DEAD" } else { "5000" };
                let use_up = |(key, token): &(String, String)| {
                    [uses, key, token, last].map(str::to_owned).to_vec()
                };
                requests.extend(commands.tokens().iter().map(use_up));
            }
        }
    }
    // Now and then something else is under the keys.
    if random.chance(1, 20) {
        requests.push(words(format!("SET {} string", KEYS[0])));
        requests.push(words(format!("Q.PUT {} x", KEYS[0])));
        requests.push(words(format!("DEL {}", KEYS[0])));
    }
    requests
}

#[test]
fn requests_that_share_a_lock_answer_and_log_as_those_that_do_not() {
    for round in 0..ROUNDS {
        let seed = crate::harness::seed::from_base(round);
        let (mut commands, mut random) = (Commands::new(seed), Random::new(seed ^ 1));
        let mut together = Side::new(ShortWays::Open, round);
        let mut alone = Side::new(ShortWays::Closed, round);
        for number in 0..BATCHES {
            let requests = batch(&mut commands, &mut random);
            let mut input = Vec::new();
            requests.iter().for_each(|words| encode_request(words, &mut input));
            let (replies, seen) = together.run(input.clone(), 64);
            let (expected, wanted) = alone.run(input, 1);
            let what = || format!("seed {seed}, batch {number}: {requests:?}");
            assert_eq!(
                replies.escape_ascii().to_string(),
                expected.escape_ascii().to_string(),
                "{}",
                what()
            );
            assert_eq!(seen, wanted, "{}", what());
            let mut rest = &replies[..];
            for words in &requests {
                let (reply, len) = decode(rest).expect("a reply").expect("a whole reply");
                commands.note(words, &reply);
                rest = &rest[len..];
            }
        }
        assert_eq!(together.calls(), alone.calls(), "seed {seed}");
        let appends = [&together, &alone].map(|side| side.server.log.appends());
        assert!(3 * appends[0] < appends[1], "nothing shares a record: {appends:?}");
    }
}
