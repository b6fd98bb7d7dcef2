//! Thousands of random commands, to Basalt and to a real Redis: the same answers, the same data.
//!
//! Times are absolute, far in the past or far in the future, so that two clocks do not matter.

use crate::harness::TestServer;
use crate::harness::redis::Redis;
use basalt_env::random::Random;
use basalt_resp::Value;
use std::collections::BTreeSet;

const COMMANDS: usize = 2500;
/// After how many commands the data is compared, and Basalt restarted.
const RESTART_EVERY: usize = 500;
const DATABASES: u8 = 4;

type Words = Vec<Vec<u8>>;

#[test]
fn random_commands_answer_as_in_redis() {
    // Where there is no Redis there is nothing to compare with.
    let Some(mut redis) = Redis::start() else { return };
    for seed in (1..=3).map(crate::harness::seed::from_base) {
        redis.run(&["FLUSHALL"]);
        redis.run(&["SELECT", "0"]);
        let mut server = TestServer::new();
        let mut random = Random::new(seed);
        for number in 0..COMMANDS {
            let words = command(&mut random);
            step(&mut server, &mut redis, &words, seed);
            if number % RESTART_EVERY == RESTART_EVERY - 1 {
                server = restart(server, &mut random);
                compare_data(&mut server, &mut redis);
            }
        }
    }
}

#[test]
fn a_difference_is_noticed() {
    let words = |line: &str| -> Words { line.split(' ').map(|w| w.as_bytes().to_vec()).collect() };
    let differ = |line: &str, ours: Value, theirs: Value| {
        comparable(&words(line), ours) != comparable(&words(line), theirs)
    };
    let bulk = |text: &str| Value::Bulk(text.as_bytes().to_vec());
    assert!(differ("EXPIRETIME k", Value::Integer(1), Value::Integer(2)));
    assert!(differ("TTL k", Value::Integer(-1), Value::Integer(-2)));
    assert!(!differ("TTL k", Value::Integer(3), Value::Integer(4)));
    assert!(differ("OBJECT REFCOUNT k", Value::Integer(1), Value::Null));
    assert!(differ("KEYS *", Value::Array(vec![bulk("a")]), Value::Array(vec![bulk("b")])));
}

/// Half of the time with a checkpoint before, so that keys are on disk afterwards.
fn restart(server: TestServer, random: &mut Random) -> TestServer {
    if random.chance(1, 2) {
        server.server.engine.checkpoint().expect("the tier is in memory");
    }
    let mut after = server.reopen();
    after.session.db = server.session.db;
    after
}

fn step(server: &mut TestServer, redis: &mut Redis, words: &Words, seed: u64) {
    let shown: Vec<_> = words.iter().map(|word| String::from_utf8_lossy(word)).collect();
    let shown = shown.join(" ");
    let theirs = redis.run(words);
    match name(words).as_str() {
        // Part of another family.
        "SELECT" => server.session.db = words[1][0] - b'0',
        "RANDOMKEY" => {
            let ours = server.run(words);
            assert_eq!(ours == Value::Null, theirs == Value::Null, "seed {seed}: {shown}");
            if let Value::Bulk(key) = ours {
                assert_eq!(redis.run(&[b"EXISTS".to_vec(), key]), Value::Integer(1));
            }
        }
        "SCAN" if matches!(theirs, Value::Array(_)) => {
            let (ours, theirs) = (scan(words, |w| server.run(w)), scan(words, |w| redis.run(w)));
            assert_eq!(ours, theirs, "seed {seed}: {shown}");
        }
        _ => {
            let ours = server.run(words);
            assert_eq!(comparable(words, ours), comparable(words, theirs), "seed {seed}: {shown}");
        }
    }
}

fn name(words: &Words) -> String {
    String::from_utf8_lossy(&words[0]).to_uppercase()
}

/// A reply without what may differ: order, and what hangs on the time or on Redis' memory.
fn comparable(words: &Words, value: Value) -> Value {
    let second = words.get(1).map(|word| String::from_utf8_lossy(word).to_uppercase());
    match (name(words).as_str(), second.as_deref(), value) {
        ("KEYS", _, Value::Array(mut keys)) => {
            keys.sort_by_key(|key| format!("{key:?}"));
            Value::Array(keys)
        }
        ("TTL" | "PTTL", _, Value::Integer(left)) => Value::Integer(left.min(0)),
        // Small integers that Redis copied are no longer its shared ones.
        ("OBJECT", Some("IDLETIME" | "REFCOUNT"), Value::Integer(_)) => Value::Integer(0),
        (_, _, value) => value,
    }
}

