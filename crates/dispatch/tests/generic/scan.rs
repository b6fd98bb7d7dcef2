//! What SCAN promises, kept while tables grow and shrink.

use crate::harness::TestServer;
use basalt_env::random::Random;
use basalt_resp::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Calls SCAN once; returns the next cursor and the keys.
fn scan(server: &mut TestServer, cursor: &[u8], options: &[&str]) -> (Vec<u8>, Vec<Vec<u8>>) {
    let mut words: Vec<&[u8]> = vec![b"SCAN", cursor];
    words.extend(options.iter().map(|word| word.as_bytes()));
    let Value::Array(mut reply) = server.run(&words) else { panic!("an array") };
    let Some(Value::Array(keys)) = reply.pop() else { panic!("an array of keys") };
    let Some(Value::Bulk(next)) = reply.pop() else { panic!("a cursor") };
    (next, keys.into_iter().map(bulk).collect())
}

fn bulk(value: Value) -> Vec<u8> {
    let Value::Bulk(bytes) = value else { panic!("{value:?} is no bulk string") };
    bytes
}

/// Scans from start to end; `between` runs after each call.
fn whole_scan(
    server: &mut TestServer,
    options: &[&str],
    mut between: impl FnMut(&mut TestServer, usize),
) -> Vec<Vec<u8>> {
    const CALLS_MAX: usize = 20_000;
    let mut cursor = b"0".to_vec();
    let mut all = Vec::new();
    for call in 0..CALLS_MAX {
        let (next, keys) = scan(server, &cursor, options);
        all.extend(keys);
        if next == b"0" {
            return all;
        }
        cursor = next;
        between(server, call);
    }
    panic!("a scan does not end");
}

fn add(server: &mut TestServer, prefix: &str, numbers: std::ops::Range<usize>) {
    let words: Vec<String> =
        numbers.flat_map(|number| [format!("{prefix}{number}"), number.to_string()]).collect();
    server.run(&[vec!["MSET".to_owned()], words].concat());
}

fn remove(server: &mut TestServer, prefix: &str, numbers: std::ops::Range<usize>) {
    let words: Vec<String> = numbers.map(|number| format!("{prefix}{number}")).collect();
    server.run(&[vec!["DEL".to_owned()], words].concat());
}

/// Keys of one partition, so that its table splits, and keys all over.
fn stable() -> BTreeSet<Vec<u8>> {
    let one = (0..3000).map(|number| format!("{{t}}s{number}"));
    let all_over = (0..3000).map(|number| format!("s{number}"));
    one.chain(all_over).map(String::into_bytes).collect()
}

#[test]
fn every_key_that_stays_is_returned_while_tables_grow_and_shrink() {
    for (seed, count) in [(1, 1), (2, 7), (3, 100), (4, 1000)] {
        let mut server = TestServer::new();
        add(&mut server, "{t}s", 0..3000);
        add(&mut server, "s", 0..3000);
        let mut random = Random::new(seed);
        let mut there: BTreeMap<&str, usize> = BTreeMap::new();
        let words = ["COUNT", &format!("{count}")];
        let returned = whole_scan(&mut server, &words, |server, call| {
            // Some sixty changes a scan.
            if call % (100 / count).max(1) != 0 {
                return;
            }
            let prefix = if random.chance(1, 2) { "{t}temp" } else { "temp" };
            let grown = there.entry(prefix).or_default();
            if *grown == 0 {
                *grown = 1 + random.below(5000) as usize;
                add(server, prefix, 0..*grown);
            } else {
                remove(server, prefix, 0..std::mem::take(grown));
            }
        });
        let returned: BTreeSet<Vec<u8>> = returned.into_iter().collect();
        let stable = stable();
        assert!(returned.is_superset(&stable), "seed {seed}");
        assert!(returned.iter().all(|key| {
            stable.contains(key) || key.starts_with(b"temp") || key.starts_with(b"{t}temp")
        }));
    }
}

#[test]
fn a_scan_of_what_does_not_change_returns_each_key_once() {
    let mut server = TestServer::new();
    add(&mut server, "{t}s", 0..3000);
    add(&mut server, "s", 0..3000);
    for count in ["1", "10", "100000"] {
        let mut returned = whole_scan(&mut server, &["COUNT", count], |_, _| {});
        returned.sort();
        assert_eq!(returned, stable().into_iter().collect::<Vec<_>>());
    }
    let (next, keys) = scan(&mut server, b"0", &[]);
    assert!(next != b"0" && (10..200).contains(&keys.len()), "{}", keys.len());
}

#[test]
fn options_filter_what_is_returned() {
    let mut server = TestServer::new();
    add(&mut server, "s", 0..500);
    let some = whole_scan(&mut server, &["MATCH", "s[0-4]", "COUNT", "50"], |_, _| {});
    assert_eq!(some.len(), 5);
    assert_eq!(whole_scan(&mut server, &["type", "String"], |_, _| {}).len(), 500);
    assert_eq!(whole_scan(&mut server, &["TYPE", "list", "MATCH", "*"], |_, _| {}).len(), 0);
}

#[test]
fn an_empty_or_emptied_database_is_scanned_in_one_call() {
    let mut server = TestServer::new();
    assert_eq!(scan(&mut server, b"0", &[]), (b"0".to_vec(), vec![]));
    add(&mut server, "s", 0..2000);
    remove(&mut server, "s", 0..2000);
    assert_eq!(scan(&mut server, b"0", &[]), (b"0".to_vec(), vec![]));
}

#[test]
fn any_number_is_a_cursor() {
    let mut server = TestServer::new();
    add(&mut server, "s", 0..2000);
    let mut random = Random::new(5);
    for _ in 0..200 {
        let cursor = random.next_u64().to_string();
        scan(&mut server, cursor.as_bytes(), &["COUNT", "100"]);
    }
    let last = u64::MAX.to_string();
    assert_eq!(scan(&mut server, last.as_bytes(), &[]).0, b"0");
}

#[test]
fn expired_keys_are_not_shown() {
    let mut server = TestServer::new();
    server.server.engine.set_active_expiry(false);
    add(&mut server, "s", 0..100);
    for number in 0..50 {
        server.line(&format!("PEXPIRE s{number} 10"));
    }
    server.clock.advance_ms(10);
    assert_eq!(whole_scan(&mut server, &[], |_, _| {}).len(), 50);
    let Value::Array(keys) = server.line("KEYS *") else { panic!("an array") };
    assert_eq!(keys.len(), 50);
    for _ in 0..50 {
        let key = bulk(server.line("RANDOMKEY"));
        assert_eq!(server.run(&[b"EXISTS".to_vec(), key]), Value::Integer(1));
    }
    remove(&mut server, "s", 50..99);
    assert_eq!(bulk(server.line("RANDOMKEY")), b"s99");
    server.line("DEL s99");
    assert_eq!(server.line("RANDOMKEY"), Value::Null);
}

#[test]
fn random_keys_differ() {
    let mut server = TestServer::new();
    add(&mut server, "{t}s", 0..100);
    add(&mut server, "s", 0..100);
    let seen: BTreeSet<Vec<u8>> = (0..400).map(|_| bulk(server.line("RANDOMKEY"))).collect();
    // 400 draws of 200 miss 27 on average.
    assert!(seen.len() > 120, "{}", seen.len());
}
