//! Long strings are lent to the log, not copied, and the log still has what it had.

use crate::harness::TestServer;
use basalt_change::op::{self, Op};
use basalt_resp::Value;

const LONG: usize = 1 << 20;
/// Heads of operations, keys, and commands on short strings.
const COPIED_BYTES_MAX: usize = 1_000;

/// Bytes of which no two pieces are alike.
fn long(seed: usize) -> String {
    let numbers = (0..).map(|number: usize| (number * 7919 + seed).to_string());
    let mut text: String = numbers.take(LONG / 5).collect();
    text.truncate(LONG);
    text
}

/// Runs a request that is to lend the log this number of bytes.
fn lends(server: &mut TestServer, words: &[&[u8]], expected: usize) -> Value {
    server.log.take_bytes();
    let reply = server.run(words);
    let (copied, lent) = server.log.take_bytes();
    let line = String::from_utf8_lossy(words[0]);
    assert_eq!(lent, expected, "{line} lends {lent} bytes: {reply:?}");
    assert!(copied < COPIED_BYTES_MAX, "{line} copies {copied} bytes");
    reply
}

#[test]
fn no_command_copies_a_long_string_into_the_log() {
    let mut server = TestServer::new();
    let (a, b) = (long(1), long(2));
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut keys = 0;
    let mut survive = |server: &mut TestServer, line: &str| {
        keys += 1;
        let digest = server.line("DEBUG DIGEST");
        assert_eq!(server.reopen().line("DEBUG DIGEST"), digest, "{line}");
    };
    let requests: [(&[&[u8]], usize); 16] = [
        (&[b"SET", b"{k}a", a], LONG),
        (&[b"SET", b"{k}a", b, b"EX", b"1000"], LONG),
        (&[b"GETSET", b"{k}a", a], LONG),
        (&[b"MSET", b"{k}a", a, b"{k}short", b"x", b"{k}b", b], 2 * LONG),
        (&[b"APPEND", b"{k}c", a], LONG),
        // Short beside what is there: a copy is lent in place of a part of the value.
        (&[b"APPEND", b"{k}c", &b[..LONG / 4]], LONG / 4),
        (&[b"SETRANGE", b"{k}c", b"17", b], LONG),
        (&[b"SETRANGE", b"{k}d", b"5000000", a], LONG),
        (&[b"SETRANGE", b"{k}d", b"17", &b[..100]], 0),
        (&[b"COPY", b"{k}a", b"{k}e"], LONG),
        (&[b"RENAME", b"{k}e", b"{k}f"], LONG),
        (&[b"RENAME", b"{k}f", b"{other}f"], LONG),
        (&[b"MOVE", b"{k}c", b"1"], LONG + LONG / 4),
        (&[b"BITOP", b"XOR", b"{k}g", b"{k}a", b"{k}b"], LONG),
        (&[b"BITOP", b"NOT", b"{k}g", b"{k}g"], LONG),
        (&[b"EVAL", b"redis.call('SET', KEYS[1], ARGV[1])", b"1", b"{k}h", a], LONG),
    ];
    for (words, expected) in requests {
        lends(&mut server, words, expected);
        survive(&mut server, &String::from_utf8_lossy(words[0]));
    }
    let Value::Bulk(payload) = server.line("DUMP {k}a") else { panic!("{{k}}a is there") };
    lends(&mut server, &[b"RESTORE", b"{k}i", b"0", &payload], LONG);
    survive(&mut server, "RESTORE");
    server.line("MULTI");
    for _ in 0..20 {
        server.line("COPY {k}a {k}j REPLACE");
        server.line("RENAME {k}j {k}l");
    }
    lends(&mut server, &[b"EXEC"], 40 * LONG);
    survive(&mut server, "EXEC");
}

#[test]
fn what_follows_a_lent_string_stands_in_another_record_of_the_same_append() {
    let mut server = TestServer::new();
    server.line("MULTI");
    server.line("SET {k}a x");
    server.run(&["SET", "{k}b", &long(1)]);
    server.run(&["SET", "{k}b", &long(2)]);
    server.line("SET {k}c y");
    server.line("SET {k}d z");
    server.line("EXEC");
    assert_eq!(server.log.appends(), 1);
    let records = server.log.records();
    let keys = |bytes| {
        let (_, ops) = op::decode(bytes).expect("a record");
        ops.map(|op| op.as_ref().map(Op::key).expect("an operation").to_vec()).collect()
    };
    let keys: Vec<Vec<Vec<u8>>> = records.iter().map(|record| keys(&record.bytes)).collect();
    assert_eq!(keys, [vec![b"{k}a"], vec![b"{k}b"], vec![b"{k}b"], vec![b"{k}c", b"{k}d"]]);
}

#[test]
fn a_string_that_is_edited_while_the_log_holds_it_is_copied_once() {
    let mut server = TestServer::new();
    server.log.keep_what_is_lent();
    let value = long(1).repeat(2);
    let mut plain = value.clone().into_bytes();
    server.run(&["SET", "k", &value]);
    let apart = server.ran_apart;
    for _ in 0..3 {
        server.line("SETRANGE k 3 abc");
        server.line("SETBIT k 80 1");
    }
    assert_eq!(server.ran_apart, apart + 1, "the copy is nobody else's");
    plain[3..6].copy_from_slice(b"abc");
    plain[10] |= 0x80;
    assert!(server.stored("k").expect("it is there").value == plain);
    assert!(server.log.records()[0].bytes.ends_with(value.as_bytes()), "what was lent stays");
    assert!(server.reopen().stored("k").expect("it is in the log").value == plain);
}
