//! DEL and UNLINK of keys that are on disk read what their rows begin with, and nothing else.

use crate::harness::TestServer;
use basalt_change::element;
use basalt_cold::ColdTier;
use basalt_engine::Engine;
use basalt_resp::{Value, encode_request};
use basalt_service::wait::Wait;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Longer than a piece in any life of a server.
const LONG: usize = 3 << 20;

/// A key of each type in each form; those that have rows of their own come last.
fn fill(server: &mut TestServer) -> Vec<&'static str> {
    let many = |from: usize| (from..from + 20_000).map(|number| format!(" {number}"));
    let pairs: String = many(0).map(|number| format!("{number}{number}")).collect();
    let lines = [
        "SET string value".to_owned(),
        format!("SET middle {}", "x".repeat(700)),
        "APPEND edited part".to_owned(),
        "SET soon value PX 5000".to_owned(),
        "CAS.SET versioned value FORCE 7".to_owned(),
        "RPUSH list a b".to_owned(),
        "SADD set a b".to_owned(),
        "HSET hash a 1".to_owned(),
        "ZADD zset 1 a".to_owned(),
        "XADD stream 1-1 a b".to_owned(),
        format!("SET long {}", "y".repeat(LONG)),
        format!("RPUSH long-list{}", many(0).collect::<String>()),
        format!("SADD long-set{}", many(0).collect::<String>()),
        format!("ZADD long-zset{pairs}"),
        format!("HSET long-hash{pairs}"),
        format!("HSET passing{pairs}"),
        format!("HEXPIRE passing 100 FIELDS 20000{}", many(0).collect::<String>()),
    ];
    for line in &lines {
        let reply = server.line(line);
        assert!(!matches!(reply, Value::Error(_)), "{reply:?}");
    }
    server.line("PEXPIRE long-set 100000");
    let mut keys = ["string", "middle", "edited", "soon", "versioned", "list", "set"].to_vec();
    keys.extend(["hash", "zset", "stream", "long", "long-list", "long-set", "long-zset"]);
    keys.extend(["long-hash", "passing"]);
    keys
}

fn server_with_cold(lines: &[&str]) -> TestServer {
    let mut server = TestServer::new();
    lines.iter().for_each(|line| drop(server.line(line)));
    server.leave_memory();
    server
}

fn keys_read(server: &TestServer) -> u64 {
    server.server.engine.miss_stats().keys
}

/// Rows of keys, and of elements and pieces.
fn rows(server: &TestServer) -> (usize, usize) {
    let (mut objects, mut others) = (0, 0);
    let count = &mut |key: &[u8], _: &[u8]| {
        match element::of_row(key) {
            Some(_) => others += 1,
            None => objects += usize::from(basalt_change::row::split_object_key(key).is_some()),
        }
        ControlFlow::Continue(())
    };
    server.tier().scan(b"", &[0xFF; 3], count).expect("it is open");
    (objects, others)
}

/// Has read what a command waits for.
fn wait_for(wait: Wait, engine: &Arc<Engine>) {
    let (sender, receiver) = std::sync::mpsc::channel();
    let done = Box::new(move |result| sender.send(result).expect("somebody waits"));
    assert!(wait.start(engine, done).is_none());
    receiver.recv().expect("it is called").expect("the tier can be read");
}

#[test]
fn keys_of_all_forms_go_without_being_read_and_their_rows_with_them() {
    for command in ["DEL", "UNLINK"] {
        for is_reopened in [false, true] {
            let mut server = TestServer::new();
            let keys = fill(&mut server);
            server.line("SET left value");
            server.leave_memory();
            let (_, others) = rows(&server);
            assert!(others > 100_000, "{others}");
            let [first, rest @ ..] = &keys[..] else { panic!("some keys") };
            assert_eq!(server.line(&format!("{command} {first}")), Value::Integer(1));
            let all = format!("{command} none {} {first} {}", rest.join(" "), rest.join(" "));
            assert_eq!(server.line(&all), Value::Integer(rest.len() as i64));
            assert_eq!(keys_read(&server), 0, "{command}");
            assert_eq!(server.line("DBSIZE"), Value::Integer(1));
            let mut server = if is_reopened { server.reopen() } else { server };
            assert_eq!(server.line("DBSIZE"), Value::Integer(1));
            let exist = format!("EXISTS {}", keys.join(" "));
            assert_eq!(server.line(&exist), Value::Integer(0), "{command}");
            server.leave_memory();
            assert_eq!(rows(&server), (1, 0), "{command}, reopened: {is_reopened}");
            assert_eq!(server.line("DBSIZE"), Value::Integer(1));
            assert_eq!(server.line("GET left"), Value::Bulk(b"value".to_vec()));
        }
    }
}

