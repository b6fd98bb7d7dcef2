//! Commands that change a long string which somebody else holds: it is copied while its partition
//! is free.

use crate::harness::TestServer;
use basalt_resp::{Output, Value, encode_request};
use std::io::IoSlice;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a request does to a plain vector.
type Change = fn(&mut Vec<u8>);

const LONG: usize = 3 << 20;

fn long() -> String {
    "x".repeat(LONG)
}

/// A reply that refers to the value, as one does that its client is slow to take.
fn hold(server: &mut TestServer, key: &str) -> Output {
    reply(server, &["GET", key])
}

fn reply(server: &mut TestServer, words: &[&str]) -> Output {
    let (mut request, mut out) = (Vec::new(), Output::new());
    encode_request(words, &mut request);
    server.serve(request, 1, &mut out);
    out
}

fn sent(out: &Output) -> Vec<u8> {
    let mut slices = [IoSlice::new(&[]); 8];
    let count = out.io_slices(&mut slices);
    slices[..count].iter().flat_map(|slice| slice.to_vec()).collect()
}

#[test]
fn a_long_string_is_digested_apart() {
    let mut server = TestServer::new();
    for key in ["short", "long"] {
        let value = if key == "long" { long() } else { "x".into() };
        let mut run = |request: String| server.line(&request.replace('K', key));
        run(format!("SET K {value}"));
        let Value::Bulk(digest) = run("DIGEST K".into()) else { panic!("no digest") };
        let digest = String::from_utf8(digest).expect("hexadecimal digits");
        let refused = Value::Array(vec![Value::Integer(0), Value::Bulk(b"0".to_vec())]);
        let answers = [
            (format!("SET K other IFDNE {digest}"), Value::Null),
            (format!("SET K {value} IFDEQ {digest}"), Value::Simple("OK".into())),
            (format!("CAS.SET K other IFDEQ {}", "0".repeat(16)), refused.clone()),
            (format!("CAS.DEL K IFDEQ {}", "0".repeat(16)), refused),
        ];
        for (request, answer) in answers {
            let before = server.ran_apart;
            let got = server.line(&request.replace('K', key));
            assert!(got == answer, "{key}: {got:?}");
            assert_eq!(server.ran_apart - before, usize::from(key == "long"), "{key}");
        }
    }
}

#[test]
fn a_large_part_of_a_long_string_is_not_copied() {
    let mut server = TestServer::new();
    let value: Vec<u8> = (0..LONG).map(|at| (at % 251) as u8).collect();
    server.run(&[b"SET".as_slice(), b"k", &value]);
    for (start, end) in [(0, LONG), (1, LONG), (LONG - (1 << 20), LONG), (7, 7 + (1 << 20)), (5, 9)]
    {
        let range = [start.to_string(), (end - 1).to_string()];
        let out = reply(&mut server, &["GETRANGE", "k", &range[0], &range[1]]);
        let mut expected = format!("${}\r\n", end - start).into_bytes();
        expected.extend_from_slice(&value[start..end]);
        expected.extend_from_slice(b"\r\n");
        assert!(sent(&out) == expected, "from {start} to {end}");
        assert!(out.memory_bytes_used() < 1 << 19, "from {start} to {end}");
    }
}

#[test]
fn a_long_string_that_a_reply_refers_to_is_copied_while_nothing_is_locked() {
    let mut server = TestServer::new();
    let mut plain = long().into_bytes();
    server.run(&["SET", "k", &long()]);
    let steps: [(&str, i64, Change); 6] = [
        ("APPEND k abc", 3 + LONG as i64, |plain| plain.extend(b"abc")),
        ("SETRANGE k 5 mid", 3 + LONG as i64, |plain| plain[5..8].copy_from_slice(b"mid")),
        ("SETBIT k 7 1", 0, |plain| plain[0] |= 1),
        ("SETBIT k 40000000 1", 0, |plain| {
            plain.resize(5_000_001, 0);
            plain[5_000_000] = 0x80;
        }),
        ("SETBIT k 0 1", 0, |plain| plain[0] |= 0x80),
        ("SETRANGE k 8000000 end", 8_000_003, |plain| {
            plain.resize(8_000_000, 0);
            plain.extend(b"end");
        }),
    ];
    for (request, answer, change) in steps {
        let held = hold(&mut server, "k");
        let before = sent(&held);
        let apart = server.ran_apart;
        assert_eq!(server.line(request), Value::Integer(answer), "{request}");
        assert_eq!(server.ran_apart, apart + 1, "{request}");
        change(&mut plain);
        assert!(server.stored("k").expect("it is there").value == plain, "{request}");
        assert!(sent(&held) == before, "{request} has changed a reply");
    }
    let held = hold(&mut server, "k");
    let field = Value::Array(vec![Value::Integer(i64::from(plain[4])), Value::Integer(7)]);
    assert_eq!(server.line("BITFIELD k SET u8 #4 7 GET u8 #4"), field);
    plain[4] = 7;
    assert!(server.stored("k").expect("it is there").value == plain);
    // One that only reads copies nothing, and neither does what finds the value its own.
    let apart = server.ran_apart;
    server.line("BITFIELD k GET u8 #4");
    server.line("SETBIT k 7 1");
    drop(held);
    server.line("SETRANGE k 0 own");
    plain[..3].copy_from_slice(b"own");
    assert_eq!(server.ran_apart, apart);
    assert!(server.reopen().stored("k").expect("it is in the log").value == plain);
}

