//! Batches that meet the conditions of the short ways often, and just miss them often.

use crate::strings::random_commands::{Commands, KEYS};
use basalt_env::random::Random;

/// Requests of a batch.
const REQUESTS_MAX: u64 = 64;

type Words = Vec<Vec<u8>>;

/// Makes batches, all of them following from a seed.
pub struct Batches {
    random: Random,
    strings: Commands,
}

/// Commands that read one key; most of them have a short way.
const READS: [&str; 17] = [
    "GET KEY",
    "STRLEN KEY",
    "GETRANGE KEY 0 3",
    "EXISTS KEY",
    "TTL KEY",
    "TYPE KEY",
    "GETBIT KEY 3",
    "HGET hash KEY",
    "HLEN hash",
    "SISMEMBER set KEY",
    "ZSCORE zset KEY",
    "LLEN list",
    "PFCOUNT hll",
    "PFCOUNT hll KEY",
    "HGET KEY field",
    "OBJECT ENCODING KEY",
    "CAS.GET KEY",
];

/// Commands that change one key in other ways than a plain SET.
const WRITES: [&str; 27] = [
    "DEL KEY",
    "PEXPIRE KEY 20",
    "PERSIST KEY",
    "INCR KEY",
    "APPEND KEY x",
    "SET KEY v NX",
    "SET KEY v PX 30",
    "SET KEY v KEEPTTL",
    "LPUSH KEY x",
    "HSET hash KEY v",
    "HDEL hash KEY",
    "SADD set KEY",
    "ZADD zset 1 KEY",
    "LPUSH list KEY",
    "PFADD hll KEY",
    "RENAME KEY a",
    "SETRANGE KEY 2 y",
    "HSET KEY field v",
    "LPOP list",
    "LPOP KEY",
    "LPUSH list",
    "SETBIT KEY 77 1",
    "ZINCRBY zset 1 KEY",
    "XADD stream * KEY v",
    "RPUSH list KEY KEY",
    "CAS.SET KEY vvv",
    "CAS.DEL KEY",
];

/// What changes which way is open: for the connection, for the server.
const SWITCHES: [&str; 36] = [
    "MULTI",
    "EXEC",
    "EXEC",
    "DISCARD",
    "WATCH KEY",
    "UNWATCH",
    "SELECT 1",
    "SELECT 0",
    "CLIENT REPLY SKIP",
    "CLIENT REPLY OFF",
    "CLIENT REPLY ON",
    "CLIENT NO-TOUCH ON",
    "CLIENT NO-TOUCH OFF",
    "HELLO 2",
    "HELLO 3",
    "RESET",
    "SUBSCRIBE news",
    "UNSUBSCRIBE",
    "PUBLISH news x",
    "CONFIG SET notify-keyspace-events KEA",
    "CONFIG SET notify-keyspace-events Em",
    "CONFIG SET notify-keyspace-events ''",
    "CONFIG SET slowlog-log-slower-than 0",
    "CONFIG SET slowlog-log-slower-than -1",
    "CONFIG SET maxmemory 1",
    "CONFIG SET maxmemory 0",
    "CONFIG SET requirepass secret",
    "CONFIG SET requirepass ''",
    "AUTH secret",
    "SWAPDB 0 1",
    "FLUSHDB",
    "BLPOP KEY 1",
    "EVAL return{redis.call('get',KEYS[1])} 1 KEY",
    "PING",
    "NOSUCHCOMMAND KEY",
    "CLIENT",
];

/// The words of a line; `''` stands for an empty one.
fn words(line: &str) -> Words {
    let word = |word: &str| if word == "''" { Vec::new() } else { word.as_bytes().to_vec() };
    line.split_whitespace().map(word).collect()
}

impl Batches {
    /// Batches that follow from `seed`.
    pub fn new(seed: u64, now_ms: u64) -> Batches {
        Batches { random: Random::new(seed), strings: Commands::new(!seed, now_ms) }
    }

    /// Milliseconds that pass before a batch.
    pub fn pause_ms(&mut self) -> u64 {
        if self.random.chance(1, 8) { self.random.below(40) } else { 0 }
    }

    /// Whether something happens that does so one time in `count`.
    pub fn one_in(&mut self, count: u64) -> bool {
        self.random.chance(1, count)
    }

    /// How many requests run together.
    pub fn together(&mut self) -> usize {
        1 + self.random.below(REQUESTS_MAX) as usize
    }

    fn pick(&mut self, lines: &[&str]) -> Words {
        let line = lines[self.random.below(lines.len() as u64) as usize];
        self.with_key(line)
    }

    fn with_key(&mut self, line: &str) -> Words {
        let key = self.key();
        words(line)
            .into_iter()
            .map(|word| if word == b"KEY" { key.clone() } else { word })
            .collect()
    }

    fn key(&mut self) -> Vec<u8> {
        KEYS[self.random.below(KEYS.len() as u64) as usize].into()
    }

    fn value(&mut self) -> Vec<u8> {
        // Of few lengths, so that most fit where another was.
        let len = [3, 3, 12, 60, 60, 20_000][self.random.below(6) as usize];
        vec![b'0' + self.random.below(10) as u8; len]
    }

    fn plain(&mut self) -> Words {
        match self.random.below(8) {
            0..4 => vec![b"SET".to_vec(), self.key(), self.value()],
            4..7 => vec![b"GET".to_vec(), self.key()],
            _ => vec![b"SET".to_vec(), self.key()],
        }
    }

    /// A command of another connection between two batches.
    pub fn interlude(&mut self) -> Words {
        if self.random.chance(1, 2) { self.pick(&WRITES) } else { self.plain() }
    }

    /// The requests of a batch, in runs of the same kind.
    pub fn next(&mut self) -> Vec<Words> {
        let count = 1 + self.random.below(REQUESTS_MAX);
        let mut requests = Vec::new();
        while (requests.len() as u64) < count {
            let run = 1 + self.random.below(8);
            match self.random.below(20) {
                0..9 => (0..run).for_each(|_| requests.push(self.plain())),
                9..14 => {
                    let key = self.key();
                    let line = READS[self.random.below(READS.len() as u64) as usize];
                    let keyed = |word: Vec<u8>| if word == b"KEY" { key.clone() } else { word };
                    (0..run)
                        .for_each(|_| requests.push(words(line).into_iter().map(keyed).collect()));
                }
                14..17 => {
                    let line = WRITES[self.random.below(WRITES.len() as u64) as usize];
                    (0..run).for_each(|_| requests.push(self.with_key(line)));
                }
                17 => requests.push(self.strings.next()),
                _ => requests.push(self.pick(&SWITCHES)),
            }
        }
        requests
    }
}
