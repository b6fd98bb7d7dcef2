//! A thread's other clients are served while a command of one of them takes long.

use crate::commands::end_long;
use crate::harness::{TestServer, taken};
use basalt_journal::FsyncPolicy;
use basalt_resp::Value;

fn text(text: &str) -> Value {
    Value::Simple(text.as_bytes().to_vec())
}

#[test]
fn others_are_served_while_a_command_takes_long() {
    let server = TestServer::start(1);
    let (mut long, mut other) = (server.connect(), server.connect());
    long.send("TEST.LONG first");
    long.send("PING");
    assert_eq!(other.line("PING"), text("PONG"));
    assert_eq!(other.line("SET elsewhere 1"), text("OK"));
    // New clients come, and some go.
    for _ in 0..3 {
        assert_eq!(server.connect().line("GET elsewhere"), Value::Bulk(b"1".to_vec()));
    }
    // What takes long itself, or needs what is held, waits.
    other.send("TEST.LONG second");
    let mut third = server.connect();
    third.send("SET first 2");
    let mut fourth = server.connect();
    assert_eq!(fourth.line("PING"), text("PONG"));
    end_long("first");
    assert_eq!((long.receive(), long.receive()), (text("OK"), text("PONG")));
    assert_eq!(third.receive(), text("OK"));
    assert_eq!(fourth.line("GET first"), Value::Bulk(b"2".to_vec()));
    end_long("second");
    assert_eq!(other.receive(), text("OK"));
}

#[test]
fn others_are_served_while_a_large_collection_is_replied() {
    let server = TestServer::start(1);
    let (mut long, mut other) = (server.connect(), server.connect());
    // Many elements, or many bytes.
    let elements = " e".repeat(5_000);
    assert_eq!(long.line(&format!("RPUSH many{elements}")), Value::Integer(5_000));
    let element = "x".repeat(500_000);
    assert_eq!(long.line(&format!("RPUSH wide {element} {element} {element}")), Value::Integer(3));
    for key in ["many", "wide"] {
        long.send(&format!("TEST.WHOLE {key}"));
        assert_eq!(other.line("PING"), text("PONG"));
        // So does another one, beside it, and waits.
        other.send(&format!("TEST.WHOLE {key}"));
        let mut third = server.connect();
        assert_eq!(third.line("PING"), text("PONG"));
        end_long(key);
        assert_eq!(long.receive(), text("OK"));
        assert_eq!(other.receive(), text("OK"));
    }
}

#[test]
fn a_client_goes_while_its_command_takes_long() {
    let server = TestServer::start_unwatched(1, FsyncPolicy::Never);
    let mut other = server.connect();
    for round in 0..20 {
        let key = format!("gone{round}");
        let mut long = server.connect();
        long.send(&format!("TEST.LONG {key}"));
        assert_eq!(other.line("PING"), text("PONG"));
        drop(long);
        assert_eq!(other.line("PING"), text("PONG"));
        end_long(&key);
        assert_eq!(other.line("PING"), text("PONG"));
    }
    server.until(|server| server.server.clients.all().len() == 1);
}

/// What holds the keys that it waits for is no reason to tell it late that it waits no more.
#[test]
fn a_client_is_unblocked_with_an_error_while_its_key_is_held() {
    for threads in [1, 2] {
        let server = TestServer::start(threads);
        let (mut waits, mut long, mut other) =
            (server.connect(), server.connect(), server.connect());
        let key = format!("held{threads}");
        waits.send(&format!("TEST.TAKE {key} 0"));
        server.until_waiting(1);
        waits.send(&format!("TEST.TAKE {key} 0"));
        long.send(&format!("TEST.LONG {key}"));
        // It is under way when what needs its key has to wait.
        let mut held = server.connect();
        held.send(&format!("GET {key}"));
        server.until_waiting(2);
        assert_eq!(other.line(&format!("CLIENT UNBLOCK {} ERROR", waits.id)), Value::Integer(1));
        let Value::Error(told) = waits.receive() else { panic!("an error") };
        assert!(told.starts_with(b"UNBLOCKED "));
        // Its next command waits for the same key, in its turn.
        end_long(&key);
        assert_eq!(long.receive(), text("OK"));
        assert_eq!(held.receive(), Value::Null);
        server.until_waiting(1);
        assert_eq!(server.keys_waited_for(), 1);
        assert_eq!(other.line(&format!("SET {key} v")), text("OK"));
        assert_eq!(waits.receive(), taken(&key, "v"));
        assert_eq!(server.keys_waited_for(), 0);
    }
}

/// However many there are, and however often they were tried meanwhile.
#[test]
fn what_waits_behind_a_command_runs_in_turn_after_it() {
    const MANY: usize = 40;
    let server = TestServer::start(1);
    let mut first = server.connect();
    first.send("TEST.LONG turn");
    let key = |number: usize| format!("turn{number}");
    let mut waiting: Vec<_> = (0..MANY)
        .map(|number| {
            let mut client = server.connect();
            client.send(&format!("TEST.LONG {}", key(number)));
            server.until_waiting(number + 1);
            client
        })
        .collect();
    end_long("turn");
    assert_eq!(first.receive(), text("OK"));
    for (number, client) in waiting.iter_mut().enumerate() {
        // All but it wait, and others are served.
        server.until_waiting(MANY - 1 - number);
        assert_eq!(first.line("PING"), text("PONG"));
        end_long(&key(number));
        assert_eq!(client.receive(), text("OK"));
    }
}

#[test]
fn what_waits_behind_a_command_runs_before_the_next_one_of_its_client() {
    let server = TestServer::start(1);
    let mut greedy = server.connect();
    greedy.send_all(&["TEST.LONG greedy1", "TEST.LONG greedy2", "TEST.LONG greedy3"]);
    for number in 1..=2 {
        // It is there when the greedy one's command has begun.
        let mut waits = server.connect();
        waits.send(&format!("TEST.LONG waits{number}"));
        server.until_waiting(1);
        end_long(&format!("greedy{number}"));
        assert_eq!(greedy.receive(), text("OK"));
        end_long(&format!("waits{number}"));
        assert_eq!(waits.receive(), text("OK"));
    }
    end_long("greedy3");
    assert_eq!(greedy.receive(), text("OK"));
}
