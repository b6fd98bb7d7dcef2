//! Partitions that somebody holds for long, as a script does: no network thread waits for them.

use crate::harness::{TestServer, requests};
use basalt_engine::LockWait;
use basalt_resp::Value;
use basalt_service::wait::Wait;
use std::sync::mpsc::channel;
use std::time::Duration;

/// Longer than anything here takes on a loaded machine.
const LONG: Duration = Duration::from_secs(60);

/// Longer than a request waits for a partition.
const HELD: Duration = Duration::from_millis(20);

/// Commands of every kind that lock partitions.
const COMMANDS: &[&str] = &[
    "GET k",
    "SET k v",
    "INCR n",
    "MGET k n",
    "MSET k 1 n 2",
    "SORT l BY w_* GET #",
    "BLPOP l2 0",
    "SCAN 0",
    "KEYS *",
    "RANDOMKEY",
    "DBSIZE",
    "INFO",
    "FLUSHALL",
    "SWAPDB 0 1",
    "WATCH k",
    "DEBUG DIGEST",
    "DEBUG DIGEST-VALUE k",
    "EVAL return(redis.call('GET',KEYS[1])) 1 k",
    "FUNCTION FLUSH",
    "FUNCTION DELETE l",
    "EXEC",
];

#[test]
fn no_network_thread_waits_for_a_partition_that_is_held_for_long() {
    let mut server = TestServer::new();
    for line in ["SET k v", "SET n 1", "RPUSH l 2 1", "WATCH k", "CONFIG SET maxmemory 1gb"] {
        server.line(line);
    }
    let engine = std::sync::Arc::clone(&server.server.engine);
    let (release, released) = channel::<()>();
    let (hold, held) = channel();
    let (done, finished) = channel();
    std::thread::scope(|scope| {
        let holder = std::sync::Arc::clone(&engine);
        scope.spawn(move || {
            let locked = holder.lock_all_within(LockWait::Endless);
            hold.send(()).unwrap();
            let _ = released.recv_timeout(2 * LONG);
            drop(locked);
        });
        held.recv().unwrap();
        let server = &mut server;
        scope.spawn(move || {
            for line in COMMANDS {
                let mut other = server.another_connection();
                if *line == "EXEC" {
                    other.line("MULTI");
                    other.line("GET k");
                }
                let wait = other.run_once(line);
                assert!(matches!(wait, Some(Wait::Held)), "{line}: {wait:?}");
                other.session.close(&other.server.engine, LockWait::Brief);
            }
            server.server.sample();
            server.session.close(&server.server.engine, LockWait::Brief);
            done.send(()).unwrap();
        });
        finished.recv_timeout(LONG).expect("a command waits for a partition that is held");
        release.send(()).unwrap();
    });
    // The watch, which could not be ended at once, is ended by the housekeeping thread.
    while engine.is_watched() {
        std::thread::yield_now();
    }
    assert_eq!(server.line("GET k"), Value::Bulk(b"v".to_vec()));
}

#[test]
fn a_waiting_client_that_goes_while_its_queue_is_held_leaves_it_soon() {
    let server = TestServer::new();
    let engine = std::sync::Arc::clone(&server.server.engine);
    let mut waiting = server.another_connection();
    assert!(matches!(waiting.run_once("BLPOP l 0"), Some(Wait::Ready(None))));
    std::thread::scope(|scope| {
        let (hold, held) = channel();
        let (release, released) = channel::<()>();
        let engine = &engine;
        scope.spawn(move || {
            let locked = engine.lock_all_within(LockWait::Endless);
            hold.send(()).unwrap();
            let _ = released.recv_timeout(LONG);
            drop(locked);
        });
        held.recv().unwrap();
        assert!(waiting.session.stop_waiting(engine, LockWait::Brief).is_err());
        waiting.session.close(engine, LockWait::Brief);
        release.send(()).unwrap();
    });
    while engine.keys_waited_for(LockWait::Endless) != Ok((0, 0)) {
        std::thread::yield_now();
    }
}

/// A script runs apart from its batch. When it waits, what the same client has sent behind it must
/// not run before it.
#[test]
fn requests_behind_a_script_that_waits_run_after_it() {
    let mut server = TestServer::new();
    let engine = std::sync::Arc::clone(&server.server.engine);
    let (hold, held) = channel();
    let replies = std::thread::scope(|scope| {
        scope.spawn(move || {
            let locked = engine.lock(&[engine.key(b"k")]);
            hold.send(()).unwrap();
            std::thread::sleep(HELD);
            drop(locked);
        });
        held.recv().unwrap();
        let script = "EVAL return(redis.call('append',KEYS[1],'x')) 1 k";
        server.run_bytes(requests(&[script, "SET other v", "GET other"]), 64)
    });
    assert_eq!(replies.escape_ascii().to_string(), r":1\r\n+OK\r\n$1\r\nv\r\n");
}