/// As in memory, and without a word of it.
#[test]
fn hashes_of_which_all_fields_have_expired_go_and_do_not_count() {
    for fields in [1, 20_000] {
        for (advance_ms, deleted) in [(999, 1), (1_000, 0)] {
            let mut server = TestServer::new();
            server.server.engine.set_active_expiry(false);
            let names: String = (0..fields).map(|number| format!(" {number}")).collect();
            let pairs: String = (0..fields).map(|number| format!(" {number} value")).collect();
            server.line(&format!("HSET hash{pairs}"));
            server.line(&format!("HPEXPIRE hash 1000 FIELDS {fields}{names}"));
            server.leave_memory();
            server.clock.advance_ms(advance_ms);
            assert_eq!(server.line("DEL hash"), Value::Integer(deleted), "{fields}");
            assert_eq!((keys_read(&server), server.line("DBSIZE")), (0, Value::Integer(0)));
            assert_eq!(server.server.engine.expired_keys(), 0);
            server.leave_memory();
            assert_eq!(rows(&server), (0, 0), "{fields}");
        }
    }
}

/// The others of the command are not.
#[test]
fn only_what_rows_do_not_say_is_read() {
    let mut server = TestServer::new();
    let pairs: String = (0..20_000).map(|number| format!(" {number} value")).collect();
    server.line(&format!("HSET hash{pairs}"));
    server.line("SET string value");
    server.server.engine.checkpoint().expect("the tier is in memory");
    server.line("HDEL hash 7");
    let mut server = server.reopen();
    assert_eq!(server.line("DEL string hash none"), Value::Integer(2));
    assert_eq!((server.line("DBSIZE"), keys_read(&server)), (Value::Integer(0), 1));
}

#[test]
fn what_has_expired_goes_and_does_not_count() {
    let mut server = server_with_cold(&["SET due value PX 10", "SET other value"]);
    server.server.engine.set_active_expiry(false);
    server.clock.advance_ms(10);
    assert_eq!(server.line("DBSIZE"), Value::Integer(2));
    assert_eq!(server.line("DEL due other"), Value::Integer(1));
    assert_eq!((server.line("DBSIZE"), keys_read(&server)), (Value::Integer(0), 0));
    assert_eq!(server.server.engine.expired_keys(), 1);
}

#[test]
fn listeners_hear_what_has_become_of_keys() {
    let mut server = server_with_cold(&["SET due value PX 10", "SET k value", "RPUSH list a"]);
    server.server.engine.set_active_expiry(false);
    server.line("CONFIG SET notify-keyspace-events KA");
    let mut subscriber = server.another_connection();
    subscriber.line("PSUBSCRIBE __keyspace@0__:*");
    server.clock.advance_ms(10);
    assert_eq!(server.line("DEL k none due list"), Value::Integer(2));
    assert_eq!(keys_read(&server), 0);
    let events: Vec<String> =
        subscriber.messages().iter().map(|message| format!("{message:?}")).collect();
    let expected = [(":k", "del"), (":due", "expired"), (":list", "del")];
    assert_eq!(events.len(), expected.len(), "{events:?}");
    for (event, (key, name)) in events.iter().zip(expected) {
        let bytes = |text: &str| format!("{:?}", Value::Bulk(text.as_bytes().to_vec()));
        assert!(event.contains(&bytes(&format!("__keyspace@0__{key}"))), "{event}");
        assert!(event.contains(&bytes(name)), "{event}");
    }
}

#[test]
fn a_watched_key_that_goes_has_changed() {
    let mut server = server_with_cold(&["SET k value", "SET other value"]);
    server.line("WATCH k");
    server.leave_memory();
    let mut other = server.another_connection();
    assert_eq!(other.line("DEL k"), Value::Integer(1));
    server.line("MULTI");
    server.line("SET other changed");
    assert_eq!(server.line("EXEC"), Value::NullArray);
}

