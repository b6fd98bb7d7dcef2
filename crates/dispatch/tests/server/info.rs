//! INFO has the fields that Redis has, and they say what is so.

use super::text;
use crate::harness::TestServer;
use crate::harness::redis::Redis;
use basalt_resp::decode;
use std::collections::{BTreeMap, BTreeSet};

/// Fields of Redis 7.0 that have no counterpart here.
const EXCEPTIONS: &[&str] = &[
    // How Redis was built.
    "atomicvar_api",
    "gcc_version",
    // There is no main thread that does all the work.
    "used_cpu_sys_main_thread",
    "used_cpu_user_main_thread",
    // Reads and writes are not counted one by one; `total_event_loop_turns` says more.
    "total_reads_processed",
    "total_writes_processed",
    "io_threaded_reads_processed",
    "io_threaded_writes_processed",
    // From the process that the server runs in (`Host::journal_info`), which tests do not have.
    "aof_last_write_status",
];

/// Sections that list what has happened.
const LISTS: &[&str] = &["errorstat_", "cmdstat_", "latency_percentiles_usec_"];

fn parse(text: &str) -> BTreeMap<String, String> {
    let lines = text.split("\r\n").filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| line.split_once(':').unwrap_or_else(|| panic!("no field: {line}")))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

fn titles(text: &str) -> Vec<&str> {
    text.split("\r\n").filter(|line| line.starts_with('#')).collect()
}

#[test]
fn all_fields_of_redis_are_there() {
    let Some(mut redis) = Redis::start() else { return };
    let mut server = TestServer::new();
    let expected = text(&decode(&redis.run_for_bytes(&["INFO", "everything"])).unwrap().unwrap().0);
    let actual = text(&server.line("INFO everything"));
    let own = parse(&actual);
    let missing: BTreeSet<String> = parse(&expected)
        .into_keys()
        .filter(|name| !own.contains_key(name))
        .filter(|name| !LISTS.iter().any(|list| name.starts_with(list)))
        .filter(|name| !EXCEPTIONS.contains(&name.as_str()))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
    let mut expected = titles(&expected);
    // Of Redis 8.
    expected.push("# Keysizes");
    // Our own.
    expected.push("# Tier");
    assert_eq!(titles(&actual), expected);
    for words in ["INFO", "INFO all", "INFO default", "INFO keyspace server", "INFO CPU stats"] {
        let words: Vec<&str> = words.split(' ').collect();
        let expected = text(&decode(&redis.run_for_bytes(&words)).unwrap().unwrap().0);
        let actual = text(&server.run(&words));
        assert_eq!(titles(&actual), titles(&expected), "{words:?}");
    }
}

#[test]
fn fields_say_what_has_happened() {
    let mut server = TestServer::new();
    for line in ["SET a 1", "SET b 1 EX 100", "GET a", "GET none", "SET a", "NOSUCH"] {
        server.line(line);
    }
    let info = parse(&text(&server.line("INFO everything")));
    let expect = |name: &str, value: &str| {
        assert_eq!(info.get(name).map(String::as_str), Some(value), "{name}");
    };
    expect("db0", "keys=2,expires=1,avg_ttl=0");
    expect("keyspace_hits", "1");
    expect("keyspace_misses", "1");
    expect("rdb_changes_since_last_save", "2");
    expect("rdb_last_bgsave_time_sec", "-1");
    expect("errorstat_ERR", "count=2");
    // As in Redis, INFO is counted when it has run.
    expect("total_commands_processed", "6");
    expect("connected_clients", "1");
    expect("role", "master");
    assert!(info["cmdstat_set"].starts_with("calls=2,usec="), "{}", info["cmdstat_set"]);
    assert!(info["cmdstat_set"].ends_with(",rejected_calls=1,failed_calls=0"));
    assert!(info["used_memory_dataset"].parse::<u64>().unwrap() > 0);

    server.line("SAVE");
    server.line("CONFIG RESETSTAT");
    let info = parse(&text(&server.line("INFO everything")));
    assert_eq!(info["rdb_changes_since_last_save"], "0");
    assert_eq!(info["rdb_saves"], "1");
    assert_eq!(info["keyspace_hits"], "0");
    assert!(!info.contains_key("errorstat_ERR") && !info.contains_key("cmdstat_set"));
}