/// A call for more keys than there are is one for all of them at once.
#[test]
fn a_scan_that_comes_to_a_held_partition_is_not_over() {
    let mut server = TestServer::new();
    let names: Vec<String> = (0..100).map(|number| format!("key{number}")).collect();
    for name in &names {
        server.line(&format!("SET {name} v"));
    }
    let engine = std::sync::Arc::clone(&server.server.engine);
    let partition = |name: &&String| engine.key(name.as_bytes()).partition.number();
    let last = names.iter().max_by_key(partition).expect("there are names");
    let (hold, held) = channel();
    let reply = std::thread::scope(|scope| {
        let engine = &engine;
        scope.spawn(move || {
            let locked = engine.lock(&[engine.key(last.as_bytes())]);
            hold.send(()).unwrap();
            std::thread::sleep(HELD);
            drop(locked);
        });
        held.recv().unwrap();
        server.line("SCAN 0 COUNT 100000")
    });
    let Value::Array(reply) = reply else { panic!("{reply:?}") };
    let [Value::Bulk(cursor), Value::Array(found)] = &*reply else { panic!("{reply:?}") };
    assert_eq!((cursor.as_slice(), found.len()), (b"0".as_slice(), names.len()));
}

/// Else a client that calls one long script after the other would have the key for itself.
#[test]
fn what_may_take_long_lets_go_first_who_waits_for_its_keys() {
    let mut server = TestServer::new();
    server.line("SET k v");
    server.line("SET k2 v");
    let elements = " e".repeat(5_000);
    server.line(&format!("RPUSH l{elements}"));
    let engine = std::sync::Arc::clone(&server.server.engine);
    let long = ["EVAL return(redis.call('GET',KEYS[1])) 1 KEY", "EXEC", "LRANGE KEY 0 -1"];
    for (line, key) in long.into_iter().zip(["k", "k", "l"]) {
        let held = engine.lock_all_within(LockWait::Endless);
        let mut waits = server.another_connection();
        let wait = std::thread::scope(|scope| {
            let waiting = scope.spawn(move || waits.run_once(&format!("TYPE {key}")));
            waiting.join().expect("it does not wait for long")
        });
        assert!(matches!(wait, Some(Wait::Held)), "{wait:?}");
        drop(held);
        let mut others = server.another_connection();
        assert!(others.run_once("EVAL return(redis.call('GET',KEYS[1])) 1 k2").is_none());
        let mut client = server.another_connection();
        if line == "EXEC" {
            client.line("MULTI");
            client.line("GET k");
        }
        let line = line.replace("KEY ", &format!("{key} ")).replace(" KEY", &format!(" {key}"));
        let wait = client.run_once(&line);
        assert!(matches!(wait, Some(Wait::Held)), "{line}: {wait:?}");
        assert!(client.run_once(&line).is_none(), "{line} lets others go first once");
        client.session.close(&engine, LockWait::Endless);
    }
}

/// A command with thousands of keys, of which one is held, would hold up scripts on all of them.
#[test]
fn commands_that_wait_for_other_keys_do_not_go_first() {
    let mut server = TestServer::new();
    let key = |bytes: &'static str| server.server.engine.key(bytes.as_bytes());
    let (held, free) = (key("held"), key("free"));
    assert_ne!(held.partition, free.partition);
    let engine = std::sync::Arc::clone(&server.server.engine);
    let locked = engine.lock_within(&[held], LockWait::Endless).expect("nobody holds it");
    let mut waits = server.another_connection();
    let wait = std::thread::scope(|scope| {
        let waiting = scope.spawn(move || waits.run_once("MGET free held"));
        waiting.join().expect("it does not wait for long")
    });
    assert!(matches!(wait, Some(Wait::Held)), "{wait:?}");
    drop(locked);
    let get = |key| format!("EVAL return(redis.call('GET',KEYS[1])) 1 {key}");
    assert!(server.run_once(&get("free")).is_none());
    assert!(matches!(server.run_once(&get("held")), Some(Wait::Held)));
}
