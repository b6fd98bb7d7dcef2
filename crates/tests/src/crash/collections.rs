//! Kills amid changes of collections: what was acknowledged of a list, a set, a hash, a sorted set
//! and a stream is there after the restart, and nothing twice.
//!
//! Each writer has keys of its own and a plain model of them, which follows the acknowledgements.
//! What was sent without an answer when the server died may have been done or not, but not with
//! gaps: a key must be as the model is after some number of the first of these commands. One number
//! must do for all keys of a writer if they are in one slot. Otherwise each key has its own, but a
//! move between two lists has happened to both or to neither. Elements are unique and counters grow
//! by one, so what was done twice shows.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{PIPELINE, Placement, Plan, kill_amid, launch};
use crate::client::Connection;
use crate::random::Random;
use crate::server::Server;
use basalt_resp::Value;

/// What came of all rounds.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Acknowledged commands over all rounds.
    pub acknowledged: u64,
    /// Keys that were not as they must be, in words.
    pub violations: Vec<String>,
}

/// A writer's keys, in this order. The first two are lists.
const KEYS: [&str; 6] = ["list", "other", "set", "hash", "scores", "stream"];
const LIST: usize = 0;
const OTHER: usize = 1;
const SET: usize = 2;
const HASH: usize = 3;
const SCORES: usize = 4;
const STREAM: usize = 5;

/// Members, fields and members with scores that commands return to.
const NAMES: u64 = 40;

/// One command, about one key or two.
#[derive(Clone, Debug)]
enum Op {
    Push(String),
    Pop,
    PopOther,
    Move,
    MoveBack,
    Add(String),
    Remove(String),
    SetField(String, String),
    RemoveField(String),
    Count(String),
    Score(String, u64),
    Increment(String),
    Append(String),
}

/// What a writer's keys hold.
#[derive(Clone, Debug, Default, PartialEq)]
struct Model {
    lists: [VecDeque<String>; 2],
    set: BTreeSet<String>,
    hash: BTreeMap<String, String>,
    scores: BTreeMap<String, u64>,
    stream: Vec<String>,
}

struct Writer {
    number: usize,
    placement: Placement,
    model: Model,
    next: u64,
    random: Random,
}

/// What a writer knows when its server is gone.
struct Written {
    writer: Writer,
    acknowledged: u64,
    unanswered: Vec<Op>,
    surprises: Vec<String>,
}

/// Runs all rounds in one data folder.
pub fn run(plan: &Plan, dir: &Path) -> Outcome {
    let mut random = Random::new(plan.seed);
    let mut outcome = Outcome::default();
    let new = |number| Writer {
        number,
        placement: plan.placement,
        model: Model::default(),
        next: 0,
        random: Random::new(plan.seed + number as u64),
    };
    let mut writers: Vec<Writer> = (0..plan.writers as usize).map(new).collect();
    let mut server = launch(plan, dir);
    for round in 0..plan.rounds {
        if round % 2 == 1 {
            // So that some of it comes back from elsewhere than the log.
            let saved = server.connect().run("BGSAVE");
            assert!(matches!(saved, Ok(Value::Simple(_))), "BGSAVE: {saved:?}");
        }
        let moment = 1 + random.below(plan.acknowledged_max);
        let (written, _) = kill_amid(plan, &mut server, moment, writers, Writer::write);
        drop(server);
        server = launch(plan, dir);
        writers = Vec::new();
        for written in written {
            outcome.acknowledged += written.acknowledged;
            outcome.violations.extend(written.surprises.iter().cloned());
            let found = written.writer.read(&server);
            let violation = written.compare(&found);
            outcome.violations.extend(violation.map(|text| format!("round {round}, {text}")));
            // Goes on with what is there: one loss is reported once.
            writers.push(Writer { model: found, ..written.writer });
        }
    }
    outcome
}

impl Op {
    /// The keys that it changes.
    fn keys(&self) -> &'static [usize] {
        match self {
            Op::Push(_) | Op::Pop => &[LIST],
            Op::PopOther => &[OTHER],
            Op::Move | Op::MoveBack => &[LIST, OTHER],
            Op::Add(_) | Op::Remove(_) => &[SET],
            Op::SetField(..) | Op::RemoveField(_) | Op::Count(_) => &[HASH],
            Op::Score(..) | Op::Increment(_) => &[SCORES],
            Op::Append(_) => &[STREAM],
        }
    }
}

