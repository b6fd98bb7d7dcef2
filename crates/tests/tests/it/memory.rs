//! What the process takes of memory, as the system sees it and as the server says it.

use std::collections::BTreeMap;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use basalt_resp::Value;
use basalt_tests::client::Connection;
use basalt_tests::descriptors::Thousands;
use basalt_tests::server::{Kind, Launch, Server};

const MIB: u64 = 1 << 20;
/// How long something may take that is awaited. Memory that is free goes back within a second.
const PATIENCE: Duration = Duration::from_secs(30);
/// What no counter may know of, besides what is mapped of the program's file.
const OTHER_BYTES_MAX: u64 = 40 * MIB;
/// What parts may say too much: memory that they have and have not touched yet.
const UNTOUCHED_BYTES_MAX: u64 = 16 * MIB;

/// A Basalt; `None` if the program is a redis-server, which has no parts.
fn start(launch: Launch) -> Option<Server> {
    let server = launch.start();
    (!server.is_redis()).then_some(server)
}

/// The lines of `INFO memory` that are numbers.
fn figures(connection: &mut Connection) -> BTreeMap<String, u64> {
    let Ok(Value::Bulk(text)) = connection.run("INFO memory") else { panic!("a text") };
    let text = String::from_utf8(text).expect("text");
    let lines = text.lines().filter_map(|line| line.split_once(':'));
    lines.filter_map(|(name, value)| Some((name.to_owned(), value.parse().ok()?))).collect()
}

/// The parts, by their names.
fn parts(figures: &BTreeMap<String, u64>) -> BTreeMap<&str, u64> {
    let names = [
        "keyspace_pages",
        "keyspace_slack",
        "keyspace_large",
        "keyspace_apart",
        "keyspace_index",
        "cold_index",
        "cold_locator",
        "cold_cache",
        "journal",
        "clients",
        "pubsub",
        "scripts",
        "retired",
        "other",
    ];
    let found = figures.keys().filter(|name| name.starts_with("memory_part_")).count();
    assert_eq!(found, names.len(), "{figures:?}");
    names.map(|name| (name, figures[&format!("memory_part_{name}")])).into()
}

