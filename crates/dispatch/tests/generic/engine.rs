//! Keys that are not in memory, replies that wait, big values, a log that refuses.

use crate::harness::TestServer;
use basalt_engine::Refusal;
use basalt_resp::Value;
use std::time::{Duration, Instant};

/// The server after a checkpoint and a restart: every key is on disk only.
fn with_cold_keys(lines: &[&str]) -> TestServer {
    let mut server = TestServer::new();
    for line in lines {
        assert!(!matches!(server.line(line), Value::Error(_)), "{line}");
    }
    server.server.engine.checkpoint().expect("the tier is in memory");
    let server = server.reopen();
    assert!(server.server.engine.totals(0).keys_cold_only > 0);
    server
}

fn select(server: &mut TestServer, db: u8) {
    server.session.db = db;
}

#[test]
fn keys_on_disk_are_renamed_copied_and_moved() {
    let mut server = with_cold_keys(&["SET a 1 PXAT 4000000000000", "SET b 2", "MSET c 3 d 4"]);
    assert_eq!(server.line("RENAME a b"), Value::Simple(b"OK".to_vec()));
    assert_eq!(server.line("GET b"), Value::Bulk(b"1".to_vec()));
    assert_eq!(server.line("PEXPIRETIME b"), Value::Integer(4_000_000_000_000));
    assert_eq!(server.line("EXISTS a b"), Value::Integer(1));
    assert_eq!(server.line("RENAMENX c d"), Value::Integer(0));
    assert_eq!(server.line("COPY c e DB 2"), Value::Integer(1));
    assert_eq!(server.line("MOVE d 2"), Value::Integer(1));
    assert_eq!(server.line("DBSIZE"), Value::Integer(2));
    select(&mut server, 2);
    assert_eq!(
        server.line("MGET d e"),
        Value::Array(vec![Value::Bulk(b"4".to_vec()), Value::Bulk(b"3".to_vec()),])
    );
}

#[test]
fn a_key_on_disk_in_another_database_is_seen() {
    let mut server = with_cold_keys(&["SET k zero", "COPY k k DB 1", "COPY k l DB 1"]);
    // Only database 0's keys are brought into memory before the command runs.
    assert_eq!(server.line("MOVE k 1"), Value::Integer(0));
    assert_eq!(server.line("COPY k l DB 1"), Value::Integer(0));
    assert_eq!(server.line("COPY k l DB 1 REPLACE"), Value::Integer(1));
    assert_eq!(server.line("MOVE k 2"), Value::Integer(1));
    select(&mut server, 1);
    assert_eq!(server.line("DBSIZE"), Value::Integer(2));
    assert_eq!(server.reopen().server.engine.totals(1).keys, 2);
}

#[test]
fn walks_go_over_memory_and_disk() {
    let lines = ["MSET a 1 b 2 c 3", "SET d 4 PXAT 4000000000000"];
    let mut server = with_cold_keys(&lines);
    assert!(matches!(server.line("RANDOMKEY"), Value::Bulk(_)));
    let mut server = server.reopen();
    let Value::Array(keys) = server.line("KEYS [abc]") else { panic!("an array") };
    assert_eq!(keys.len(), 3);
    let mut server = server.reopen();
    let (mut cursor, mut found) = (b"0".to_vec(), 0);
    loop {
        let Value::Array(reply) = server.run(&[&b"SCAN"[..], &cursor]) else { panic!("an array") };
        let [Value::Bulk(next), Value::Array(keys)] = &reply[..] else { panic!("{reply:?}") };
        found += keys.len();
        cursor = next.clone();
        if cursor == b"0" {
            break;
        }
    }
    assert_eq!(found, 4);
    let resident = |server: &TestServer| {
        let totals = server.server.engine.totals(0);
        totals.keys - totals.keys_cold_only
    };
    assert_eq!(resident(&server), 0, "nothing comes into memory by it");
}

