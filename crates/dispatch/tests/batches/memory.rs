//! `maxmemory` under a writer that is faster than samples of memory are.

use crate::harness::TestServer;
use basalt_resp::{Value, decode, encode_request};

const OOM: &[u8] = b"OOM command not allowed when used memory > 'maxmemory'.";
const MAX_BYTES: u64 = 16 << 20;

/// A server whose memory was sampled when it was empty, and never again.
fn server() -> TestServer {
    let mut server = TestServer::new();
    server.server.sample();
    server.configure("maxmemory", &MAX_BYTES.to_string());
    server.line("PING");
    server
}

fn sets(numbers: std::ops::Range<usize>, value: &str) -> Vec<u8> {
    let mut input = Vec::new();
    numbers
        .for_each(|number| encode_request(&["SET", &format!("key:{number}"), value], &mut input));
    input
}

fn refused(mut replies: &[u8]) -> usize {
    let mut refused = 0;
    while let Some((value, len)) = decode(replies).expect("a reply") {
        refused += usize::from(value == Value::Error(OOM.to_vec()));
        replies = &replies[len..];
    }
    refused
}

fn used(server: &TestServer) -> u64 {
    server.server.engine.memory(basalt_engine::LockWait::Endless).unwrap().bytes_used()
}

#[test]
fn large_values_of_one_batch_do_not_pass_the_limit() {
    let mut server = server();
    let replies = server.run_bytes(sets(0..64, &"x".repeat(1 << 20)), 64);
    let (refused, used) = (refused(&replies), used(&server));
    assert!((40..56).contains(&refused), "{refused} are refused, {used} bytes are used");
    assert!(used < MAX_BYTES + (4 << 20), "{used} bytes are used");
    server.line("MULTI");
    assert_eq!(server.line("SET k v"), Value::Error(OOM.to_vec()));
}

#[test]
fn small_values_do_not_pass_the_limit() {
    let mut server = server();
    let mut all_refused = 0;
    for batch in 0..4000 {
        let numbers = batch * 64..(batch + 1) * 64;
        all_refused += refused(&server.run_bytes(sets(numbers, &"x".repeat(64)), 64));
    }
    let used = used(&server);
    assert!(all_refused > 0 && used < MAX_BYTES + (4 << 20), "{used} bytes are used");
}

#[test]
fn a_transaction_is_refused_when_memory_is_used_up_after_it_was_queued() {
    let mut server = server();
    let mut other = server.another_connection();
    server.line("MULTI");
    server.line("SET k v");
    other.run_bytes(sets(0..64, &"x".repeat(1 << 20)), 64);
    let expected = [b"EXECABORT Transaction discarded because of: ", OOM].concat();
    assert_eq!(server.line("EXEC"), Value::Error(expected));
}

/// What is overwritten takes no more memory, however much is logged.
#[test]
fn values_that_are_overwritten_below_the_limit_are_never_refused() {
    let mut server = server();
    for _ in 0..20 {
        let replies = server.run_bytes(sets(0..12, &"x".repeat(1 << 20)), 64);
        assert_eq!(refused(&replies), 0, "{} bytes are used", used(&server));
    }
}