/// Every key that a whole scan returns.
fn scan(words: &Words, mut run: impl FnMut(&Words) -> Value) -> BTreeSet<Vec<u8>> {
    let mut words = words.clone();
    let mut all = BTreeSet::new();
    words[1] = b"0".to_vec();
    loop {
        let Value::Array(reply) = run(&words) else { panic!("an array") };
        let [Value::Bulk(next), Value::Array(keys)] = &reply[..] else { panic!("{reply:?}") };
        for key in keys {
            let Value::Bulk(key) = key else { panic!("{key:?}") };
            all.insert(key.clone());
        }
        if next == b"0" {
            return all;
        }
        words[1] = next.clone();
    }
}

fn compare_data(server: &mut TestServer, redis: &mut Redis) {
    let selected = server.session.db;
    let words = |line: &[&[u8]]| -> Words { line.iter().map(|word| word.to_vec()).collect() };
    for db in 0..DATABASES {
        step(server, redis, &words(&[b"SELECT", &[b'0' + db]]), 0);
        for line in [&[&b"DBSIZE"[..]][..], &[b"KEYS", b"*"]] {
            step(server, redis, &words(line), 0);
        }
        let Value::Array(keys) = server.run(&["KEYS", "*"]) else { panic!("an array") };
        for key in keys {
            let Value::Bulk(key) = key else { panic!("{key:?}") };
            for line in
                [&[&b"GET"[..], &key][..], &[b"PEXPIRETIME", &key], &[b"OBJECT", b"ENCODING", &key]]
            {
                step(server, redis, &words(line), 0);
            }
        }
    }
    step(server, redis, &words(&[b"SELECT", &[b'0' + selected]]), 0);
}

/// A command on few keys and databases, most of the time well formed.
fn command(random: &mut Random) -> Words {
    let line = match random.below(32) {
        0..=3 => format!("SET {} {}{}", key(random), value(random), expiry_option(random)),
        4 => format!("APPEND {} {}", key(random), value(random)),
        5 => format!("INCR {}", key(random)),
        6 => format!("GETSET {} {}", key(random), value(random)),
        7 | 8 => format!("{} {}", pick(random, &["DEL", "UNLINK"]), keys(random)),
        9 => format!("{} {}", pick(random, &["EXISTS", "TOUCH"]), keys(random)),
        10 => format!("TYPE {}", key(random)),
        11..=15 => expire(random),
        16 => format!("{} {}", pick(random, &["TTL", "PTTL"]), key(random)),
        17 => format!("{} {}", pick(random, &["EXPIRETIME", "PEXPIRETIME"]), key(random)),
        18 => format!("PERSIST {}", key(random)),
        19 | 20 => {
            format!("{} {} {}", pick(random, &["RENAME", "renamenx"]), key(random), key(random))
        }
        21 | 22 => format!("COPY {} {}{}", key(random), key(random), copy_options(random)),
        23 | 24 => format!("MOVE {} {}", key(random), database(random)),
        25 => format!("KEYS {}", pattern(random)),
        26 => format!("SCAN {}{}", pick(random, &["0", "0", "0", "x", "+"]), scan_options(random)),
        27 => pick(random, &["RANDOMKEY", "DBSIZE", "DBSIZE x"]).to_owned(),
        28 => format!("OBJECT {} {}", pick(random, OBJECT), key(random)),
        29 => format!("SELECT {}", random.below(DATABASES.into())),
        30 if random.chance(1, 4) => format!("SWAPDB {} {}", database(random), database(random)),
        31 if random.chance(1, 12) => pick(random, FLUSHES).to_owned(),
        _ => format!("GET {}", key(random)),
    };
    line.split(' ').map(|word| word.as_bytes().to_vec()).collect()
}

const OBJECT: &[&str] = &["ENCODING", "FREQ", "IDLETIME", "refcount", "nosuch"];
const FLUSHES: &[&str] = &["FLUSHDB", "FLUSHDB async", "FLUSHALL SYNC", "FLUSHALL now", "FLUSHALL"];