#[test]
fn flushes_and_swaps_survive_a_restart() {
    let mut server = with_cold_keys(&["SET k 0", "COPY k k DB 1", "COPY k k DB 2"]);
    select(&mut server, 1);
    server.line("FLUSHDB");
    server.line("SWAPDB 0 1");
    server.line("SET l 1");
    let keys = |server: &TestServer, db| server.server.engine.totals(db).keys;
    let restarted = server.reopen();
    for server in [&server, &restarted] {
        assert_eq!([0, 1, 2].map(|db| keys(server, db)), [0, 2, 1]);
    }
    assert_eq!(server.line("FLUSHALL ASYNC"), Value::Simple(b"OK".to_vec()));
    assert_eq!([0, 1, 2].map(|db| keys(&server.reopen(), db)), [0, 0, 0]);
}

#[test]
fn replies_that_saw_many_keys_wait_for_the_log() {
    let mut server = TestServer::new();
    server.log.stop_acknowledging();
    // The last ones find nothing, but only because of a flush that a crash may take back.
    for line in [
        "SET k v",
        "KEYS x",
        "SCAN 0",
        "RANDOMKEY",
        "DBSIZE",
        "FLUSHDB",
        "SWAPDB 0 1",
        "FLUSHALL",
        "EVAL return(redis.call('FLUSHALL')) 0",
    ] {
        server.session.gate.take();
        server.line(line);
        assert!(!server.session.gate.is_open(), "{line}");
    }
}

#[test]
fn replies_about_one_key_wait_for_its_change_alone() {
    let mut writer = TestServer::new();
    writer.log.stop_acknowledging();
    writer.line("SET k v");
    writer.line("SET gone v");
    writer.line("DEL gone");
    let mut reader = writer.another_connection();
    for (line, waits) in [
        ("GET k", true),
        ("GET gone", true),
        ("EXISTS k", true),
        ("MGET other k", true),
        ("TTL k", true),
        ("STRLEN k", true),
        ("OBJECT ENCODING k", true),
        ("SET k w NX", true),
        ("DEL gone", true),
        ("GET other", false),
        ("PING", false),
    ] {
        reader.session.gate.take();
        reader.line(line);
        assert_eq!(!reader.session.gate.is_open(), waits, "{line}");
    }
}

#[test]
fn a_log_that_refuses_changes_refuses_flushes() {
    let mut server = TestServer::new();
    server.line("SET k v");
    server.log.refuse(Some(Refusal::Failed("no disk".to_owned())));
    for line in ["FLUSHALL", "FLUSHDB ASYNC", "SWAPDB 0 1"] {
        let Value::Error(text) = server.line(line) else { panic!("{line}") };
        assert!(text.starts_with(b"MISCONF"), "{line}");
    }
    server.log.refuse(None);
    assert_eq!(server.line("DBSIZE"), Value::Integer(1));
}

#[test]
fn what_frees_space_goes_on_while_the_disk_is_full() {
    let mut server = TestServer::new();
    for line in ["MSET a 1 b 2 c 3 d 4", "RPUSH list x y", "HSET hash f v", "SET due v PX 100"] {
        server.line(line);
    }
    server.log.refuse(Some(Refusal::DiskFull));
    for line in ["SET a 2", "APPEND a x", "RPUSH list z", "SETEX b 10 v", "INCR a", "COPY a z"] {
        let Value::Error(text) = server.line(line) else { panic!("{line}") };
        assert!(text.starts_with(b"MISCONF"), "{line}");
    }
    for (line, reply) in [
        ("DEL a", 1),
        ("UNLINK b", 1),
        ("PEXPIRE c 100", 1),
        ("PERSIST c", 1),
        ("LREM list 0 x", 1),
        ("HDEL hash f", 1),
        ("DBSIZE", 4),
    ] {
        assert_eq!(server.line(line), Value::Integer(reply), "{line}");
    }
    server.clock.advance_ms(200);
    let start = Instant::now();
    while server.server.engine.expired_keys() == 0 {
        assert!(start.elapsed() < Duration::from_secs(120), "nothing expires");
        std::thread::yield_now();
    }
    assert_eq!(server.line("FLUSHALL"), Value::Simple(b"OK".to_vec()));
    assert_eq!(server.line("DBSIZE"), Value::Integer(0));
}

