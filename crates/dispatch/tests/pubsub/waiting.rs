//! What tells of a change waits for the log as a reply about it does.

use crate::harness::TestServer;

/// A server whose log acknowledges nothing, and a subscriber to everything.
fn withholding() -> (TestServer, TestServer) {
    let mut server = TestServer::new();
    server.line("CONFIG SET notify-keyspace-events KAm");
    let mut subscriber = server.another_connection();
    subscriber.line("PSUBSCRIBE *");
    server.log.stop_acknowledging();
    (server, subscriber)
}

#[test]
fn events_wait_for_their_change() {
    let (mut server, mut subscriber) = withholding();
    server.line("SET k v");
    assert_eq!(subscriber.messages().len(), 1);
    assert!(!subscriber.session.gate.is_open());
    subscriber.session.gate.take();
    // That a key is gone is news that a crash could take back, too.
    server.line("DEL k");
    subscriber.messages();
    let mut reader = server.another_connection();
    subscriber.session.gate.take();
    reader.line("GET k");
    assert_eq!(subscriber.messages().len(), 1);
    assert!(!subscriber.session.gate.is_open());
}

#[test]
fn messages_wait_for_what_their_publisher_has_changed_or_seen() {
    let (mut writer, mut subscriber) = withholding();
    let mut other = writer.another_connection();
    other.line("PUBLISH c unrelated");
    assert_eq!(subscriber.messages().len(), 1);
    assert!(subscriber.session.gate.is_open());
    writer.line("SET k v");
    subscriber.messages();
    subscriber.session.gate.take();
    // The reply to SET has been set aside, as a network thread does at the end of a turn.
    let gate = writer.session.gate.take();
    writer.session.unacknowledged.merge(&gate);
    for publisher in [&mut writer, &mut other] {
        publisher.line("GET k");
        publisher.session.gate.take();
    }
    writer.line("PUBLISH c changed");
    assert_eq!(subscriber.messages().len(), 1);
    assert!(!subscriber.session.gate.is_open());
}

#[test]
fn messages_of_a_log_that_gates_nothing_wait_for_nothing() {
    let mut server = TestServer::new();
    let mut subscriber = server.another_connection();
    subscriber.line("SUBSCRIBE c");
    server.line("SET k v");
    server.line("PUBLISH c x");
    assert_eq!(subscriber.messages().len(), 1);
    assert!(subscriber.session.gate.is_open());
}

#[test]
fn news_of_copies_that_are_out_of_date_waits_for_the_change() {
    let mut server = TestServer::new();
    let mut keeper = server.another_connection();
    for line in ["HELLO 3", "CLIENT TRACKING ON", "GET k"] {
        keeper.line(line);
    }
    server.log.stop_acknowledging();
    server.line("SET other v");
    assert_eq!(keeper.messages().len(), 0);
    server.line("SET k v");
    assert_eq!(keeper.messages().len(), 1);
    assert!(!keeper.session.gate.is_open());
}