/// As Redis counts: each key that a command changes, and each element that it adds, changes or
/// removes; what has been saved is not counted, and nor is what changes nothing.
#[test]
fn changes_since_the_last_save_are_counted_change_by_change() {
    let mut server = TestServer::new();
    let changes = |server: &mut TestServer| -> u64 {
        let info = parse(&text(&server.line("INFO persistence")));
        info["rdb_changes_since_last_save"].parse().unwrap()
    };
    for (line, counted) in [
        ("SET a 1", 1),
        ("SET a 2", 1),
        ("GET a", 0),
        ("DEL none", 0),
        ("INCR a", 1),
        ("MSET a 1 b 2", 2),
        ("EXPIRE a 100", 1),
        ("RPUSH l a b c", 3),
        ("LPUSH l d e", 2),
        ("HSET h a 1 b 2", 2),
        ("SADD s a b c", 3),
        ("SADD s a b d", 1),
        ("ZADD z 1 a 2 b", 2),
        ("ZADD z 1 a 3 b", 1),
        ("SPOP s 2", 2),
        ("SUNIONSTORE y s s", 1),
        ("COPY a q", 1),
        ("GETDEL q", 1),
        ("DEL a l", 2),
        ("RPUSH m a b c", 3),
        // Redis counts the elements that are removed; here a range is one edit.
        ("LTRIM m 0 0", 1),
        ("FLUSHDB", 1),
        ("FLUSHDB", 0),
    ] {
        let before = changes(&mut server);
        server.line(line);
        assert_eq!(changes(&mut server) - before, counted, "{line}");
    }
    server.line("SAVE");
    assert_eq!(changes(&mut server), 0);
    server.line("SET a 1");
    server.line("SET a 1");
    assert_eq!(changes(&mut server), 2);
    server.line("CONFIG RESETSTAT");
    assert_eq!(changes(&mut server), 2);
}

#[test]
fn sizes_of_keys_are_shown_by_type_and_database() {
    let mut server = TestServer::new();
    assert_eq!(text(&server.line("INFO keysizes")), "# Keysizes\r\n");
    for line in ["SET short v", "SET other vv", "RPUSH l 1 2 3", "SADD s 1", "XADD x * f v"] {
        server.line(line);
    }
    server.line(&format!("SET long {}", "x".repeat(5_000)));
    server.line("SELECT 3");
    server.line("HSET h f v g v");
    server.line("ZADD z 1 m");
    assert_eq!(
        text(&server.line("INFO keysizes")),
        "# Keysizes\r\n\
         db0_distrib_strings_sizes:1=1,2=1,4K=1\r\n\
         db0_distrib_lists_items:2=1\r\n\
         db0_distrib_sets_items:1=1\r\n\
         db3_distrib_zsets_items:1=1\r\n\
         db3_distrib_hashes_items:2=1\r\n"
    );
    assert!(!text(&server.line("INFO all")).contains("# Keysizes"));
    assert!(text(&server.line("INFO everything")).contains("# Keysizes"));
}

/// Of more keys than are looked at, all are counted, about.
#[test]
fn sizes_of_many_keys_are_scaled_from_a_sample() {
    const KEYS: u64 = 60_000;
    let mut server = TestServer::new();
    let mut input = Vec::new();
    for number in 0..KEYS {
        basalt_resp::encode_request(&["SET", &format!("key:{number}"), "value"], &mut input);
    }
    server.run_bytes(input, 64);
    let shown = text(&server.line("INFO keysizes"));
    let count = shown.split("strings_sizes:4=").nth(1).expect("one bin").trim_end();
    assert_eq!(count.parse(), Ok(KEYS), "{shown}");
}