impl Model {
    /// Does what a command does; returns the element or number that the server must answer with, if
    /// that is known.
    fn apply(&mut self, op: &Op) -> Option<Value> {
        let bulk = |element: Option<&String>| {
            element.map_or(Value::Null, |element| Value::Bulk(element.clone().into_bytes()))
        };
        let number = |number: usize| Value::Integer(number as i64);
        Some(match op {
            Op::Push(element) => {
                self.lists[LIST].push_front(element.clone());
                number(self.lists[LIST].len())
            }
            Op::Pop => bulk(self.lists[LIST].pop_back().as_ref()),
            Op::PopOther => bulk(self.lists[OTHER].pop_back().as_ref()),
            Op::Move => {
                let moved = self.lists[LIST].pop_back();
                self.lists[OTHER].extend(moved.clone());
                bulk(moved.as_ref())
            }
            Op::MoveBack => {
                let moved = self.lists[OTHER].pop_front();
                moved.iter().for_each(|moved| self.lists[LIST].push_front(moved.clone()));
                bulk(moved.as_ref())
            }
            Op::Add(member) => number(usize::from(self.set.insert(member.clone()))),
            Op::Remove(member) => number(usize::from(self.set.remove(member))),
            Op::SetField(name, value) => {
                number(usize::from(self.hash.insert(name.clone(), value.clone()).is_none()))
            }
            Op::RemoveField(name) => number(usize::from(self.hash.remove(name).is_some())),
            Op::Count(name) => {
                let count = self.hash.get(name).map_or(0, |count| count.parse().expect("digits"));
                self.hash.insert(name.clone(), (count + 1usize).to_string());
                number(count + 1)
            }
            Op::Score(member, score) => {
                number(usize::from(self.scores.insert(member.clone(), *score).is_none()))
            }
            Op::Increment(member) => {
                let score = self.scores.entry(member.clone()).or_default();
                *score += 1;
                bulk(Some(&score.to_string()))
            }
            Op::Append(value) => {
                self.stream.push(value.clone());
                return None;
            }
        })
    }

    /// One of the keys holds the same.
    fn agrees(&self, other: &Model, key: usize) -> bool {
        match key {
            LIST | OTHER => self.lists[key] == other.lists[key],
            SET => self.set == other.set,
            HASH => self.hash == other.hash,
            SCORES => self.scores == other.scores,
            _ => self.stream == other.stream,
        }
    }

    fn len(&self, key: usize) -> usize {
        match key {
            LIST | OTHER => self.lists[key].len(),
            SET => self.set.len(),
            HASH => self.hash.len(),
            SCORES => self.scores.len(),
            _ => self.stream.len(),
        }
    }
}

impl Writer {
    fn key(&self, key: usize) -> String {
        match self.placement {
            Placement::Spread => format!("{}:{}", self.number, KEYS[key]),
            Placement::OneSlot => format!("{{{}}}:{}", self.number, KEYS[key]),
        }
    }

    fn choose(&mut self) -> Op {
        self.next += 1;
        let unique = format!("{}-{}", self.number, self.next);
        let random = &mut self.random;
        let name = format!("n{}", random.below(NAMES));
        match random.below(16) {
            0..=3 => Op::Push(unique),
            4 => Op::Pop,
            5 => Op::PopOther,
            6 => Op::Move,
            7 => Op::MoveBack,
            8 => Op::Add(unique),
            9 => Op::Remove(format!("{}-{}", self.number, random.below(self.next))),
            10 => Op::SetField(name, unique),
            11 => Op::RemoveField(name),
            12 => Op::Count(format!("count{}", random.below(NAMES))),
            13 => Op::Score(name, random.below(1_000)),
            14 => Op::Increment(name),
            _ => Op::Append(unique),
        }
    }

    fn request(&self, op: &Op) -> Vec<String> {
        let key = self.key(op.keys()[0]);
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        match op {
            Op::Push(element) => words(&["LPUSH", &key, element]),
            Op::Pop | Op::PopOther => words(&["RPOP", &key]),
            Op::Move => words(&["LMOVE", &key, &self.key(OTHER), "RIGHT", "RIGHT"]),
            Op::MoveBack => words(&["LMOVE", &self.key(OTHER), &key, "LEFT", "LEFT"]),
            Op::Add(member) => words(&["SADD", &key, member]),
            Op::Remove(member) => words(&["SREM", &key, member]),
            Op::SetField(name, value) => words(&["HSET", &key, name, value]),
            Op::RemoveField(name) => words(&["HDEL", &key, name]),
            Op::Count(name) => words(&["HINCRBY", &key, name, "1"]),
            Op::Score(member, score) => words(&["ZADD", &key, &score.to_string(), member]),
            Op::Increment(member) => words(&["ZINCRBY", &key, "1", member]),
            Op::Append(value) => words(&["XADD", &key, "*", "value", value]),
        }
    }

