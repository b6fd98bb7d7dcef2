//! What ends a wait: a key, time, CLIENT UNBLOCK, the end of the connection.

use crate::harness::{TestServer, bulk, error, ok, taken};
use basalt_journal::FsyncPolicy;
use basalt_resp::Value;
use std::time::{Duration, Instant};

#[test]
fn a_key_that_is_there_is_taken_at_once_and_the_first_of_several() {
    let server = TestServer::start(1);
    let mut client = server.connect();
    client.line("MSET b 2 c 3");
    assert_eq!(client.line("TEST.TAKE a b c 0"), taken("b", "2"));
    assert_eq!(client.line("TEST.TAKE c b a 0"), taken("c", "3"));
    assert_eq!(server.keys_waited_for(), 0);
}

#[test]
fn every_way_of_getting_an_object_ends_the_wait() {
    let server = TestServer::start(2);
    let (mut waiter, mut other) = (server.connect(), server.connect());
    for (before, event) in [
        ("PING", "SET k v"),
        ("PING", "MSET a 1 k v"),
        ("SET j v", "RENAME j k"),
        ("SET j v", "COPY j k"),
        ("PING", "APPEND k v"),
    ] {
        other.line(before);
        waiter.send("TEST.TAKE x k 0");
        server.until_waiting(1);
        assert_eq!(server.keys_waited_for(), 2);
        other.line(event);
        assert_eq!(waiter.receive(), taken("k", "v"), "{event}");
        assert_eq!((server.waiting(), server.keys_waited_for()), (0, 0), "{event}");
        other.line("FLUSHALL");
    }
    // From another database: by MOVE, by SWAPDB, and by a transaction.
    for event in ["MOVE k 0", "SWAPDB 0 1"] {
        other.line("SELECT 1");
        other.line("SET k v");
        waiter.send("TEST.TAKE k 0");
        server.until_waiting(1);
        other.line(event);
        assert_eq!(waiter.receive(), taken("k", "v"), "{event}");
        other.line("SELECT 0");
    }
    waiter.send("TEST.TAKE k 0");
    server.until_waiting(1);
    ["MULTI", "SET k 1", "DEL k", "SET k 2"].iter().for_each(|line| drop(other.line(line)));
    assert!(waiter.hears_nothing());
    other.line("EXEC");
    assert_eq!(waiter.receive(), taken("k", "2"));
}

#[test]
fn what_comes_and_goes_in_one_transaction_wakes_in_vain() {
    let server = TestServer::start(2);
    let (mut waiter, mut other) = (server.connect(), server.connect());
    waiter.send("TEST.TAKE k 0");
    server.until_waiting(1);
    ["MULTI", "SET k 1", "DEL k", "EXEC"].iter().for_each(|line| drop(other.line(line)));
    assert!(waiter.hears_nothing());
    server.until_waiting(1);
    other.line("SET k 2");
    assert_eq!(waiter.receive(), taken("k", "2"));
}

#[test]
fn requests_behind_a_wait_run_after_it_in_order() {
    let server = TestServer::start(1);
    let (mut waiter, mut other) = (server.connect(), server.connect());
    ["SET a 1", "TEST.TAKE k 0", "GET a", "TEST.TAKE l 0", "PING"]
        .iter()
        .for_each(|line| waiter.send(line));
    assert_eq!(waiter.receive(), ok());
    server.until_waiting(1);
    other.line("SET k v");
    assert_eq!(waiter.receive(), taken("k", "v"));
    assert_eq!(waiter.receive(), bulk("1"));
    assert!(waiter.hears_nothing());
    other.line("SET l w");
    assert_eq!(waiter.receive(), taken("l", "w"));
    assert_eq!(waiter.receive(), Value::Simple(b"PONG".to_vec()));
}

/// Being woken for nothing does not begin the time again: a client that began to wait later, for as
/// long, comes later.
#[test]
fn time_ends_a_wait_and_no_sooner() {
    // One thread: what was sent first has been looked at when a later request is answered.
    let server = TestServer::start(1);
    let (mut waiter, mut later, mut other) = (server.connect(), server.connect(), server.connect());
    let a_moment = Duration::from_millis(20);
    let start = Instant::now();
    waiter.send("TEST.TAKE k l 1");
    waiter.send("APPEND order 1");
    other.line("PING");
    std::thread::sleep(a_moment);
    later.send("TEST.TAKE m 1");
    later.send("APPEND order 2");
    other.line("PING");
    std::thread::sleep(a_moment);
    ["MULTI", "SET k 1", "DEL k", "EXEC"].iter().for_each(|line| drop(other.line(line)));
    assert_eq!(waiter.receive(), Value::Null);
    let waited = start.elapsed();
    assert!(waited >= Duration::from_millis(1000), "{waited:?}");
    assert_eq!(later.receive(), Value::Null);
    assert_eq!((waiter.receive(), later.receive()), (Value::Integer(1), Value::Integer(2)));
    assert_eq!((server.waiting(), server.keys_waited_for()), (0, 0));
    assert_eq!(waiter.line("TEST.TAKE k -1"), error("ERR timeout is negative"));
    let text = "ERR timeout is not a float or out of range";
    assert_eq!(waiter.line("TEST.TAKE k x"), error(text));
}

