//! The client that has waited longest is served first, and no wake-up is lost.

use crate::commands::end_long;
use crate::harness::{Client, TestServer, ok, taken};
use basalt_resp::Value;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

#[test]
fn the_longest_waiting_is_served_first_over_all_threads() {
    let server = TestServer::start(4);
    let mut other = server.connect();
    let mut clients: Vec<Client> = (0..12).map(|_| server.connect()).collect();
    for (count, client) in (1..).zip(&mut clients) {
        client.send("TEST.TAKE other k 0");
        server.until_waiting(count);
    }
    // One leaves the middle of the queue.
    drop(clients.remove(5));
    server.until_waiting(11);
    for (number, client) in clients.iter_mut().enumerate() {
        other.line(&format!("SET k {number}"));
        assert_eq!(client.receive(), taken("k", &number.to_string()));
    }
    assert_eq!(server.keys_waited_for(), 0);
}

#[test]
fn a_newcomer_does_not_overtake() {
    let server = TestServer::start(2);
    let (mut first, mut newcomer, mut other) =
        (server.connect(), server.connect(), server.connect());
    for round in 0..200 {
        first.send("TEST.TAKE k 0");
        server.until_waiting(1);
        // The newcomer's request runs right behind the one that wakes the other.
        newcomer.send(&format!("SET k {round}"));
        newcomer.send("TEST.TAKE k 0");
        newcomer.receive();
        assert_eq!(first.receive(), taken("k", &round.to_string()));
        other.line("SET k late");
        assert_eq!(newcomer.receive(), taken("k", "late"));
    }
}

#[test]
fn a_called_client_that_goes_passes_the_call_on() {
    let server = TestServer::start(2);
    let mut other = server.connect();
    for round in 0..100 {
        let (mut first, mut second) = (server.connect(), server.connect());
        first.send("TEST.TAKE k 0");
        server.until_waiting(1);
        second.send("TEST.TAKE k 0");
        server.until_waiting(2);
        other.send(&format!("CLIENT KILL ID {}", first.id));
        other.send(&format!("SET k {round}"));
        other.receive();
        other.receive();
        // Either the first took it before it was closed, or the second gets it.
        other.send("GET k");
        drop(first);
        match other.receive() {
            Value::Null => {}
            _ => assert_eq!(second.receive(), taken("k", &round.to_string())),
        }
        drop(second);
        server.until(|server| server.keys_waited_for() == 0);
        other.line("DEL k");
    }
}

const PRODUCERS: usize = 4;
const CONSUMERS: usize = 8;
const ELEMENTS: usize = 2_000;
const KEYS: usize = 6;

/// Elements go through few keys, each of which holds one at a time; every one must arrive.
#[test]
fn no_wake_up_is_lost() {
    let server = TestServer::start(3);
    let arrived = AtomicUsize::new(0);
    let all: BTreeSet<String> = std::thread::scope(|scope| {
        let produce = |producer: usize| {
            let mut client = server.connect();
            for number in (producer..ELEMENTS).step_by(PRODUCERS) {
                let line = format!("SET {} {number} NX", number % KEYS);
                while client.line(&line) == Value::Null {
                    std::thread::yield_now();
                }
            }
        };
        let consume = |consumer: usize| {
            let mut client = server.connect();
            let keys: Vec<String> =
                (0..KEYS).map(|key| ((key + consumer) % KEYS).to_string()).collect();
            // Some give up early, and come back.
            let timeout = if consumer.is_multiple_of(2) { "0.003" } else { "5" };
            let line = format!("TEST.TAKE {} {timeout}", keys.join(" "));
            let mut taken = BTreeSet::new();
            while arrived.load(Ordering::Relaxed) < ELEMENTS {
                match client.line(&line) {
                    Value::Array(pair) => {
                        let [_, Value::Bulk(value)] = &pair[..] else { panic!("{pair:?}") };
                        let is_new = taken.insert(String::from_utf8_lossy(value).into_owned());
                        assert!(is_new, "{pair:?} came twice");
                        if arrived.fetch_add(1, Ordering::Relaxed) + 1 == ELEMENTS {
                            // The others wait for what does not come any more.
                            let mut last = server.connect();
                            for id in server.server.clients.all().iter().map(|client| client.id) {
                                last.line(&format!("CLIENT UNBLOCK {id}"));
                            }
                        }
                    }
                    Value::Null => {}
                    other => panic!("{other:?}"),
                }
            }
            taken
        };
        (0..PRODUCERS).for_each(|producer| drop(scope.spawn(move || produce(producer))));
        let consumers: Vec<_> =
            (0..CONSUMERS).map(|consumer| scope.spawn(move || consume(consumer))).collect();
        consumers.into_iter().flat_map(|consumer| consumer.join().expect("no panic")).collect()
    });
    assert_eq!(all.len(), ELEMENTS);
    assert_eq!(server.keys_waited_for(), 0);
}

