//! EXEC in one process: keys on disk, whole databases, refusals, what is counted.

use super::{bulk, ok, transaction};
use crate::harness::TestServer;
use basalt_engine::Refusal;
use basalt_resp::Value;

#[test]
fn keys_on_disk_are_all_found_before_the_first_command_runs() {
    let mut server = TestServer::new();
    server.line("MSET a 1 b 2 c 3");
    server.line("COPY a a DB 1");
    server.server.engine.checkpoint().expect("the tier is in memory");
    let mut server = server.reopen();
    let reply = transaction(
        &mut server,
        &["INCR a", "INCR b", "MOVE a 1", "COPY b x DB 2", "SELECT 1", "INCR a", "SET new 1"],
    );
    let expected =
        vec![2, 3, 0, 1].into_iter().map(Value::Integer).chain([ok(), Value::Integer(2), ok()]);
    assert_eq!(reply, Value::Array(expected.collect()));
    let mut restarted = server.reopen();
    assert_eq!(restarted.line("MGET a b c"), Value::Array(vec![bulk("2"), bulk("3"), bulk("3")]));
    assert_eq!([0, 1, 2].map(|db| restarted.server.engine.totals(db).keys), [3, 2, 1]);
}

#[test]
fn a_key_that_came_and_went_inside_is_not_asked_for_again() {
    let mut server = TestServer::new();
    server.line("SET cold 1");
    server.line("COPY cold cold DB 1");
    server.server.engine.checkpoint().expect("the tier is in memory");
    let mut server = server.reopen();
    let lines = ["SELECT 1", "SET x 1", "DEL x", "SELECT 0", "SET x 2", "MOVE x 1", "COPY cold x"];
    let Value::Array(replies) = transaction(&mut server, &lines) else { panic!("an array") };
    assert_eq!(replies[5..], [Value::Integer(1), Value::Integer(1)]);
}

#[test]
fn commands_on_whole_databases_take_part_and_survive_a_restart() {
    let mut server = TestServer::new();
    server.line("MSET a 1 b 2");
    let reply = transaction(
        &mut server,
        &[
            "SET c 3",
            "DBSIZE",
            "FLUSHDB",
            "DBSIZE",
            "SET d 4",
            "KEYS *",
            "RANDOMKEY",
            "SCAN 0",
            "SWAPDB 0 1",
            "DBSIZE",
            "SET e 5",
            "SELECT 1",
            "GET d",
        ],
    );
    let keys = Value::Array(vec![bulk("d")]);
    let scanned = Value::Array(vec![bulk("0"), keys.clone()]);
    let expected = vec![
        ok(),
        Value::Integer(3),
        ok(),
        Value::Integer(0),
        ok(),
        keys,
        bulk("d"),
        scanned,
        ok(),
        Value::Integer(0),
        ok(),
        ok(),
        bulk("4"),
    ];
    assert_eq!(reply, Value::Array(expected));
    for server in [&server, &server.reopen()] {
        assert_eq!([0, 1].map(|db| server.server.engine.totals(db).keys), [1, 1]);
    }
}

#[test]
fn walks_inside_bring_everything_into_memory_first() {
    let mut server = TestServer::new();
    server.line("MSET a 1 b 2 c 3");
    server.server.engine.checkpoint().expect("the tier is in memory");
    let mut server = server.reopen();
    let Value::Array(replies) = transaction(&mut server, &["SET d 4", "DBSIZE", "KEYS *"]) else {
        panic!("an array")
    };
    assert_eq!(replies[1], Value::Integer(4));
    assert!(matches!(&replies[2], Value::Array(keys) if keys.len() == 4), "{replies:?}");
}

#[test]
fn the_log_has_one_append_for_all_of_it() {
    let mut server = TestServer::new();
    let before = server.log.appends();
    transaction(&mut server, &["SET a 1", "SET b 2", "SET c 3", "FLUSHALL", "SET a 4"]);
    assert_eq!(server.log.appends() - before, 1);
    transaction(&mut server, &["GET a", "PING"]);
    assert_eq!(server.log.appends() - before, 1);
}

#[test]
fn replies_wait_for_what_the_transaction_read_and_wrote() {
    let mut server = TestServer::new();
    server.log.stop_acknowledging();
    let mut other = server.another_connection();
    other.line("SET k v");
    for (lines, waits) in [(&["GET k"][..], true), (&["SET l 1"], true), (&["GET m"], false)] {
        server.session.gate.take();
        transaction(&mut server, lines);
        assert_eq!(!server.session.gate.is_open(), waits, "{lines:?}");
    }
}

