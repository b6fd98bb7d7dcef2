//! BITOP on long strings, whose result may be made in the memory of what the destination held.

use crate::harness::{LogBounds, TestServer};
use basalt_env::Random;
use basalt_resp::Value;
use std::collections::BTreeMap;

const KEYS: [&str; 3] = ["{k}a", "{k}b", "{k}c"];
const OPERATIONS: [&str; 4] = ["AND", "OR", "XOR", "NOT"];
/// From 2,048 bytes on a string stands apart from its entry.
const LENGTHS: [usize; 6] = [0, 100, 2_000, 2_100, 3_000, 5_000];

fn combined(operation: &str, strings: &[Vec<u8>]) -> Vec<u8> {
    let longest = strings.iter().map(Vec::len).max().unwrap_or_default();
    let byte = |string: &Vec<u8>, at: usize| string.get(at).copied().unwrap_or_default();
    let combine = |at| {
        let bytes = strings.iter().map(|string| byte(string, at));
        let combined = match operation {
            "AND" => bytes.reduce(|a, b| a & b),
            "OR" => bytes.reduce(|a, b| a | b),
            "XOR" => bytes.reduce(|a, b| a ^ b),
            _ => bytes.map(|byte| !byte).next(),
        };
        combined.expect("there is a string")
    };
    (0..longest).map(combine).collect()
}

#[test]
fn random_combinations_of_long_strings_are_right_and_survive() {
    for seed in 0..6 {
        let bounds = LogBounds { lent_bytes_min: 2_048, ..LogBounds::default() };
        let (mut server, mut random) = (TestServer::with_bounds(bounds), Random::new(seed));
        if seed % 2 == 1 {
            // What the log holds cannot be used for the result.
            server.log.keep_what_is_lent();
        }
        let mut plain: BTreeMap<&str, Vec<u8>> = BTreeMap::new();
        let draw = |random: &mut Random| KEYS[random.below(KEYS.len() as u64) as usize];
        for _ in 0..400 {
            let key = draw(&mut random);
            if random.chance(1, 4) {
                let mut value = vec![0; LENGTHS[random.below(LENGTHS.len() as u64) as usize]];
                random.fill(&mut value);
                server.run(&[&b"SET"[..], key.as_bytes(), &value]);
                plain.insert(key, value);
                continue;
            }
            let operation = OPERATIONS[random.below(OPERATIONS.len() as u64) as usize];
            let count = if operation == "NOT" { 1 } else { 1 + random.below(4) };
            let sources: Vec<&str> = (0..count).map(|_| draw(&mut random)).collect();
            let strings: Vec<Vec<u8>> = sources
                .iter()
                .map(|source| plain.get(source).cloned().unwrap_or_default())
                .collect();
            let result = combined(operation, &strings);
            let words: Vec<&str> =
                ["BITOP", operation, key].into_iter().chain(sources.iter().copied()).collect();
            assert_eq!(server.run(&words), Value::Integer(result.len() as i64), "{words:?}");
            if result.is_empty() {
                plain.remove(key);
            } else {
                plain.insert(key, result);
            }
            for key in KEYS {
                let stored = server.stored(key).map(|stored| stored.value);
                assert!(stored == plain.get(key).cloned(), "seed {seed}: {key} after {words:?}");
            }
        }
        let reopened = server.reopen();
        for key in KEYS {
            let stored = reopened.stored(key).map(|stored| stored.value);
            assert!(stored == plain.get(key).cloned(), "seed {seed}: {key} after a restart");
        }
    }
}
