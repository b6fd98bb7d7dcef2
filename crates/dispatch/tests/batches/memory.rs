//! `maxmemory` under a writer that is faster than samples of memory are.

use crate::harness::TestServer;
use basalt_resp::{Value, decode, encode_request};
use basalt_service::governor::Governor;
use std::sync::atomic::Ordering::Relaxed;

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

/// They log a few bytes each.
#[test]
fn strings_of_zeros_do_not_pass_the_limit() {
    for call in ["SETRANGE key 1048576 x", "SETBIT key 8388608 1", "BITFIELD key SET u8 8388608 1"]
    {
        let mut server = server();
        let mut input = Vec::new();
        for number in 0..64 {
            let call = call.replace("key", &format!("key:{number}"));
            encode_request(&call.split(' ').collect::<Vec<_>>(), &mut input);
        }
        let (refused, used) = (refused(&server.run_bytes(input, 64)), used(&server));
        assert!(
            (46..50).contains(&refused),
            "{call}: {refused} are refused, {used} bytes are used"
        );
    }
}

/// Its commands do not wait for memory, nor are they admitted one by one.
#[test]
fn a_transaction_makes_no_more_zeros_than_all_keys_may_take() {
    let (mut server, _) = governed("128mb", 80 << 20);
    server.line("MULTI");
    for number in 0..64 {
        server.line(&format!("SETRANGE key:{number} 1048576 x"));
    }
    let Value::Array(replies) = server.line("EXEC") else { panic!("it runs") };
    let refused = replies.iter().filter(|&reply| *reply == Value::Error(OOM.to_vec())).count();
    assert!((18..22).contains(&refused), "{refused} are refused");
    assert_eq!(server.line("SET k v"), Value::Error(OOM.to_vec()));
}

/// A server with a budget, whose governor has looked while this much was resident. Nothing leaves
/// its memory.
fn governed(budget: &str, resident_bytes: u64) -> (TestServer, Governor) {
    let mut server = TestServer::new();
    server.stop_background();
    let mut governor = Governor::default();
    server.configure("maxmemory", budget);
    server.host.memory.resident_bytes.store(resident_bytes, Relaxed);
    server.server.govern(&mut governor);
    server.line("PING");
    (server, governor)
}

#[test]
fn the_keyspace_has_what_the_rest_leaves_it() {
    const LEFT_BYTES: u64 = 44 << 20;
    let (mut server, _) = governed("128mb", 80 << 20);
    let target = server.server.engine.memory_target().expect("there is a budget");
    assert!(target.abs_diff(LEFT_BYTES) < 1 << 20, "{target}");
    let replies = server.run_bytes(sets(0..64, &"x".repeat(1 << 20)), 64);
    let (refused, used) = (refused(&replies), used(&server));
    assert!((15..22).contains(&refused), "{refused} are refused, {used} bytes are used");
}

#[test]
fn a_lowered_budget_holds_from_the_next_look_on_and_a_raised_one_at_once() {
    let (mut server, mut governor) = governed("8gb", 1 << 20);
    let replies = server.run_bytes(sets(0..32, &"x".repeat(1 << 20)), 64);
    assert_eq!(refused(&replies), 0);
    server.configure("maxmemory", "16mb");
    server.server.govern(&mut governor);
    server.line("PING");
    assert_eq!(server.line("SET k v"), Value::Error(OOM.to_vec()));
    // Before the governor looks, all of the budget is the keyspace's.
    server.configure("maxmemory", "64mb");
    server.line("PING");
    assert_ne!(server.line("SET k v"), Value::Error(OOM.to_vec()));
    server.host.memory.resident_bytes.store(90 << 20, Relaxed);
    server.server.govern(&mut governor);
    assert_eq!(server.line("SET k v"), Value::Error(OOM.to_vec()));
    assert_eq!(server.host.memory.purges.load(Relaxed), 1, "more is resident than may be");
    server.configure("maxmemory", "0");
    server.line("PING");
    assert_ne!(server.line("SET k v"), Value::Error(OOM.to_vec()));
    server.server.govern(&mut governor);
    assert_eq!(server.server.engine.memory_target(), None);
}

#[test]
fn an_automatic_budget_follows_the_machine() {
    let (server, mut governor) = governed("auto", 0);
    let budget = || server.server.config.settings().memory.memory_bytes_max;
    assert_eq!(budget(), 0, "nobody knows the machine");
    // It is asked once a second.
    let look = |governor: &mut Governor| {
        server.clock.advance_ms(100);
        server.server.govern(governor);
    };
    server.host.memory.machine_bytes.store(1 << 30, Relaxed);
    (0..10).for_each(|_| look(&mut governor));
    assert_eq!(budget(), 1 << 30);
    server.host.memory.machine_bytes.store(1 << 29, Relaxed);
    let looks = (1..).find(|_| {
        look(&mut governor);
        budget() == 1 << 29
    });
    assert!(looks.is_some_and(|looks| looks <= 10), "{looks:?}");
}
