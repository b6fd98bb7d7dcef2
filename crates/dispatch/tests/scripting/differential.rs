//! Random values through a script and back, by Basalt and by a real Redis.

use crate::harness::TestServer;
use crate::harness::redis::Redis;
use basalt_env::random::Random;

const SCRIPTS: usize = 1500;

#[test]
fn random_scripts_answer_as_in_redis() {
    // Where there is no Redis there is nothing to compare with.
    let Some(mut redis) = Redis::start() else { return };
    for protocol in ["2", "3"] {
        let (mut server, mut random) = (TestServer::new(), Random::new(7));
        redis.run(&["FLUSHALL"]);
        server.run(&["HELLO", protocol]);
        redis.run(&["HELLO", protocol]);
        for _ in 0..SCRIPTS {
            let script = script(&mut random);
            let words = ["EVAL", &script, "2", "k", "l", "1", "x"];
            let (ours, theirs) = (server.run_for_bytes(&words), redis.run_for_bytes(&words));
            assert_eq!(
                String::from_utf8_lossy(&ours),
                String::from_utf8_lossy(&theirs),
                "RESP{protocol}: {script}"
            );
        }
    }
}

fn pick<'a>(random: &mut Random, choices: &[&'a str]) -> &'a str {
    choices[random.below(choices.len() as u64) as usize]
}

/// A few statements and an answer.
fn script(random: &mut Random) -> String {
    // The addresses of tables differ.
    let mut script =
        "local function show(x) return type(x) == 'table' and 'table' or tostring(x) end "
            .to_owned();
    if random.chance(1, 3) {
        script.push_str("redis.setresp(3) ");
    }
    for number in 0..random.below(3) {
        script.push_str(&format!("local v{number} = {} ", expression(random, 2)));
    }
    script + "return " + &expression(random, 3)
}

fn expression(random: &mut Random, depth: u32) -> String {
    if depth == 0 || random.chance(1, 3) {
        let leaves = [
            "1",
            "-2.5",
            "'x'",
            "''",
            "true",
            "false",
            "nil",
            "KEYS[1]",
            "ARGV[1]",
            "#ARGV",
            "KEYS[3]",
            "{ok = 'O K'}",
            "{err = 'E x'}",
            "{double = 1.5}",
            "redis.error_reply('bad')",
            "v0",
            "v1",
            "tostring(1/3)",
            "tonumber('0x10')",
            "{map = {a = 1}}",
            "{set = {b = true}}",
        ];
        return pick(random, &leaves).to_owned();
    }
    let inner = expression(random, depth - 1);
    match random.below(6) {
        0 => format!("{{{inner}, {}}}", expression(random, depth - 1)),
        1 => format!("show({inner})"),
        2 => format!("type({inner})"),
        3 => format!("select(2, pcall(function() return {inner} end))"),
        _ => call(random, &inner),
    }
}

fn call(random: &mut Random, inner: &str) -> String {
    let how = pick(random, &["call", "pcall"]);
    let command = pick(
        random,
        &[
            "'SET', KEYS[1], 5",
            "'GET', KEYS[1]",
            "'INCRBY', KEYS[1], ARGV[1]",
            "'DEL', KEYS[2]",
            "'RPUSH', KEYS[2], 'a', ARGV[2]",
            "'LRANGE', KEYS[2], 0, 3",
            "'LPOP', KEYS[2]",
            "'TYPE', KEYS[2]",
            "'GET', 'none'",
            "'NOSUCH'",
            "'GET'",
            "'HSET', 'h', 'f', ARGV[1]",
            "'HGETALL', 'h'",
            "'SADD', 's', 'm'",
            "'SMEMBERS', 's'",
            "'ZADD', 'z', 2, 'm'",
            "'ZSCORE', 'z', 'm'",
            "'ECHO', INNER",
            "'SET', KEYS[1], INNER",
            "'EXISTS', KEYS[1], KEYS[2]",
        ],
    );
    format!("redis.{how}({})", command.replace("INNER", inner))
}
