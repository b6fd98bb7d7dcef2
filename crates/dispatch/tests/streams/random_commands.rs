//! Random commands on streams: mostly sensible, sometimes not.

use basalt_env::random::Random;

/// Keys that commands use: few, so that they meet. The last one holds a string.
pub const KEYS: [&str; 4] = ["s", "t", "{s}u", "string"];

const GROUPS: [&str; 3] = ["g", "h", "none"];
const CONSUMERS: [&str; 3] = ["c", "d", "e"];

/// Words where an identity is expected.
const ODD_IDS: [&str; 12] =
    ["-", "+", "$", ">", "x", "5-", "-5", "(", "0", "0-0", "18446744073709551615", "007-+3"];

/// Makes commands, all of them following from a seed.
pub struct Commands {
    random: Random,
    /// What has to come next, so that both servers have the same consumers: Redis 7.0 makes them
    /// later than 7.2.
    due: Vec<Vec<String>>,
    /// About the last identity of every stream.
    last_ms: u64,
}

/// Words of a command.
fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

impl Commands {
    /// Commands that follow from `seed`. The first makes the key that holds a string.
    pub fn new(seed: u64) -> Commands {
        Commands { random: Random::new(seed), due: vec![words("SET string x")], last_ms: 1000 }
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.random.below(bound)
    }

    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len() as u64) as usize]
    }

    fn key(&mut self) -> &'static str {
        if self.random.chance(1, 40) { KEYS[3] } else { KEYS[self.below(3) as usize] }
    }

    fn group(&mut self) -> &'static str {
        if self.random.chance(1, 30) { GROUPS[2] } else { GROUPS[self.below(2) as usize] }
    }

    /// An identity of an entry that may be there.
    fn id(&mut self) -> String {
        if self.random.chance(1, 20) {
            return self.pick(&ODD_IDS).to_owned();
        }
        let ms = self.last_ms.saturating_sub(self.below(400)) + self.below(3);
        match self.below(3) {
            0 => ms.to_string(),
            _ => format!("{ms}-{}", self.below(3)),
        }
    }

    fn start(&mut self) -> String {
        match self.below(4) {
            0 => "-".to_owned(),
            1 => format!("({}", self.id()),
            _ => self.id(),
        }
    }

    fn end(&mut self) -> String {
        match self.below(4) {
            0 => "+".to_owned(),
            1 => format!("({}", self.id()),
            _ => self.id(),
        }
    }

    fn count(&mut self) -> String {
        match self.below(8) {
            0 => "COUNT 0".to_owned(),
            1 => "COUNT -1".to_owned(),
            2 => "COUNT x".to_owned(),
            3 => String::new(),
            _ => format!("COUNT {}", self.below(12)),
        }
    }

    fn value(&mut self) -> String {
        match self.below(6) {
            0 => (self.random.next_u64().cast_signed() >> self.below(64)).to_string(),
            1 => "x".repeat(self.below(300) as usize + 1),
            2 => "y".repeat(self.below(5000) as usize + 1),
            _ => format!("v{}", self.below(1000)),
        }
    }

    fn trimming(&mut self) -> String {
        let threshold = match self.below(3) {
            0 => format!("MINID {} {}", self.pick(&["", "=", "~"]), self.id()),
            _ => {
                let sign = self.pick(&["", "=", "~", "~"]);
                let length = self.below(500) as i64 - 2;
                format!("MAXLEN {sign} {length}")
            }
        };
        match self.below(6) {
            0 => format!("{threshold} LIMIT {}", self.below(300) as i64 - 1),
            1 => format!("LIMIT {} {threshold}", self.below(300)),
            _ => threshold,
        }
    }

    fn add(&mut self) -> String {
        let key = self.key();
        let options = match self.below(20) {
            0 => self.trimming(),
            1 => "NOMKSTREAM".to_owned(),
            _ => String::new(),
        };
        self.last_ms += self.below(3);
        let id = match self.below(10) {
            0 => self.id(),
            1..=3 => format!("{}-*", self.last_ms),
            _ => {
                self.last_ms += 1;
                let sequence = self.below(2);
                format!("{}-{sequence}", self.last_ms)
            }
        };
        let value = self.value();
        let fields = match self.below(5) {
            0 => format!("{} {value}", self.pick(&["f", "other", "7"])),
            1 => format!("f {value} g"),
            _ => format!("f {value} g 12"),
        };
        format!("XADD {key} {options} {id} {fields}")
    }

    /// The next command.
    pub fn next(&mut self) -> Vec<String> {
        if let Some(due) = self.due.pop() {
            return due;
        }
        let (key, group) = (self.key(), self.group());
        let text = match self.below(24) {
            0..=9 => self.add(),
            10 => format!("XTRIM {key} {}", self.trimming()),
            11 => format!("XDEL {key} {} {}", self.id(), self.id()),
            12 => format!("XRANGE {key} {} {} {}", self.start(), self.end(), self.count()),
            13 => format!("XREVRANGE {key} {} {} {}", self.end(), self.start(), self.count()),
            14 => {
                let (other, count) = (self.key(), self.count());
                format!("XREAD {count} STREAMS {key} {other} {} {}", self.id(), self.id())
            }
            15 | 16 => {
                let (consumer, count) = (self.pick(&CONSUMERS), self.count());
                let id = if self.random.chance(2, 3) { ">".to_owned() } else { self.id() };
                let noack = self.pick(&["", "", "", "NOACK"]);
                format!("XREADGROUP GROUP {group} {consumer} {count} {noack} STREAMS {key} {id}")
            }
            17 => format!("XACK {key} {group} {} {} {}", self.id(), self.id(), self.id()),
            18 => self.claim(key, group),
            19 => self.pending(key, group),
            20 => self.change_group(key, group),
            _ => self.look(key),
        };
        words(&text)
    }

    fn claim(&mut self, key: &str, group: &str) -> String {
        let consumer = self.pick(&CONSUMERS);
        // No time passes that matters.
        let idle = self.pick(&["0", "-1", "1000000000", "x"]);
        if self.random.chance(1, 2) {
            let (start, count) = (self.start(), self.count());
            let just = self.pick(&["", "JUSTID"]);
            return format!("XAUTOCLAIM {key} {group} {consumer} {idle} {start} {count} {just}");
        }
        let options = match self.below(8) {
            0 => "FORCE".to_owned(),
            1 => "JUSTID".to_owned(),
            2 => format!("RETRYCOUNT {}", self.below(5)),
            3 => format!("LASTID {}", self.id()),
            4 => "IDLE 2000000000 FORCE".to_owned(),
            5 => "FOO".to_owned(),
            _ => String::new(),
        };
        format!("XCLAIM {key} {group} {consumer} {idle} {} {} {options}", self.id(), self.id())
    }

    fn pending(&mut self, key: &str, group: &str) -> String {
        if self.random.chance(1, 3) {
            return format!("XPENDING {key} {group}");
        }
        let idle = self.pick(&["", "IDLE 0", "IDLE 1000000000", "IDLE x"]);
        let (start, end) = (self.start(), self.end());
        let consumer = self.pick(&["", "c", "d", "none"]);
        format!("XPENDING {key} {group} {idle} {start} {end} {} {consumer}", self.below(20))
    }

    fn change_group(&mut self, key: &'static str, group: &'static str) -> String {
        for consumer in CONSUMERS {
            self.due.push(words(&format!("XGROUP CREATECONSUMER {key} {group} {consumer}")));
        }
        let id = if self.random.chance(1, 3) { "$".to_owned() } else { self.id() };
        let read = match self.below(4) {
            0 => format!("ENTRIESREAD {}", self.below(2000) as i64 - 2),
            _ => String::new(),
        };
        match self.below(6) {
            0 => format!("XGROUP SETID {key} {group} {id} {read}"),
            1 => format!("XGROUP DESTROY {key} {group}"),
            2 => format!("XGROUP DELCONSUMER {key} {group} {}", self.pick(&CONSUMERS)),
            _ => format!("XGROUP CREATE {key} {group} {id} MKSTREAM {read}"),
        }
    }

    fn look(&mut self, key: &str) -> String {
        match self.below(12) {
            0 => format!("XINFO STREAM {key} FULL {}", self.count()),
            1 => format!("XSETID {key} {}", self.id()),
            2 => {
                let (added, deleted) = (self.below(3000), self.id());
                format!("XSETID {key} {} ENTRIESADDED {added} MAXDELETEDID {deleted}", self.id())
            }
            3 => format!("XLEN {key}"),
            4 => format!("OBJECT ENCODING {key}"),
            5..=7 => format!("XINFO STREAM {key}"),
            _ => format!("XINFO GROUPS {key}"),
        }
    }
}
