//! What is sent: named tests, command templates, and mixes of them.

use crate::error::BenchError;
use crate::random::Random;
use crate::template::{Template, Vocabulary};

/// Named tests, with redis-benchmark's names where it has them.
const TESTS: &[(&str, &[&str])] = &[
    ("ping", &["PING"]),
    ("set", &["SET __key__ __data__"]),
    ("get", &["GET __key__"]),
    ("incr", &["INCR counter:__rand_int__"]),
    ("lpush", &["LPUSH mylist __data__"]),
    ("rpush", &["RPUSH mylist __data__"]),
    ("lpop", &["LPOP mylist"]),
    ("rpop", &["RPOP mylist"]),
    ("sadd", &["SADD myset element:__rand_int__"]),
    ("spop", &["SPOP myset"]),
    ("hset", &["HSET myhash element:__rand_int__ __data__"]),
    ("hget", &["HGET myhash element:__rand_int__"]),
    ("zadd", &["ZADD myzset 0 element:__rand_int__"]),
    ("zpopmin", &["ZPOPMIN myzset"]),
    ("lrange_100", &["LRANGE mylist 0 99"]),
    ("lrange_300", &["LRANGE mylist 0 299"]),
    ("lrange_600", &["LRANGE mylist 0 599"]),
    ("mset", &["MSET __pairs__"]),
    ("mget", &["MGET __keys__"]),
    ("del", &["DEL __key__"]),
    ("exists", &["EXISTS __key__"]),
];

/// One test: one or more commands with weights.
#[derive(Debug, Clone)]
pub(crate) struct Workload {
    /// How reports call it.
    pub(crate) name: String,
    /// The command lines, as given.
    pub(crate) commands: Vec<String>,
    pub(crate) kinds: Vec<Kind>,
    weight_total: u64,
}

/// One command of a workload.
#[derive(Debug, Clone)]
pub(crate) struct Kind {
    pub(crate) template: Template,
    weight: u64,
}

impl Workload {
    /// The test that `-t name` asks for.
    pub(crate) fn named(name: &str, vocabulary: &Vocabulary) -> Result<Self, BenchError> {
        let wanted = name.to_lowercase();
        let Some((_, commands)) = TESTS.iter().find(|(test, _)| *test == wanted) else {
            let known: Vec<&str> = TESTS.iter().map(|(test, _)| *test).collect();
            let known = known.join(", ");
            return Err(BenchError::Usage(format!("no test named {name:?}; choose from {known}")));
        };
        let weighted: Vec<(&str, u64)> = commands.iter().map(|command| (*command, 1)).collect();
        Self::mixed(wanted.to_uppercase(), &weighted, vocabulary)
    }

    /// Writes and reads in the proportion `sets:gets`.
    pub(crate) fn ratio(sets: u64, gets: u64, vocabulary: &Vocabulary) -> Result<Self, BenchError> {
        let commands = [("SET __key__ __data__", sets), ("GET __key__", gets)];
        Self::mixed(format!("SET:GET {sets}:{gets}"), &commands, vocabulary)
    }

    /// Commands with weights; a weight of 0 leaves the command out.
    pub(crate) fn mixed(
        name: String,
        commands: &[(&str, u64)],
        vocabulary: &Vocabulary,
    ) -> Result<Self, BenchError> {
        let mut kinds = Vec::with_capacity(commands.len());
        for &(command, weight) in commands.iter().filter(|(_, weight)| *weight > 0) {
            kinds.push(Kind { template: Template::compile(command, vocabulary)?, weight });
        }
        let weight_total = kinds.iter().map(|kind| kind.weight).sum();
        if weight_total == 0 {
            return Err(BenchError::Usage("at least one command needs a weight above 0".into()));
        }
        let commands = commands.iter().map(|(command, _)| (*command).to_owned()).collect();
        Ok(Self { name, commands, kinds, weight_total })
    }

    /// Draws the index of the next command.
    #[inline]
    pub(crate) fn pick(&self, random: &mut Random) -> usize {
        if self.kinds.len() == 1 {
            return 0;
        }
        let mut ticket = random.below(self.weight_total);
        for (index, kind) in self.kinds.iter().enumerate() {
            match ticket.checked_sub(kind.weight) {
                Some(rest) => ticket = rest,
                None => return index,
            }
        }
        self.kinds.len() - 1
    }

    /// The most keys that one request draws: how far apart requests are in a sequential key order.
    pub(crate) fn keys_per_request(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.template.keys).max().unwrap_or(0).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vocabulary() -> Vocabulary {
        Vocabulary {
            key_prefix: "key:".into(),
            key_bytes: 16,
            keyspace: 1000,
            value_bytes_min: 3,
            value_bytes_max: 3,
            keys_per_request: 10,
            wire: crate::template::Wire::Resp,
        }
    }

    #[test]
    fn every_named_test_compiles() {
        for (name, _) in TESTS {
            Workload::named(name, &vocabulary()).expect("the table is right");
        }
        assert!(Workload::named("nonesuch", &vocabulary()).is_err());
    }

    #[test]
    fn weights_are_respected() {
        let workload = Workload::ratio(1, 9, &vocabulary()).expect("the ratio is valid");
        let mut random = Random::new(5, 0);
        let sets = (0..10_000).filter(|_| workload.pick(&mut random) == 0).count();
        assert!((850..1150).contains(&sets), "{sets}");
        assert!(Workload::ratio(0, 0, &vocabulary()).is_err());
    }
}
