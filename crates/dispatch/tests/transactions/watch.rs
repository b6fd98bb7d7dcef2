//! What counts as a change of a watched key: the same as in Redis, and nothing else.

use super::{is_aborted, transaction};
use crate::harness::TestServer;
use crate::harness::redis::Redis;
use basalt_engine::LockWait;
use basalt_resp::Value;

/// What is there before WATCH k, in database 0.
const BEFORE: &[&str] = &["SET k v", "SET other o PXAT 4000000000000", "SET far x"];

/// What happens between WATCH and MULTI, and whether it is a change of `k`.
const EVENTS: &[(&str, bool)] = &[
    ("GET k", false),
    ("SET k v", true),
    ("SET k w NX", false),
    ("SETNX k w", false),
    ("APPEND k x", true),
    ("SETRANGE k 3 x", true),
    ("INCR n", false),
    ("DEL k", true),
    ("UNLINK k", true),
    ("DEL absent", false),
    ("GETDEL k", true),
    ("GETEX k", false),
    ("GETEX k EX 100", true),
    ("EXPIRE k 100", true),
    ("EXPIRE k -1", true),
    ("PERSIST k", false),
    ("PERSIST other", false),
    ("TOUCH k", false),
    ("RENAME k elsewhere", true),
    ("RENAME other k", true),
    ("RENAMENX other k", false),
    ("RENAME other far", false),
    ("COPY k elsewhere", false),
    ("COPY other k", false),
    ("COPY other k REPLACE", true),
    ("COPY other k DB 1", false),
    ("MOVE k 1", true),
    ("MOVE other 1", false),
    ("MSET a 1 k 2", true),
    ("MSETNX a 1 k 2", false),
    ("FLUSHDB", true),
    ("FLUSHALL", true),
    ("SWAPDB 0 1", true),
    ("SWAPDB 0 0", false),
    ("SWAPDB 1 2", false),
    ("RENAME k k", false),
    ("RENAME absent k", false),
    ("RENAMENX k k", false),
    ("MOVE absent 1", false),
    ("SET k v GET", true),
    ("EXPIRE absent 1", false),
    ("PEXPIREAT k 1", true),
    ("EXPIRE k 100 GT", false),
    ("GETEX k PERSIST", false),
    ("SORT absent STORE k", true),
    ("SORT absent STORE absent", false),
    ("EVAL return(redis.call('SET',KEYS[1],'v')) 1 k", true),
    ("EVAL return(redis.call('GET',KEYS[1])) 1 k", false),
    ("EVAL return(redis.call('DEL',KEYS[1])) 1 absent", false),
    ("EVAL redis.call('SET','k','v') 0", true),
    ("RESTORE k 0 x", false),
    ("RESTORE k 0 x REPLACE", false),
    ("SPUBLISH k v", false),
    ("LPUSH k v", false),
    ("INCR k", false),
    ("UNWATCH", false),
];

/// Commands, and whether they abort a transaction that watches a key which was not there.
const EVENTS_OF_AN_ABSENT_KEY: &[(&str, bool)] = &[
    ("GET none", false),
    ("DEL none", false),
    ("SET none 1", true),
    ("EXPIRE none 1", false),
    ("RENAME other none", true),
    ("COPY other none", true),
    ("FLUSHDB", false),
    ("FLUSHALL", false),
    ("SWAPDB 0 1", false),
    ("MOVE other 1", false),
    ("UNLINK none other", false),
    ("RENAME none other", false),
    ("SETNX none 1", true),
    ("GETEX none EX 1", false),
    ("GETSET none 1", true),
    ("SORT absent STORE none", false),
    ("EVAL return(redis.call('SET',KEYS[1],'v')) 1 none", true),
    ("EVAL return(redis.call('DEL',KEYS[1])) 1 none", false),
];

fn prepare(run: &mut dyn FnMut(&str) -> Value) {
    run("FLUSHALL");
    BEFORE.iter().for_each(|line| assert_eq!(run(line), Value::Simple(b"OK".to_vec())));
}

