//! Pipelines of keys that are on disk go down together.

use crate::acl::log_in;
use crate::harness::TestServer;
use basalt_resp::encode_request;
use basalt_service::wait::Wait;
use std::time::{Duration, Instant};

/// With keys that are on disk only.
fn server_with_cold(keys: &[&str]) -> TestServer {
    let mut server = TestServer::new();
    for key in keys {
        server.line(&format!("SET {key} value"));
    }
    server.leave_memory();
    server
}

/// Runs the requests in one batch up to the first that waits for keys, and does not go on. Returns
/// how many keys are on disk only when all that was asked for has been read.
fn left_on_disk(server: &mut TestServer, lines: &[&str]) -> u64 {
    let mut input = Vec::new();
    for line in lines {
        encode_request(&line.split_whitespace().collect::<Vec<_>>(), &mut input);
    }
    let Some(Wait::Keys(missing)) = server.run_batch_when_free(&input, lines.len()) else {
        panic!("the first request waits for its key");
    };
    let engine = &server.server.engine;
    engine.fetch(missing, Box::new(|result| result.expect("the tier can be read")));
    // What is asked for is taken and read within moments; nothing else comes in later.
    let (mut seen, mut since) = (engine.totals(0).keys_cold_only, Instant::now());
    while since.elapsed() < Duration::from_millis(100) || engine.miss_stats().queued > 0 {
        std::thread::yield_now();
        let now = engine.totals(0).keys_cold_only;
        if now != seen {
            (seen, since) = (now, Instant::now());
        }
    }
    seen
}

#[test]
fn keys_of_requests_behind_one_that_waits_are_read_meanwhile() {
    let mut server = server_with_cold(&["a", "b", "c", "d", "e", "left"]);
    let lines = ["GET a", "GET b", "MGET c d none", "NOSUCH left", "SET", "APPEND e x", "PING"];
    assert_eq!(left_on_disk(&mut server, &lines), 1);
    let reads = server.server.engine.miss_stats();
    assert_eq!((reads.keys, reads.joined), (5, 0), "each once");
    // Then they answer without a wait.
    for line in ["GET b", "MGET c d", "APPEND e x"] {
        assert!(server.run_when_free(line).is_none(), "{line}");
    }
}

#[test]
fn nothing_is_read_for_requests_that_a_user_may_not_run() {
    let mut server = server_with_cold(&["mine:a", "mine:b", "theirs:a", "theirs:b"]);
    log_in(&mut server, "alice", &["on", "nopass", "+get", "+mget", "~mine:*"]);
    let lines = ["GET mine:a", "GET theirs:a", "MGET mine:b theirs:b", "INCR mine:b"];
    assert_eq!(left_on_disk(&mut server, &lines), 3);
    assert_eq!(left_on_disk(&mut server, &["GET mine:b", "GET theirs:a"]), 2);
}

#[test]
fn a_request_with_very_many_keys_is_not_looked_through() {
    let mut server = server_with_cold(&["a", "b", "c"]);
    let many = format!("MGET b{}", " none".repeat(300));
    assert_eq!(left_on_disk(&mut server, &["GET a", &many, "GET c"]), 1);
}

#[test]
fn a_long_key_is_not_looked_for_but_that_of_a_long_value_is() {
    const LONG_BYTES: usize = (1 << 20) + 1;
    let mut server = server_with_cold(&["a", "b", "c", "d"]);
    let append = format!("APPEND b {}", "x".repeat(LONG_BYTES));
    let with_long = format!("MGET c {}", "k".repeat(LONG_BYTES));
    assert_eq!(left_on_disk(&mut server, &["GET a", &append, &with_long, "GET d"]), 1);
}
