//! Random collections sorted in random ways, by Basalt and by a real Redis: each reply must be the
//! same, byte for byte.
//!
//! Left out is what Redis leaves open: the order of equal weights under ALPHA, and that of a set
//! that nobody sorts.

use crate::harness::TestServer;
use crate::harness::redis::Redis;
use basalt_env::random::Random;

const CASES: usize = 1500;
/// After how many cases all keys are on disk only.
const UNLOAD_EVERY: usize = 150;
const SOURCES: [&str; 5] = ["list", "set", "zset", "text", "string"];
const NUMBERS: [&str; 6] = ["1.5", "-3", "1e3", "0x10", "-inf", "007"];

#[test]
fn collections_are_sorted_as_in_redis() {
    let Some(mut redis) = Redis::start() else { return };
    let mut server = TestServer::new();
    let mut random = Random::new(1);
    for case in 0..CASES {
        if case % UNLOAD_EVERY == 0 {
            fill(&mut random, |line| both(&mut server, &mut redis, line));
            server.server.engine.checkpoint().expect("the tier is in memory");
            server = server.reopen();
        }
        let line = sort(&mut random);
        both(&mut server, &mut redis, &line);
        both(&mut server, &mut redis, "LRANGE stored 0 -1");
        both(&mut server, &mut redis, "TYPE stored");
    }
}

fn both(server: &mut TestServer, redis: &mut Redis, line: &str) {
    let words: Vec<&str> = line.split(' ').collect();
    let (ours, theirs) = (server.run_for_bytes(&words), redis.run_for_bytes(&words));
    let (ours, theirs) = (ours.escape_ascii().to_string(), theirs.escape_ascii().to_string());
    assert_eq!(ours, theirs, "{line}");
}

/// New collections, and what keys say of their elements. Weights differ from one another.
fn fill(random: &mut Random, mut run: impl FnMut(&str)) {
    run("FLUSHALL");
    run("SET string value");
    let count = 1 + random.below(40);
    for _ in 0..count {
        let number = number(random);
        run(&format!("RPUSH list {number}"));
        run(&format!("SADD set {number}"));
        run(&format!("ZADD zset {} {number}", random.below(10)));
        run(&format!("RPUSH text {}{}", pick(random, &["a", "B", "", "-"]), random.below(60)));
    }
    for element in 0..60 {
        // What is missing has the same weight as others: only numbers have an order then.
        if random.chance(9, 10) {
            run(&format!("SET number_{element} {}", random.below(30)));
        }
        run(&format!("SET word_{element}_x {}", (element * 37) % 61 + 100));
        run(&format!("HSET hash_{element} field {} n {}", element * 31 % 61, element));
    }
}

fn number(random: &mut Random) -> String {
    match random.below(12) {
        0 => pick(random, &NUMBERS).to_owned(),
        _ => random.below(60).to_string(),
    }
}

fn sort(random: &mut Random) -> String {
    let source = pick(random, &SOURCES);
    let by = pick(
        random,
        &["", "", "", " BY nosort", " BY number_*", " BY hash_*->field", " BY word_*_x", " by #"],
    );
    // Redis' order of a set that is not sorted is that of its table.
    let source = if source == "set" && ["nosort", "#"].iter().any(|by_| by.ends_with(by_)) {
        "list"
    } else {
        source
    };
    let mut options = vec![by.to_owned()];
    // Elements without a weight are equal to one another.
    if by.is_empty() || by.ends_with("nosort") {
        options.push(pick(random, &["", " ALPHA", " alpha"]).to_owned());
    }
    options.push(pick(random, &["", " ASC", " DESC", " desc", " DESC ASC"]).to_owned());
    if random.chance(1, 3) {
        options.push(limit(random));
    }
    for _ in 0..random.below(4) {
        options.push(format!(" GET {}", pick(random, &GETS)));
    }
    random_order(&mut options, random);
    // In front of others it could have their words.
    if random.chance(1, 12) {
        options.push(pick(random, &[" BY", " GET", " LIMIT 1", " LIMIT x 1", " x"]).to_owned());
    }
    match random.below(3) {
        0 => format!("SORT_RO {source}{}", options.concat()),
        1 => format!("SORT {source}{} STORE {}", options.concat(), pick(random, &["stored", "x"])),
        _ => format!("SORT {source}{}", options.concat()),
    }
}

const GETS: [&str; 8] =
    ["#", "number_*", "word_*_x", "hash_*->field", "hash_*->none", "hash_*", "none", "number_*->"];

fn limit(random: &mut Random) -> String {
    let offset = random.below(50) as i64 - 5;
    let count = random.below(30) as i64 - 5;
    format!(" LIMIT {offset} {count}")
}

fn random_order(options: &mut [String], random: &mut Random) {
    for last in (1..options.len()).rev() {
        options.swap(last, random.below(last as u64 + 1) as usize);
    }
}

fn pick<'a>(random: &mut Random, from: &[&'a str]) -> &'a str {
    from[random.below(from.len() as u64) as usize]
}