fn try_event(run: &mut dyn FnMut(&str) -> Value, key: &str, event: &str) -> bool {
    prepare(run);
    run(&format!("WATCH {key}"));
    run(event);
    run("MULTI");
    run("PING");
    is_aborted(&run("EXEC"))
}

#[test]
fn events_change_a_watched_key_as_in_redis() {
    let mut server = TestServer::new();
    let mut redis = Redis::start();
    for (key, events) in [("k", EVENTS), ("none", EVENTS_OF_AN_ABSENT_KEY)] {
        for &(event, changes) in events {
            let changed = try_event(&mut |line| server.line(line), key, event);
            assert_eq!(changed, changes, "{event} of {key}");
            if let Some(redis) = &mut redis {
                let mut run = |line: &str| redis.run(&line.split(' ').collect::<Vec<_>>());
                assert_eq!(try_event(&mut run, key, event), changes, "{event} of {key} in Redis");
            }
        }
    }
}

#[test]
fn another_client_changes_a_watched_key_just_as_well() {
    let mut watcher = TestServer::new();
    let mut other = watcher.another_connection();
    for &(event, changes) in EVENTS.iter().filter(|(event, _)| *event != "UNWATCH") {
        prepare(&mut |line| watcher.line(line));
        watcher.line("WATCH k far");
        other.line(event);
        let aborted = is_aborted(&transaction(&mut watcher, &["PING"]));
        assert_eq!(aborted, changes || event == "RENAME other far", "{event}");
    }
}

/// Databases, in both of which a key may be, changed from another one.
const ACROSS_DATABASES: &[(&str, bool)] = &[
    ("SWAPDB 0 1", true),
    ("SWAPDB 1 2", false),
    ("FLUSHDB", false),
    ("FLUSHALL", true),
    ("SET k v", false),
    ("COPY k k DB 0 REPLACE", true),
    ("COPY k k DB 0", false),
    ("MOVE k 0", false),
    ("DEL k", false),
];

#[test]
fn only_the_database_of_a_watched_key_counts() {
    let mut server = TestServer::new();
    let mut redis = Redis::start();
    for &(event, changes) in ACROSS_DATABASES {
        let changed = |run: &mut dyn FnMut(&str) -> Value| {
            run("FLUSHALL");
            let script = ["SET k v", "SELECT 1", "SET k v", "SELECT 0", "WATCH k", "SELECT 1"];
            script.iter().for_each(|line| drop(run(line)));
            run(event);
            ["SELECT 0", "MULTI", "PING"].iter().for_each(|line| drop(run(line)));
            is_aborted(&run("EXEC"))
        };
        assert_eq!(changed(&mut |line| server.line(line)), changes, "{event}");
        if let Some(redis) = &mut redis {
            let mut run = |line: &str| redis.run(&line.split(' ').collect::<Vec<_>>());
            assert_eq!(changed(&mut run), changes, "{event} in Redis");
        }
    }
}

#[test]
fn what_restore_brings_counts() {
    let mut server = TestServer::new();
    let mut other = server.another_connection();
    other.line("SET k v");
    let Value::Bulk(payload) = other.line("DUMP k") else { panic!("no payload") };
    for (options, changes) in [(&[][..], false), (&[&b"REPLACE"[..]][..], true)] {
        server.line("WATCH k");
        let words = [&[&b"RESTORE"[..], b"k", b"0", &payload][..], options].concat();
        assert_eq!(matches!(other.run(&words), Value::Error(_)), !changes);
        assert_eq!(is_aborted(&transaction(&mut server, &["PING"])), changes);
    }
}

#[test]
fn what_swapdb_brings_counts() {
    let mut server = TestServer::new();
    let mut other = server.another_connection();
    other.line("SELECT 1");
    other.line("SET there 1");
    server.line("WATCH there");
    other.line("SWAPDB 1 0");
    assert!(is_aborted(&transaction(&mut server, &["PING"])));
}

