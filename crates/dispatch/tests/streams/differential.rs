//! Random commands go to a real Redis 7 and to Basalt alike, and each reply must be the same,
//! but for times, for what Redis 7.2 added, and for the nodes of a radix tree.

use super::random_commands::{Commands, KEYS};
use crate::harness::TestServer;
use crate::harness::redis::Redis;
use basalt_env::clock::{Clock, SystemClock};
use basalt_resp::{Protocol, Value, decode};

const COMMANDS: usize = 6000;

#[test]
fn replies_are_the_same_as_of_redis_in_resp2() {
    for seed in 1..=4 {
        compare(seed, Protocol::Resp2);
    }
}

#[test]
fn replies_are_the_same_as_of_redis_in_resp3() {
    compare(5, Protocol::Resp3);
}

const BELOW_DELETED: &[u8] =
    b"ERR The ID specified in XSETID is smaller than current max_deleted_entry_id";

fn compare(seed: u64, protocol: Protocol) {
    let seed = crate::harness::seed::from_base(seed);
    let Some(mut redis) = Redis::start() else { return };
    let mut server = TestServer::new();
    if protocol == Protocol::Resp3 {
        server.session.protocol = protocol;
        redis.run_for_bytes(&["HELLO", "3"]);
    }
    let clock = SystemClock::new();
    let mut commands = Commands::new(seed);
    for number in 0..COMMANDS {
        let words = commands.next();
        server.clock.set_unix_ms(clock.unix_ms());
        let actual = comparable(&words, &server.run_for_bytes(&words));
        if actual == Value::Error(BELOW_DELETED.into()) {
            continue; // Redis refuses it since 7.2.
        }
        let expected = comparable(&words, &redis.run_for_bytes(&words));
        if actual != expected {
            let (redis, basalt) = first_difference(&shown(&expected), &shown(&actual));
            let command = words.join(" ");
            panic!("seed {seed}, command {number}: {command}\nredis:  {redis}\nbasalt: {basalt}");
        }
        if words.iter().any(|word| word == "MINID") {
            give_up_an_empty_node(&words[1], &mut server, &mut redis);
        }
    }
    for key in KEYS {
        let words = ["XRANGE", key, "-", "+"];
        assert_eq!(server.run_for_bytes(&words), redis.run_for_bytes(&words), "seed {seed}, {key}");
    }
}

/// Redis keeps a node whose entries `MINID` has taken one by one, all of them, because one that was
/// deleted before is not below it. Basalt keeps none without an entry.
fn give_up_an_empty_node(key: &str, server: &mut TestServer, redis: &mut Redis) {
    let about = ["XINFO", "STREAM", key];
    let (ours, theirs) =
        (node_count(server.run_for_bytes(&about)), node_count(redis.run_for_bytes(&about)));
    if ours != theirs {
        assert_eq!(ours.map(|nodes| nodes + 1), theirs, "nodes of {key}");
        let delete = ["DEL", key];
        assert_eq!(server.run_for_bytes(&delete), redis.run_for_bytes(&delete));
    }
}

/// What `XINFO STREAM` says of it; `None` if there is no stream.
fn node_count(reply: Vec<u8>) -> Option<i64> {
    let (reply, _) = decode(&reply).expect("a reply").expect("a whole reply");
    let is_nodes = |name: &Value| *name == Value::Bulk(b"radix-tree-keys".to_vec());
    let nodes = match reply {
        Value::Array(items) => items.into_iter().skip_while(|item| !is_nodes(item)).nth(1)?,
        Value::Map(fields) => fields.into_iter().find(|(name, _)| is_nodes(name))?.1,
        _ => return None,
    };
    let Value::Integer(nodes) = nodes else { panic!("no number: {nodes:?}") };
    Some(nodes)
}

/// A reply without what may differ.
fn comparable(words: &[String], reply: &[u8]) -> Value {
    let (mut value, _) = decode(reply).expect("a reply").expect("a whole reply");
    forget_times(&mut value);
    if words[0] == "XPENDING"
        && words.len() > 3
        && let Value::Array(entries) = &mut value
    {
        for entry in entries {
            let Value::Array(entry) = entry else { continue };
            entry[2] = Value::Null;
        }
    }
    value
}

/// Times, and fields that servers need not have in common.
fn forget_times(value: &mut Value) {
    const FIELDS: [&[u8]; 3] = [b"radix-tree-nodes", b"active-time", b"seen-time"];
    const TIME_MS_MIN: i64 = 1_000_000_000_000;
    let is_ignored =
        |name: &Value| matches!(name, Value::Bulk(name) if FIELDS.contains(&&name[..]));
    match value {
        Value::Integer(number) if *number >= TIME_MS_MIN => *number = 0,
        Value::Array(items) => {
            while let Some(at) = items.iter().position(is_ignored) {
                items.drain(at..at + 2);
            }
            items.iter_mut().for_each(forget_times);
        }
        Value::Map(fields) => {
            fields.retain(|(name, _)| !is_ignored(name));
            fields.iter_mut().for_each(|(_, value)| forget_times(value));
        }
        _ => {}
    }
}

fn shown(value: &Value) -> String {
    let all = |items: &[Value]| items.iter().map(shown).collect::<Vec<_>>().join(" ");
    match value {
        Value::Bulk(bytes) | Value::Simple(bytes) | Value::Error(bytes) => {
            bytes.escape_ascii().to_string()
        }
        Value::Array(items) => format!("[{}]", all(items)),
        Value::Map(fields) => {
            let fields = fields.iter().map(|(name, value)| shown(name) + ":" + &shown(value));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(" "))
        }
        other => format!("{other:?}"),
    }
}

/// What two texts say where they begin to differ.
fn first_difference(one: &str, two: &str) -> (String, String) {
    const BEFORE: usize = 200;
    const SHOWN: usize = 500;
    let same = one.bytes().zip(two.bytes()).take_while(|(a, b)| a == b).count();
    let part = |text: &str| text.chars().skip(same.saturating_sub(BEFORE)).take(SHOWN).collect();
    (part(one), part(two))
}
