//! Commands of all types, transactions and scripts, killed at random moments, in recovery, too.
//!
//! Each writer has a key of every type and a plain model of them. A *step* changes one to four of
//! the keys: by a command each, in a transaction or in a script. A writer waits for each answer, so
//! when the server dies at most one step is in doubt; after the restart the keys must be as the
//! model is without it or with all of it. A step of several commands that are no transaction may
//! also have happened to that number of the first.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::{Plan, kill_amid, launch, launching};
use crate::client::Connection;
use crate::random::Random;
use crate::server::Server;
use basalt_resp::Value;

/// What came of all rounds.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Acknowledged steps over all rounds.
    pub acknowledged: u64,
    /// Starts that were killed before they were over, or soon after.
    pub killed_starts: u64,
    /// Keys that were not as they must be, in words.
    pub violations: Vec<String>,
}

/// Members, fields and bits that steps return to.
const NAMES: u64 = 200;
/// Elements of a list and entries of a stream, before they are trimmed.
const LENGTH_MAX: usize = 400;
/// After how many steps a writer deletes everything that it has.
const STEPS_PER_LIFE: u64 = 3_000;
/// How many microseconds a start that shall be killed runs at most.
const START_US_MAX: u64 = 150_000;

/// What a writer's keys hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Model {
    text: String,
    counter: i64,
    list: VecDeque<String>,
    set: BTreeSet<String>,
    hash: BTreeMap<String, String>,
    scores: BTreeMap<String, i64>,
    stream: VecDeque<String>,
    bits: BTreeSet<u64>,
}

/// One command of a step, on the writer's key of its type.
#[derive(Clone, Debug)]
enum Op {
    Append(String),
    SetText(String),
    Increment,
    Push(String),
    Pop,
    Rotate,
    Add(String),
    Remove(String),
    SetField(String, String),
    RemoveField(String),
    Score(String, i64),
    PopLowest,
    Log(String),
    FlipOn(u64),
    FlipOff(u64),
    DeleteAll,
}

/// How the commands of a step go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Apart,
    Transaction,
    Script,
}

#[derive(Clone, Debug)]
struct Step {
    form: Form,
    ops: Vec<Op>,
}

struct Writer {
    number: usize,
    model: Model,
    steps: u64,
    random: Random,
}

/// What a writer knows when its server is gone.
struct Written {
    writer: Writer,
    acknowledged: u64,
    /// The step that was sent and not answered.
    doubtful: Option<Step>,
    surprises: Vec<String>,
}

/// Runs all rounds in one data folder. `after_kill` is called when the server has gone, with a
/// number of its own each time: for what else a crash does.
pub fn run(plan: &Plan, dir: &Path, after_kill: &dyn Fn(u64)) -> Outcome {
    let mut random = Random::new(plan.seed);
    let mut outcome = Outcome::default();
    let mut writers: Vec<Writer> = (0..plan.writers as usize)
        .map(|number| Writer {
            number,
            model: Model::default(),
            steps: 0,
            random: Random::new(plan.seed + 1 + number as u64),
        })
        .collect();
    let mut server = launch(plan, dir);
    for round in 0..plan.rounds {
        let moment = 1 + random.below(plan.acknowledged_max);
        let (written, _) = kill_amid(plan, &mut server, moment, writers, Writer::write);
        drop(server);
        after_kill(random.next_u64());
        while random.below(3) == 0 {
            launching(plan, dir).start_and_kill(Duration::from_micros(random.below(START_US_MAX)));
            after_kill(random.next_u64());
            outcome.killed_starts += 1;
        }
        server = launch(plan, dir);
        let mut connection = server.connect();
        writers = Vec::new();
        for written in written {
            outcome.acknowledged += written.acknowledged;
            outcome.violations.extend(written.surprises.iter().cloned());
            let found = written.writer.read(&mut connection, &server);
            let violation = written.compare(&found);
            outcome.violations.extend(violation.map(|text| format!("round {round}, {text}")));
            // Goes on with what is there: one loss is reported once.
            writers.push(Writer { model: found, ..written.writer });
        }
    }
    outcome
}

