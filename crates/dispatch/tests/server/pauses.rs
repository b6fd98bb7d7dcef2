//! Which commands CLIENT PAUSE WRITE holds: those of which replicas would get something, as in
//! Redis.

use crate::harness::TestServer;
use basalt_resp::encode_request;
use basalt_service::wait::Wait;

const NO_WRITES: &str = "#!lua flags=no-writes\nreturn 1";
const WRITES: &str = "#!lua\nreturn 1";

/// The digest of `return 1`.
const SHA: &str = "e0e1f9fabfc9d4800c877a703b823ac0578ff8db";

const HELD: &[&[&str]] = &[
    &["SET", "k", "v"],
    &["SORT", "l"],
    &["PFADD", "h", "1"],
    &["PFCOUNT", "h"],
    &["PUBLISH", "c", "m"],
    &["SPUBLISH", "c", "m"],
    &["BLPOP", "l", "1"],
    &["EVAL", "return 1", "0"],
    &["EVAL", WRITES, "0"],
    &["EVAL", "(", "0"],
    &["EVAL", "#!lua flags=bad\nreturn 1", "0"],
    &["EVALSHA", SHA, "0"],
    &["EVALSHA", "ffffffffffffffffffffffffffffffffffffffff", "0"],
    &["EVAL_RO", WRITES, "0"],
];

const FREE: &[&[&str]] = &[
    &["GET", "k"],
    &["SORT_RO", "l"],
    &["SCRIPT", "LOAD", "return 1"],
    &["SUBSCRIBE", "c"],
    &["EVAL", NO_WRITES, "0"],
    &["EVAL_RO", "return 1", "0"],
    &["EVALSHA_RO", SHA, "0"],
];

/// Whether a command waits for the end of the pause.
fn is_held(client: &mut TestServer, words: &[&str]) -> bool {
    let mut input = Vec::new();
    encode_request(words, &mut input);
    matches!(client.run_input_once(input), Some(Wait::Pause(_)))
}

#[test]
fn a_pause_of_writes_holds_what_replicas_would_get() {
    let mut server = TestServer::new();
    assert_eq!(super::text(&server.run(&["SCRIPT", "LOAD", "return 1"])), SHA);
    server.line("CLIENT PAUSE 1000000 WRITE");
    for (commands, held) in [(HELD, true), (FREE, false)] {
        for words in commands {
            let mut client = server.another_connection();
            assert_eq!(is_held(&mut client, words), held, "{words:?}");
            // What is queued is held in the same way.
            let mut client = server.another_connection();
            client.line("MULTI");
            assert_eq!(is_held(&mut client, words), held, "MULTI, {words:?}");
            if !held && words[0] != "SUBSCRIBE" {
                assert!(!is_held(&mut client, &["EXEC"]), "MULTI, {words:?}, EXEC");
            }
        }
    }
}

#[test]
fn a_pause_of_writes_holds_a_transaction_with_a_command_that_it_holds() {
    let mut server = TestServer::new();
    server.run(&["SCRIPT", "LOAD", "return 1"]);
    for (commands, held) in [(HELD, true), (FREE, false)] {
        for words in commands {
            // What is not queued counts as nothing.
            let mut client = server.another_connection();
            client.line("MULTI");
            client.run(words);
            client.line("GET k");
            server.line("CLIENT PAUSE 1000000 WRITE");
            assert_eq!(is_held(&mut client, &["EXEC"]), held, "MULTI, {words:?}, EXEC");
            server.line("CLIENT UNPAUSE");
        }
    }
}

#[test]
fn a_sleep_stops_other_clients_only_if_that_is_asked_for() {
    let mut server = TestServer::new();
    let mut other = server.another_connection();
    assert!(matches!(server.run_once("DEBUG SLEEP 10"), Some(Wait::Sleep(_))));
    assert!(other.run_once("PING").is_none());
    server.line("CONFIG SET debug-sleep-stops-all yes");
    assert!(matches!(server.run_once("DEBUG SLEEP 10"), Some(Wait::Sleep(_))));
    assert!(matches!(other.run_once("PING"), Some(Wait::Pause(_))));
}