    /// Writes until the connection breaks.
    fn write(self, mut connection: Connection, count: &AtomicU64) -> Written {
        let (writer, unanswered, surprises) = (self, Vec::new(), Vec::new());
        let mut written = Written { writer, acknowledged: 0, unanswered, surprises };
        loop {
            let ops: Vec<Op> = (0..PIPELINE).map(|_| written.writer.choose()).collect();
            let requests = ops.iter().map(|op| written.writer.request(op));
            let is_sent = requests.map(|request| connection.send(&request)).all(|it| it.is_ok());
            written.unanswered = ops;
            while is_sent && !written.unanswered.is_empty() {
                let Ok(answer) = connection.receive() else { return written };
                written.acknowledge(&answer);
                // Relaxed: the count only says when.
                count.fetch_add(1, Ordering::Relaxed);
            }
            if !is_sent {
                return written;
            }
        }
    }

    /// Asks for all that there is.
    fn read(&self, server: &Server) -> Model {
        let mut connection = server.connect();
        let mut ask = |line: String| -> Vec<Value> {
            match connection.run(&line) {
                Ok(Value::Array(elements)) => elements,
                other => panic!("{line}: {other:?}\nlog:\n{}", server.log()),
            }
        };
        let key = |key| self.key(key);
        let lists = [LIST, OTHER]
            .map(|list| ask(format!("LRANGE {} 0 -1", key(list))).into_iter().map(text).collect());
        let set = ask(format!("SMEMBERS {}", key(SET))).into_iter().map(text).collect();
        let hash = pairs(ask(format!("HGETALL {}", key(HASH)))).collect();
        let scores = pairs(ask(format!("ZRANGE {} 0 -1 WITHSCORES", key(SCORES))))
            .map(|(member, score)| (member, score.parse().expect("a whole score")))
            .collect();
        let value = |entry: Value| match entry {
            Value::Array(mut parts) => match parts.pop() {
                Some(Value::Array(mut pair)) => text(pair.pop().expect("a value")),
                other => panic!("no fields: {other:?}"),
            },
            other => panic!("no entry: {other:?}"),
        };
        let stream = ask(format!("XRANGE {} - +", key(STREAM))).into_iter().map(value).collect();
        Model { lists, set, hash, scores, stream }
    }
}

fn text(value: Value) -> String {
    match value {
        Value::Bulk(bytes) => String::from_utf8(bytes).expect("the tests write text"),
        other => panic!("no string: {other:?}"),
    }
}

fn pairs(words: Vec<Value>) -> impl Iterator<Item = (String, String)> {
    let mut words = words.into_iter().map(text);
    std::iter::from_fn(move || Some((words.next()?, words.next()?)))
}

impl Written {
    /// Follows an answer to the first command that has none.
    fn acknowledge(&mut self, answer: &Value) {
        let op = self.unanswered.remove(0);
        let expected = self.writer.model.apply(&op);
        let is_right = match (&op, expected) {
            (Op::Append(_), _) => matches!(answer, Value::Bulk(_)),
            (_, expected) => expected.as_ref() == Some(answer),
        };
        if !is_right {
            self.surprises.push(format!("{op:?} answered {answer:?}"));
        }
        self.acknowledged += 1;
    }

    /// What is wrong with what was found after the restart.
    fn compare(&self, found: &Model) -> Option<String> {
        let mut model = self.writer.model.clone();
        // For each key the numbers of unanswered commands that explain it, and how many moves they
        // have.
        let mut explained: [Vec<(usize, usize)>; KEYS.len()] = Default::default();
        let mut moves = 0;
        for cut in 0..=self.unanswered.len() {
            for (key, cuts) in explained.iter_mut().enumerate() {
                if model.agrees(found, key) {
                    cuts.push((cut, moves));
                }
            }
            if let Some(op) = self.unanswered.get(cut) {
                let is_element = matches!(model.apply(op), Some(Value::Bulk(_)));
                moves += usize::from(is_element && op.keys().len() > 1);
            }
        }
        let name = |key: usize| self.writer.key(key);
        if let Some(key) = (0..KEYS.len()).find(|&key| explained[key].is_empty()) {
            let (wanted, there) = (self.writer.model.len(key), found.len(key));
            return Some(format!("{}: {there} elements, {wanted} were acknowledged", name(key)));
        }
        let [list, other] = [LIST, OTHER].map(|key| &explained[key]);
        if !list.iter().any(|(_, moves)| other.iter().any(|(_, same)| same == moves)) {
            return Some(format!("{}: half of a move", name(LIST)));
        }
        let fits_all = |cut: usize| explained.iter().all(|it| it.iter().any(|it| it.0 == cut));
        if self.writer.placement == Placement::OneSlot && !(0..=self.unanswered.len()).any(fits_all)
        {
            return Some(format!("{}: a later command without an earlier one", name(LIST)));
        }
        None
    }
}