impl Writer {
    fn write(mut self, mut connection: Connection, count: &AtomicU64) -> Written {
        let (mut acknowledged, mut surprises) = (0, Vec::new());
        loop {
            let mut step = self.choose();
            let mut answered = 0;
            match self.send(&mut connection, &step, &mut answered) {
                Ok(None) => {
                    step.ops.iter().for_each(|op| self.model.apply(op));
                    acknowledged += 1;
                    count.fetch_add(1, Ordering::Relaxed);
                }
                Ok(Some(surprise)) => {
                    surprises.push(format!("writer {}: {step:?}: {surprise}", self.number));
                    return Written { writer: self, acknowledged, doubtful: None, surprises };
                }
                Err(_) => {
                    step.ops.drain(..answered).for_each(|op| self.model.apply(&op));
                    let doubtful = Some(step);
                    return Written { writer: self, acknowledged, doubtful, surprises };
                }
            }
        }
    }

    fn choose(&mut self) -> Step {
        self.steps += 1;
        if self.steps.is_multiple_of(STEPS_PER_LIFE) {
            return Step { form: Form::Transaction, ops: vec![Op::DeleteAll] };
        }
        let form = match self.random.below(3) {
            0 => Form::Apart,
            1 => Form::Transaction,
            _ => Form::Script,
        };
        let count = 1 + self.random.below(4);
        let ops = (0..count).map(|_| self.choose_op()).collect();
        Step { form, ops }
    }

    fn choose_op(&mut self) -> Op {
        let name = format!("name:{}", self.random.below(NAMES));
        let fresh = format!("{}:{}", self.steps, "x".repeat(self.random.below(60) as usize));
        let is_long = self.model.text.len() > 20_000;
        match self.random.below(15) {
            0 if !is_long => Op::Append(fresh),
            0 | 1 => Op::SetText(fresh),
            2 => Op::Increment,
            3 | 4 if self.model.list.len() < LENGTH_MAX => Op::Push(fresh),
            3 => Op::Pop,
            4 | 5 => Op::Rotate,
            6 | 7 => Op::Add(name),
            8 => Op::Remove(name),
            9 => Op::SetField(name, fresh),
            10 => Op::RemoveField(name),
            11 => Op::Score(name, self.random.below(1_000) as i64),
            12 => Op::PopLowest,
            13 => Op::Log(fresh),
            _ if self.random.below(2) == 0 => Op::FlipOn(self.random.below(NAMES * 8)),
            _ => Op::FlipOff(self.random.below(NAMES * 8)),
        }
    }

    /// The words of a command.
    fn words(&self, op: &Op) -> Vec<String> {
        let key = |kind: &str| self.key(kind);
        match op {
            Op::Append(text) => vec!["APPEND".into(), key("text"), text.clone()],
            Op::SetText(text) => vec!["SET".into(), key("text"), text.clone()],
            Op::Increment => vec!["INCR".into(), key("counter")],
            Op::Push(text) => vec!["RPUSH".into(), key("list"), text.clone()],
            Op::Pop => vec!["LPOP".into(), key("list")],
            Op::Rotate => {
                vec!["LMOVE".into(), key("list"), key("list"), "LEFT".into(), "RIGHT".into()]
            }
            Op::Add(name) => vec!["SADD".into(), key("set"), name.clone()],
            Op::Remove(name) => vec!["SREM".into(), key("set"), name.clone()],
            Op::SetField(name, text) => {
                vec!["HSET".into(), key("hash"), name.clone(), text.clone()]
            }
            Op::RemoveField(name) => vec!["HDEL".into(), key("hash"), name.clone()],
            Op::Score(name, score) => {
                vec!["ZADD".into(), key("scores"), score.to_string(), name.clone()]
            }
            Op::PopLowest => vec!["ZPOPMIN".into(), key("scores")],
            Op::Log(text) => ["XADD", &key("stream"), "MAXLEN", &LENGTH_MAX.to_string(), "*"]
                .into_iter()
                .chain(["text", text])
                .map(str::to_owned)
                .collect(),
            Op::FlipOn(bit) => vec!["SETBIT".into(), key("bits"), bit.to_string(), "1".into()],
            Op::FlipOff(bit) => vec!["SETBIT".into(), key("bits"), bit.to_string(), "0".into()],
            Op::DeleteAll => std::iter::once("DEL".to_owned()).chain(KINDS.map(key)).collect(),
        }
    }

