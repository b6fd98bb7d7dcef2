//! DUMP and RESTORE between Basalt and a real Redis, both ways.

use super::differential::contents;
use crate::harness::TestServer;
use crate::harness::redis::Redis;
use basalt_resp::{Value, decode};

/// What makes values of every type, in packed and in native forms.
fn values() -> Vec<Vec<Vec<u8>>> {
    let words = |text: &str| text.split(' ').map(|word| word.as_bytes().to_vec()).collect();
    let many = |command: &str, pair: fn(usize) -> Vec<String>| {
        let mut line = vec![command.as_bytes().to_vec(), b"k".to_vec()];
        line.extend((0..1500).flat_map(pair).map(String::into_bytes));
        line
    };
    vec![
        words("SET k hello"),
        words("SET k 12345"),
        words("RPUSH k a 1 -5 300"),
        many("RPUSH", |number| vec![format!("element:{number}")]),
        words("SADD k 3 1 2"),
        words("SADD k a b 1"),
        many("SADD", |number| vec![format!("member:{number}")]),
        words("ZADD k 1 a 2.5 b -inf c"),
        many("ZADD", |number| vec![(number as f64 / 4.0).to_string(), format!("member:{number}")]),
        words("HSET k f v g 1"),
        many("HSET", |number| vec![format!("field:{number}"), format!("value:{number}")]),
        words("XADD k 1-1 f v g 2"),
        many("PFADD", |number| vec![number.to_string()]),
    ]
}

fn bulk(reply: &[u8]) -> Vec<u8> {
    match decode(reply).expect("a reply").expect("a whole reply").0 {
        Value::Bulk(payload) => payload,
        other => panic!("no payload: {other:?}"),
    }
}

#[test]
fn payloads_travel_both_ways() {
    let Some(mut redis) = Redis::start() else { return };
    let mut server = TestServer::new();
    for line in values() {
        let what = String::from_utf8_lossy(&line[0]).into_owned();
        redis.run_for_bytes(&["FLUSHALL"]);
        server.run_for_bytes(&["FLUSHALL"]);
        redis.run_for_bytes(&line);
        server.run_for_bytes(&line);
        let (theirs, ours) = (
            bulk(&redis.run_for_bytes(&["DUMP", "k"])),
            bulk(&server.run_for_bytes(&["DUMP", "k"])),
        );
        let restore = |name: &str, payload: &[u8]| {
            vec![b"RESTORE".to_vec(), name.into(), b"0".to_vec(), payload.to_vec()]
        };
        for (name, payload) in [("from-redis", &theirs), ("from-basalt", &ours)] {
            let line = restore(name, payload);
            assert_eq!(redis.run_for_bytes(&line), b"+OK\r\n", "{what} {name} into Redis");
            assert_eq!(server.run_for_bytes(&line), b"+OK\r\n", "{what} {name} into Basalt");
            let expected = contents("k", |words| redis.run_for_bytes(words));
            assert!(
                contents(name, |words| redis.run_for_bytes(words)) == expected,
                "{what} {name}"
            );
            assert!(
                contents(name, |words| server.run_for_bytes(words)) == expected,
                "{what} {name}"
            );
        }
    }
}

#[test]
fn streams_travel_with_their_groups() {
    let Some(mut redis) = Redis::start() else { return };
    let mut server = TestServer::new();
    for line in [
        "XADD k 1-1 f v",
        "XADD k 2-1 f v",
        "XADD k 3-1 f v",
        "XDEL k 2-1",
        "XGROUP CREATE k g 0",
        "XREADGROUP GROUP g alice COUNT 1 STREAMS k >",
        "XGROUP CREATECONSUMER k g bob",
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        redis.run_for_bytes(&words);
        server.run_for_bytes(&words);
    }
    let theirs = bulk(&redis.run_for_bytes(&["DUMP", "k"]));
    let ours = bulk(&server.run_for_bytes(&["DUMP", "k"]));
    for (name, payload) in [("from-redis", theirs), ("from-basalt", ours)] {
        let line = vec![b"RESTORE".to_vec(), name.into(), b"0".to_vec(), payload];
        assert_eq!(redis.run_for_bytes(&line), b"+OK\r\n", "{name} into Redis");
        assert_eq!(server.run_for_bytes(&line), b"+OK\r\n", "{name} into Basalt");
        for words in
            [["XPENDING", name, "g"].as_slice(), &["XLEN", name], &["XRANGE", name, "-", "+"]]
        {
            assert_eq!(
                server.run_for_bytes(words),
                redis.run_for_bytes(words),
                "{name}: {}",
                words.join(" ")
            );
        }
    }
}