#[test]
fn a_transaction_does_not_wait() {
    let server = TestServer::start(1);
    let mut client = server.connect();
    ["MULTI", "TEST.TAKE k 0", "TEST.FOLLOW k x 0", "SET k v", "TEST.TAKE k 0"]
        .iter()
        .for_each(|line| drop(client.line(line)));
    let expected = vec![Value::Null, Value::Null, ok(), taken("k", "v")];
    assert_eq!(client.line("EXEC"), Value::Array(expected));
}

#[test]
fn client_unblock_ends_a_wait_in_two_ways() {
    let server = TestServer::start(2);
    let (mut waiter, mut other) = (server.connect(), server.connect());
    let id = waiter.id;
    assert_eq!(other.line(&format!("CLIENT UNBLOCK {id}")), Value::Integer(0));
    for (how, reply) in [
        ("", Value::Null),
        (" TIMEOUT", Value::Null),
        (" ERROR", error("UNBLOCKED client unblocked via CLIENT UNBLOCK")),
    ] {
        waiter.send("TEST.TAKE k 0");
        waiter.send("PING");
        server.until_waiting(1);
        assert_eq!(other.line(&format!("CLIENT UNBLOCK {id}{how}")), Value::Integer(1));
        assert_eq!(waiter.receive(), reply);
        assert_eq!(waiter.receive(), Value::Simple(b"PONG".to_vec()));
        assert_eq!((server.waiting(), server.keys_waited_for()), (0, 0));
    }
    assert_eq!(other.line(&format!("CLIENT UNBLOCK {id}")), Value::Integer(0));
    let Value::Bulk(info) = other.line("INFO commandstats") else { panic!("no text") };
    let info = String::from_utf8(info).expect("text");
    let line = info.lines().find(|line| line.starts_with("cmdstat_test.take:")).expect("it ran");
    assert!(line.starts_with("cmdstat_test.take:calls=3,"), "{line}");
    assert!(line.ends_with("rejected_calls=0,failed_calls=1"), "{line}");
}

#[test]
fn a_client_that_goes_or_is_killed_waits_no_more() {
    let server = TestServer::start_unwatched(2, FsyncPolicy::Never);
    let mut other = server.connect();
    let waiter = server.connect();
    let mut killed = server.connect();
    let mut halved = server.connect();
    let mut waiter = waiter;
    for client in [&mut waiter, &mut killed, &mut halved] {
        client.send("TEST.TAKE k 0");
    }
    server.until_waiting(3);
    other.line(&format!("CLIENT KILL ID {}", killed.id));
    assert!(killed.is_closed());
    server.until_waiting(2);
    halved.finish_sending();
    assert!(halved.is_closed());
    drop(waiter);
    server.until(|server| server.keys_waited_for() == 0);
    server.until(|server| server.server.clients.len() == 1);
    assert_eq!(other.line("SET k v"), ok());
    assert_eq!(other.line("GET k"), bulk("v"));
}

#[test]
fn the_flag_and_the_numbers_tell_who_waits() {
    let server = TestServer::start(1);
    let (mut waiter, mut other) = (server.connect(), server.connect());
    waiter.send("TEST.TAKE k l 0");
    server.until_waiting(1);
    let text = |value| match value {
        Value::Bulk(text) => String::from_utf8(text).expect("text"),
        other => panic!("{other:?}"),
    };
    let list = text(other.line(&format!("CLIENT LIST ID {}", waiter.id)));
    assert!(list.contains(" flags=bU "), "{list}");
    let info = text(other.line("INFO clients"));
    assert!(info.contains("blocked_clients:1\r\n"), "{info}");
    assert!(info.contains("total_blocking_keys:2\r\n"), "{info}");
}

#[test]
fn those_who_look_all_see_a_change_and_the_end() {
    let server = TestServer::start(2);
    let mut other = server.connect();
    other.line("SET k 1");
    let mut clients: Vec<_> = (0..4).map(|_| server.connect()).collect();
    clients.iter_mut().for_each(|client| client.send("TEST.FOLLOW k 1 0"));
    server.until_waiting(4);
    other.line("TEST.ADD k");
    clients.iter_mut().for_each(|client| assert_eq!(client.receive(), bulk("1x")));
    for end in ["DEL k", "FLUSHALL", "SWAPDB 0 1", "MOVE k 2", "EXPIRE k -1"] {
        other.line("SET k 1");
        clients.iter_mut().for_each(|client| client.send("TEST.FOLLOW k 1 0"));
        server.until_waiting(4);
        other.line(end);
        for client in &mut clients {
            assert_eq!(client.receive(), error("ERR the key is gone"), "{end}");
        }
    }
    assert_eq!(server.keys_waited_for(), 0);
}

#[test]
fn what_is_taken_after_a_wait_is_held_back_until_it_is_durable() {
    let server = TestServer::start_with(2, FsyncPolicy::Always);
    let (mut waiter, mut other) = (server.connect(), server.connect());
    for _ in 0..20 {
        waiter.send("TEST.TAKE k 0");
        server.until_waiting(1);
        other.line("SET k v");
        assert_eq!(waiter.receive(), taken("k", "v"));
    }
}

#[test]
fn keys_on_disk_are_waited_for_like_others() {
    let server = TestServer::start(1);
    let (mut waiter, mut other) = (server.connect(), server.connect());
    other.line("SET k v");
    server.server.engine.checkpoint().expect("the tier is in memory");
    server.server.engine.unload();
    assert_eq!(waiter.line("TEST.TAKE a k 0"), taken("k", "v"));
    waiter.send("TEST.TAKE a k 0");
    server.until_waiting(1);
    other.line("SET a w");
    assert_eq!(waiter.receive(), taken("a", "w"));
}
