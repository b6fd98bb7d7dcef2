//! CLIENT PAUSE and UNPAUSE.

use crate::harness::{TestServer, bulk, ok, taken};
use basalt_journal::FsyncPolicy;
use basalt_resp::Value;
use std::sync::Arc;
use std::time::{Duration, Instant};

const LONG: &str = "600000";
/// What has to happen before a time is over is tried again with a longer one if the machine is too
/// slow for it.
const TIMES: [Duration; 3] =
    [Duration::from_millis(50), Duration::from_secs(2), Duration::from_secs(20)];

#[test]
fn a_pause_of_writes_lets_reads_through() {
    let server = TestServer::start(2);
    let (mut writer, mut other) = (server.connect(), server.connect());
    let mut transaction = server.connect();
    ["MULTI", "SET b 1"].iter().for_each(|line| drop(transaction.line(line)));
    assert_eq!(other.line(&format!("CLIENT PAUSE {LONG} WRITE")), ok());
    writer.send("SET a 1");
    writer.send("GET a");
    transaction.send("EXEC");
    server.until_waiting(2);
    assert_eq!(other.line("GET a"), Value::Null);
    ["MULTI", "GET a"].iter().for_each(|line| drop(other.line(line)));
    assert_eq!(other.line("EXEC"), Value::Array(vec![Value::Null]));
    assert!(writer.hears_nothing());
    assert_eq!(other.line("CLIENT UNPAUSE"), ok());
    assert_eq!(writer.receive(), ok());
    assert_eq!(writer.receive(), bulk("1"));
    assert_eq!(transaction.receive(), Value::Array(vec![ok()]));
    assert_eq!(server.waiting(), 0);
}

#[test]
fn a_pause_of_all_holds_everybody_until_its_end() {
    let server = TestServer::start(2);
    let (mut first, mut second) = (server.connect(), server.connect());
    let start = Instant::now();
    assert_eq!(first.line("CLIENT PAUSE 150"), ok());
    first.send("PING");
    second.send("CLIENT UNPAUSE");
    assert_eq!(second.receive(), ok());
    assert_eq!(first.receive(), Value::Simple(b"PONG".to_vec()));
    assert!(start.elapsed() >= Duration::from_millis(150));
}

#[test]
fn of_two_pauses_the_longer_and_the_larger_counts() {
    let server = TestServer::start(1);
    let (mut first, mut second) = (server.connect(), server.connect());
    assert_eq!(first.line(&format!("CLIENT PAUSE {LONG} WRITE")), ok());
    assert_eq!(first.line("CLIENT PAUSE 1 WRITE"), ok());
    second.send("SET k v");
    server.until_waiting(1);
    assert!(second.hears_nothing());
    first.line("CLIENT UNPAUSE");
    assert_eq!(second.receive(), ok());
}

#[test]
fn a_client_that_waits_for_a_key_gets_it_after_the_pause() {
    let server = TestServer::start(2);
    let (mut waiter, mut other) = (server.connect(), server.connect());
    other.send("SET k v");
    other.receive();
    other.line(&format!("CLIENT PAUSE {LONG} WRITE"));
    waiter.send("TEST.TAKE k 0");
    server.until_waiting(1);
    assert!(waiter.hears_nothing());
    other.line("CLIENT UNPAUSE");
    assert_eq!(waiter.receive(), taken("k", "v"));
}

#[test]
fn a_client_whose_time_passes_in_a_pause_hears_of_it_afterwards() {
    let server = TestServer::start(2);
    let (mut waiter, mut other) = (server.connect(), server.connect());
    for time in TIMES {
        let start = Instant::now();
        waiter.send(&format!("TEST.TAKE k {}", time.as_secs_f64()));
        server.until(|server| server.waiting() == 1 || start.elapsed() >= time);
        other.line(&format!("CLIENT PAUSE {LONG} WRITE"));
        let is_in_time = start.elapsed() < time;
        if is_in_time {
            std::thread::sleep(time.saturating_sub(start.elapsed()));
            assert!(waiter.hears_nothing());
        }
        other.line("CLIENT UNPAUSE");
        assert_eq!(waiter.receive(), Value::Null);
        if is_in_time {
            return;
        }
    }
    panic!("the pause never begins in time");
}

#[test]
fn keys_do_not_expire_during_a_pause() {
    let server = TestServer::start(1);
    let mut client = server.connect();
    for time in TIMES {
        let (start, expired) = (Instant::now(), server.server.engine.expired_keys());
        client.line(&format!("SET k v PX {}", time.as_millis()));
        client.line(&format!("CLIENT PAUSE {LONG} WRITE"));
        let is_in_time = start.elapsed() < time;
        if is_in_time {
            std::thread::sleep(time.saturating_sub(start.elapsed()));
            assert!(client.hears_nothing());
            assert_eq!(server.server.engine.expired_keys(), expired);
            assert_eq!(client.line("GET k"), Value::Null);
        }
        client.line("CLIENT UNPAUSE");
        server.until(|server| server.server.engine.expired_keys() == expired + 1);
        if is_in_time {
            return;
        }
    }
    panic!("the pause never begins in time");
}

#[test]
fn a_paused_client_that_goes_is_forgotten() {
    let server = TestServer::start_unwatched(1, FsyncPolicy::Never);
    let (mut paused, mut other) = (server.connect(), server.connect());
    other.line(&format!("CLIENT PAUSE {LONG} WRITE"));
    paused.send("SET k v");
    server.until_waiting(1);
    drop(paused);
    server.until(|server| server.server.clients.len() == 1);
    other.line("CLIENT UNPAUSE");
    assert_eq!(other.line("EXISTS k"), Value::Integer(0));
}

#[test]
fn a_client_that_goes_while_it_is_held_is_forgotten() {
    let server = TestServer::start(1);
    let (mut held, mut other) = (server.connect(), server.connect());
    assert_eq!(other.line(&format!("CLIENT PAUSE {LONG} WRITE")), ok());
    held.send("SET a 1");
    server.until_waiting(1);
    let id = held.id as u64;
    let clients = server.server.clients.all();
    let client = clients.iter().find(|client| client.id == id).map(Arc::downgrade);
    drop((clients, held));
    server.until(|_| client.as_ref().expect("it was there").strong_count() == 0);
    assert_eq!(other.line("CLIENT UNPAUSE"), ok());
}