#[test]
fn big_values_are_freed_in_the_background() {
    const DEADLINE: Duration = Duration::from_secs(120);
    let mut server = TestServer::new();
    let big = "x".repeat(2 << 20);
    // The housekeeping thread may free a value before this one looks; hardly every time.
    let deferred = ["DEL k", "UNLINK k", "SET k small"].iter().all(|line| {
        (0..20).any(|_| {
            server.run(&["SET", "k", &big]);
            server.line(line);
            server.server.engine.retired_bytes() >= big.len()
        })
    });
    assert!(deferred);
    let start = Instant::now();
    while server.server.engine.retired_bytes() > 0 {
        assert!(start.elapsed() < DEADLINE, "nobody frees it");
        std::thread::yield_now();
    }
    // What another key still holds is nobody's to free.
    server.run(&["SET", "a", &big]);
    server.line("COPY a b");
    server.line("RENAME b c");
    server.line("DEL a");
    assert_eq!(server.server.engine.retired_bytes(), 0);
    assert_eq!(server.line("STRLEN c"), Value::Integer(big.len() as i64));
}

#[test]
fn touch_counts_as_a_use_and_looking_does_not() {
    let mut server = TestServer::new();
    server.line("SET k v");
    server.clock.advance_ms(5000);
    for line in ["TTL k", "TYPE k", "EXISTS k", "OBJECT ENCODING k"] {
        server.line(line);
        assert_eq!(server.line("OBJECT IDLETIME k"), Value::Integer(5), "{line}");
    }
    server.line("TOUCH k");
    assert_eq!(server.line("OBJECT IDLETIME k"), Value::Integer(0));
}

#[test]
fn restore_keeps_the_idle_time_or_the_frequency_as_the_policy_wants() {
    let mut server = TestServer::new();
    server.line("SET k v");
    let Value::Bulk(payload) = server.line("DUMP k") else { panic!("no payload") };
    let restore = |server: &mut TestServer, option: &str, value: &str| {
        let words: [&[u8]; 7] =
            [b"RESTORE", b"k", b"0", &payload, b"REPLACE", option.as_bytes(), value.as_bytes()];
        assert_eq!(server.run(&words), Value::Simple(b"OK".to_vec()));
    };
    restore(&mut server, "IDLETIME", "1000");
    assert_eq!(server.line("OBJECT IDLETIME k"), Value::Integer(1000));
    restore(&mut server, "FREQ", "100");
    assert_eq!(server.line("OBJECT IDLETIME k"), Value::Integer(0));
    assert!(matches!(server.line("OBJECT FREQ k"), Value::Error(_)));

    server.line("CONFIG SET maxmemory-policy allkeys-lfu");
    assert!(matches!(server.line("OBJECT IDLETIME k"), Value::Error(_)));
    server.line("SET new v");
    assert_eq!(server.line("OBJECT FREQ new"), Value::Integer(5));
    for frequency in [0, 5, 100, 255] {
        restore(&mut server, "FREQ", &frequency.to_string());
        assert_eq!(server.line("OBJECT FREQ k"), Value::Integer(frequency));
    }
    // A point a minute without a use.
    server.clock.advance_ms(10 * 60 * 1000);
    assert_eq!(server.line("OBJECT FREQ k"), Value::Integer(245));
    assert_eq!(server.line("OBJECT FREQ new"), Value::Integer(0));
    restore(&mut server, "IDLETIME", "1000");
    assert_eq!(server.line("OBJECT FREQ k"), Value::Integer(5));
}

/// In these tests time does not pass by itself and nobody else is there: whatever may wait must
/// come to an end.
#[test]
fn a_command_that_would_wait_for_others_ends_at_once() {
    let mut server = TestServer::new();
    let bytes = |server: &mut TestServer, line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        server.run_for_bytes(&words)
    };
    for line in ["BLPOP none 0", "BRPOP none 3000", "BLMPOP 0 2 a b LEFT", "BZPOPMIN none 0"] {
        assert_eq!(bytes(&mut server, line), b"*-1\r\n", "{line}");
    }
    assert_eq!(bytes(&mut server, "XREAD BLOCK 0 STREAMS none $"), b"*-1\r\n");
    let waited_for = server.server.engine.keys_waited_for(basalt_engine::LockWait::Endless);
    assert_eq!(waited_for, Ok((0, 0)));
    for scope in ["WRITE", "ALL"] {
        server.line(&format!("CLIENT PAUSE 9223372036854 {scope}"));
        assert_eq!(server.line("SET k v"), Value::Simple(b"OK".to_vec()));
    }
}
