//! Random commands go to a real Redis 7 and to Basalt alike: equal replies, and after each
//! the same bytes in every key. Some strings are damaged on the way.

use crate::harness::TestServer;
use crate::harness::redis::Redis;
use basalt_env::random::Random;
use basalt_resp::Value;

const COMMANDS: usize = 700;
/// After how many commands Basalt is restarted.
const RESTART_EVERY: usize = 100;
const KEYS: [&str; 4] = ["a", "b", "{a}x", "c"];

type Words = Vec<Vec<u8>>;

/// What happens to the strings besides.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Damage {
    Never,
    Often,
}

#[test]
fn whole_ones_have_the_same_bytes_as_in_redis() {
    for (seed, sparse_bytes_max) in [(1, "3000"), (2, "3000"), (3, "200"), (4, "0")] {
        compare(seed, sparse_bytes_max, Damage::Never);
    }
}

#[test]
fn damaged_ones_are_refused_as_in_redis() {
    for (seed, sparse_bytes_max) in [(5, "3000"), (6, "100"), (7, "3000")] {
        compare(seed, sparse_bytes_max, Damage::Often);
    }
}

fn compare(seed: u64, sparse_bytes_max: &str, damage: Damage) {
    let seed = crate::harness::seed::from_base(seed);
    let Some(mut redis) = Redis::start() else { return };
    let mut server = TestServer::new();
    let set = ["CONFIG", "SET", "hll-sparse-max-bytes", sparse_bytes_max];
    redis.run(&set);
    server.run(&set);
    let mut random = Random::new(seed);
    for number in 0..COMMANDS {
        let words = command(&mut random, damage);
        let shown = words.join(&b' ').escape_ascii().to_string();
        let leaves = redis_leaves_the_string(&words, &redis.run(&[&b"GET"[..], &words[1]]));
        let append = |bytes: &[u8], server: &mut TestServer, redis: &mut Redis| {
            let words = [&b"APPEND"[..], &words[1], bytes];
            assert_eq!(server.run(&words), redis.run(&words));
        };
        if leaves && words.len() > 3 {
            append(b"\0", &mut server, &mut redis);
        }
        let expected = redis.run(&words);
        assert_eq!(server.run(&words), expected, "seed {seed}, command {number}: {shown}");
        for key in KEYS {
            for words in [&["GET", key][..], &["OBJECT", "ENCODING", key], &["EXPIRETIME", key]] {
                let (ours, theirs) = (server.run(words), redis.run(words));
                assert!(ours == theirs, "seed {seed}, {number}: {words:?} after {shown}");
            }
        }
        if leaves {
            // Nothing is added, but Redis writes the zero again that ends a string.
            append(b"", &mut server, &mut redis);
        }
        if number % RESTART_EVERY == RESTART_EVERY - 1 {
            if random.chance(1, 2) {
                server.server.engine.checkpoint().expect("the tier is in memory");
            }
            server = server.reopen();
            server.run(&set);
        }
    }
}

#[test]
fn counts_agree_from_one_element_to_a_hundred_thousand() {
    const ELEMENTS_MAX: u64 = 100_000;
    const ELEMENTS_A_COMMAND: u64 = 100;
    let Some(mut redis) = Redis::start() else { return };
    let mut server = TestServer::new();
    let mut next = 0;
    while next < ELEMENTS_MAX {
        let count = if next < ELEMENTS_A_COMMAND { 1 } else { ELEMENTS_A_COMMAND };
        let mut words: Words = vec![b"PFADD".to_vec(), b"k".to_vec()];
        words.extend((next..next + count).map(|number| format!("element:{number}").into_bytes()));
        assert_eq!(server.run(&words), redis.run(&words), "after {next}");
        let count_words = ["PFCOUNT", "k"];
        assert_eq!(server.run(&count_words), redis.run(&count_words), "after {next}");
        next += count;
    }
    let (ours, theirs) = (server.run(&["GET", "k"]), redis.run(&["GET", "k"]));
    assert!(ours == theirs, "the bytes differ");
}

