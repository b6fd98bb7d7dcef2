//! The watchdog of all tests here, tried.

use crate::commands::end_long;
use crate::harness::{TestServer, ok};
use std::time::Duration;

#[test]
fn a_server_that_stands_still_is_noticed_and_what_it_was_sent_is_named() {
    let mut server = TestServer::start(1);
    let mut client = server.connect();
    client.send("TEST.STALL stalled");
    std::thread::sleep(Duration::from_millis(1_600));
    end_long("stalled");
    assert_eq!(client.receive(), ok());
    let stall = server.end_watch().expect("nobody has noticed");
    assert!(format!("{stall:?}").contains("TEST.STALL"), "{stall:?}");
}

#[test]
fn a_server_that_answers_is_not() {
    let mut server = TestServer::start(1);
    std::thread::sleep(Duration::from_millis(300));
    assert!(server.end_watch().is_none());
}
