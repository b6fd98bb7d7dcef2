//! Random commands go to a real Redis 7 and to Basalt alike, and each reply must be the same,
//! byte for byte; on the way Basalt is restarted, from its log or from its cold tier.

use super::random_commands::{Commands, KEYS};
use crate::harness::TestServer;
use crate::harness::redis::Redis;
use basalt_env::random::Random;
use basalt_resp::Protocol;

const COMMANDS: usize = 4000;
/// After how many commands the data is compared, and Basalt restarted.
const RESTART_EVERY: usize = 1000;
/// Low, so that both forms are met.
const PACKED_ENTRIES_MAX: &str = "12";

#[test]
fn replies_are_the_same_as_of_redis_in_resp2() {
    for seed in 1..=4 {
        compare(seed, Protocol::Resp2);
    }
}

#[test]
fn replies_are_the_same_as_of_redis_in_resp3() {
    for seed in 5..=6 {
        compare(seed, Protocol::Resp3);
    }
}

fn compare(seed: u64, protocol: Protocol) {
    let seed = crate::harness::seed::from_base(seed);
    let Some(mut redis) = Redis::start() else { return };
    let mut server = TestServer::new();
    if protocol == Protocol::Resp3 {
        redis.run_for_bytes(&["HELLO", "3"]);
        server.session.protocol = protocol;
    }
    let setting = ["CONFIG", "SET", "zset-max-listpack-entries", PACKED_ENTRIES_MAX];
    both(&mut server, &mut redis, &setting, seed);
    both(&mut server, &mut redis, &["SET", "string", "value"], seed);
    let (mut commands, mut random) = (Commands::new(seed), Random::new(seed));
    let mut is_restarted = false;
    for number in 0..COMMANDS {
        let words = commands.next();
        both(&mut server, &mut redis, &words, seed);
        if words[0] == b"ZRANGESTORE" && words.len() > 1 {
            give_up_other_signs_of_zero(&mut server, &mut redis, &words[1], seed);
        }
        if number % RESTART_EVERY != RESTART_EVERY - 1 {
            continue;
        }
        for key in KEYS.iter().chain(&["lex"]) {
            both(&mut server, &mut redis, &["TYPE", key], seed);
            // Rows come back in the form that their size asks for, as RDB files do in Redis.
            if !is_restarted {
                both(&mut server, &mut redis, &["OBJECT", "ENCODING", key], seed);
            }
        }
        if random.chance(1, 2) {
            server.server.engine.checkpoint().expect("the tier is in memory");
        }
        server = server.reopen();
        server.session.protocol = protocol;
        server.run_for_bytes(&setting);
        is_restarted = true;
        for key in KEYS[..4].iter().chain(&["lex"]) {
            give_up_other_signs_of_zero(&mut server, &mut redis, key.as_bytes(), seed);
        }
    }
}

/// A packed set has no -0, in Redis as well. But only what is restarted comes back packed, and
/// Redis 7.0 packs the first elements of what ZRANGESTORE makes, however many there are: a set of
/// which nothing else differs is deleted.
fn give_up_other_signs_of_zero(server: &mut TestServer, redis: &mut Redis, key: &[u8], seed: u64) {
    let range = [&b"ZRANGE"[..], key, b"0", b"-1", b"WITHSCORES"];
    let (actual, expected) = (server.run_for_bytes(&range), redis.run_for_bytes(&range));
    if without_signs_of_zero(&actual) == without_signs_of_zero(&expected) && actual != expected {
        both(server, redis, &[&b"DEL"[..], key], seed);
    }
    both(server, redis, &range, seed);
}

fn without_signs_of_zero(reply: &[u8]) -> String {
    let reply = reply.escape_ascii().to_string();
    reply.replace(r"$2\r\n-0\r\n", r"$1\r\n0\r\n").replace(r",-0\r\n", r",0\r\n")
}

fn both(server: &mut TestServer, redis: &mut Redis, words: &[impl AsRef<[u8]>], seed: u64) {
    let expected = redis.run_for_bytes(words);
    let actual = server.run_for_bytes(words);
    let line: Vec<String> =
        words.iter().map(|word| word.as_ref().escape_ascii().to_string()).collect();
    assert!(
        actual == expected,
        "seed {seed}: {}\nredis:  {}\nbasalt: {}",
        line.join(" "),
        expected.escape_ascii(),
        actual.escape_ascii(),
    );
}
