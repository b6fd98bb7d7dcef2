//! Random commands of the string family: mostly sensible, sometimes not.

use basalt_env::random::Random;

/// Keys that commands use: few, so that they meet.
pub const KEYS: [&str; 8] = ["a", "b", "c", "n", "m", "{a}x", "long-key", "f"];

/// Makes commands, all of them following from a seed.
pub struct Commands {
    random: Random,
    /// Now, in unix milliseconds.
    pub now_ms: u64,
}

/// Numbers where commands change their minds.
const NUMBERS: [&str; 24] = [
    "0",
    "1",
    "-1",
    "2",
    "7",
    "10",
    "-5",
    "100",
    "-100",
    "9223372036854775807",
    "-0",
    "01",
    "+1",
    "-9223372036854775808",
    "9223372036854775808",
    "9223372036854775",
    "9223372036854776",
    "1.5",
    "x",
    "",
    " 1",
    "4611686018427387904",
    "2147483647",
    "99999999999999999999",
];

const FLOATS: [&str; 40] = [
    "0.1",
    "0.2",
    "-0.3",
    "3.0e3",
    "200",
    "5.0e3",
    "1e17",
    "-1e-17",
    "1.23456789012345678",
    "1e30",
    "1e-30",
    ".5",
    "5.",
    "-.5e-2",
    "0x1.8p3",
    "0X1P-70",
    "0x",
    "inf",
    "-inf",
    "+Infinity",
    "nan",
    "1e4932",
    "-1e4932",
    "1.18e4932",
    "1e5000",
    "1e-4950",
    "1e-5000",
    "1e",
    "e1",
    "1.2.3",
    " 1",
    "1 ",
    "-0",
    "0.000000000000000005",
    "0.0000000000000000049",
    "123456789.123456789",
    "18446744073709551615",
    "18446744073709551617",
    "0.1234567890123456789012345678901234567890",
    "3.14159265358979323846",
];