#[test]
fn a_long_string_that_has_no_room_grows_while_nothing_is_locked() {
    let mut server = TestServer::new();
    server.run(&["SET", "k", &long()]);
    let mut grown = 0;
    let piece = "y".repeat(100_000);
    for _ in 0..60 {
        let apart = server.ran_apart;
        server.run(&["APPEND", "k", &piece]);
        grown += server.ran_apart - apart;
    }
    assert_eq!(server.line("STRLEN k"), Value::Integer(LONG as i64 + 6_000_000));
    assert_eq!(grown, 2, "a growing string doubles");
}

/// A copy of a key shares its value.
#[test]
fn a_long_string_is_copied_once_for_each_key_that_has_it() {
    let mut server = TestServer::new();
    server.run(&["SET", "{k}1", &long()]);
    server.line("COPY {k}1 {k}2");
    let apart = server.ran_apart;
    server.line("SETRANGE {k}2 0 second");
    server.line("SETRANGE {k}1 0 first");
    assert_eq!(server.ran_apart, apart + 1);
    assert_eq!(server.line("GETRANGE {k}1 0 5"), Value::Bulk(b"firstx".to_vec()));
    assert_eq!(server.line("GETRANGE {k}2 0 5"), Value::Bulk(b"second".to_vec()));
}

/// A transaction and a script hold their partitions for all their work, copies included.
#[test]
fn a_transaction_and_a_script_copy_what_they_change() {
    let mut server = TestServer::new();
    server.run(&["SET", "k", &long()]);
    let held = hold(&mut server, "k");
    server.line("MULTI");
    server.line("APPEND k a");
    server.line("EXEC");
    let again = hold(&mut server, "k");
    server.run(&["EVAL", "return redis.call('APPEND', KEYS[1], 'b')", "1", "k"]);
    assert_eq!(server.line("GETRANGE k -3 -1"), Value::Bulk(b"xab".to_vec()));
    assert_eq!(
        (sent(&held).len() + 1, sent(&again).len()),
        (sent(&again).len(), sent(&again).len())
    );
}

/// A copy that is overtaken by another writer is thrown away, and what was read stays as it was.
#[test]
fn writers_that_copy_at_the_same_time_lose_nothing() {
    const EACH: usize = 60;
    let mut server = TestServer::new();
    server.run(&["SET", "k", &long()]);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writers = [b'a', b'b'].map(|letter| {
            let mut writer = server.another_connection();
            scope.spawn(move || {
                for _ in 0..EACH {
                    writer.line(&format!("APPEND k {}", char::from(letter)));
                }
            })
        });
        let mut reader = server.another_connection();
        let done = &done;
        scope.spawn(move || {
            while !done.load(Ordering::Relaxed) {
                let held = hold(&mut reader, "k");
                let (before, len) = (sent(&held), held.len());
                std::thread::yield_now();
                assert!(sent(&held) == before && held.len() == len);
            }
        });
        writers.into_iter().for_each(|writer| writer.join().expect("it ends"));
        done.store(true, Ordering::Relaxed);
    });
    let value = server.stored("k").expect("it is there").value;
    let added = &value[LONG..];
    let counts = [b'a', b'b'].map(|letter| added.iter().filter(|&&byte| byte == letter).count());
    assert_eq!((counts, added.len()), ([EACH, EACH], 2 * EACH));
    assert!(server.reopen().stored("k").expect("it is in the log").value == value);
}
