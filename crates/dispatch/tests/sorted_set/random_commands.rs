//! Random commands on sorted sets: mostly sensible, sometimes not.

use basalt_env::random::Random;

/// Keys that commands use: few, so that they meet.
pub const KEYS: [&str; 5] = ["a", "b", "c", "d", "string"];

/// Scores are such as Redis 7.0 and 7.2 print alike.
const SCORES: [&str; 20] = [
    "0",
    "1",
    "2",
    "3",
    "-1",
    "-2.5",
    "0.25",
    "0.5",
    "1.75",
    "100",
    "1e3",
    "inf",
    "-inf",
    "+5",
    "0x10",
    "123456789",
    "x",
    "nan",
    "",
    "-0",
];

const ENDS: [&str; 16] = [
    "0", "1", "(1", "2", "(2", "3", "-inf", "+inf", "(-inf", "-1", "0.5", "100", "(100", "x", "(",
    "5",
];

const LEX_ENDS: [&str; 12] =
    ["-", "+", "[m1", "(m1", "[m2", "(m3", "[m", "[", "(z", "[m15", "x", ""];

/// Makes commands, all of them following from a seed.
pub struct Commands {
    random: Random,
}

type Words = Vec<Vec<u8>>;

impl Commands {
    /// Commands that follow from `seed`.
    pub fn new(seed: u64) -> Commands {
        Commands { random: Random::new(seed) }
    }

    fn pick(&mut self, words: &[&str]) -> Vec<u8> {
        words[self.random.below(words.len() as u64) as usize].into()
    }

    fn is(&mut self, one_in: u64) -> bool {
        self.random.chance(1, one_in)
    }

    fn key(&mut self) -> Vec<u8> {
        if self.is(60) { b"string".to_vec() } else { self.pick(&KEYS[..4]) }
    }

    fn member(&mut self) -> Vec<u8> {
        let number = self.random.below(24);
        match self.random.below(8) {
            0 => number.to_string().into(),
            1 => format!("-{number}").into(),
            2 => vec![b'x'; number as usize * 4],
            _ => format!("m{number}").into(),
        }
    }

    fn score(&mut self) -> Vec<u8> {
        match self.random.below(12) {
            0 => self.pick(&SCORES),
            1..6 => (self.random.below(4)).to_string().into(),
            _ => format!("{}", self.random.below(400) as f64 / 4.0).into(),
        }
    }

    fn index(&mut self) -> Vec<u8> {
        if self.is(30) {
            return self.pick(&["x", "9223372036854775807", "-9223372036854775808", "1.5"]);
        }
        (self.random.below(40) as i64 - 20).to_string().into()
    }

    fn count(&mut self) -> Vec<u8> {
        if self.is(20) { self.pick(&["x", "-1", "0", "9999"]) } else { self.pick(&["1", "2", "5"]) }
    }

    /// Two ends, mostly with the lower one first.
    fn ends(&mut self, words: &[&str]) -> Words {
        vec![self.pick(words), self.pick(words)]
    }

    fn pairs(&mut self) -> Words {
        let count = if self.is(10) { 30 } else { 1 + self.random.below(4) };
        (0..count).flat_map(|_| [self.score(), self.member()]).collect()
    }

    fn options(&mut self, options: &[&str], most: u64) -> Words {
        (0..self.random.below(most + 1)).map(|_| self.pick(options)).collect()
    }

    fn limit(&mut self) -> Words {
        if self.is(2) { vec![] } else { vec![b"LIMIT".to_vec(), self.index(), self.index()] }
    }

    fn zrange(&mut self) -> Words {
        let mut words = match self.random.below(3) {
            0 => vec![self.index(), self.index()],
            1 => [self.ends(&ENDS), vec![b"BYSCORE".to_vec()], self.limit()].concat(),
            _ => [self.ends(&LEX_ENDS), vec![b"bylex".to_vec()], self.limit()].concat(),
        };
        words.extend(self.options(&["REV", "WITHSCORES", "rev", "BYSCORE"], 1));
        words
    }

    fn several_keys(&mut self) -> Words {
        let count = 1 + self.random.below(3);
        let stated =
            if self.is(20) { self.pick(&["0", "x", "9", "-1"]) } else { count.to_string().into() };
        let keys = (0..count).map(|_| if self.is(5) { b"set".to_vec() } else { self.key() });
        [vec![stated], keys.collect()].concat()
    }

    fn weights(&mut self, keys: usize) -> Words {
        let mut words = vec![];
        if self.is(2) {
            words.push(b"WEIGHTS".to_vec());
            words.extend(
                (0..keys).map(|_| self.pick(&["1", "2", "0.5", "-1", "0", "inf", "1", "x"])),
            );
        }
        if self.is(2) {
            words.extend([b"AGGREGATE".to_vec(), self.pick(&["SUM", "MIN", "max", "avg"])]);
        }
        words
    }

