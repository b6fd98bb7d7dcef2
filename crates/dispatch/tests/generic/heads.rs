//! Commands that ask no more than what rows begin with leave keys that are on disk there, and
//! answer as if these were in memory.

use crate::harness::{START_MS, TestServer};
use basalt_engine::Engine;
use basalt_resp::Value;
use std::sync::Arc;

/// Longer than a piece in any life of a server.
const LONG: usize = 3 << 20;

/// A key of each type in each form, some that expire, and one that has expired.
fn fill(server: &mut TestServer) -> Vec<&'static str> {
    let many = |from: usize| (from..from + 20_000).map(|number| format!(" {number}"));
    let pairs: String = many(0).map(|number| format!("{number}{number}")).collect();
    let lines = [
        "SET string value".to_owned(),
        "SET empty".to_owned(),
        format!("SET middle {}", "x".repeat(700)),
        format!("SET long {}", "y".repeat(LONG)),
        "APPEND edited part".to_owned(),
        "SET soon value PX 5000".to_owned(),
        format!("SET long-soon {} EX 7000", "z".repeat(LONG)),
        "RPUSH list a b".to_owned(),
        format!("RPUSH long-list{}", many(0).collect::<String>()),
        "SADD set a b".to_owned(),
        format!("SADD long-set{}", many(0).collect::<String>()),
        "HSET hash a 1".to_owned(),
        format!("HSET long-hash{pairs}"),
        "ZADD zset 1 a".to_owned(),
        format!("ZADD long-zset{pairs}"),
        "XADD stream 1-1 a b".to_owned(),
        "Q.PUT queue message".to_owned(),
        "CAS.SET versioned value FORCE 7".to_owned(),
        "SET gone value PX 500".to_owned(),
        "HSET mixed a 1 b 2".to_owned(),
        "HPEXPIRE mixed 500 FIELDS 1 a".to_owned(),
        "HSET passing a 1 b 2".to_owned(),
        "HPEXPIRE passing 500 FIELDS 1 a".to_owned(),
        "HPEXPIRE passing 5000 FIELDS 1 b".to_owned(),
        "HSET past a 1".to_owned(),
        "HPEXPIRE past 500 FIELDS 1 a".to_owned(),
        format!("HSET long-mixed{pairs}"),
        "HPEXPIRE long-mixed 500 FIELDS 2 1 7".to_owned(),
        format!("HSET long-passing{pairs}"),
        format!("HPEXPIRE long-passing 5000 FIELDS 20000{}", many(0).collect::<String>()),
        format!("HSET long-past{pairs}"),
        format!("HPEXPIRE long-past 500 FIELDS 20000{}", many(0).collect::<String>()),
    ];
    for line in &lines {
        let mut words: Vec<&str> = line.split_whitespace().collect();
        if words == ["SET", "empty"] {
            words.push("");
        }
        let reply = server.run(&words);
        assert!(!matches!(reply, Value::Error(_)), "{}: {reply:?}", words[0]);
    }
    server.line("EXPIRE long-set 100");
    server.line("PEXPIRE hash 123456");
    let mut keys: Vec<&'static str> =
        ["string", "empty", "middle", "long", "edited", "soon", "long-soon", "list"].to_vec();
    keys.extend(["long-list", "set", "long-set", "hash", "long-hash", "zset", "long-zset"]);
    keys.extend(["stream", "queue", "versioned", "gone", "none", "mixed", "passing", "past"]);
    keys.extend(["long-mixed", "long-passing", "long-past"]);
    keys
}

const COMMANDS: [&str; 8] =
    ["EXISTS", "TYPE", "TTL", "PTTL", "EXPIRETIME", "PEXPIRETIME", "STRLEN", "TOUCH"];

fn ask(server: &mut TestServer, keys: &[&str]) -> Vec<Value> {
    let mut replies = Vec::new();
    for command in COMMANDS {
        for key in keys {
            replies.push(server.run(&[command, key]));
        }
    }
    let mut all = vec!["EXISTS", "string"];
    all.extend(keys);
    replies.push(server.run(&all));
    replies
}

