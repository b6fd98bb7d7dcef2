//! Random commands from templates.
//!
//! A word of one capital letter stands for something random: `K` a key, `V` a value or member, `N`
//! a small number that may be negative, `C` a small count from 0 on, `S` a side; every other word
//! is itself.

use basalt_env::Random;

/// Few keys, so that types and destinations meet. One hash tag: they are in one partition.
pub const KEYS: &[&str] = &["a", "b", "c", "{a}d"];

pub const LISTS: &[&str] = &[
    "LPUSH K V",
    "RPUSH K V",
    "LPUSH K V V V",
    "RPUSH K V V V V V V",
    "LPUSHX K V",
    "RPUSHX K V",
    "LPOP K",
    "RPOP K",
    "LPOP K C",
    "RPOP K C",
    "LMPOP 2 K K S COUNT 2",
    "LINDEX K N",
    "LLEN K",
    "LRANGE K N N",
    "LRANGE K 0 -1",
    "LPOS K V",
    "LPOS K V RANK N COUNT C",
    "LSET K N V",
    "LINSERT K BEFORE V V",
    "LINSERT K AFTER V V",
    "LREM K N V",
    "LTRIM K N N",
    "LMOVE K K S S",
    "RPOPLPUSH K K",
];

pub const SETS: &[&str] = &[
    "SADD K V",
    "SADD K V V V",
    "SADD K V V V V V V V",
    "SREM K V",
    "SREM K V V V",
    "SMOVE K K V",
    "SCARD K",
    "SISMEMBER K V",
    "SMISMEMBER K V V",
    "SMEMBERS K",
    "SINTER K K",
    "SUNION K K K",
    "SDIFF K K",
    "SINTERSTORE K K K",
    "SUNIONSTORE K K K",
    "SDIFFSTORE K K K",
    "SINTERCARD 2 K K",
];

pub const HASHES: &[&str] = &[
    "HSET K V V",
    "HSET K V V V V",
    "HSET K V V V V V V V V V V",
    "HMSET K V V",
    "HSETNX K V V",
    "HDEL K V",
    "HDEL K V V V",
    "HGET K V",
    "HMGET K V V V",
    "HGETALL K",
    "HKEYS K",
    "HVALS K",
    "HLEN K",
    "HEXISTS K V",
    "HSTRLEN K V",
    "HINCRBY K V N",
    "HINCRBYFLOAT K V N",
    "HINCRBYFLOAT K V 0.25",
    "HRANDFIELD K 100000",
];

pub const KEYSPACE: &[&str] = &[
    "DEL K",
    "RENAME K K",
    "COPY K K",
    "COPY K K REPLACE",
    "EXISTS K",
    "TYPE K",
    "PERSIST K",
    "EXPIRE K 1000",
    "SET K V",
    "APPEND K V",
    "GET K",
];

/// Replies to these come in any order.
pub const UNORDERED: &[&str] =
    &["SMEMBERS", "SINTER", "SUNION", "SDIFF", "HGETALL", "HKEYS", "HVALS", "HRANDFIELD"];

/// Fills templates.
pub struct Templates {
    random: Random,
    templates: Vec<&'static str>,
    /// How many different values there are.
    values: u64,
}

impl Templates {
    pub fn new(seed: u64, family: &[&'static str], values: u64) -> Templates {
        // The keyspace's commands are rarer: else nothing grows.
        let repeated = family.iter().copied().cycle().take(family.len() * 4);
        let templates = repeated.chain(KEYSPACE.iter().copied()).collect();
        Templates { random: Random::new(seed), templates, values }
    }

    pub fn next(&mut self) -> Vec<Vec<u8>> {
        let template = self.templates[self.random.below(self.templates.len() as u64) as usize];
        template.split(' ').map(|word| self.word(word)).collect()
    }

    fn word(&mut self, word: &str) -> Vec<u8> {
        let random = &mut self.random;
        match word {
            "K" => KEYS[random.below(KEYS.len() as u64) as usize].into(),
            "V" => self.value(),
            "N" => (random.below(16) as i64 - 8).to_string().into_bytes(),
            "C" => random.below(6).to_string().into_bytes(),
            "S" => {
                if random.chance(1, 2) {
                    b"LEFT".to_vec()
                } else {
                    b"RIGHT".to_vec()
                }
            }
            other => other.into(),
        }
    }

    fn value(&mut self) -> Vec<u8> {
        let number = self.random.below(self.values);
        match number % 5 {
            0 => format!("value:{number}").into_bytes(),
            1 if number.is_multiple_of(3) => vec![b'v'; number as usize % 300],
            2 => (number as i64 * 7_919_000_003).to_string().into_bytes(),
            _ => (number as i64 - 20).to_string().into_bytes(),
        }
    }
}
