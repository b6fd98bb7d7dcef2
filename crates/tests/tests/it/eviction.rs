//! What `maxmemory-policy` deletes: which keys, how many, that clients hear of it, and that they
//! stay deleted. But for the restart all of it holds of Redis, too.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use basalt_resp::Value;
use basalt_tests::client::Connection;
use basalt_tests::server::{Kind, Launch, Server};

const VALUE_BYTES: usize = 10_000;
/// Values for which there is room, about.
const ROOM_KEYS: usize = 2_000;
/// How long something may take that is awaited.
const PATIENCE: Duration = Duration::from_secs(60);

fn ok() -> Value {
    Value::Simple(b"OK".to_vec())
}

fn integer(connection: &mut Connection, line: &str) -> u64 {
    match connection.run(line).expect("a reply") {
        Value::Integer(number) => number as u64,
        other => panic!("{line}: {other:?}"),
    }
}

fn info(connection: &mut Connection, name: &str) -> u64 {
    let Ok(Value::Bulk(text)) = connection.run("INFO all") else { panic!("a text") };
    let text = String::from_utf8(text).expect("text");
    let found = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    found.and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("no {name} in {text}"))
}

/// Leaves room for [`ROOM_KEYS`] values besides what is there.
fn limit(server: &Server, connection: &mut Connection, policy: &str) {
    let room = (ROOM_KEYS * VALUE_BYTES) as u64;
    // Of Basalt the whole process counts, of which the keyspace has a quarter at least.
    let maxmemory = match server.is_redis() {
        true => info(connection, "used_memory") + room,
        false => (info(connection, "used_memory_rss") + room) / 97 * 100,
    };
    for setting in [format!("maxmemory-policy {policy}"), format!("maxmemory {maxmemory}")] {
        assert_eq!(connection.run(&format!("CONFIG SET {setting}")).expect("a reply"), ok());
    }
}

fn name(number: usize) -> String {
    format!("key:{number}")
}

fn set(connection: &mut Connection, name: &str, further: &[&str]) {
    let value = "v".repeat(VALUE_BYTES);
    let mut words = vec!["SET", name, &value];
    words.extend(further);
    assert_eq!(connection.call(&words).expect("a reply"), ok(), "{name}");
}

/// Takes the limit away, waits until no key goes any more, and returns how many have.
fn await_rest(connection: &mut Connection) -> u64 {
    assert_eq!(connection.run("CONFIG SET maxmemory 0").expect("a reply"), ok());
    let deadline = Instant::now() + PATIENCE;
    let mut before = info(connection, "evicted_keys");
    loop {
        std::thread::sleep(Duration::from_millis(500));
        let evicted = info(connection, "evicted_keys");
        if evicted == before {
            return evicted;
        }
        assert!(Instant::now() < deadline, "keys go for ever: {evicted}");
        before = evicted;
    }
}

/// The keys of which some subscriber has heard that they were evicted.
fn heard(connection: &mut Connection, count: u64) -> BTreeSet<Vec<u8>> {
    let heard = (0..count).map(|_| match connection.receive().expect("a message") {
        Value::Array(mut parts) => match parts.pop() {
            Some(Value::Bulk(key)) => key,
            other => panic!("no key: {other:?}"),
        },
        other => panic!("no message: {other:?}"),
    });
    heard.collect()
}

fn exists(connection: &mut Connection, name: &str) -> bool {
    integer(connection, &format!("EXISTS {name}")) == 1
}

#[test]
fn any_key_goes_under_allkeys() {
    const WRITTEN: usize = 4 * ROOM_KEYS;
    for policy in ["allkeys-lru", "allkeys-lfu", "allkeys-random"] {
        let server = Launch::new(Kind::Basalt).option("notify-keyspace-events", "Ee").start();
        let (mut connection, mut listener) = (server.connect(), server.connect());
        listener.run("SUBSCRIBE __keyevent@0__:evicted").expect("a confirmation");
        limit(&server, &mut connection, policy);
        (0..WRITTEN).for_each(|number| set(&mut connection, &name(number), &[]));
        let evicted = await_rest(&mut connection);
        let left = integer(&mut connection, "DBSIZE");
        assert_eq!(left + evicted, WRITTEN as u64, "{policy}");
        assert!((ROOM_KEYS as u64 / 4..ROOM_KEYS as u64 * 2).contains(&left), "{policy}: {left}");
        let heard = heard(&mut listener, evicted);
        assert_eq!(heard.len() as u64, evicted, "{policy}: each goes once");
        for number in 0..WRITTEN {
            let name = name(number);
            assert_ne!(exists(&mut connection, &name), heard.contains(name.as_bytes()), "{name}");
        }
        assert_eq!(info(&mut connection, "current_eviction_exceeded_time"), 0, "{policy}");
        assert_eq!(connection.run("CONFIG RESETSTAT").expect("a reply"), ok());
        assert_eq!(info(&mut connection, "evicted_keys"), 0, "{policy}");
        assert_eq!(info(&mut connection, "total_eviction_exceeded_time"), 0, "{policy}");
    }
}