/// Puts a hash of which all fields, named by numbers, expire after a second.
fn put_passing_hash(server: &mut TestServer, fields: usize) {
    let names: Vec<String> = (0..fields).map(|number| number.to_string()).collect();
    let pairs: String = names.iter().map(|name| format!(" {name} value")).collect();
    server.line(&format!("HSET hash{pairs}"));
    server.line(&format!("HPEXPIRE hash 1000 FIELDS {fields} {}", names.join(" ")));
}

fn on_disk(engine: &Arc<Engine>) -> u64 {
    engine.totals(0).keys_cold_only
}

#[test]
fn they_answer_alike_and_bring_nothing_into_memory() {
    let mut server = TestServer::new();
    server.server.engine.set_active_expiry(false);
    let keys = fill(&mut server);
    server.clock.advance_ms(1_000);
    let in_memory = ask(&mut server, &keys);
    server.leave_memory();
    let keys_on_disk = on_disk(&server.server.engine);
    assert!(keys_on_disk >= 24);
    assert_eq!(ask(&mut server, &keys), in_memory);
    assert_eq!(on_disk(&server.server.engine), keys_on_disk, "nothing has come into memory");
    // Others bring it in; then both are asked about in one command.
    server.line("LLEN long-list");
    server.line("GET string");
    assert_eq!(ask(&mut server, &keys), in_memory);
    assert_eq!(on_disk(&server.server.engine), keys_on_disk - 2);
}

#[test]
fn a_hash_is_gone_when_its_last_field_has_expired() {
    for fields in [2, 20_000] {
        let mut server = TestServer::new();
        server.server.engine.set_active_expiry(false);
        put_passing_hash(&mut server, fields);
        server.leave_memory();
        server.clock.advance_ms(999);
        assert_eq!(server.line("EXISTS hash"), Value::Integer(1), "{fields}");
        server.clock.advance_ms(1);
        assert_eq!(server.line("EXISTS hash"), Value::Integer(0), "{fields}");
        assert_eq!(server.line("TYPE hash"), Value::Simple(b"none".to_vec()), "{fields}");
        let scan = server.line("SCAN 0 COUNT 1000000");
        assert!(!format!("{scan:?}").contains("Bulk([104, 97"), "{fields}: {scan:?}");
        assert_eq!(on_disk(&server.server.engine), 1, "nothing has come into memory");
    }
}

/// As the row says until it is written again.
#[test]
fn a_hash_of_which_fields_have_changed_is_gone_at_another_time() {
    for fields in [2, 20_000] {
        let mut server = TestServer::new();
        server.server.engine.set_active_expiry(false);
        put_passing_hash(&mut server, fields);
        let changes = ["HPEXPIRE hash 2000", "HPERSIST hash", "HPEXPIRE hash 500"];
        let mut there = Vec::new();
        for line in changes {
            server.leave_memory();
            server.line(&format!("{line} FIELDS 1 1"));
            server.leave_memory();
            server.clock.advance_ms(1_000);
            there.push(server.line("EXISTS hash"));
            assert_eq!(on_disk(&server.server.engine), 1, "{fields}, {line}: it has been read");
        }
        assert_eq!(there, [1, 1, 0].map(Value::Integer), "{fields}");
    }
}

/// There is no room for a third time in what its row begins with.
#[test]
fn a_hash_with_an_expiry_and_versions_of_which_all_fields_expire_is_read() {
    let mut server = TestServer::new();
    server.server.engine.set_active_expiry(false);
    server.line("SET other value");
    server.line("CAS.HSET hash a 1");
    server.line("HPEXPIRE hash 1000 FIELDS 1 a");
    server.line("PEXPIRE hash 5000");
    server.leave_memory();
    assert_eq!(server.line("EXISTS other hash none"), Value::Integer(2));
    assert_eq!(on_disk(&server.server.engine), 1, "and no other is");
    server.clock.advance_ms(1_000);
    assert_eq!(server.line("EXISTS other hash none"), Value::Integer(1));
}