#[test]
fn a_log_that_refuses_changes_refuses_transactions_with_writes() {
    let mut server = TestServer::new();
    server.line("MULTI");
    server.line("SET k v");
    server.log.refuse(Some(Refusal::DiskFull));
    let Value::Error(text) = server.line("EXEC") else { panic!("an error") };
    assert!(text.starts_with(b"EXECABORT Transaction discarded because of: MISCONF"));
    server.line("MULTI");
    assert!(matches!(server.line("SET k v"), Value::Error(text) if text.starts_with(b"MISCONF")));
    assert!(matches!(server.line("EXEC"), Value::Error(text) if text.starts_with(b"EXECABORT")));
    assert_eq!(transaction(&mut server, &["GET k"]), Value::Array(vec![Value::Null]));
    server.log.refuse(None);
    assert_eq!(server.line("EXISTS k"), Value::Integer(0));
}

#[test]
fn memory_that_is_used_up_refuses_to_queue_and_to_run() {
    use std::sync::atomic::Ordering::Relaxed;
    const OOM: &[u8] = b"OOM command not allowed when used memory > 'maxmemory'.";
    let mut server = TestServer::new();
    server.configure("maxmemory", "1000");
    server.line("MULTI");
    server.line("SET k v");
    server.server.memory_bytes_used.store(2000, Relaxed);
    let expected = [b"EXECABORT Transaction discarded because of: ", OOM].concat();
    assert_eq!(server.line("EXEC"), Value::Error(expected));
    server.line("MULTI");
    assert_eq!(server.line("GET k"), Value::Error(OOM.to_vec()));
    assert_eq!(server.line("DISCARD"), ok());
    assert_eq!(server.line("GET k"), Value::Null);
}

#[test]
fn a_queue_beyond_the_limit_ends_the_connection() {
    let mut server = TestServer::new();
    server.configure("client-query-buffer-limit", "1mb");
    server.line("MULTI");
    let big = "x".repeat(600_000);
    assert!(!server.is_closed());
    server.run(&["SET", "k", &big]);
    assert!(!server.is_closed());
    server.run(&["SET", "k", &big]);
    assert!(server.is_closed());
}

#[test]
fn a_queue_of_many_short_commands_is_counted_with_all_that_it_takes() {
    let mut server = TestServer::new();
    server.configure("client-query-buffer-limit", "1mb");
    server.line("MULTI");
    let mut queued = 0;
    while !server.is_closed() {
        server.line("INCR counter");
        queued += 1;
    }
    // Each takes 59 bytes, and a vector has room for twice as much as is in it.
    assert!((8_000..18_000).contains(&queued), "{queued}");
}

#[test]
fn commands_about_the_server_run_last_and_are_answered_in_their_place() {
    let mut server = TestServer::new();
    let lines = [
        "SET k v",
        "CONFIG SET slowlog-max-len 7",
        "GET k",
        "CONFIG GET slowlog-max-len",
        "TIME",
        "UNWATCH",
        "CLIENT ID",
        "PING",
    ];
    let Value::Array(replies) = transaction(&mut server, &lines) else { panic!("an array") };
    assert_eq!(replies.len(), lines.len());
    assert_eq!(
        replies[1..4],
        [ok(), bulk("v"), Value::Array(vec![bulk("slowlog-max-len"), bulk("7")])]
    );
    assert!(matches!(&replies[4], Value::Array(time) if time.len() == 2));
    assert_eq!(replies[7], Value::Simple(b"PONG".to_vec()));
}

#[test]
fn what_would_wait_is_an_error_and_the_rest_goes_on() {
    let mut server = TestServer::new();
    let replies = transaction(&mut server, &["SET k v", "DEBUG SLEEP 1", "GET k"]);
    let Value::Array(replies) = replies else { panic!("an array") };
    assert!(matches!(&replies[1], Value::Error(text) if text.ends_with(b"inside a transaction")));
    assert_eq!(replies[2], bulk("v"));
}

#[test]
fn inner_commands_are_counted_and_the_slow_log_has_them() {
    let mut server = TestServer::new();
    server.configure("slowlog-log-slower-than", "0");
    transaction(&mut server, &["SET k v", "INCR k", "GET k"]);
    server.configure("slowlog-log-slower-than", "-1");
    let Value::Bulk(info) = server.line("INFO commandstats") else { panic!("text") };
    let info = String::from_utf8(info).expect("text");
    for line in ["cmdstat_set:calls=1,", "cmdstat_incr:calls=1,", "cmdstat_exec:calls=1,"] {
        assert!(info.contains(line), "{line} in {info}");
    }
    assert!(
        info.lines()
            .any(|line| line.starts_with("cmdstat_incr:") && line.ends_with("failed_calls=1"))
    );
    let Value::Array(entries) = server.line("SLOWLOG GET") else { panic!("an array") };
    let names: Vec<Value> = entries
        .iter()
        .map(|entry| match entry {
            Value::Array(fields) => match &fields[3] {
                Value::Array(words) => words[0].clone(),
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(names, ["GET", "INCR", "SET", "MULTI"].map(bulk));
}
