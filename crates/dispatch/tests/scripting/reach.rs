//! Keys that a script was not called with, in memory and on disk.

use super::{bulk, error, eval};
use crate::harness::TestServer;
use basalt_engine::{ChangeSet, Claims, LockWait, Transaction};
use basalt_resp::Value;
use std::sync::Arc;
use std::sync::mpsc::channel;

/// Enough runs for a script to be trusted to keep to its keys.
const RUNS: usize = 20;

const FOLLOW: &str = "if ARGV[1] == 'first' then redis.call('SET', KEYS[1], 'changed') end \
                      if ARGV[2] then return redis.call('GET', ARGV[2]) end";

fn trusted(server: &mut TestServer) {
    for _ in 0..RUNS {
        assert_eq!(eval(server, FOLLOW, &["k"], &["-"]), Value::Null);
    }
}

#[test]
fn a_script_that_has_kept_to_its_keys_may_use_others() {
    let mut server = TestServer::new();
    server.line("SET other o");
    trusted(&mut server);
    // It has changed nothing, so it begins again.
    assert_eq!(eval(&mut server, FOLLOW, &["k"], &["-", "other"]), bulk("o"));
    assert_eq!(eval(&mut server, FOLLOW, &["k"], &["first", "other"]), bulk("o"));
}

#[test]
fn what_it_finds_out_late_it_may_use_if_nobody_holds_that() {
    let mut server = TestServer::new();
    for key in 0..100 {
        server.line(&format!("SET other{key} o"));
    }
    for key in 0..100 {
        // Another text each time: nothing is known of this one but that it keeps to its keys.
        let text = format!("{FOLLOW} {}", "--".repeat(key));
        for _ in 0..RUNS {
            assert_eq!(eval(&mut server, &text, &["k"], &["-"]), Value::Null);
        }
        let other = format!("other{key}");
        let reply = eval(&mut server, &text, &["k"], &["first", &other]);
        assert_eq!(reply, bulk("o"), "{other}, before or behind the partition of its key");
    }
}

#[test]
fn it_fails_once_if_somebody_holds_what_it_finds_out_late() {
    let mut server = TestServer::new();
    server.line("SET other o");
    trusted(&mut server);
    let engine = Arc::clone(&server.server.engine);
    let (hold, held) = channel();
    let (release, released) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let claims =
                Claims { keys: vec![engine.key(b"other")], databases: 0..1, ..Claims::default() };
            let mut changes = ChangeSet::default();
            let locked = Transaction::lock(&engine, &claims, None, LockWait::Endless, &mut changes);
            hold.send(()).unwrap();
            let _ = released.recv();
            drop(locked);
        });
        held.recv().unwrap();
        let reply = eval(&mut server, FOLLOW, &["k"], &["first", "other"]);
        assert!(error(&reply).starts_with("ERR the script has changed something"), "{reply:?}");
        release.send(()).unwrap();
    });
    assert_eq!(server.line("GET k"), bulk("changed"));
    for _ in 0..RUNS {
        assert_eq!(eval(&mut server, FOLLOW, &["k"], &["first", "other"]), bulk("o"));
    }
}

/// The server after a restart: all of its keys are on disk only.
fn cold(server: &TestServer) -> TestServer {
    server.server.engine.checkpoint().expect("the tier is in memory");
    server.reopen()
}

#[test]
fn keys_on_disk_are_fetched_before_anything_is_changed() {
    let mut server = TestServer::new();
    server.line("MSET k 1 other o third t");
    let mut server = cold(&server);
    assert_eq!(eval(&mut server, "return redis.call('GET', KEYS[1])", &["k"], &[]), bulk("1"));
    assert_eq!(eval(&mut server, FOLLOW, &["k"], &["-", "other"]), bulk("o"));
    let script = "return {redis.call('GET', ARGV[1]), redis.call('APPEND', ARGV[2], 'x')}";
    let reply = eval(&mut cold(&server), script, &[], &["third", "other"]);
    assert_eq!(reply, Value::Array(vec![bulk("t"), Value::Integer(2)]));
}