#[test]
fn a_key_that_expires_counts_and_one_that_had_expired_does_not() {
    let mut server = TestServer::new();
    server.server.engine.set_active_expiry(false);
    for is_removed in [false, true] {
        server.line("SET k v PX 1000");
        server.line("WATCH k");
        server.clock.advance_ms(1000);
        if is_removed {
            server.server.engine.expire_due();
        }
        assert!(is_aborted(&transaction(&mut server, &["PING"])), "removed: {is_removed}");
        server.line("SET k v PX 1000");
        server.clock.advance_ms(1001);
        server.line("WATCH k");
        if is_removed {
            server.clock.advance_ms(1000);
            server.server.engine.expire_due();
            assert_eq!(server.server.engine.totals(0).keys, 0);
        }
        assert!(!is_aborted(&transaction(&mut server, &["PING"])), "removed: {is_removed}");
        // What replaces it is a change all the same.
        server.line("WATCH k");
        server.line("SET k w");
        assert!(is_aborted(&transaction(&mut server, &["PING"])));
        server.line("DEL k");
    }
}

#[test]
fn a_hash_expires_with_the_last_of_its_fields() {
    let mut server = TestServer::new();
    server.server.engine.set_active_expiry(false);
    for fields in [2, 1000] {
        let names: Vec<String> = (0..fields).map(|number| format!("f{number}")).collect();
        let pairs: String = names.iter().map(|name| format!(" {name} v")).collect();
        let expire = |ms: u64, names: &[String]| {
            format!("HPEXPIRE h {ms} FIELDS {} {}", names.len(), names.join(" "))
        };
        server.line(&format!("HSET h{pairs}"));
        server.line(&expire(1000, &names[1..]));
        server.line("WATCH h");
        server.clock.advance_ms(1000);
        assert!(!is_aborted(&transaction(&mut server, &["PING"])), "{fields}: one is left");
        server.line(&format!("HSET h{pairs}"));
        server.line(&expire(1000, &names[1..]));
        server.line(&expire(2000, &names[..1]));
        server.line("WATCH h");
        server.clock.advance_ms(2000);
        assert!(is_aborted(&transaction(&mut server, &["PING"])), "{fields}: all have expired");
        server.line("DEL h");
    }
}

#[test]
fn an_expired_key_that_is_flushed_or_deleted_is_no_change() {
    for event in ["FLUSHALL", "DEL k", "SWAPDB 0 1"] {
        let mut server = TestServer::new();
        server.server.engine.set_active_expiry(false);
        server.line("SET k v PX 1000");
        server.clock.advance_ms(1001);
        server.line("WATCH k");
        server.line(event);
        assert!(!is_aborted(&transaction(&mut server, &["PING"])), "{event}");
    }
}

/// Has every key on disk only.
fn unload(server: &TestServer) {
    server.leave_memory();
}

#[test]
fn leaving_memory_and_coming_back_is_no_change() {
    let mut server = TestServer::new();
    server.line("MSET k 1 l 2");
    server.line("WATCH k none");
    unload(&server);
    assert_eq!(server.server.engine.totals(0).keys_cold_only, 2);
    server.line("GET k");
    assert_eq!(server.server.engine.totals(0).keys_cold_only, 1);
    assert!(!is_aborted(&transaction(&mut server, &["GET k"])));
    // A key is found on disk to be watched, and a change of it is seen from there on.
    unload(&server);
    server.line("WATCH k");
    server.line("INCR k");
    assert!(is_aborted(&transaction(&mut server, &["GET k"])));
}

#[test]
fn watches_end_with_exec_discard_unwatch_reset_and_the_connection() {
    let mut server = TestServer::new();
    let mut other = server.another_connection();
    let no_one_watches = |server: &TestServer| !server.server.engine.is_watched();
    for end in [&["UNWATCH"][..], &["MULTI", "EXEC"], &["MULTI", "DISCARD"], &["RESET"]] {
        server.line("WATCH a b c");
        assert!(!no_one_watches(&server));
        end.iter().for_each(|line| drop(server.line(line)));
        assert!(no_one_watches(&server), "{end:?}");
        other.line("SET a 1");
        assert!(!is_aborted(&transaction(&mut server, &["PING"])), "{end:?}");
    }
    other.line("WATCH a b");
    let engine = std::sync::Arc::clone(&server.server.engine);
    other.session.close(&engine, LockWait::Brief);
    assert!(no_one_watches(&server));
}

