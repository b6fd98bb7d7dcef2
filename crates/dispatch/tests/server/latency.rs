//! The latency monitor, distributions of durations, and what INFO says of them.

use super::{elements, fields, text};
use crate::harness::TestServer;
use basalt_engine::LockWait;
use basalt_resp::{Value, encode_request};
use basalt_service::wait::Wait;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

#[test]
fn commands_that_take_long_are_events_only_if_that_is_asked_for() {
    let mut server = TestServer::new();
    let clock = std::sync::Arc::clone(&server.clock);
    server.host.applying_takes(&clock, 50);
    server.line("CONFIG SET maxmemory 100mb");
    assert_eq!(elements(&server.line("LATENCY LATEST")).len(), 0);
    server.line("CONFIG SET latency-monitor-threshold 20");
    server.line("LATENCY RESET");
    server.line("CONFIG SET maxmemory 0");
    let latest = server.line("LATENCY LATEST");
    let event = elements(&elements(&latest)[0]);
    assert_eq!(text(&event[0]), "command");
    assert!(matches!(event[2], Value::Integer(50..1000)), "{event:?}");
    assert_eq!(event[2], event[3]);
    assert_eq!(elements(&server.line("LATENCY HISTORY command")).len(), 1);
    assert!(text(&server.line("LATENCY GRAPH command")).starts_with("command - high "));
    assert!(text(&server.line("LATENCY DOCTOR")).starts_with("1. command: 1 times of late"));
    assert_eq!(server.line("LATENCY RESET nosuch command"), Value::Integer(1));
    assert_eq!(elements(&server.line("LATENCY HISTORY command")).len(), 0);
}

#[test]
fn durations_are_kept_by_command_as_long_as_the_option_says() {
    let mut server = TestServer::new();
    for _ in 0..3 {
        server.line("SET k v");
        server.line("CLIENT ID");
    }
    let histogram = server.line("LATENCY HISTOGRAM set client nosuch");
    let commands = fields(&histogram);
    assert_eq!(commands.keys().collect::<Vec<_>>(), ["client|id", "set"]);
    for found in commands.values() {
        assert_eq!(fields(found)["calls"], &Value::Integer(3));
        let buckets = elements(fields(found)["histogram_usec"]);
        assert_eq!(buckets.last(), Some(&Value::Integer(3)), "they are cumulative");
    }
    let shown = text(&server.line("INFO latencystats"));
    let line = shown.lines().find(|line| line.starts_with("latency_percentiles_usec_set:"));
    assert!(line.is_some_and(|line| line.contains("p50=") && line.contains(",p99.9=")), "{shown}");
    server.line("CONFIG SET latency-tracking no");
    assert!(!text(&server.line("INFO latencystats")).contains("percentiles"));
    server.line("CONFIG SET latency-tracking yes");
    server.line("CONFIG RESETSTAT");
    assert_eq!(elements(&server.line("LATENCY HISTOGRAM set")).len(), 0);
}

#[test]
fn a_wait_for_keys_that_are_held_is_an_event_once_it_is_over() {
    let mut server = TestServer::new();
    server.line("CONFIG SET latency-monitor-threshold 100000");
    let engine = std::sync::Arc::clone(&server.server.engine);
    let mut waiting = server.another_connection();
    for (held_ms, expected) in [(5, None), (200_000, Some(200_000..300_000))] {
        std::thread::scope(|scope| {
            let (hold, held) = channel();
            let (release, released) = channel::<()>();
            let engine = &engine;
            scope.spawn(move || {
                let locked = engine.lock_all_within(LockWait::Endless);
                hold.send(()).unwrap();
                let _ = released.recv_timeout(Duration::from_secs(60));
                drop(locked);
            });
            held.recv().unwrap();
            assert!(matches!(waiting.run_once("GET k"), Some(Wait::Held)));
            server.clock.advance_ms(held_ms);
            // It still waits, since it came first.
            assert!(matches!(waiting.run_once("GET k"), Some(Wait::Held)));
            release.send(()).unwrap();
        });
        assert!(waiting.run_once("GET k").is_none());
        let event = server.server.latency.of(b"lock-wait");
        let longest = event.map(|series| series.max_ms());
        match expected {
            Some(range) => assert!(longest.is_some_and(|ms| range.contains(&ms)), "{longest:?}"),
            None => assert_eq!(longest, None),
        }
    }
    assert!(text(&server.line("LATENCY DOCTOR")).contains("lock-wait"));
    // What did not wait is no event.
    server.line("LATENCY RESET");
    waiting.run_once("GET k");
    assert!(server.server.latency.of(b"lock-wait").is_none());
}

#[test]
fn a_long_round_of_expiry_is_an_event() {
    const KEYS: usize = 50_000;
    let mut server = TestServer::new();
    server.line("DEBUG SET-ACTIVE-EXPIRE 0");
    let mut input = Vec::new();
    for number in 0..KEYS {
        encode_request(&["SET", &format!("key:{number}"), "v", "PX", "1"], &mut input);
    }
    server.run_bytes(input, 64);
    server.clock.advance_ms(1_000);
    server.configure("latency-monitor-threshold", "1");
    server.server.sample();
    assert!(server.server.latency.of(b"expire-cycle").is_none());
    server.line("DEBUG SET-ACTIVE-EXPIRE 1");
    let begin = Instant::now();
    while server.server.latency.of(b"expire-cycle").is_none() {
        assert!(begin.elapsed() < Duration::from_secs(60), "no event of the expiry of {KEYS} keys");
        std::thread::yield_now();
        server.server.sample();
    }
}