    fn key(&self, kind: &str) -> String {
        format!("{}:{kind}", self.number)
    }

    /// Sends a step and waits for all of its answers; an answer that it should not have, in words.
    /// `answered` counts the commands that are certain though the step is not over.
    fn send(
        &self,
        connection: &mut Connection,
        step: &Step,
        answered: &mut usize,
    ) -> std::io::Result<Option<String>> {
        let commands: Vec<Vec<String>> = step.ops.iter().map(|op| self.words(op)).collect();
        let replies = match step.form {
            Form::Apart => {
                // One at a time: a later one without an earlier one is then a loss.
                for words in &commands {
                    if let Value::Error(text) = connection.call(words)? {
                        return Ok(Some(String::from_utf8_lossy(&text).into_owned()));
                    }
                    *answered += 1;
                }
                return Ok(None);
            }
            Form::Transaction => {
                connection.send(&["MULTI"])?;
                for words in &commands {
                    connection.send(words)?;
                }
                connection.send(&["EXEC"])?;
                for _ in 0..=commands.len() {
                    connection.receive()?;
                }
                connection.receive()?
            }
            Form::Script => connection.call(&script(&commands))?,
        };
        Ok(match replies {
            Value::Array(replies) if replies.len() == commands.len() => {
                let is_error = |reply: &&Value| matches!(reply, Value::Error(_));
                replies.iter().find(is_error).map(|error| format!("{error:?}"))
            }
            other => Some(format!("{other:?}")),
        })
    }

    fn read(&self, connection: &mut Connection, server: &Server) -> Model {
        let mut ask = |line: String| match connection.run(&line) {
            Ok(Value::Error(text)) => panic!("{line}: {}", String::from_utf8_lossy(&text)),
            Ok(reply) => reply,
            Err(error) => panic!("{line}: {error}\nlog:\n{}", server.log()),
        };
        let texts = |reply: Value| match reply {
            Value::Array(items) => items.into_iter().map(text).collect::<Vec<String>>(),
            other => panic!("{other:?} is no array"),
        };
        let pairs = |reply: Value| {
            let flat = texts(reply);
            flat.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect::<Vec<_>>()
        };
        let number = |digits: &str| digits.parse().unwrap_or(0);
        let Value::Array(entries) = ask(format!("XRANGE {} - +", self.key("stream"))) else {
            panic!("XRANGE answers no array")
        };
        let bits = match ask(format!("GET {}", self.key("bits"))) {
            Value::Bulk(bytes) => bytes,
            _ => Vec::new(),
        };
        let is_on = |bit: &u64| bits[(bit / 8) as usize] >> (7 - bit % 8) & 1 == 1;
        Model {
            text: text(ask(format!("GET {}", self.key("text")))),
            counter: number(&text(ask(format!("GET {}", self.key("counter"))))),
            list: texts(ask(format!("LRANGE {} 0 -1", self.key("list")))).into(),
            set: texts(ask(format!("SMEMBERS {}", self.key("set")))).into_iter().collect(),
            hash: pairs(ask(format!("HGETALL {}", self.key("hash")))).into_iter().collect(),
            scores: pairs(ask(format!("ZRANGE {} 0 -1 WITHSCORES", self.key("scores"))))
                .into_iter()
                .map(|(name, score)| (name, number(&score)))
                .collect(),
            stream: entries.into_iter().map(text_of_entry).collect(),
            bits: (0..bits.len() as u64 * 8).filter(is_on).collect(),
        }
    }
}

/// The types, as keys are named after them.
const KINDS: [&str; 8] = ["text", "counter", "list", "set", "hash", "scores", "stream", "bits"];

