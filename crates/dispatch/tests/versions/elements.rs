//! Versions and expiries of fields and members, through commands, the log and the cold tier.

use crate::harness::{START_MS, TestServer};
use basalt_engine::Version;
use basalt_resp::Value;

/// Of each kind: a write, a plain change of the same element, a read, a removal.
const KINDS: [[&str; 4]; 3] = [
    ["CAS.HSET k a 1", "HINCRBY k a 1", "CAS.HGET k a", "CAS.HDEL k a"],
    ["CAS.SADD k a", "CAS.SADD k a", "CAS.SISMEMBER k a", "CAS.SREM k a"],
    ["CAS.ZADD k 1 a", "ZINCRBY k 1 a", "CAS.ZSCORE k a", "CAS.ZREM k a"],
];

impl TestServer {
    /// The first element of a reply that is a version, at `index`; none for nil.
    fn version_at(&mut self, line: &str, index: usize) -> Option<u64> {
        match self.line(line) {
            Value::Array(values) => match &values[index] {
                Value::Bulk(text) => str::from_utf8(text).expect("digits").parse().ok(),
                other => panic!("{line}: {other:?}"),
            },
            Value::Null => None,
            other => panic!("{line}: {other:?}"),
        }
    }

    fn is_done(&mut self, line: &str) -> bool {
        match self.line(line) {
            Value::Array(values) => values[0] == Value::Integer(1),
            other => panic!("{line}: {other:?}"),
        }
    }
}

#[test]
fn an_element_is_written_if_its_version_is_the_one_expected() {
    for [write, change, read, remove] in KINDS {
        let mut server = TestServer::new();
        let first = server.version_at(&format!("{write} NX"), 1).expect("written");
        assert!(!server.is_done(&format!("{write} NX")));
        assert_eq!(server.version_at(read, 0), Some(first), "{read}");
        server.line(change);
        let second = server.version_at(read, 0).expect("it is there");
        assert!(second > first, "{change} has moved it");
        assert_eq!(server.version_at(&format!("{write} IF {first}"), 1), Some(second));
        assert!(!server.is_done(&format!("{remove} IF {first}")));
        let third = server.version_at(&format!("{write} IF {second}"), 1).expect("written");
        assert!(third > second);
        assert!(server.version(b"k") > Version::new(third), "the key's is greater");
        assert_eq!(server.version_at(&format!("{remove} IF {third}"), 1), Some(third));
        assert_eq!(server.line("EXISTS k"), Value::Integer(0));
        assert!(server.version_at(write, 1) > Some(third), "made again, it has a greater one");
    }
}

#[test]
fn versions_survive_the_log_the_tier_and_a_rename() {
    for [write, _, read, _] in KINDS {
        let mut server = TestServer::new();
        let version = server.version_at(&format!("{write} PX 5000"), 1).expect("written");
        let is_there = |server: &mut TestServer, read: &str| {
            assert_eq!(server.version_at(read, 0), Some(version), "{read}");
            let Value::Array(values) = server.line(read) else { panic!("{read}") };
            assert_eq!(values[1], Value::Integer(5000), "{read}");
        };
        is_there(&mut server, read);
        let mut server = server.reopen();
        is_there(&mut server, read);
        server.server.engine.checkpoint().expect("the tier is in memory");
        let mut server = server.reopen();
        is_there(&mut server, read);
        server.line("RENAME k other");
        server.line("COPY other k");
        is_there(&mut server, &read.replace(" k ", " other "));
        is_there(&mut server, read);
        assert!(server.version(b"other") > Version::new(version));
        let mut server = server.reopen();
        is_there(&mut server, read);
        assert!(server.version_at(&write.replace(" k ", " other "), 1) > Some(version));
    }
}

#[test]
fn a_large_collection_keeps_them_in_rows_of_its_elements() {
    for [write, _, read, _] in KINDS {
        let mut server = TestServer::new();
        for number in 0..4_000 {
            server.line(&write.replace(" a", &format!(" element:{number}:long")));
        }
        let read = read.replace(" a", " element:77:long");
        let write = write.replace(" a", " element:77:long");
        server.server.engine.checkpoint().expect("the tier is in memory");
        let version = server.version_at(&format!("{write} EX 100"), 1);
        assert_eq!(server.version_at(&read, 0), version);
        server.server.engine.checkpoint().expect("the tier is in memory");
        let mut server = server.reopen();
        assert_eq!(server.version_at(&read, 0), version);
        let mut server = server.reopen();
        assert!(server.version_at(&write, 1) > version);
    }
}