impl Commands {
    /// Commands that follow from `seed`.
    pub fn new(seed: u64, now_ms: u64) -> Commands {
        Commands { random: Random::new(seed), now_ms }
    }

    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.random.below(words.len() as u64) as usize]
    }

    fn key(&mut self) -> Vec<u8> {
        self.pick(&KEYS).into()
    }

    fn number(&mut self) -> Vec<u8> {
        if self.random.chance(1, 2) {
            return self.pick(&NUMBERS).into();
        }
        (self.random.below(40) as i64 - 15).to_string().into()
    }

    /// A floating point number in some notation, or nearly one.
    pub fn float(&mut self) -> Vec<u8> {
        match self.random.below(3) {
            0 => self.pick(&FLOATS).into(),
            1 => {
                let whole = self.random.next_u64() >> self.random.below(64);
                let digits = self.random.below(12) as usize;
                let fraction = self.random.below(10u64.pow(digits as u32));
                let sign = self.pick(&["", "-"]);
                format!("{sign}{whole}.{fraction:0digits$}").into()
            }
            _ => {
                let digits = self.random.next_u64();
                let exponent = self.random.below(80) as i64 - 50;
                format!("{digits}e{exponent}").into()
            }
        }
    }

    fn value(&mut self) -> Vec<u8> {
        match self.random.below(6) {
            0 => self.number(),
            1 => self.float(),
            2 | 3 => {
                let len = self.random.below(60) as usize;
                (0..len).map(|_| b'a' + self.random.below(4) as u8).collect()
            }
            4 => {
                let mut bytes = vec![0; self.random.below(200) as usize];
                self.random.fill(&mut bytes);
                bytes
            }
            _ => {
                let mut bytes = vec![0; self.random.below(6000) as usize];
                self.random.fill(&mut bytes);
                bytes
            }
        }
    }

    /// An expire option and its number; only such as expire neither during a test nor at its end.
    fn expire_option(&mut self) -> Vec<Vec<u8>> {
        let option = self.pick(&["EX", "PX", "EXAT", "PXAT", "px", "exat"]);
        let now_ms = self.now_ms;
        let far = 1_000_000 + self.random.below(1_000_000);
        let number = match self.random.below(5) {
            0 => return vec![option.into(), self.number_of_the_past_or_never()],
            _ => match option {
                "EX" => far,
                "PX" | "px" => far * 1000,
                "PXAT" => now_ms + far * 1000,
                _ => now_ms / 1000 + far,
            },
        };
        vec![option.into(), number.to_string().into()]
    }

    fn number_of_the_past_or_never(&mut self) -> Vec<u8> {
        let past_ms = (self.now_ms - 5000).to_string();
        let numbers = ["0", "-1", "x", "9223372036854775807", "9223372036854775", &past_ms];
        self.pick(&numbers).into()
    }

    fn set_options(&mut self) -> Vec<Vec<u8>> {
        let mut options = Vec::new();
        for _ in 0..self.random.below(4) {
            match self.random.below(8) {
                0 => options.push(b"NX".to_vec()),
                1 => options.push(b"xx".to_vec()),
                2 | 3 => options.push(b"Get".to_vec()),
                4 => options.push(b"KEEPTTL".to_vec()),
                5 | 6 => options.extend(self.expire_option()),
                _ => options.push(self.pick(&["PERSIST", "EX", "foo", "", "keepttl"]).into()),
            }
        }
        options
    }

    fn getex_options(&mut self) -> Vec<Vec<u8>> {
        match self.random.below(6) {
            0 => vec![],
            1 => vec![b"Persist".to_vec()],
            2 => vec![self.pick(&["KEEPTTL", "EX", "NX", "PXAT"]).into()],
            3 => [self.expire_option(), self.expire_option()].concat(),
            4 => [self.expire_option(), vec![b"PERSIST".to_vec()]].concat(),
            _ => self.expire_option(),
        }
    }

    fn lcs_options(&mut self) -> Vec<Vec<u8>> {
        let mut options = Vec::new();
        for _ in 0..self.random.below(4) {
            match self.random.below(6) {
                0 => options.push(b"LEN".to_vec()),
                1 | 2 => options.push(b"idx".to_vec()),
                3 => options.push(b"WITHMATCHLEN".to_vec()),
                4 => options.extend([b"MinMatchLen".to_vec(), self.number()]),
                _ => options.push(self.pick(&["MINMATCHLEN", "foo"]).into()),
            }
        }
        options
    }

    fn offset(&mut self) -> Vec<u8> {
        match self.random.below(12) {
            0 => self.pick(&["-1", "1048575", "1048576", "9223372036854775807", "x"]).into(),
            1 => self.random.below(5000).to_string().into(),
            _ => self.random.below(80).to_string().into(),
        }
    }

    fn arguments(&mut self, name: &str) -> Vec<Vec<u8>> {
        match name {
            "SET" => [vec![self.key(), self.value()], self.set_options()].concat(),
            "GETEX" => [vec![self.key()], self.getex_options()].concat(),
            "SETEX" | "PSETEX" => {
                let far = (100_000_000 + self.random.below(1_000_000)).to_string().into();
                let time = self.number_of_the_past_or_never();
                vec![self.key(), if self.random.chance(1, 2) { far } else { time }, self.value()]
            }
            "MGET" => (0..1 + self.random.below(70)).map(|_| self.key()).collect(),
            "MSET" | "MSETNX" => {
                (0..1 + self.random.below(4)).flat_map(|_| [self.key(), self.value()]).collect()
            }
            "SETRANGE" => vec![self.key(), self.offset(), self.value()],
            "GETRANGE" | "SUBSTR" => vec![self.key(), self.number(), self.number()],
            "INCRBY" | "DECRBY" => vec![self.key(), self.number()],
            "INCRBYFLOAT" => vec![self.key(), self.float()],
            "LCS" => [vec![self.key(), self.key()], self.lcs_options()].concat(),
            "APPEND" | "SETNX" | "GETSET" => vec![self.key(), self.value()],
            _ => vec![self.key()],
        }
    }

    /// The next command.
    pub fn next(&mut self) -> Vec<Vec<u8>> {
        let name = self.pick(&[
            "SET",
            "SET",
            "SET",
            "GET",
            "GETEX",
            "GETEX",
            "GETDEL",
            "GETSET",
            "MGET",
            "MSET",
            "MSETNX",
            "SETNX",
            "SETEX",
            "PSETEX",
            "APPEND",
            "APPEND",
            "STRLEN",
            "GETRANGE",
            "SUBSTR",
            "SETRANGE",
            "SETRANGE",
            "INCR",
            "DECR",
            "INCRBY",
            "DECRBY",
            "INCRBYFLOAT",
            "INCRBYFLOAT",
            "LCS",
        ]);
        let mut words = vec![name.as_bytes().to_vec()];
        words.extend(self.arguments(name));
        match self.random.below(60) {
            0 => words.truncate(words.len() - 1),
            1 => words.push(b"extra".to_vec()),
            _ => {}
        }
        words
    }
}