/// A script that runs these commands, each with the key behind its name, and answers with all of
/// their replies.
fn script(commands: &[Vec<String>]) -> Vec<String> {
    const TEXT: &str = "local replies, at = {}, 1 \
        while at <= #ARGV do \
          local count = tonumber(ARGV[at]) \
          local reply = redis.call(unpack(ARGV, at + 1, at + count)) \
          replies[#replies + 1] = tostring(reply) \
          at = at + count + 1 \
        end \
        return replies";
    let keys: BTreeSet<&String> = commands
        .iter()
        .flat_map(|words| match words[0].as_str() {
            "DEL" => &words[1..],
            _ => &words[1..2],
        })
        .collect();
    let mut request = vec!["EVAL".to_owned(), TEXT.to_owned(), keys.len().to_string()];
    request.extend(keys.into_iter().cloned());
    for words in commands {
        request.push(words.len().to_string());
        request.extend(words.iter().cloned());
    }
    request
}

fn text(value: Value) -> String {
    match value {
        Value::Bulk(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Value::Null => String::new(),
        other => panic!("{other:?} is no text"),
    }
}

/// The text of an entry of the stream.
fn text_of_entry(entry: Value) -> String {
    match entry {
        Value::Array(mut parts) if parts.len() == 2 => match parts.pop() {
            Some(Value::Array(mut fields)) => fields.pop().map(text).unwrap_or_default(),
            other => panic!("{other:?} are no fields"),
        },
        other => panic!("{other:?} is no entry"),
    }
}

impl Model {
    fn apply(&mut self, op: &Op) {
        match op {
            Op::Append(text) => self.text.push_str(text),
            Op::SetText(text) => self.text.clone_from(text),
            Op::Increment => self.counter += 1,
            Op::Push(text) => self.list.push_back(text.clone()),
            Op::Pop => drop(self.list.pop_front()),
            Op::Rotate => {
                let first = self.list.pop_front();
                self.list.extend(first);
            }
            Op::Add(name) => drop(self.set.insert(name.clone())),
            Op::Remove(name) => drop(self.set.remove(name)),
            Op::SetField(name, text) => drop(self.hash.insert(name.clone(), text.clone())),
            Op::RemoveField(name) => drop(self.hash.remove(name)),
            Op::Score(name, score) => drop(self.scores.insert(name.clone(), *score)),
            Op::PopLowest => {
                let lowest = self.scores.iter().map(|(name, score)| (*score, name.clone())).min();
                if let Some((_, name)) = lowest {
                    self.scores.remove(&name);
                }
            }
            Op::Log(text) => {
                self.stream.push_back(text.clone());
                while self.stream.len() > LENGTH_MAX {
                    self.stream.pop_front();
                }
            }
            Op::FlipOn(bit) => drop(self.bits.insert(*bit)),
            Op::FlipOff(bit) => drop(self.bits.remove(bit)),
            Op::DeleteAll => *self = Model::default(),
        }
    }
}

impl Written {
    /// What is wrong with the keys, if something is.
    fn compare(&self, found: &Model) -> Option<String> {
        let mut expected = self.writer.model.clone();
        if *found == expected {
            return None;
        }
        if let Some(step) = &self.doubtful {
            for (done, op) in step.ops.iter().enumerate() {
                expected.apply(op);
                let may_end_here = step.form == Form::Apart || done + 1 == step.ops.len();
                if may_end_here && *found == expected {
                    return None;
                }
            }
        }
        let (number, model, doubtful) = (self.writer.number, &self.writer.model, &self.doubtful);
        Some(format!(
            "writer {number}: {} differ; in doubt: {doubtful:?}",
            model.differences(found)
        ))
    }
}

impl Model {
    fn differences(&self, other: &Model) -> String {
        let same = [
            self.text == other.text,
            self.counter == other.counter,
            self.list == other.list,
            self.set == other.set,
            self.hash == other.hash,
            self.scores == other.scores,
            self.stream == other.stream,
            self.bits == other.bits,
        ];
        let differing = KINDS.iter().zip(same).filter(|(_, same)| !same).map(|(kind, _)| *kind);
        differing.collect::<Vec<_>>().join(", ")
    }
}