/// With clients that wait without end, an element whose wake-up is lost would stay for ever.
#[test]
fn every_element_finds_somebody_who_waits_for_ever() {
    let server = TestServer::start(3);
    let rounds = 300;
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut client = server.connect();
                while client.line("TEST.TAKE a b 0") != taken("b", "end") {}
                // The next one ends as well.
                client.line("SET b end");
            });
        }
        let mut client = server.connect();
        for round in 0..rounds {
            client.line(&format!("SET a {round}"));
            server.until(|server| {
                let engine = &server.server.engine;
                engine.totals(0).keys == 0
            });
        }
        client.line("SET b end");
    });
}

/// Together they ask for more than a turn replies. Those that are put off come later, and soon
/// enough.
#[test]
fn clients_with_large_replies_all_get_their_turn() {
    let server = TestServer::start(1);
    let mut other = server.connect();
    other.line("SETRANGE large 299999 x");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let mut client = server.connect();
                for _ in 0..3 {
                    (0..32).for_each(|_| client.send("GET large"));
                    for _ in 0..32 {
                        assert!(
                            matches!(client.receive(), Value::Bulk(value) if value.len() == 300_000)
                        );
                    }
                }
            });
        }
        for number in 0..100 {
            assert_eq!(other.line(&format!("SET small {number}")), Value::Simple("OK".into()));
        }
    });
}

/// Parts of requests that are larger together than what is read of such in one turn.
#[test]
fn parts_of_many_large_requests_all_arrive() {
    const CLIENTS: usize = 40;
    const PARTS: usize = 8;
    let value = "x".repeat(64 << 10);
    let server = TestServer::start(1);
    let mut other = server.connect();
    let mut clients: Vec<Client> = (0..CLIENTS).map(|_| server.connect()).collect();
    let bytes = PARTS * value.len();
    for (number, client) in clients.iter_mut().enumerate() {
        let key = format!("{number:02}");
        client.send_bytes(format!("*3\r\n$3\r\nSET\r\n$2\r\n{key}\r\n${bytes}\r\n").as_bytes());
    }
    for _ in 0..PARTS {
        clients.iter_mut().for_each(|client| client.send_bytes(value.as_bytes()));
        assert_eq!(other.line("PING"), Value::Simple(b"PONG".to_vec()));
    }
    for client in &mut clients {
        client.send_bytes(b"\r\n");
        assert_eq!(client.receive(), ok());
    }
}

/// What those that come at once send is read a little at a time, and those that were there before
/// are served in between.
#[test]
fn newcomers_do_not_hold_up_who_is_there() {
    const NEWCOMERS: usize = 300;
    const READ_MAX: usize = 1_000_000;
    let server = TestServer::start(1);
    let (mut first, mut other) = (server.connect(), server.connect());
    first.send("TEST.STALL until-all-are-there");
    let mut newcomers: Vec<Client> = (0..NEWCOMERS).map(|_| server.connect_silently()).collect();
    newcomers[0].send("TEST.STALL among-the-first");
    let set = format!("SET k {}", "x".repeat(10_000));
    newcomers[1..].iter_mut().for_each(|client| client.send(&set));
    end_long("until-all-are-there");
    assert_eq!(first.receive(), ok());
    // The turn in which the newcomers are met begins.
    std::thread::sleep(Duration::from_millis(50));
    other.send("INFO stats");
    end_long("among-the-first");
    let Value::Bulk(info) = other.receive() else { panic!("no text") };
    let info = String::from_utf8(info).expect("text");
    let read = info.lines().find_map(|line| line.strip_prefix("total_net_input_bytes:"));
    let read: usize = read.expect("a line").parse().expect("a number");
    assert!(read < READ_MAX, "{read} bytes were read before");
    newcomers.iter_mut().for_each(|client| assert_eq!(client.receive(), ok()));
}