fn pick<'a>(random: &mut Random, from: &[&'a str]) -> &'a str {
    from[random.below(from.len() as u64) as usize]
}

fn key(random: &mut Random) -> String {
    pick(random, &["a", "b", "c", "ab", "abc", "{a}x", "k[1]", "k*", "\\", "", "long-key-1"]).into()
}

fn keys(random: &mut Random) -> String {
    let count = 1 + random.below(4);
    (0..count).map(|_| key(random)).collect::<Vec<_>>().join(" ")
}

fn value(random: &mut Random) -> String {
    match random.below(7) {
        0 => "x".repeat(44),
        1 => "x".repeat(45 + random.below(200) as usize),
        2 => "y".repeat(2000 + random.below(100) as usize),
        3 => "12345678901234567890".to_owned(),
        4 => "007".to_owned(),
        _ => random.below(20_000).to_string(),
    }
}

fn expiry_option(random: &mut Random) -> String {
    match random.below(4) {
        0 => format!(" PXAT {}", 4_000_000_000_000 + random.below(100)),
        1 => " KEEPTTL".to_owned(),
        _ => String::new(),
    }
}

fn expire(random: &mut Random) -> String {
    let options =
        ["", "", " NX", " XX", " GT", " LT", " lt xx", " XX GT", " NX XX", " GT LT", " IF"];
    let options = pick(random, &options);
    let key = key(random);
    match random.below(8) {
        0 => format!("EXPIRE {key} {}{options}", pick(random, NUMBERS)),
        1 => format!("PEXPIRE {key} {}{options}", pick(random, NUMBERS_AS_MS)),
        2 => format!("EXPIREAT {key} {}{options}", pick(random, NUMBERS)),
        3 => format!("EXPIREAT {key} {}{options}", 4_000_000_000 + random.below(5)),
        4 => format!("PEXPIREAT {key} {}{options}", pick(random, &["5", "x", "1.5", "-7"])),
        _ => format!("PEXPIREAT {key} {}{options}", 4_000_000_000_000 + random.below(5)),
    }
}

/// What is no number, too large, or in the past: as milliseconds from now.
const NUMBERS_AS_MS: &[&str] = NUMBERS.split_last().expect("some").1;

/// Likewise as seconds, or as a time.
const NUMBERS: &[&str] = &[
    "x",
    "",
    "-1",
    "0",
    "-9223372036854775808",
    "9223372036854775807",
    "-9223372036854776",
    "9223372036854775808",
    "9223372036854776",
];

fn copy_options(random: &mut Random) -> String {
    match random.below(6) {
        0 | 1 => " REPLACE".to_owned(),
        2 => format!(" DB {}", database(random)),
        3 => format!(" replace db {}", database(random)),
        4 => pick(random, &[" DB", " x", " DB 1 DB 2", " REPLACE x"]).to_owned(),
        _ => String::new(),
    }
}

fn database(random: &mut Random) -> String {
    match random.below(12) {
        0 => pick(random, &["-1", "16", "x", "", "99999999999"]).to_owned(),
        _ => random.below(DATABASES.into()).to_string(),
    }
}

fn pattern(random: &mut Random) -> String {
    const PARTS: &[&str] = &[
        "*", "*", "?", "a", "b", "c", "k", "[a-c]", "[^a]", "[", "]", "\\", "\\[", "1", "[c-a",
        "**",
    ];
    let count = random.below(6);
    (0..count).map(|_| pick(random, PARTS)).collect()
}

fn scan_options(random: &mut Random) -> String {
    match random.below(8) {
        0 => format!(" MATCH {}", pattern(random)),
        1 => format!(" COUNT {}", 1 + random.below(100)),
        2 => format!(" match {} COUNT 3 TYPE string", pattern(random)),
        3 => pick(random, &[" TYPE list", " TYPE nosuch", " TYPE STRING"]).to_owned(),
        4 => pick(random, &[" COUNT 0", " COUNT x", " COUNT -1", " COUNT"]).to_owned(),
        5 => pick(random, &[" MATCH", " x", " x y", " TYPE"]).to_owned(),
        _ => String::new(),
    }
}