/// What is mapped of files: the program itself.
fn file_bytes(server: &Server) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", server.process_id()));
    let status = status.expect("the server runs");
    let line = status.lines().find_map(|line| line.strip_prefix("RssFile:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
    kib.and_then(|kib| kib.trim().parse::<u64>().ok()).expect("a number") * 1024
}

/// Why what INFO says is not what the system sees; `None` if it is.
fn disagreement(server: &Server, connection: &mut Connection) -> Option<String> {
    let figures = figures(connection);
    let (resident, parts) = (server.resident_bytes(), parts(&figures));
    let (sum, other): (u64, u64) = (parts.values().sum(), parts["other"]);
    let other_max = OTHER_BYTES_MAX + file_bytes(server);
    let tolerance = (resident / 10).max(UNTOUCHED_BYTES_MAX);
    let agrees = sum.abs_diff(resident) <= tolerance && other <= other_max;
    (!agrees).then(|| format!("{resident} are resident, {sum} in parts: {parts:?}"))
}

/// Waits until the parts are what is resident: memory that has just become free is so for a
/// second, and no part's.
#[track_caller]
fn assert_parts_agree(server: &Server, connection: &mut Connection) {
    let deadline = Instant::now() + PATIENCE;
    while let Some(said) = disagreement(server, connection) {
        assert!(Instant::now() < deadline, "{said}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn part(connection: &mut Connection, name: &str) -> u64 {
    parts(&figures(connection))[name]
}

/// Waits until the keyspace's target is within these bounds.
#[track_caller]
fn await_target(connection: &mut Connection, at_least: u64, at_most: u64) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let target = figures(connection)["keyspace_target_bytes"];
        if (at_least..=at_most).contains(&target) {
            return;
        }
        assert!(Instant::now() < deadline, "{target} is not in {at_least}..={at_most}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Has a library keep this much in the Lua state of the connection's thread.
fn keep_in_a_library(connection: &mut Connection, mebibytes: u64) {
    let library = format!(
        "#!lua name=keeper\n\
         local kept = {{}}\n\
         redis.register_function('keep', function()\n\
           for i = 1, {mebibytes} do kept[i] = string.rep('x', 2^20) .. i end\n\
           return #kept\n\
         end)"
    );
    let loaded = connection.call(&["FUNCTION", "LOAD", &library]).expect("a reply");
    assert_eq!(loaded, Value::Bulk(b"keeper".to_vec()));
    let kept = connection.run("FCALL keep 0").expect("a reply");
    assert_eq!(kept, Value::Integer(mebibytes as i64));
}

#[test]
fn the_parts_are_what_is_resident() {
    let Some(server) = start(Launch::new(Kind::Basalt)) else { return };
    let mut connection = server.connect();
    assert_parts_agree(&server, &mut connection);
    connection.run("DEBUG POPULATE 200000 key 100").expect("a reply");
    let figures = figures(&mut connection);
    let of_keyspace = parts(&figures);
    let of_keyspace = of_keyspace.iter().filter(|(name, _)| name.starts_with("keyspace_"));
    let sum: u64 = of_keyspace.map(|(_, bytes)| bytes).sum();
    assert_eq!(sum, figures["used_memory"]);
    assert!(sum > 200_000 * 100, "{sum}");
    assert_parts_agree(&server, &mut connection);
}

/// Overwrites keys by chance and reads others, until it is over; returns the first error.
fn overwrite(server: &Server, seed: u64, is_over: &AtomicBool) -> Option<String> {
    const PIPELINE: usize = 20;
    let (mut connection, mut random) = (server.connect(), seed);
    let value = [b'v'; LOAD_VALUE_BYTES];
    // A flag on its own.
    while !is_over.load(Ordering::Relaxed) {
        for _ in 0..PIPELINE {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(seed);
            let key = format!("load:{}", (random >> 33) % LOAD_KEYS);
            match random >> 32 & 1 {
                0 => connection.send(&[b"SET", key.as_bytes(), &value]).expect("sent"),
                _ => connection.send(&[b"GET", key.as_bytes()]).expect("sent"),
            }
        }
        for _ in 0..PIPELINE {
            if let Value::Error(text) = connection.receive().expect("a reply") {
                return Some(String::from_utf8_lossy(&text).into_owned());
            }
        }
    }
    None
}

/// Keys of [`overwrite`], and the bytes of their values: half a gigabyte.
const LOAD_KEYS: u64 = 500_000;
const LOAD_VALUE_BYTES: usize = 1_000;

/// Does some work while keys are overwritten, none of which may be refused.
fn under_load<R>(server: &Server, work: impl FnOnce() -> R) -> R {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let load = |seed| {
            scope.spawn({
                let is_over = &is_over;
                move || overwrite(server, seed, is_over)
            })
        };
        let loads = [1, 3].map(load);
        // A failure of the work ends the load, too.
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        is_over.store(true, Ordering::Relaxed);
        let refused = loads.map(|load| load.join().expect("it only notes errors"));
        let result = result.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        assert_eq!(refused, [None, None]);
        result
    })
}

/// Whether what leaves memory is in memory all the same.
fn has_cold_tier_in_memory(connection: &mut Connection) -> bool {
    let reply = connection.run("CONFIG GET cold-tier").expect("a reply");
    let Value::Array(words) = reply else { panic!("{reply:?}") };
    words.last() == Some(&Value::Bulk(b"memory".to_vec()))
}

#[test]
fn the_parts_are_what_is_resident_under_load() {
    let launch = Launch::new(Kind::Basalt).option("maxmemory", "256mb").unwatched();
    let Some(server) = start(launch) else { return };
    let mut connection = server.connect();
    if has_cold_tier_in_memory(&mut connection) {
        return; // It is no part.
    }
    under_load(&server, || {
        for _ in 0..5 {
            std::thread::sleep(Duration::from_secs(1));
            assert_parts_agree(&server, &mut connection);
        }
    });
}

#[test]
fn memory_follows_a_budget_that_is_halved_under_load() {
    const BUDGET: u64 = 512 * MIB;
    /// How long that may take.
    const FOLLOWS: Duration = Duration::from_secs(10);
    let launch = Launch::new(Kind::Basalt).option("maxmemory", "512mb").unwatched();
    let Some(server) = start(launch) else { return };
    let mut connection = server.connect();
    if has_cold_tier_in_memory(&mut connection) {
        return;
    }
    // A twentieth more: what grows between two looks.
    let at_most = |budget: u64| budget / 20 * 21;
    under_load(&server, || {
        let deadline = Instant::now() + 2 * PATIENCE;
        while server.resident_bytes() < BUDGET / 10 * 8 {
            assert!(Instant::now() < deadline, "{} resident", server.resident_bytes());
            std::thread::sleep(Duration::from_millis(100));
        }
        let set = connection.run(&format!("CONFIG SET maxmemory {}", BUDGET / 2));
        assert_eq!(set.expect("a reply"), Value::Simple(b"OK".to_vec()));
        let halved = Instant::now();
        while server.resident_bytes() > at_most(BUDGET / 2) {
            let (resident, since) = (server.resident_bytes(), halved.elapsed());
            assert!(since < FOLLOWS, "{resident} resident after {since:?}");
            std::thread::sleep(Duration::from_millis(50));
        }
        eprintln!("memory follows after {:?}", halved.elapsed());
        // And it stays there.
        while halved.elapsed() < FOLLOWS {
            std::thread::sleep(Duration::from_millis(50));
        }
        let resident = server.resident_bytes();
        assert!(resident <= at_most(BUDGET / 2), "{resident} resident later");
    });
}

#[test]
fn the_parts_are_what_is_resident_with_many_idle_clients() {
    const CLIENTS: usize = 10_000;
    let Some(_permission) = Thousands::open(CLIENTS as u64 + 200) else { return };
    let maxclients = (CLIENTS + 100).to_string();
    let launch = Launch::new(Kind::Basalt).option("maxclients", &maxclients).unwatched();
    let Some(server) = start(launch) else { return };
    let mut connection = server.connect();
    let mut idle: Vec<Connection> = (0..CLIENTS).map(|_| server.connect()).collect();
    for client in &mut idle {
        client.run("PING").expect("a reply");
    }
    assert!(part(&mut connection, "clients") >= CLIENTS as u64 * 200);
    assert_parts_agree(&server, &mut connection);
}

#[test]
fn the_parts_are_what_is_resident_with_large_values() {
    const VALUES: u64 = 4;
    const VALUE_BYTES: u64 = 64 * MIB;
    let Some(server) = start(Launch::new(Kind::Basalt).unwatched()) else { return };
    let mut connection = server.connect();
    let value = vec![b'v'; VALUE_BYTES as usize];
    for number in 0..VALUES {
        let key = format!("k{number}");
        connection.call(&[b"SET", key.as_bytes(), &value]).expect("a reply");
    }
    let apart = part(&mut connection, "keyspace_apart");
    assert!(apart >= VALUES * VALUE_BYTES, "{apart}");
    assert_parts_agree(&server, &mut connection);
    connection.run("DEL k0 k1 k2 k3").expect("a reply");
    assert_parts_agree(&server, &mut connection);
    assert_eq!(part(&mut connection, "keyspace_apart"), 0);
}

/// What a client does not take is a part, too.
#[test]
fn the_parts_are_what_is_resident_with_a_client_that_does_not_read() {
    const OWED_BYTES: u64 = 12 * MIB;
    let Some(server) = start(Launch::new(Kind::Basalt).unwatched()) else { return };
    let (mut connection, mut slow) = (server.connect(), server.connect());
    // Short elements are copied into the reply.
    let element = "e".repeat(1000);
    let mut push = vec!["RPUSH", "list"];
    push.extend((0..OWED_BYTES / 1000).map(|_| &*element));
    connection.call(&push).expect("a reply");
    slow.send(&["LRANGE", "list", "0", "-1"]).expect("sent");
    let deadline = Instant::now() + PATIENCE;
    // The kernel takes some megabytes.
    while part(&mut connection, "clients") < OWED_BYTES / 2 {
        assert!(Instant::now() < deadline, "{:?}", figures(&mut connection));
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_parts_agree(&server, &mut connection);
}

#[test]
fn the_parts_are_what_is_resident_with_lua_that_allocates() {
    const KEPT_MIB: u64 = 48;
    let Some(server) = start(Launch::new(Kind::Basalt).unwatched()) else { return };
    let mut connection = server.connect();
    // What a script allocates is collected after it.
    let script = "local t = {} for i = 1, 60 do t[i] = string.rep('x', 2^20) .. i end return #t";
    assert_eq!(connection.call(&["EVAL", script, "0"]).expect("a reply"), Value::Integer(60));
    let lua = figures(&mut connection)["used_memory_lua"];
    assert!((1..60 * MIB).contains(&lua), "{lua}");
    assert_parts_agree(&server, &mut connection);
    // What a library keeps is there as long as the library.
    keep_in_a_library(&mut connection, KEPT_MIB);
    let figures = figures(&mut connection);
    let lua = figures["used_memory_lua"];
    assert!(lua >= KEPT_MIB * MIB, "{lua}");
    assert_eq!(figures["used_memory_vm_total"], lua);
    assert!(parts(&figures)["scripts"] >= lua);
    assert_parts_agree(&server, &mut connection);
}

#[test]
fn what_the_rest_takes_is_not_the_keyspaces() {
    const BUDGET: u64 = 512 * MIB;
    const GOAL: u64 = BUDGET / 100 * 97;
    let launch = Launch::new(Kind::Basalt).option("maxmemory", "512mb").unwatched();
    let Some(server) = start(launch) else { return };
    let mut connection = server.connect();
    let other = server.resident_bytes();
    await_target(&mut connection, GOAL - other - 16 * MIB, GOAL - other + 16 * MIB);
    // Something that is not the keyspace grows and goes.
    keep_in_a_library(&mut connection, 80);
    await_target(&mut connection, 0, GOAL - other - 60 * MIB);
    connection.run("FUNCTION DELETE keeper").expect("a reply");
    connection.run("EVAL return(1) 0").expect("a reply");
    connection.run("CONFIG SET maxmemory 256mb").expect("a reply");
    await_target(&mut connection, 256 * MIB / 4, 256 * MIB / 100 * 97 - MIB);
    connection.run("CONFIG SET maxmemory 0").expect("a reply");
    await_target(&mut connection, 0, 0);
}

#[test]
fn an_automatic_budget_is_a_part_of_what_there_is() {
    let Some(server) = start(Launch::new(Kind::Basalt)) else { return };
    let mut connection = server.connect();
    let mut budget = || {
        let reply = connection.run("CONFIG GET maxmemory").expect("a reply");
        let Value::Array(words) = reply else { panic!("{reply:?}") };
        let Value::Bulk(digits) = &words[1] else { panic!("{words:?}") };
        let digits = String::from_utf8_lossy(digits).into_owned();
        let set = |connection: &mut Connection, value: &str| {
            let reply = connection.run(&format!("CONFIG SET maxmemory {value}"));
            assert_eq!(reply.expect("a reply"), Value::Simple(b"OK".to_vec()));
        };
        set(&mut connection, "1000000000");
        set(&mut connection, "auto");
        digits.parse::<u64>().expect("a number of bytes")
    };
    let (first, again) = (budget(), budget());
    assert_eq!(first, again);
    let total = figures(&mut connection)["total_system_memory"];
    assert!(first > 0 && first <= total / 10 * 8, "{first} of {total}");
    assert!(server.log().contains("memory budget: "), "{}", server.log());
}