    fn arguments(&mut self, name: &str) -> Words {
        match name {
            "ZADD" => {
                let options = self.options(&["NX", "XX", "GT", "LT", "CH", "ch", "INCR"], 2);
                [vec![self.key()], options, self.pairs()].concat()
            }
            "ZADD-SAME" => {
                let members =
                    (0..1 + self.random.below(6)).flat_map(|_| [b"0".to_vec(), self.member()]);
                let members: Words = members.collect();
                [vec![b"lex".to_vec()], members].concat()
            }
            "ZINCRBY" => vec![self.key(), self.score(), self.member()],
            "SADD" | "SREM" => vec![b"set".to_vec(), self.member(), self.member()],
            "ZSCORE" | "ZRANK" | "ZREVRANK" => vec![self.key(), self.member()],
            "ZMSCORE" | "ZREM" => {
                let members = (0..1 + self.random.below(5)).map(|_| self.member()).collect();
                [vec![self.key()], members].concat()
            }
            "ZCOUNT" | "ZREMRANGEBYSCORE" => [vec![self.key()], self.ends(&ENDS)].concat(),
            "ZREMRANGEBYRANK" => vec![self.key(), self.index(), self.index()],
            "ZLEXCOUNT" | "ZREMRANGEBYLEX" => {
                [vec![b"lex".to_vec()], self.ends(&LEX_ENDS)].concat()
            }
            "ZRANGEBYLEX" | "ZREVRANGEBYLEX" => {
                [vec![b"lex".to_vec()], self.ends(&LEX_ENDS), self.limit()].concat()
            }
            "ZRANGEBYSCORE" | "ZREVRANGEBYSCORE" => {
                let options = self.options(&["WITHSCORES"], 1);
                [vec![self.key()], self.ends(&ENDS), options, self.limit()].concat()
            }
            "ZREVRANGE" => {
                [vec![self.key(), self.index(), self.index()], self.options(&["withscores"], 1)]
                    .concat()
            }
            "ZRANGE" => {
                let words = self.zrange();
                // Members bound a range where all scores are the same.
                let is_lex = words.contains(&b"bylex".to_vec());
                [vec![if is_lex { b"lex".to_vec() } else { self.key() }], words].concat()
            }
            "ZRANGESTORE" => {
                let words = self.zrange();
                let is_lex = words.contains(&b"bylex".to_vec());
                let source = if is_lex { b"lex".to_vec() } else { self.key() };
                [vec![self.key(), source], words].concat()
            }
            "ZPOPMIN" | "ZPOPMAX" => match self.is(2) {
                true => vec![self.key()],
                false => vec![self.key(), self.count()],
            },
            _ => self.arguments_of_several_keys(name),
        }
    }

    fn arguments_of_several_keys(&mut self, name: &str) -> Words {
        match name {
            "ZMPOP" => {
                let mut words = self.several_keys();
                words.push(self.pick(&["MIN", "MAX", "min", "up"]));
                if self.is(2) {
                    words.extend([b"COUNT".to_vec(), self.count()]);
                }
                words
            }
            "ZUNION" | "ZINTER" => {
                let keys = self.several_keys();
                let weights = self.weights(keys.len() - 1);
                [keys, weights, self.options(&["WITHSCORES"], 1)].concat()
            }
            "ZUNIONSTORE" | "ZINTERSTORE" => {
                let keys = self.several_keys();
                let weights = self.weights(keys.len() - 1);
                [vec![self.key()], keys, weights].concat()
            }
            "ZDIFF" => [self.several_keys(), self.options(&["WITHSCORES"], 1)].concat(),
            "ZDIFFSTORE" => [vec![self.key()], self.several_keys()].concat(),
            "ZINTERCARD" => {
                let limit = if self.is(2) { vec![b"LIMIT".to_vec(), self.count()] } else { vec![] };
                [self.several_keys(), limit].concat()
            }
            _ => vec![self.key()],
        }
    }

    /// The next command.
    pub fn next(&mut self) -> Words {
        const NAMES: &[&str] = &[
            "ZADD",
            "ZADD",
            "ZADD",
            "ZADD",
            "ZADD",
            "ZADD-SAME",
            "ZADD-SAME",
            "ZINCRBY",
            "ZINCRBY",
            "ZSCORE",
            "ZMSCORE",
            "ZCARD",
            "ZRANK",
            "ZREVRANK",
            "ZCOUNT",
            "ZLEXCOUNT",
            "ZRANGE",
            "ZRANGE",
            "ZRANGE",
            "ZRANGE",
            "ZRANGESTORE",
            "ZREVRANGE",
            "ZRANGEBYSCORE",
            "ZREVRANGEBYSCORE",
            "ZRANGEBYLEX",
            "ZREVRANGEBYLEX",
            "ZREM",
            "ZREM",
            "ZREMRANGEBYRANK",
            "ZREMRANGEBYSCORE",
            "ZREMRANGEBYLEX",
            "ZPOPMIN",
            "ZPOPMAX",
            "ZMPOP",
            "ZUNION",
            "ZINTER",
            "ZDIFF",
            "ZUNIONSTORE",
            "ZINTERSTORE",
            "ZDIFFSTORE",
            "ZINTERCARD",
            "SADD",
            "SREM",
        ];
        let name = NAMES[self.random.below(NAMES.len() as u64) as usize];
        let mut words = vec![name.trim_end_matches("-SAME").as_bytes().to_vec()];
        words.extend(self.arguments(name));
        match self.random.below(80) {
            0 => words.truncate(words.len() - 1),
            1 => words.push(b"extra".to_vec()),
            _ => {}
        }
        // WITHSCORE is newer than the Redis that answers.
        let is_newer = name.ends_with("RANK") && !name.contains("RANGE") && words.len() == 4;
        if is_newer { self.next() } else { words }
    }
}
