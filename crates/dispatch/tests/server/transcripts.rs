//! What takes more than one connection's defaults: passwords, rights, the slow log.

use super::{elements, text};
use crate::harness::TestServer;
use basalt_resp::Value;
use basalt_service::session::Session;
use std::sync::Arc;

fn error(value: &Value) -> String {
    match value {
        Value::Error(text) => String::from_utf8_lossy(text).into_owned(),
        other => panic!("no error: {other:?}"),
    }
}

#[test]
fn a_password_is_asked_for_and_can_be_taken_away() {
    let mut server = TestServer::new();
    server.line("CONFIG SET requirepass secret");
    assert_eq!(text(&server.line("PING")), "PONG", "who was there stays");
    server.session = Session::new(
        Arc::clone(&server.session.client),
        server.server.access.rights_of_new_client(false),
    );
    assert_eq!(error(&server.line("PING")), "NOAUTH Authentication required.");
    assert!(error(&server.line("HELLO 3")).starts_with("NOAUTH HELLO must be called"));
    assert!(error(&server.line("SET k")).starts_with("ERR wrong number of arguments"));
    for wrong in ["AUTH wrong", "AUTH nobody secret", "HELLO 2 AUTH default wrong"] {
        assert!(error(&server.line(wrong)).starts_with("WRONGPASS"), "{wrong}");
    }
    elements(&server.line("HELLO 2 AUTH default secret SETNAME me"));
    assert_eq!(text(&server.line("CLIENT GETNAME")), "me");
    assert_eq!(text(&server.line("RESET")), "RESET");
    assert!(error(&server.line("PING")).starts_with("NOAUTH"));
    server.configure("requirepass", "");
    assert_eq!(text(&server.line("PING")), "PONG");
}

#[test]
fn the_slow_log_has_no_passwords() {
    let mut server = TestServer::new();
    server.line("CONFIG SET slowlog-log-slower-than 0 requirepass secret");
    server.line("AUTH secret");
    server.line("AUTH default secret");
    server.line("HELLO 2 AUTH default secret");
    let log = format!("{:?}", server.line("SLOWLOG GET"));
    let secret = format!("{:?}", b"secret".to_vec());
    assert!(!log.contains(&secret), "{log}");
    assert!(log.contains(&format!("{:?}", b"AUTH".to_vec())));
}

/// It does not keep its thread, and is told of as if it had.
#[test]
fn a_sleep_counts_with_its_length() {
    let mut server = TestServer::new();
    server.line("CONFIG SET slowlog-log-slower-than 100000 latency-monitor-threshold 100");
    assert!(server.run_once("DEBUG SLEEP 0.05").is_some());
    assert_eq!(server.line("SLOWLOG LEN"), Value::Integer(0));
    assert!(server.run_once("DEBUG SLEEP 0.2").is_some());
    let log = server.line("SLOWLOG GET");
    let entry = elements(&elements(&log)[0]);
    assert_eq!(entry[2], Value::Integer(200_000));
    assert_eq!(elements(&entry[3])[2], Value::Bulk(b"0.2".to_vec()));
    let events = server.line("LATENCY LATEST");
    let event = elements(&elements(&events)[0]);
    assert_eq!(event[0], Value::Bulk(b"command".to_vec()));
    assert_eq!(event[2], Value::Integer(200));
    let stats = text(&server.line("INFO commandstats"));
    let debug = stats.lines().find(|line| line.starts_with("cmdstat_debug:"));
    assert!(debug.is_some_and(|line| line.contains("calls=2,usec=250000,")), "{debug:?}");
}

#[test]
fn debug_is_for_those_whom_the_option_allows() {
    let mut server = TestServer::new();
    assert_eq!(text(&server.line("DEBUG SLEEP 0")), "OK", "local by default");
    server.configure("enable-debug-command", "no");
    let refused = error(&server.line("DEBUG SLEEP 0"));
    assert!(refused.starts_with("ERR DEBUG command not allowed. If the"), "{refused}");
    server.configure("enable-debug-command", "yes");
    assert_eq!(text(&server.line("DEBUG SLEEP 0")), "OK");
}

#[test]
fn settings_hold_for_the_next_command() {
    let mut server = TestServer::new();
    server.line("CONFIG SET proto-max-bulk-len 1048576");
    assert_eq!(server.worker.settings.network.bulk_bytes_max, 1_048_576);
}
