//! Commands that put strings, whatever is there, wait for no read of keys on disk; others do.

use crate::harness::requests as in_a_row;
use crate::harness::{START_MS, TestServer, seed};
use crate::strings::random_commands::{Commands, KEYS};
use basalt_env::random::Random;
use basalt_resp::{Value, encode_request};
use basalt_service::wait::Wait;
use std::sync::Arc;

/// With keys that are on disk only.
fn server_with_cold(lines: &[&str]) -> TestServer {
    let mut server = TestServer::new();
    lines.iter().for_each(|line| drop(server.line(line)));
    server.leave_memory();
    server
}

fn settle(server: &TestServer) {
    let engine = &server.server.engine;
    while (0..16).any(|db| engine.totals(db).keys_unread > 0) {
        engine.settle_soon();
        std::thread::yield_now();
    }
}

fn waits(server: &mut TestServer, line: &str) -> bool {
    matches!(server.run_when_free(line), Some(Wait::Keys(_) | Wait::Heads(..)))
}

#[test]
fn what_puts_strings_whatever_is_there_waits_for_no_read() {
    for line in [
        "SET k new",
        "SET k new EX 100",
        "SET k new PX 100000",
        "SETEX k 100 new",
        "PSETEX k 100000 new",
        "MSET k new absent new other new",
    ] {
        for there in ["SET k old", "SET k old EX 1000", "RPUSH k a b", "CAS.SET k old"] {
            let mut server = server_with_cold(&[there, "SET other value"]);
            assert!(!waits(&mut server, line), "{line} after {there}");
            assert_eq!(server.line("GET k"), Value::Bulk(b"new".to_vec()), "{line} after {there}");
            let expires = !line.contains("SET k new") || line.contains('X');
            let expires = expires && !line.starts_with("MSET");
            assert_eq!(server.line("TTL k") != Value::Integer(-1), expires, "{line} after {there}");
            settle(&server);
            let keys = 2 + i64::from(line.contains("absent"));
            assert_eq!(server.line("DBSIZE"), Value::Integer(keys), "{line} after {there}");
            assert_eq!(server.server.engine.miss_stats().keys, 0, "{line} after {there}");
        }
    }
}

#[test]
fn what_asks_for_what_was_there_waits() {
    for line in [
        "SET k new NX",
        "SET k new XX",
        "SET k new GET",
        "SET k new KEEPTTL",
        "SET k new IFEQ old",
        "SET k new PXAT 1",
        "SETNX k new",
        "GETSET k new",
        "MSETNX k new absent new",
        "APPEND k new",
        "DEL k",
        "CAS.SET k new",
    ] {
        let mut server = server_with_cold(&["SET k old", "SET other value"]);
        assert!(waits(&mut server, line), "{line}");
        assert_eq!(server.server.engine.totals(0).keys_unread, 0, "{line}");
    }
}

/// What has passed when it is put removes what was there.
#[test]
fn a_time_that_has_passed_removes_a_key_on_disk() {
    let mut server = server_with_cold(&["SET k old", "SET other value"]);
    server.line("SET k new PXAT 1");
    assert_eq!(server.line("EXISTS k"), Value::Integer(0));
    assert_eq!(server.line("DBSIZE"), Value::Integer(1));
}

/// An error changes nothing, and the next command finds nothing of it.
#[test]
fn what_fails_puts_nothing() {
    let mut server = server_with_cold(&["SET k old", "SET other value"]);
    for line in ["SET k new EX 0", "SETEX k 0 new", "MSET k new other", "SET k new EX"] {
        assert!(matches!(server.line(line), Value::Error(_)), "{line}");
    }
    assert_eq!(server.server.engine.totals(0).keys_unread, 0);
    assert_eq!(server.line("SET fresh value"), Value::Simple(b"OK".to_vec()));
    assert_eq!(server.line("GET k"), Value::Bulk(b"old".to_vec()));
    assert_eq!(server.line("DBSIZE"), Value::Integer(3));
}

/// They are told of keys that are new, and of keys that have expired.
#[test]
fn listeners_have_commands_wait() {
    for (classes, is_told) in [("Kn", true), ("Ex", true), ("K$", false), ("", false)] {
        let mut server = server_with_cold(&["SET k old", "SET other value"]);
        server.configure("notify-keyspace-events", classes);
        // Settings hold from the next batch on.
        server.line("PING");
        assert_eq!(waits(&mut server, "SET k new"), is_told, "{classes}");
    }
}

#[test]
fn a_watched_key_that_is_put_unread_has_changed() {
    let mut server = server_with_cold(&["SET k old", "SET other value"]);
    server.line("WATCH k");
    server.leave_memory();
    let mut other = server.another_connection();
    assert!(!waits(&mut other, "SET k new"));
    server.line("MULTI");
    server.line("SET other changed");
    assert_eq!(server.line("EXEC"), Value::NullArray);
    assert_eq!(server.line("GET other"), Value::Bulk(b"value".to_vec()));
}

/// In a transaction and in a script keys are read first.
#[test]
fn transactions_and_scripts_count_as_before() {
    let mut server = server_with_cold(&["SET k old", "SET other value"]);
    server.line("MULTI");
    server.line("SET k new");
    server.line("EXEC");
    server.line("EVAL return{redis.call('set',KEYS[1],'new')} 1 other");
    assert_eq!(server.server.engine.totals(0).keys_unread, 0);
    assert_eq!(server.line("DBSIZE"), Value::Integer(2));
}

