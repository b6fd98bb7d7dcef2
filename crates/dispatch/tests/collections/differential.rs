//! Random commands go to a real Redis and to Basalt alike, whose engine is now and then left
//! behind in the middle of everything and opened again on what its log and its cold tier hold.

use super::templates::{HASHES, KEYS, LISTS, SETS, Templates, UNORDERED};
use crate::harness::TestServer;
use crate::harness::redis::Redis;
use basalt_env::Random;
use basalt_env::clock::{Clock, SystemClock};
use basalt_resp::{Value, decode};
use std::sync::mpsc;

const COMMANDS: usize = 2500;

#[test]
fn lists_are_as_in_redis_and_survive() {
    run("lists", LISTS, &[]);
}

#[test]
fn sets_are_as_in_redis_and_survive() {
    run("sets", SETS, &[]);
}

#[test]
fn hashes_are_as_in_redis_and_survive() {
    run("hashes", HASHES, &[]);
}

/// A few lengths of values and of collections, in all forms.
fn run(name: &str, family: &[&'static str], options: &[(&str, &str)]) {
    for (seed, values) in [(1, 12), (2, 80), (3, 3000)] {
        let seed = crate::harness::seed::from_base(seed);
        compare(
            &format!("{name}, seed {seed}"),
            &mut Templates::new(seed, family, values),
            seed,
            options,
        );
    }
}

fn compare(what: &str, commands: &mut Templates, seed: u64, options: &[(&str, &str)]) {
    let Some(mut redis) = Redis::start() else { return };
    let mut server = TestServer::new();
    for (option, value) in options {
        server.configure(option, value);
        redis.run_for_bytes(&["CONFIG", "SET", option, value]);
    }
    let clock = SystemClock::new();
    let mut random = Random::new(seed);
    for number in 0..COMMANDS {
        if random.chance(1, 200) {
            if random.chance(1, 2) {
                wait_for_checkpoint(&server);
            }
            server = server.reopen();
        }
        if random.chance(1, 50) {
            wait_for_checkpoint(&server);
        }
        if random.chance(1, 250) {
            server.run_for_bytes(&["DEBUG", "RELOAD"]);
        }
        let words = commands.next();
        server.clock.set_unix_ms(clock.unix_ms());
        let (expected, actual) = (redis.run_for_bytes(&words), server.run_for_bytes(&words));
        let (expected, actual) = (shape(&words, &expected), shape(&words, &actual));
        let words = String::from_utf8_lossy(&words.join(&b' ')).into_owned();
        assert_eq!(actual, expected, "{what}, command {number}: {words}");
    }
    for key in KEYS {
        assert_eq!(
            contents(key, |words| server.run_for_bytes(words)),
            contents(key, |words| redis.run_for_bytes(words)),
            "{what}: {key}"
        );
    }
}

/// A reply, in an order of its own if the server may choose one.
fn shape(words: &[Vec<u8>], reply: &[u8]) -> Value {
    let value = decode(reply).expect("a reply").expect("a whole reply").0;
    if UNORDERED.iter().any(|name| name.as_bytes() == words[0]) { sorted(value) } else { value }
}

fn sorted(value: Value) -> Value {
    match value {
        Value::Array(mut items) | Value::Set(mut items) => {
            items.sort_by_key(|item| format!("{item:?}"));
            Value::Array(items)
        }
        other => other,
    }
}

/// Fields with their values, in order.
fn pairs(value: Value) -> Value {
    let Value::Array(items) = value else { return value };
    sorted(Value::Array(items.chunks(2).map(|pair| Value::Array(pair.to_vec())).collect()))
}

/// What a key holds, by the command that its type needs.
pub fn contents(key: &str, mut run: impl FnMut(&[&str]) -> Vec<u8>) -> (Value, Value) {
    let mut ask = |words: &[&str]| decode(&run(words)).expect("a reply").expect("a whole reply").0;
    let kind = ask(&["TYPE", key]);
    let held = match &kind {
        Value::Simple(kind) if kind == b"list" => ask(&["LRANGE", key, "0", "-1"]),
        Value::Simple(kind) if kind == b"set" => sorted(ask(&["SMEMBERS", key])),
        Value::Simple(kind) if kind == b"zset" => ask(&["ZRANGE", key, "0", "-1", "WITHSCORES"]),
        Value::Simple(kind) if kind == b"hash" => pairs(ask(&["HGETALL", key])),
        Value::Simple(kind) if kind == b"stream" => ask(&["XRANGE", key, "-", "+"]),
        Value::Simple(kind) if kind == b"hash" => sorted(ask(&["HGETALL", key])),
        _ => ask(&["GET", key]),
    };
    (kind, held)
}

fn wait_for_checkpoint(server: &TestServer) {
    let (sender, receiver) = mpsc::channel();
    server.server.engine.request_checkpoint(Box::new(move |result| {
        sender.send(result.map_err(|error| error.to_string())).expect("someone waits");
    }));
    receiver.recv().expect("an answer").expect("a checkpoint");
}