#[test]
fn exec_that_fails_by_its_own_fault_ends_the_watch_too() {
    let mut server = TestServer::new();
    server.line("WATCH k");
    server.line("SET k 1");
    server.line("MULTI");
    server.line("NOSUCH");
    assert!(matches!(server.line("EXEC"), Value::Error(text) if text.starts_with(b"EXECABORT")));
    assert!(!is_aborted(&transaction(&mut server, &["PING"])));
}

/// What is there before an event on a collection or on bits: keys and how they are made.
const COLLECTIONS: &[&str] = &[
    "SET bits abc",
    "SET n 5",
    "RPUSH l a b c",
    "SADD s a b c",
    "ZADD z 1 a 2 b",
    "HSET h f v g w",
    "HSET numbers n 5",
    "PFADD p a b",
    "XADD x 1-0 f v",
    "XADD x 2-0 f v",
    "XADD x 3-0 f v",
    "XGROUP CREATE x g 0",
    "XGROUP CREATE x other 0",
    "XREADGROUP GROUP g c COUNT 2 STREAMS x >",
    "XADD empty 1-0 f v",
    "XDEL empty 1-0",
    "GEOADD geo 1 1 a",
];

/// A key, and a command that may be a change of it: Redis says which of them are.
const ON_COLLECTIONS: &[(&str, &str)] = &[
    ("bits", "SETBIT bits 0 0"),
    ("bits", "SETBIT bits 0 1"),
    ("bits", "SETBIT bits 100 0"),
    ("bits", "BITFIELD bits SET u8 0 97"),
    ("bits", "BITFIELD bits SET u8 0 98"),
    ("bits", "BITFIELD bits SET u8 80 0"),
    ("bits", "BITFIELD bits INCRBY u8 0 0"),
    ("bits", "BITFIELD bits INCRBY u8 0 1"),
    ("bits", "BITFIELD bits OVERFLOW FAIL INCRBY u8 0 255"),
    ("bits", "BITFIELD bits GET u8 0"),
    ("bits", "SETRANGE bits 0 abc"),
    ("bits", "SETRANGE bits 0 "),
    ("bits", "APPEND bits "),
    ("bits", "GETSET bits abc"),
    ("bits", "BITOP AND bits none none2"),
    ("none", "BITOP AND none none2 none3"),
    ("none", "SETBIT none 0 0"),
    ("none", "BITFIELD none SET u8 0 0"),
    ("none", "BITFIELD none GET u8 0"),
    ("n", "INCRBY n 0"),
    ("n", "INCRBYFLOAT n 0"),
    ("l", "LTRIM l 0 -1"),
    ("l", "LTRIM l 1 -1"),
    ("l", "LSET l 0 a"),
    ("l", "LSET l 0 z"),
    ("l", "LREM l 0 nothing"),
    ("l", "LREM l 0 a"),
    ("l", "LINSERT l BEFORE nothing x"),
    ("l", "LINSERT l BEFORE a x"),
    ("l", "LPUSHX none x"),
    ("none", "LPUSHX none x"),
    ("l", "LPOP l 0"),
    ("l", "LMOVE l l LEFT LEFT"),
    ("l", "LMOVE none l LEFT LEFT"),
    ("l", "SORT l ALPHA STORE l"),
    ("none", "SORT none STORE none"),
    ("l", "SORT none STORE l"),
    ("s", "SADD s a"),
    ("s", "SADD s d"),
    ("s", "SREM s nothing"),
    ("s", "SREM s a"),
    ("s", "SPOP s 0"),
    ("s", "SMOVE s s a"),
    ("s", "SMOVE s none nothing"),
    ("s", "SINTERSTORE s none none"),
    ("s", "SUNIONSTORE s s"),
    ("none", "SUNIONSTORE none none"),
    ("z", "ZADD z 1 a"),
    ("z", "ZADD z 2 a"),
    ("z", "ZADD z NX 2 a"),
    ("z", "ZADD z XX GT 0 a"),
    ("z", "ZINCRBY z 0 a"),
    ("z", "ZREM z nothing"),
    ("z", "ZREMRANGEBYSCORE z 5 6"),
    ("z", "ZPOPMIN z 0"),
    ("z", "ZUNIONSTORE z 1 none"),
    ("z", "ZRANGESTORE z none 0 -1"),
    ("none", "ZRANGESTORE none none 0 -1"),
    ("h", "HSET h f v"),
    ("h", "HMSET h f v"),
    ("none", "LTRIM none 0 -1"),
    ("numbers", "HINCRBY numbers n 0"),
    ("numbers", "HINCRBYFLOAT numbers n 0"),
    ("numbers", "HSET numbers n 5 m 1"),
    ("h", "HSETNX h f x"),
    ("h", "HDEL h nothing"),
    ("h", "HDEL h f"),
    ("h", "HINCRBY h new 0"),
    ("p", "PFADD p a"),
    ("p", "PFADD p"),
    ("p", "PFADD p c"),
    ("p", "PFMERGE p p"),
    ("p", "PFCOUNT p"),
    ("none", "PFADD none"),
    ("geo", "GEOADD geo 1 1 a"),
    ("x", "XADD x * f v"),
    ("x", "XADD x NOMKSTREAM 1-0 f v"),
    ("x", "XDEL x 9-0"),
    ("x", "XDEL x 1-0"),
    ("x", "XTRIM x MAXLEN 10"),
    ("x", "XTRIM x MAXLEN 1"),
    ("x", "XSETID x 9-0"),
    ("x", "XACK x g 1-0"),
    ("x", "XACK x g 9-0"),
    ("x", "XREADGROUP GROUP g c STREAMS x >"),
    ("x", "XREADGROUP GROUP g new STREAMS x >"),
    ("x", "XREADGROUP GROUP g c STREAMS x 0"),
    ("x", "XREADGROUP GROUP g c NOACK STREAMS x >"),
    ("x", "XGROUP CREATE x h 0"),
    ("none", "XGROUP CREATE none h 0 MKSTREAM"),
    ("x", "XGROUP SETID x g 0"),
    ("x", "XGROUP CREATECONSUMER x g new"),
    ("x", "XGROUP DELCONSUMER x g c"),
    ("x", "XGROUP DESTROY x g"),
    ("x", "XCLAIM x g other 0 1-0"),
    ("x", "XCLAIM x g other 0 1-0 JUSTID"),
    ("x", "XAUTOCLAIM x g other 0 0"),
    ("empty", "XSETID empty 5-0"),
    ("n", "EXPIRE n 100 XX"),
    ("n", "EXPIRE n 100 NX"),
    ("n", "GETEX n PERSIST"),
    ("n", "SET n 5 XX KEEPTTL"),
    ("n", "SET n 6 NX GET"),
    ("n", "OBJECT FREQ n"),
];

#[test]
fn commands_that_change_nothing_of_a_watched_key_are_those_of_redis() {
    let Some(mut redis) = Redis::start() else { return };
    let mut server = TestServer::new();
    let mut differences = Vec::new();
    for &(key, event) in ON_COLLECTIONS {
        let changed = |run: &mut dyn FnMut(&str) -> Value| {
            run("FLUSHALL");
            COLLECTIONS.iter().for_each(|line| drop(run(line)));
            run(&format!("WATCH {key}"));
            run(event);
            run("MULTI");
            run("PING");
            is_aborted(&run("EXEC"))
        };
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let ours = changed(&mut |line| server.run(&words(line)));
        let theirs = changed(&mut |line| {
            let words = words(line);
            redis.run(&words.iter().map(String::as_str).collect::<Vec<_>>())
        });
        if ours != theirs {
            differences.push(format!("{event}: a change of {key}: {ours}, in Redis {theirs}"));
        }
    }
    assert!(differences.is_empty(), "\n{}", differences.join("\n"));
}
