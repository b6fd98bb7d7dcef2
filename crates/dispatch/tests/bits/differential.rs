//! Random commands go to a real Redis 7 and to Basalt alike: equal replies, the same strings,
//! the same encodings; and the log gives the same strings again.

use crate::harness::TestServer;
use crate::harness::redis::Redis;
use basalt_env::random::Random;

const COMMANDS: usize = 3000;
/// After how many commands the strings are compared, and Basalt restarted.
const RESTART_EVERY: usize = 250;
const KEYS: [&str; 5] = ["a", "b", "{a}x", "n", "absent"];

type Words = Vec<Vec<u8>>;

#[test]
fn random_commands_answer_as_in_redis() {
    let Some(mut redis) = Redis::start() else { return };
    for seed in (1..=3).map(crate::harness::seed::from_base) {
        redis.run(&["FLUSHALL"]);
        let mut server = TestServer::new();
        let mut random = Random::new(seed);
        for number in 0..COMMANDS {
            let words = command(&mut random);
            let expected = redis.run_for_bytes(&words);
            let actual = server.run_for_bytes(&words);
            let shown = words.join(&b' ').escape_ascii().to_string();
            assert_eq!(
                actual.escape_ascii().to_string(),
                expected.escape_ascii().to_string(),
                "seed {seed}, command {number}: {shown}"
            );
            if number % RESTART_EVERY == RESTART_EVERY - 1 {
                if random.chance(1, 2) {
                    server.server.engine.checkpoint().expect("the tier is in memory");
                }
                server = server.reopen();
                compare(&mut server, &mut redis, seed);
            }
        }
    }
}

fn compare(server: &mut TestServer, redis: &mut Redis, seed: u64) {
    for key in KEYS {
        for words in [&["GET", key][..], &["OBJECT", "ENCODING", key], &["TTL", key]] {
            assert_eq!(server.run(words), redis.run(words), "seed {seed}: {words:?}");
        }
    }
}

fn pick<'a>(random: &mut Random, words: &[&'a str]) -> &'a str {
    words[random.below(words.len() as u64) as usize]
}

/// Mostly near the beginning, so that commands meet; beyond where strings stand apart sometimes.
fn offset(random: &mut Random) -> String {
    let bound = [70, 300, 2000, 40_000][random.below(4) as usize];
    match random.below(40) {
        0 => pick(random, &["-1", "x", "4294967296", "9223372036854775807", "01", ""]).to_owned(),
        _ => random.below(bound).to_string(),
    }
}

fn index(random: &mut Random) -> String {
    match random.below(20) {
        0 => pick(random, &["9223372036854775807", "-9223372036854775808"]).to_owned(),
        _ => (random.below(400) as i64 - 200).to_string(),
    }
}

fn number(random: &mut Random) -> String {
    match random.below(4) {
        0 => pick(
            random,
            &["0", "1", "-1", "9223372036854775807", "-9223372036854775808", "255", "x", "1.5"],
        )
        .to_owned(),
        1 => (random.next_u64() as i64 >> random.below(64)).to_string(),
        _ => (random.below(600) as i64 - 300).to_string(),
    }
}

fn field_type(random: &mut Random) -> String {
    match random.below(30) {
        0 => pick(random, &["u64", "i65", "i0", "u0", "x8", "I8", "8", ""]).to_owned(),
        1 | 2 => pick(random, &["i64", "u63", "i63", "u1", "i1"]).to_owned(),
        _ => format!("{}{}", pick(random, &["i", "u"]), 1 + random.below(20)),
    }
}

fn field_operations(random: &mut Random) -> Vec<String> {
    let mut words = Vec::new();
    for _ in 0..random.below(5) {
        let offset = match random.chance(1, 3) {
            true => format!("#{}", random.below(30)),
            false => offset(random),
        };
        let place = [field_type(random), offset];
        match random.below(12) {
            0..=2 => words.extend(["GET".to_owned()].into_iter().chain(place)),
            3..=6 => {
                words.extend(["set".to_owned()].into_iter().chain(place).chain([number(random)]))
            }
            7..=9 => {
                words.extend(["INCRBY".to_owned()].into_iter().chain(place).chain([number(random)]))
            }
            10 => words.push(pick(random, &["foo", "GET", "OVERFLOW"]).to_owned()),
            _ => {}
        }
        if random.chance(1, 2) {
            let kind =
                if random.chance(1, 20) { "foo" } else { pick(random, &["WRAP", "sat", "FAIL"]) };
            words.extend(["OVERFLOW".to_owned(), kind.to_owned()]);
        }
    }
    words
}

fn command(random: &mut Random) -> Words {
    let key = pick(random, &KEYS).to_owned();
    let words: Vec<String> = match random.below(20) {
        0..=4 => {
            let value = if random.chance(1, 20) { "2" } else { pick(random, &["0", "1"]) };
            vec!["SETBIT".into(), key, offset(random), value.into()]
        }
        5 | 6 => vec!["GETBIT".into(), key, offset(random)],
        7 => vec!["BITCOUNT".into(), key],
        8 | 9 => {
            let mut words = vec!["BITCOUNT".into(), key, index(random), index(random)];
            words.extend(unit(random));
            words
        }
        10 | 11 => bitpos(random, key),
        12 | 13 => {
            let operation = pick(random, &["AND", "or", "XOR", "NOT"]).to_owned();
            let sources = if operation == "NOT" { 1 } else { 1 + random.below(3) };
            let keys = (0..=sources).map(|_| pick(random, &KEYS[..4]).to_owned());
            ["BITOP".to_owned(), operation].into_iter().chain(keys).collect()
        }
        14..=16 => {
            let name = if random.chance(1, 5) { "BITFIELD_RO" } else { "BITFIELD" };
            [name.to_owned(), key].into_iter().chain(field_operations(random)).collect()
        }
        17 => vec!["SET".into(), pick(random, &KEYS[..4]).into(), number(random)],
        18 => vec!["APPEND".into(), pick(random, &KEYS[..4]).into(), "abc".into()],
        _ => vec![pick(random, &["DEL", "GET", "STRLEN"]).into(), key],
    };
    words.into_iter().map(String::into_bytes).collect()
}

fn unit(random: &mut Random) -> Option<String> {
    random.chance(2, 3).then(|| pick(random, &["BIT", "byte"]).to_owned())
}

fn bitpos(random: &mut Random, key: String) -> Vec<String> {
    let mut words = vec!["BITPOS".into(), key, pick(random, &["0", "1"]).into()];
    if random.chance(2, 3) {
        words.push(index(random));
        if random.chance(2, 3) {
            words.push(index(random));
            words.extend(unit(random));
        }
    }
    words
}