/// Redis writes behind the string when it splits a run that the string's end cuts off, and takes
/// what is there for a part of the run the next time.
fn redis_leaves_the_string(words: &Words, string: &Value) -> bool {
    let changes = [&b"PFADD"[..], b"PFMERGE"].contains(&&words[0][..]);
    changes && matches!(string, Value::Bulk(string) if ends_in_half_a_run(string))
}

/// A run of zeros takes two bytes if the two highest bits are 01.
fn ends_in_half_a_run(string: &[u8]) -> bool {
    const HEADER_BYTES: usize = 16;
    let mut runs = string.get(HEADER_BYTES..).unwrap_or_default();
    while let Some((&opcode, rest)) = runs.split_first() {
        let is_long = opcode >> 6 == 1;
        if is_long && rest.is_empty() {
            return true;
        }
        runs = &rest[usize::from(is_long)..];
    }
    false
}

fn pick<'a>(random: &mut Random, words: &[&'a str]) -> &'a str {
    words[random.below(words.len() as u64) as usize]
}

fn key(random: &mut Random) -> Vec<u8> {
    pick(random, &KEYS).into()
}

fn element(random: &mut Random) -> Vec<u8> {
    match random.below(4) {
        0 => random.below(50).to_string().into_bytes(),
        1 => random.below(2000).to_string().into_bytes(),
        _ => {
            let mut bytes = vec![0; random.below(40) as usize];
            random.fill(&mut bytes);
            bytes
        }
    }
}

fn command(random: &mut Random, damage: Damage) -> Words {
    if damage == Damage::Often && random.chance(1, 6) {
        return damaging_command(random);
    }
    match random.below(20) {
        0..=7 => {
            let elements = [0, 1, 2, 30, 300][random.below(5) as usize];
            let mut words = vec![b"PFADD".to_vec(), key(random)];
            words.extend((0..elements).map(|_| element(random)));
            words
        }
        8..=11 => vec![b"PFCOUNT".to_vec(), key(random)],
        12 | 13 => vec![b"PFCOUNT".to_vec(), key(random), key(random), key(random)],
        14..=16 => {
            let mut words = vec![b"PFMERGE".to_vec(), key(random)];
            words.extend((0..random.below(3)).map(|_| key(random)));
            words
        }
        17 => {
            let sub =
                pick(random, &["encoding", "DECODE", "DECODE", "ToDense", "GETREG", "nosuch"]);
            vec![b"PFDEBUG".to_vec(), sub.into(), key(random)]
        }
        18 => vec![b"EXPIREAT".to_vec(), key(random), b"33177117420".to_vec()],
        _ => vec![b"DEL".to_vec(), key(random)],
    }
}

fn damaging_command(random: &mut Random) -> Words {
    let mut bytes = vec![0; 1 + random.below(6) as usize];
    random.fill(&mut bytes);
    match random.below(8) {
        // Behind the header, where the runs are.
        0..=3 => {
            let offset = 16 + random.below(30);
            vec![b"SETRANGE".to_vec(), key(random), offset.to_string().into_bytes(), bytes]
        }
        4 => {
            let offset = random.below(16);
            bytes.truncate(1);
            vec![b"SETRANGE".to_vec(), key(random), offset.to_string().into_bytes(), bytes]
        }
        5 => vec![b"APPEND".to_vec(), key(random), bytes],
        6 => {
            let mut value = b"HYLL\x01\0\0\0\0\0\0\0\0\0\0".to_vec();
            value.push(if random.chance(1, 2) { 0x80 } else { 0 });
            value.extend_from_slice(&bytes);
            vec![b"SET".to_vec(), key(random), value]
        }
        _ => vec![b"SET".to_vec(), key(random), bytes],
    }
}
