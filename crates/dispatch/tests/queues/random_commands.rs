//! Random commands on a few queues, which use the tokens that they have seen.

use basalt_env::random::Random;
use basalt_resp::Value;

pub(super) const KEYS: [&str; 3] = ["q1", "q2", "other"];

/// What is done with a token.
const USES: [&str; 8] = [
    "Q.ACK @",
    "Q.ACK @",
    "Q.ACK @",
    "Q.NACK @",
    "Q.NACK @ DELAY 700",
    "Q.NACK @ DEAD",
    "Q.EXTEND @ 2000",
    "Q.REPLY @ answer",
];

/// Chooses commands.
pub(super) struct Commands {
    random: Random,
    tokens: Vec<(String, String)>,
}

impl Commands {
    pub(super) fn new(seed: u64) -> Commands {
        Commands { random: Random::new(seed), tokens: Vec::new() }
    }

    fn any<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.random.below(words.len() as u64) as usize]
    }

    /// The next command.
    pub(super) fn next(&mut self) -> Vec<String> {
        let key = self.any(&KEYS).to_owned();
        let line = match self.random.below(20) {
            0..=5 => {
                let options = self.any(&[
                    "",
                    "",
                    "PRIORITY 7",
                    "DELAY 900",
                    "TTL 5000 PRIORITY 3",
                    "DEDUP a WINDOW 4000",
                    "DEDUP b",
                ]);
                format!("Q.PUT {key} body-{} {options}", self.random.below(1_000_000))
            }
            6 => {
                let body = "x".repeat(self.random.below(3_000) as usize + 1);
                format!("Q.MPUT {key} 3 {body} {body} short PRIORITY {}", self.random.below(10))
            }
            7..=10 => {
                let options = self.any(&[
                    "",
                    "LEASE 300",
                    "COUNT 5 WORKER w1",
                    "COUNT 3 LEASE 5000",
                    "NOACK",
                    "LEASE 20000 WORKER w2",
                ]);
                format!("Q.GET {options} QUEUES {key}")
            }
            11..=15 if !self.tokens.is_empty() => {
                let at = self.random.below(self.tokens.len() as u64) as usize;
                let (key, token) = self.tokens[at].clone();
                self.any(&USES).replace('@', &format!("{key} {token}"))
            }
            16 => {
                let setting = self.any(&[
                    "deliveries-max 2",
                    "deliveries-max 0",
                    "max 60 full drop-oldest",
                    "max 0",
                    "inflight-max 7",
                    "inflight-max 0",
                    "overdue-first yes",
                    "overdue-first no lease 1000",
                ]);
                format!("Q.CONFIG SET {key} {setting}")
            }
            17 => format!("Q.REVIVE {key} ALL"),
            18 if self.random.chance(1, 6) => format!("Q.PURGE {key} PRIORITY 7"),
            _ => self
                .any(&[
                    "RENAME q2 q1",
                    "COPY q1 other REPLACE",
                    "EXPIRE other 900",
                    "PERSIST other",
                ])
                .to_owned(),
        };
        line.split_whitespace().map(str::to_owned).collect()
    }

    /// The tokens that are remembered, each with its queue.
    pub(super) fn tokens(&self) -> &[(String, String)] {
        &self.tokens
    }

    /// Remembers the tokens of a delivery.
    pub(super) fn note(&mut self, command: &[String], reply: &Value) {
        if let (Value::Array(deliveries), "Q.GET") = (reply, &*command[0]) {
            for delivery in deliveries {
                let Value::Array(fields) = delivery else { panic!("{delivery:?}") };
                let [Value::Bulk(key), Value::Bulk(token), ..] = &fields[..] else {
                    panic!("{fields:?}")
                };
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                self.tokens.push((text(key), text(token)));
            }
            // Mostly late ones, so that some are good.
            let len = self.tokens.len();
            self.tokens.drain(..len.saturating_sub(12));
        }
    }
}