/// A number that is counted on from one that is not known yet could have been given before.
#[test]
fn a_counted_version_does_not_begin_again() {
    let mut server = server_with_cold(&["CAS.SET k old COUNTED", "SET other value"]);
    assert!(!waits(&mut server, "SET k new"));
    let Value::Array(reply) = server.line("CAS.SET k newer COUNTED") else { panic!("no version") };
    settle(&server);
    let Value::Array(there) = server.line("CAS.GET k") else { panic!("no version") };
    assert!(reply[1] != Value::Bulk(b"1".to_vec()) && reply[1] == there[0], "{reply:?} {there:?}");
}

/// The log alone, after a crash, says no more than that they were put.
#[test]
fn a_restart_finds_what_was_put_unread() {
    let mut server = server_with_cold(&["SET k old", "RPUSH list a", "SET other value"]);
    for line in ["SET k new", "MSET list new fresh new", "DEL list", "SET list newer EX 1000"] {
        server.line(line);
    }
    let mut server = server.reopen();
    for (key, value) in [("k", "new"), ("list", "newer"), ("fresh", "new"), ("other", "value")] {
        assert_eq!(server.line(&format!("GET {key}")), Value::Bulk(value.into()), "{key}");
    }
    settle(&server);
    assert_eq!(server.line("DBSIZE"), Value::Integer(4));
    let engine = Arc::clone(&server.server.engine);
    server.leave_memory();
    assert_eq!(engine.totals(0).keys, 4);
}

/// Commands that leave something else than a string, or nothing.
const OTHERS: [&str; 5] = ["RPUSH", "SADD", "DEL", "UNLINK", "EXISTS"];

/// Requests of some batches, mostly of strings.
fn requests(commands: &mut Commands, random: &mut Random, count: u64) -> Vec<u8> {
    let mut input = Vec::new();
    for _ in 0..count {
        let key = KEYS[random.below(KEYS.len() as u64) as usize];
        let bytes_max = if random.chance(1, 8) { 4_000 } else { 20 };
        let value = vec![b'v'; random.below(bytes_max) as usize];
        let words: Vec<Vec<u8>> = match random.below(8) {
            0..=2 => commands.next(),
            3 => vec!["MSET".into(), key.into(), value, "other".into(), "x".into()],
            4 => {
                let name = OTHERS[random.below(OTHERS.len() as u64) as usize];
                let members = (0..random.below(40)).map(|number| number.to_string().into_bytes());
                let is_short = matches!(name, "DEL" | "UNLINK" | "EXISTS");
                let members = members.take(if is_short { 0 } else { usize::MAX });
                [name.into(), key.into()].into_iter().chain(members).collect()
            }
            _ => vec!["SET".into(), key.into(), value],
        };
        encode_request(&words, &mut input);
    }
    input
}

/// Whatever is on disk only, and whenever it has been read, or not yet at a crash.
#[test]
fn replies_are_those_of_keys_in_memory() {
    for round in 0..3 {
        let seed = seed::from_base(round);
        let (mut random, mut commands) = (Random::new(!seed), Commands::new(seed, START_MS));
        let (mut cold, mut warm) = (TestServer::new(), TestServer::new());
        let mut unread = 0;
        for number in 0..100 {
            if random.chance(1, 2) {
                cold.leave_memory();
            }
            let count = 1 + random.below(12);
            let input = requests(&mut commands, &mut random, count);
            let batch_max = 1 + random.below(12) as usize;
            let replies = cold.run_bytes(input.clone(), batch_max);
            assert_eq!(replies, warm.run_bytes(input, batch_max), "seed {seed}, batch {number}");
            unread += cold.server.engine.totals(0).keys_unread;
            if random.chance(1, 10) {
                cold = cold.reopen();
            }
            if random.chance(1, 4) {
                settle(&cold);
                assert_eq!(cold.line("DBSIZE"), warm.line("DBSIZE"), "seed {seed}, {number}");
            }
        }
        assert!(unread > 0, "seed {seed}");
        settle(&cold);
        cold.leave_memory();
        assert_eq!(cold.line("DBSIZE"), warm.line("DBSIZE"), "seed {seed}");
        for key in KEYS {
            for line in [format!("GET {key}"), format!("PTTL {key}")] {
                assert_eq!(cold.line(&line), warm.line(&line), "seed {seed}, {line}");
            }
        }
    }
}

/// What stands behind a read from disk is looked at for its keys before its words are counted.
#[test]
fn no_number_of_words_harms_behind_a_read_from_disk() {
    let mut server = server_with_cold(&["SET cold v"]);
    server.line("ACL SETUSER restricted on nopass +@all ~cold ~{k}*");
    let table = Arc::clone(&server.server.commands.table);
    let mut restricted = server.another_connection();
    restricted.line("AUTH restricted any");
    for mut client in [server.another_connection(), restricted] {
        for command in table.all() {
            let names: Vec<&str> = command.spec.name.split('|').collect();
            let first = ["{k}", "0", "-1", "COUNT", "0", "1"];
            let counted = ["1", "{k}", "MIN", "COUNT", "-1", "LEFT"];
            let last = ["COUNT", "9", "STREAMS", "{k}", "0", "0"];
            for words in [first, counted, last] {
                for more in 0..words.len() {
                    let line = [&names, &words[..more]].concat().join(" ");
                    let wait = client.run_batch_when_free(&in_a_row(&["GET cold", &line]), 64);
                    assert!(matches!(wait, Some(Wait::Keys(_))), "{line}");
                }
            }
        }
    }
}