#[test]
fn only_keys_that_expire_go_under_volatile() {
    const LASTING: usize = ROOM_KEYS / 4;
    for policy in ["volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl"] {
        let server = Launch::new(Kind::Basalt).start();
        let mut connection = server.connect();
        limit(&server, &mut connection, policy);
        (0..LASTING).for_each(|number| set(&mut connection, &name(number), &[]));
        for number in 0..3 * ROOM_KEYS {
            let seconds = (100_000 + number).to_string();
            set(&mut connection, &format!("expiring:{number}"), &["EX", &seconds]);
        }
        let evicted = await_rest(&mut connection);
        assert!(evicted > ROOM_KEYS as u64 / 2, "{policy}: {evicted}");
        assert_eq!(
            integer(&mut connection, "DBSIZE") + evicted,
            (LASTING + 3 * ROOM_KEYS) as u64,
            "{policy}"
        );
        for number in 0..LASTING {
            assert!(exists(&mut connection, &name(number)), "{policy}: key {number}");
        }
        if policy == "volatile-ttl" {
            let first = exists(&mut connection, "expiring:0");
            let last = exists(&mut connection, &format!("expiring:{}", 3 * ROOM_KEYS - 1));
            assert_eq!((first, last), (false, true));
        }
    }
}

/// Times of use are in seconds, here as in Redis.
#[test]
fn what_is_in_use_stays_under_allkeys_lru() {
    const USED: usize = 50;
    let server = Launch::new(Kind::Basalt).option("maxmemory-samples", "10").start();
    let mut connection = server.connect();
    limit(&server, &mut connection, "allkeys-lru");
    (0..USED).for_each(|number| set(&mut connection, &format!("used:{number}"), &[]));
    (0..ROOM_KEYS / 2).for_each(|number| set(&mut connection, &name(number), &[]));
    // What is used is used in a later second than the rest was written, but for an eighth.
    let later: Vec<usize> = (ROOM_KEYS / 2..ROOM_KEYS * 5 / 4).collect();
    for numbers in later.chunks(ROOM_KEYS / 8) {
        std::thread::sleep(Duration::from_millis(1_100));
        for used in 0..USED {
            connection.run(&format!("GET used:{used}")).expect("a reply");
        }
        numbers.iter().for_each(|&number| set(&mut connection, &name(number), &[]));
    }
    assert!(await_rest(&mut connection) > 0);
    let left = (0..USED).filter(|used| exists(&mut connection, &format!("used:{used}"))).count();
    assert_eq!(left, USED);
}

/// It changes, as if somebody had deleted it.
#[test]
fn a_watched_key_that_goes_fails_its_transaction() {
    let server = Launch::new(Kind::Basalt).start();
    let (mut connection, mut watcher) = (server.connect(), server.connect());
    limit(&server, &mut connection, "allkeys-lru");
    set(&mut connection, "watched", &[]);
    assert_eq!(watcher.run("WATCH watched").expect("a reply"), ok());
    std::thread::sleep(Duration::from_millis(2_000));
    (0..3 * ROOM_KEYS).for_each(|number| set(&mut connection, &name(number), &[]));
    await_rest(&mut connection);
    assert!(!exists(&mut connection, "watched"));
    assert_eq!(watcher.run("MULTI").expect("a reply"), ok());
    watcher.run("PING").expect("a reply");
    assert!(matches!(watcher.run("EXEC").expect("a reply"), Value::NullArray | Value::Null));
}

#[test]
fn what_was_deleted_for_lack_of_memory_stays_deleted_after_a_kill() {
    const WRITTEN: usize = 3 * ROOM_KEYS;
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let launch = || Launch::new(Kind::Basalt).dir(dir.path()).option("appendfsync", "always");
    let mut server = launch().start();
    if server.is_redis() {
        return; // It keeps nothing here.
    }
    let mut connection = server.connect();
    limit(&server, &mut connection, "allkeys-lru");
    (0..WRITTEN).for_each(|number| set(&mut connection, &name(number), &[]));
    let evicted = await_rest(&mut connection);
    assert!(evicted > 0);
    let left = |connection: &mut Connection| {
        let names = (0..WRITTEN).filter(|&number| exists(connection, &name(number)));
        names.collect::<BTreeSet<usize>>()
    };
    let before = left(&mut connection);
    // Groups are in order: what was deleted before this is on disk.
    set(&mut connection, "last", &[]);
    server.kill();
    let server = launch().option("maxmemory", "0").start();
    let mut connection = server.connect();
    let after = left(&mut connection);
    assert_eq!(before, after);
    assert_eq!(integer(&mut connection, "DBSIZE"), after.len() as u64 + 1);
}
