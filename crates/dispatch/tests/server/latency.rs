//! The latency monitor, distributions of durations, and what INFO says of them.

use super::{elements, fields, text};
use crate::harness::TestServer;
use basalt_resp::Value;

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