/// Members that have expired are gone for CAS at once, and for all once the engine has been there.
#[test]
fn members_expire() {
    for [write, _, read, _] in &KINDS[1..] {
        let count = if write.contains("CAS.S") { "SCARD k" } else { "ZCARD k" };
        let mut server = TestServer::new();
        server.line(&format!("{write} PX 100"));
        server.line(&write.replace(" a", " b"));
        server.line(&format!("{} PX 100", write.replace(" k ", " all ")));
        server.clock.set_unix_ms(START_MS + 100);
        assert_eq!(server.line(read), Value::Null);
        let mut server = server.reopen();
        server.clock.set_unix_ms(START_MS + 100);
        // What is on disk is visited once it has been read.
        server.line("EXISTS k all");
        server.server.engine.expire_due();
        assert_eq!(server.line(count), Value::Integer(1));
        assert_eq!(server.line("EXISTS all"), Value::Integer(0));
        let mut server = server.reopen();
        server.clock.set_unix_ms(START_MS);
        assert_eq!(server.line(count), Value::Integer(1), "gone, not merely unseen");
    }
}

#[test]
fn what_changes_a_member_that_has_expired_takes_it_for_gone() {
    let mut server = TestServer::new();
    for line in ["CAS.SADD s a PX 100", "CAS.SADD s b", "CAS.ZADD z 5 a PX 100", "CAS.ZADD z 1 b"] {
        server.line(line);
    }
    server.server.engine.checkpoint().expect("the tier is in memory");
    server.clock.set_unix_ms(START_MS + 100);
    assert_eq!(server.line("SADD s a"), Value::Integer(1));
    assert_eq!(server.version_at("CAS.SISMEMBER s a", 0), Some(0), "nothing is inherited");
    assert_eq!(server.line("ZINCRBY z 2 a"), Value::Bulk(b"2".to_vec()));
    assert_eq!(server.version_at("CAS.ZSCORE z a", 0), Some(0));
    server.server.engine.expire_due();
    assert_eq!(server.line("SCARD s"), Value::Integer(2));
    assert_eq!(server.line("ZCARD z"), Value::Integer(2));
}

/// A reply that has announced how many come.
#[test]
fn pops_return_as_many_as_there_are_though_some_have_expired() {
    let mut server = TestServer::new();
    for number in 0..10 {
        let expiry = if number < 6 { "PX 100" } else { "" };
        server.line(&format!("CAS.SADD s m{number} {expiry}"));
        server.line(&format!("CAS.ZADD z {number} m{number} {expiry}"));
    }
    server.clock.set_unix_ms(START_MS + 100);
    let count = |reply| match reply {
        Value::Array(values) | Value::Set(values) => values.len(),
        other => panic!("{other:?}"),
    };
    let popped = count(server.line("SPOP s 4"));
    let Value::Integer(left) = server.line("SCARD s") else { panic!("a number") };
    assert!(popped == 4 && left <= 6, "{popped} popped, {left} left");
    assert_eq!(count(server.line("ZPOPMIN z 4")), 8, "members and scores");
    assert_eq!(server.line("PING"), Value::Simple(b"PONG".to_vec()));
}

#[test]
fn only_the_elements_that_change_move() {
    let mut server = TestServer::new();
    server.line("CAS.HSET h a 1");
    let b = server.version_at("CAS.HSET h b 1", 1);
    for (line, moves) in [
        ("HSET h a 1", false),
        ("HSET h a 2", true),
        ("HPEXPIRE h 5000 FIELDS 1 a", true),
        ("HPEXPIRE h 5000 FIELDS 1 a", false),
        ("HSET h new 1", false),
    ] {
        let before = server.version_at("CAS.HGET h a", 0);
        server.line(line);
        assert_eq!(server.version_at("CAS.HGET h a", 0) > before, moves, "{line}");
        assert_eq!(server.version_at("CAS.HGET h b", 0), b, "{line}");
    }
    assert_eq!(server.version_at("CAS.HGET h new", 0), Some(0));
    let before = server.version_at("CAS.HGET h a", 0);
    server.run(&["EVAL", "return redis.call('HSET', KEYS[1], 'a', 'x')", "1", "h"]);
    assert!(server.version_at("CAS.HGET h a", 0) > before, "scripts move it, too");
    let s = server.version_at("CAS.SADD s a PX 5000", 1);
    assert_eq!(server.line("SADD s a"), Value::Integer(0));
    assert_eq!(server.version_at("CAS.SISMEMBER s a", 0), s);
    let z = server.version_at("CAS.ZADD z 1 a PX 5000", 1);
    server.line("ZADD z 1 a");
    assert_eq!(server.version_at("CAS.ZSCORE z a", 0), z);
    server.line("ZADD z 2 a");
    let Value::Array(values) = server.line("CAS.ZSCORE z a") else { panic!("it is there") };
    assert_eq!(values[1], Value::Integer(5000), "a plain change leaves the expiry");
    assert!(server.version_at("CAS.ZSCORE z a", 0) > z);
}

#[test]
fn a_time_that_has_passed_removes_the_element() {
    for [write, _, read, _] in KINDS {
        let mut server = TestServer::new();
        server.line(write);
        assert_eq!(server.version_at(&format!("{write} PXAT 1"), 1), Some(0));
        assert_eq!(server.line(read), Value::Null);
        assert_eq!(server.line("EXISTS k"), Value::Integer(0));
    }
}
