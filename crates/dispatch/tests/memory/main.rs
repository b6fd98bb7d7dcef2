//! How much memory commands take: those on long strings beside the strings themselves, and many of
//! a transaction.
//!
//! It is a program of its own, whose tests run one after the other, so that nobody else's memory is
//! counted.

#[allow(dead_code, reason = "it serves the other tests first")]
#[path = "../harness/mod.rs"]
mod harness;

use basalt_resp::encode_request;
use basalt_stdx::counting_allocator::CountingAllocator;
use harness::{LogBounds, TestServer};
use parking_lot::Mutex;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::new();

/// Held by the test that runs.
static COUNTED: Mutex<()> = Mutex::new(());

const LONG: usize = 16 << 20;

/// The most that a request takes while it runs, in hundredths of a long string; what it was sent as
/// is not counted.
fn hundredths(server: &mut TestServer, words: &[&[u8]]) -> usize {
    let mut request = Vec::new();
    encode_request(words, &mut request);
    let mut reply = Vec::new();
    let peak = ALLOCATOR.peak_of(|| reply = server.run_bytes(request, 1));
    assert_ne!(reply.first(), Some(&b'-'), "{}", reply.escape_ascii());
    peak * 100 / LONG
}

#[test]
fn a_long_string_is_not_copied_on_its_way_into_the_log() {
    let _alone = COUNTED.lock();
    let mut server = TestServer::new();
    server.log.forget_records();
    let value = vec![b'v'; LONG];
    // Each request with what it needs: a new value is as long as a long string.
    let requests: [(&[&[u8]], usize); 14] = [
        (&[b"SET", b"{k}a", &value], 100),
        (&[b"APPEND", b"{k}b", &value], 100),
        (&[b"SETRANGE", b"{k}b", b"3", &value[..LONG - 3]], 0),
        (&[b"BITOP", b"NOT", b"{k}n", b"{k}a"], 100),
        // In the memory of what the destination held.
        (&[b"BITOP", b"NOT", b"{k}n", b"{k}a"], 0),
        (&[b"BITOP", b"NOT", b"{k}n", b"{k}n"], 0),
        (&[b"BITOP", b"XOR", b"{k}n", b"{k}a", b"{k}n"], 0),
        (&[b"BITOP", b"OR", b"{k}n", b"{k}a", b"{k}b"], 0),
        (&[b"COPY", b"{k}a", b"{k}c"], 0),
        (&[b"RENAME", b"{k}c", b"{k}d"], 0),
        (&[b"RENAME", b"{k}d", b"{other}d"], 0),
        (&[b"MOVE", b"{k}b", b"1"], 0),
        (&[b"GETSET", b"{k}a", &value], 100),
        (
            &[
                b"EVAL",
                b"for i = 1, 9 do redis.call('COPY', KEYS[1], '{k}e' .. i) end",
                b"1",
                b"{k}a",
            ],
            0,
        ),
    ];
    for (words, expected) in requests {
        let taken = hundredths(&mut server, words);
        let line = words[0].escape_ascii();
        assert!((expected..expected + 10).contains(&taken), "{line} takes {taken}/100");
    }
    server.line("MULTI");
    for _ in 0..10 {
        server.line("COPY {k}a {k}j REPLACE");
        server.line("RENAME {k}j {k}l");
    }
    let taken = hundredths(&mut server, &[b"EXEC"]);
    assert!(taken < 10, "EXEC takes {taken}/100");
}

#[test]
fn a_long_string_is_not_copied_on_its_way_to_the_cold_tier_and_back() {
    let _alone = COUNTED.lock();
    let mut server = TestServer::new();
    server.log.forget_records();
    server.run(&[b"SET", &b"{k}a"[..], &vec![b'v'; LONG]]);
    // The tier's own rows are in memory, too.
    let taken = ALLOCATOR.peak_of(|| server.server.engine.checkpoint().expect("a checkpoint"));
    let taken = taken * 100 / LONG;
    assert!((100..105).contains(&taken), "a checkpoint takes {taken}/100");
    let mut server = server.reopen();
    let taken = hundredths(&mut server, &[b"STRLEN", b"{k}a"]);
    assert_eq!(taken, 0, "its length is in its row");
    let taken = hundredths(&mut server, &[b"GETBIT", b"{k}a", b"0"]);
    assert!((100..105).contains(&taken), "a read takes {taken}/100");
}

#[test]
fn a_collection_is_encoded_once_for_the_log() {
    const MEMBERS: usize = 100_000;
    let _alone = COUNTED.lock();
    // As one operation, and as several.
    for record_bytes_max in [64 << 20, 1 << 20] {
        let bounds = LogBounds { record_bytes_max, ..LogBounds::default() };
        let mut server = TestServer::with_bounds(bounds);
        server.log.forget_records();
        for number in 0..MEMBERS {
            let member = format!("{number:0100}");
            server.run(&["SADD", "{k}a", &member]);
        }
        server.log.take_bytes();
        for line in ["RENAME {k}a {k}b", "RENAME {k}b {k}a"] {
            let taken = ALLOCATOR.peak_of(|| drop(server.line(line)));
            let (copied, lent) = server.log.take_bytes();
            assert!(copied < 1_000, "{copied} bytes are copied");
            assert!(lent > MEMBERS * 100, "{lent} bytes are lent");
            assert!(taken < 3 * lent / 2, "{line} takes {taken} bytes for {lent}");
        }
    }
}

#[test]
fn a_queued_command_takes_little_until_exec_has_run() {
    const COMMANDS: usize = 100_000;
    let _alone = COUNTED.lock();
    let mut server = TestServer::new();
    server.log.forget_records();
    server.line("MULTI");
    let queued = ALLOCATOR.peak_of(|| {
        for _ in 0..COMMANDS {
            server.line("INCR counter");
        }
    });
    let run = ALLOCATOR.peak_of(|| drop(server.line("EXEC")));
    let [queued, run] = [queued, run].map(|bytes| bytes / COMMANDS);
    assert!(queued < 100, "{queued} bytes while it is queued");
    assert!(run < 130, "{run} bytes more while it runs");
}

/// What is allocated for a message of 100 bytes that is ready, and for one that is held.
fn bytes_of_messages(count: usize) -> (usize, usize) {
    let mut server = TestServer::new();
    server.log.forget_records();
    let body = "x".repeat(100);
    server.run(&["Q.PUT", "q", &body]);
    let empty = ALLOCATOR.bytes();
    for _ in 0..count {
        server.run(&["Q.PUT", "q", &body]);
    }
    let ready = ALLOCATOR.bytes();
    for number in 0..count {
        let worker = format!("worker-{}.of.a.machine", number % 10);
        server.run(&["Q.GET", "LEASE", "600000", "WORKER", &worker, "QUEUES", "q"]);
    }
    let held = ALLOCATOR.bytes();
    ((ready - empty) / count, (held - empty) / count)
}

#[test]
fn a_held_message_of_100_bytes_takes_at_most_200() {
    let _alone = COUNTED.lock();
    let (ready, held) = bytes_of_messages(100_000);
    assert!(ready <= 120, "{ready} of one that is ready");
    assert!(held <= 200, "{held} of one that is held");
}