/// In the time between reading and running again.
#[test]
fn what_has_changed_since_it_was_read_is_read_again() {
    let mut server = TestServer::new();
    server.line("SET k value");
    server.leave_memory();
    let mut other = server.another_connection();
    for (line, expected) in
        [("APPEND k 123", 8), ("SET k four", 4), ("SETRANGE k 9 x", 10), ("DEL k", 0)]
    {
        let wait = server.run_when_free("STRLEN k").expect("it waits for the row");
        let engine = Arc::clone(&server.server.engine);
        let (sender, receiver) = std::sync::mpsc::channel();
        let done = Box::new(move |result| sender.send(result).expect("somebody waits"));
        assert!(wait.start(&engine, done).is_none());
        receiver.recv().expect("it is called").expect("the tier can be read");
        other.line(line);
        if expected != 4 {
            server.leave_memory();
        }
        assert_eq!(server.line("STRLEN k"), Value::Integer(expected), "{line}");
        server.leave_memory();
    }
}

/// Their heads would take more than half of the memory for keys.
#[test]
fn very_many_keys_are_refused_where_memory_is_small() {
    let mut server = TestServer::new();
    let keys: Vec<String> = (0..4_000).map(|number| format!("key:{number}")).collect();
    for key in &keys {
        server.run(&["SET", key, "value"]);
    }
    server.leave_memory();
    let ask = |server: &mut TestServer, target: u64| {
        let engine = Arc::clone(&server.server.engine);
        engine.set_memory_target(Some(target));
        let line = format!("EXISTS {}", keys.join(" "));
        let wait = server.run_when_free(&line).expect("it waits for the rows");
        let (sender, receiver) = std::sync::mpsc::channel();
        let done = Box::new(move |result| sender.send(result).expect("somebody waits"));
        assert!(wait.start(&engine, done).is_none());
        receiver.recv().expect("it is called")
    };
    let refused = ask(&mut server, 1 << 20).expect_err("it is too much");
    assert!(format!("{refused:?}").contains("OOM command needs 4000 keys"), "{refused:?}");
    // Where as many values may not come into memory: that would be an eighth.
    ask(&mut server, 3 << 20).expect("there is room");
    let all = keys.iter().map(String::as_str);
    let words: Vec<&str> = std::iter::once("DEL").chain(all).collect();
    assert_eq!(server.run(&words), Value::Integer(4_000));
    assert_eq!(server.line("DBSIZE"), Value::Integer(0));
}

/// Its changes are not in its row.
#[test]
fn a_collection_that_recovery_has_not_read_is_known_by_its_changes() {
    let mut server = TestServer::new();
    let members: String = (0..20_000).map(|number| format!(" {number}")).collect();
    server.line(&format!("SADD set{members}"));
    server.server.engine.checkpoint().expect("the tier is in memory");
    server.line("SADD set one more");
    server.line(&format!("PEXPIREAT set {}", START_MS + 5_000));
    let mut server = server.reopen();
    assert_eq!(server.line("PEXPIRETIME set"), Value::Integer(START_MS as i64 + 5_000));
    assert_eq!(on_disk(&server.server.engine), 1, "it has not been read");
    assert_eq!(server.line("SCARD set"), Value::Integer(20_002));
}

/// Whether a field stays is known as long as none is removed or expires.
#[test]
fn a_hash_that_recovery_has_not_read_is_read_if_its_fields_may_have_gone() {
    let all: String = (0..20_000).map(|number| format!(" {number}")).collect();
    let pairs: String = (0..20_000).map(|number| format!(" {number} value")).collect();
    for (lines, left, there) in [
        (&["HSET hash 7 new", "HINCRBY hash counter 2"][..], 1, 1),
        (&["HDEL hash 7"], 0, 1),
        (&[&format!("HPEXPIRE hash 1000 FIELDS 20000{all}")], 0, 0),
    ] {
        let mut server = TestServer::new();
        server.line(&format!("HSET hash{pairs}"));
        server.server.engine.checkpoint().expect("the tier is in memory");
        lines.iter().for_each(|line| drop(server.line(line)));
        let mut server = server.reopen();
        server.server.engine.set_active_expiry(false);
        server.clock.advance_ms(1_000);
        assert_eq!(server.line("EXISTS hash"), Value::Integer(there), "{}", lines[0]);
        assert_eq!(on_disk(&server.server.engine), left, "{}", lines[0]);
    }
}