#[test]
fn keys_on_disk_that_are_asked_for_too_late_are_there_the_next_time() {
    let mut server = TestServer::new();
    server.line("MSET k 1 other o");
    let mut server = cold(&server);
    let reply = eval(&mut server, FOLLOW, &["k"], &["first", "other"]);
    assert!(error(&reply).contains("not in memory"), "{reply:?}");
    assert_eq!(eval(&mut server, FOLLOW, &["k"], &["first", "other"]), bulk("o"));
    // From now on everything is fetched before.
    let mut again = TestServer::new();
    again.line("SET other o");
    let mut again = cold(&again);
    again.server.scripts.known.read(FOLLOW.as_bytes()).expect("a script");
    assert!(matches!(eval(&mut again, FOLLOW, &["k"], &["first", "other"]), Value::Error(_)));
    assert_eq!(eval(&mut again, FOLLOW, &["k"], &["first", "other"]), bulk("o"));
}

#[test]
fn commands_on_all_keys_see_what_is_on_disk() {
    let mut server = TestServer::new();
    server.line("MSET a 1 b 2 w_1 20 w_2 10");
    server.line("RPUSH ids 1 2");
    let mut server = cold(&server);
    assert_eq!(eval(&mut server, "return #redis.call('KEYS', '*')", &[], &[]), Value::Integer(5));
    let mut server = cold(&server);
    let sort = "return redis.call('SORT', KEYS[1], 'BY', 'w_*')";
    let sorted = Value::Array(vec![bulk("2"), bulk("1")]);
    assert_eq!(eval(&mut server, sort, &["ids"], &[]), sorted);
}

#[test]
fn a_transaction_holds_whatever_its_scripts_use() {
    let mut server = TestServer::new();
    server.line("MSET k 1 other o");
    trusted(&mut server);
    server.line("MULTI");
    server.line("SET k 2");
    server.run(&["EVAL", FOLLOW, "1", "k", "first", "other"]);
    assert_eq!(server.line("EXEC"), Value::Array(vec![Value::Simple(b"OK".to_vec()), bulk("o")]));
}

#[test]
fn a_script_leaves_the_selected_database_and_no_half_of_a_message() {
    let mut server = TestServer::new();
    trusted(&mut server);
    let script = "redis.call('SELECT', 3) redis.call('SET', 'k', 'three') return redis.call('PUBLISH', 'c', 'm')";
    assert_eq!(eval(&mut server, script, &[], &[]), Value::Integer(0));
    assert_eq!(server.line("EXISTS k"), Value::Integer(0));
    server.line("SELECT 3");
    assert_eq!(server.line("GET k"), bulk("three"));
}

/// Partitions that are locked meanwhile belong to others: a script that keeps to its keys does not
/// wait for them, whether it is known or new.
#[test]
fn texts_that_are_new_each_time_lock_their_keys_only() {
    let mut server = TestServer::new();
    server.line("MSET k 1 other o");
    let text =
        |number: usize| format!("return redis.call('SET', KEYS[1], 'v{number}') -- text {number}");
    // A new shape writes: it holds everything until it is known.
    for number in 0..RUNS {
        eval(&mut server, &text(number), &["k"], &[]);
    }
    let engine = std::sync::Arc::clone(&server.server.engine);
    let ((hold, held), (release, released)) = (channel(), channel::<()>());
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let locked = engine.lock(&[engine.key(b"other")]);
            hold.send(()).expect("somebody waits");
            // Until the other end goes.
            let _ = released.recv();
            drop(locked);
        });
        held.recv().expect("it is held");
        let reply = eval(&mut server, &text(100), &["k"], &[]);
        // What only reads is trusted from its first run on.
        let read = "local value = redis.call('GET', KEYS[1]) return value";
        let value = eval(&mut server, read, &["k"], &[]);
        drop(release);
        assert_eq!((reply, value), (Value::Simple(b"OK".to_vec()), bulk("v100")));
    });
}