/// A key that is made again has a number that it did not have.
#[test]
fn versions_go_with_their_keys_and_do_not_come_back() {
    let mut server = server_with_cold(&["SET other value"]);
    server.line("CAS.SET k value");
    let there = server.line("CAS.GET k");
    server.leave_memory();
    assert_eq!(server.line("UNLINK k"), Value::Integer(1));
    assert_eq!(server.line("GET k"), Value::Null);
    let mut server = server.reopen();
    server.line("CAS.SET k value");
    let again = server.line("CAS.GET k");
    assert!(matches!(again, Value::Array(_)) && there != again, "{there:?} {again:?}");
}

/// In the time between reading and running again.
#[test]
fn what_has_changed_since_it_was_read_is_read_again() {
    for (line, deleted) in [
        ("SET k new", 1),
        ("DEL k", 0),
        ("PEXPIRE k 1", 0),
        ("RPUSH fresh a", 1),
        ("FLUSHALL", 0),
        ("SWAPDB 0 1", 0),
    ] {
        for leaves in [false, true] {
            let mut server = server_with_cold(&["SET k value", "SET other value"]);
            server.server.engine.set_active_expiry(false);
            let wait = server.run_when_free("DEL k").expect("it waits for the row");
            wait_for(wait, &server.server.engine);
            server.another_connection().line(line);
            if leaves {
                server.leave_memory();
            }
            server.clock.advance_ms(1);
            assert_eq!(server.line("DEL k"), Value::Integer(deleted), "{line}, {leaves}");
            assert_eq!(server.line("EXISTS k"), Value::Integer(0), "{line}, {leaves}");
            server.leave_memory();
            let keys = server.line("DBSIZE");
            assert_eq!(server.reopen().line("DBSIZE"), keys, "{line}, {leaves}");
        }
    }
}

/// Its changes are not in its row.
#[test]
fn a_collection_that_recovery_has_not_read_goes_with_its_changes() {
    let mut server = TestServer::new();
    let members: String = (0..20_000).map(|number| format!(" {number}")).collect();
    let pairs: String = (0..20_000).map(|number| format!(" {number} value")).collect();
    server.line(&format!("SADD set{members}"));
    server.line(&format!("SADD due{members}"));
    server.line(&format!("HSET hash{pairs}"));
    server.server.engine.checkpoint().expect("the tier is in memory");
    server.line("SADD set one more");
    server.line("PEXPIRE due 10");
    server.line("HSET hash one more");
    let mut server = server.reopen();
    server.server.engine.set_active_expiry(false);
    server.clock.advance_ms(10);
    assert_eq!(server.line("DEL set due hash"), Value::Integer(2));
    assert_eq!((server.line("DBSIZE"), keys_read(&server)), (Value::Integer(0), 0));
    let mut server = server.reopen();
    assert_eq!(server.line("DBSIZE"), Value::Integer(0));
    server.leave_memory();
    assert_eq!(rows(&server), (0, 0));
}

#[test]
fn a_pipeline_waits_once() {
    let mut server = server_with_cold(&[
        "SET a value",
        "SET b value PX 5000",
        "SET c value",
        "SET d value",
        "RPUSH list a",
        "SET read value",
    ]);
    let lines = ["DEL a", "TTL b", "NOSUCH d", "GET read", "UNLINK c a d", "EXISTS list none"];
    let mut input = Vec::new();
    for line in lines {
        encode_request(&line.split_whitespace().collect::<Vec<_>>(), &mut input);
    }
    let wait = server.run_batch_when_free(&input, lines.len()).expect("it waits for the rows");
    assert!(matches!(wait, Wait::Heads(..)), "{wait:?}");
    wait_for(wait, &server.server.engine);
    while server.server.engine.totals(0).keys_cold_only == 6 {
        std::thread::yield_now();
    }
    for line in lines {
        assert!(server.run_when_free(line).is_none(), "{line}");
    }
    assert_eq!(server.line("DBSIZE"), Value::Integer(3));
    assert_eq!(keys_read(&server), 1, "what GET asks for");
}

/// Their keys are read first, as before.
#[test]
fn transactions_and_scripts_remove_the_same() {
    let mut server = server_with_cold(&["SET k old", "RPUSH list a", "SET other value"]);
    server.line("MULTI");
    server.line("DEL k none");
    assert_eq!(server.line("EXEC"), Value::Array(vec![Value::Integer(1)]));
    let script = "EVAL return{redis.call('unlink',KEYS[1])} 1 list";
    assert_eq!(server.line(script), Value::Array(vec![Value::Integer(1)]));
    assert_eq!(server.line("DBSIZE"), Value::Integer(1));
}
