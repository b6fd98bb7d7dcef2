//! Far more keys than memory: overwritten, deleted and read at random, killed at random moments, in
//! recovery, too.
//!
//! Each writer has keys of its own and knows the state of each; a value follows from its key and
//! its version, and is as likely to stand in a row as in a segment. Commands are sent some at a
//! time, so when the server dies that many are in doubt: their keys may be as before, or as any of
//! them has left it. What was answered must be there, and every GET must say so meanwhile, whether
//! its key is in memory or has left it.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::path::Path;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::{COMPARE_BATCH, PIPELINE, Plan, kill_amid, launch, launching};
use crate::client::Connection;
use crate::random::Random;
use crate::server::Server;
use basalt_resp::Value;

/// Bytes of values, by key and version.
const VALUE_BYTES: [usize; 4] = [60, 600, 1_500, 6_000];
/// Their mean, and that of keys.
const ENTRY_BYTES: u64 = 2_040 + 8;
/// Places where the noise of a value may begin.
const NOISE_STARTS: usize = 4_096;
/// Keys beside the touched ones that each writer looks at after a kill.
const LOOKED_AT: usize = 300;
/// How many microseconds a start that shall be killed runs at most.
const START_US_MAX: u64 = 300_000;

/// What came of all rounds.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Commands that were answered over all rounds.
    pub acknowledged: u64,
    /// Starts that were killed before they were over, or soon after.
    pub killed_starts: u64,
    /// Of the server, when a round was over.
    pub resident_bytes_max: u64,
    /// Keys that were not as they must be, in words.
    pub violations: Vec<String>,
}

/// What a key holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct State {
    version: u32,
    is_there: bool,
}

#[derive(Clone, Copy, Debug)]
enum Op {
    Set,
    Delete,
    Get,
}

/// A command that was sent: the index of its key, and the key's state before and after.
#[derive(Clone, Copy, Debug)]
struct Sent {
    index: usize,
    op: Op,
    before: State,
    after: State,
}

struct Writer {
    number: usize,
    states: Vec<State>,
    random: Random,
}

/// What a writer knows when its server is gone.
struct Written {
    writer: Writer,
    acknowledged: u64,
    touched: BTreeSet<usize>,
    doubtful: Vec<Sent>,
    surprises: Vec<String>,
}

/// Fills the server with this much, and runs all rounds in one data folder.
pub fn run(plan: &Plan, data_bytes: u64, dir: &Path) -> Outcome {
    let mut random = Random::new(plan.seed);
    let mut outcome = Outcome::default();
    let mut server = launch(plan, dir);
    let keys = (data_bytes / ENTRY_BYTES / plan.writers) as usize;
    let mut writers: Vec<Writer> = std::thread::scope(|scope| {
        let new = |number| Writer::new(number, keys, Random::new(plan.seed + 1 + number as u64));
        let writers = (0..plan.writers as usize).map(|number| (new(number), server.connect()));
        let fill = |(writer, connection): (Writer, _)| scope.spawn(move || writer.fill(connection));
        let filling: Vec<_> = writers.map(fill).collect();
        filling.into_iter().map(|filled| filled.join().expect("no panic")).collect()
    });
    for round in 0..plan.rounds {
        let moment = 1 + random.below(plan.acknowledged_max);
        let (written, _) = kill_amid(plan, &mut server, moment, writers, Writer::work);
        drop(server);
        while random.below(3) == 0 {
            launching(plan, dir).start_and_kill(Duration::from_micros(random.below(START_US_MAX)));
            outcome.killed_starts += 1;
        }
        server = launch(plan, dir);
        writers = Vec::new();
        for written in written {
            outcome.acknowledged += written.acknowledged;
            let (writer, violations) = written.compare(&server);
            let told = violations.into_iter().map(|text| format!("round {round}, {text}"));
            outcome.violations.extend(told);
            writers.push(writer);
        }
        outcome.resident_bytes_max = outcome.resident_bytes_max.max(server.resident_bytes());
    }
    for writer in &mut writers {
        let all = (0..writer.states.len()).collect();
        outcome.violations.extend(writer.look_at(&server, &all, &HashMap::new()));
    }
    outcome
}

impl Writer {
    fn new(number: usize, keys: usize, random: Random) -> Writer {
        Writer { number, states: vec![State::default(); keys], random }
    }

    /// Sets every key.
    fn fill(mut self, mut connection: Connection) -> Writer {
        for first in (0..self.states.len()).step_by(COMPARE_BATCH) {
            let batch = first..self.states.len().min(first + COMPARE_BATCH);
            for index in batch.clone() {
                self.states[index] = State { version: 1, is_there: true };
                let words = self.words(index, Op::Set, self.states[index]);
                connection.send(&words).expect("the server is there");
            }
            for index in batch {
                let reply = connection.receive().expect("the server answers");
                assert_eq!(reply, Value::Simple(b"OK".to_vec()), "{}", self.key(index));
            }
        }
        self
    }

    /// Sends commands until the connection breaks.
    fn work(mut self, mut connection: Connection, count: &AtomicU64) -> Written {
        let (mut acknowledged, mut touched) = (0, BTreeSet::new());
        let mut surprises = Vec::new();
        loop {
            let commands = self.choose();
            let mut answered = 0;
            let broken = self.send(&mut connection, &commands, |sent, reply| {
                let expected = self.reply(sent);
                if reply != expected {
                    surprises.push(self.surprise(sent.index, &shown(&expected), &reply));
                }
                answered += 1;
                count.fetch_add(1, Ordering::Relaxed);
            });
            for sent in &commands[..answered] {
                self.states[sent.index] = sent.after;
                touched.insert(sent.index);
            }
            acknowledged += answered as u64;
            if broken.is_err() || !surprises.is_empty() {
                let doubtful = commands[answered..].to_vec();
                return Written { writer: self, acknowledged, touched, doubtful, surprises };
            }
        }
    }

    /// The next commands, with the states that they lead to one after the other.
    fn choose(&mut self) -> Vec<Sent> {
        let mut ahead: HashMap<usize, State> = HashMap::new();
        let mut commands = Vec::new();
        for _ in 0..PIPELINE {
            let index = self.random.below(self.states.len() as u64) as usize;
            let before = *ahead.get(&index).unwrap_or(&self.states[index]);
            let (op, after) = match self.random.below(10) {
                0..=5 => (Op::Set, State { version: before.version + 1, is_there: true }),
                6 => (Op::Delete, State { is_there: false, ..before }),
                _ => (Op::Get, before),
            };
            ahead.insert(index, after);
            commands.push(Sent { index, op, before, after });
        }
        commands
    }

    /// Sends all and calls `answered` with each that is answered.
    fn send(
        &self,
        connection: &mut Connection,
        commands: &[Sent],
        mut answered: impl FnMut(&Sent, Value),
    ) -> io::Result<()> {
        for sent in commands {
            connection.send(&self.words(sent.index, sent.op, sent.after))?;
        }
        for sent in commands {
            answered(sent, connection.receive()?);
        }
        Ok(())
    }

    fn words(&self, index: usize, op: Op, after: State) -> Vec<Vec<u8>> {
        let key = self.key(index);
        match op {
            Op::Set => vec![b"SET".to_vec(), key.clone().into(), value(&key, after.version)],
            Op::Delete => vec![b"DEL".to_vec(), key.into()],
            Op::Get => vec![b"GET".to_vec(), key.into()],
        }
    }

    /// The reply to a command.
    fn reply(&self, sent: &Sent) -> Value {
        match sent.op {
            Op::Set => Value::Simple(b"OK".to_vec()),
            Op::Delete => Value::Integer(sent.before.is_there.into()),
            Op::Get => self.content(sent.index, sent.before),
        }
    }

    fn content(&self, index: usize, state: State) -> Value {
        let there = state.is_there.then(|| Value::Bulk(value(&self.key(index), state.version)));
        there.unwrap_or(Value::Null)
    }

    fn key(&self, index: usize) -> String {
        format!("{}:{index}", self.number)
    }

    fn surprise(&self, index: usize, expected: &str, found: &Value) -> String {
        format!("{}: {expected} expected, {} found", self.key(index), shown(found))
    }

    /// Compares keys; those that are in doubt may have any of a few states, of which the one that
    /// is found holds from here on. What is wrong is told, and deleted so that it is told once.
    fn look_at(
        &mut self,
        server: &Server,
        indices: &BTreeSet<usize>,
        doubts: &HashMap<usize, Vec<State>>,
    ) -> Vec<String> {
        let mut connection = server.connect();
        let mut violations = Vec::new();
        let indices: Vec<usize> = indices.iter().copied().collect();
        for batch in indices.chunks(COMPARE_BATCH) {
            let keys: Vec<String> = batch.iter().map(|&index| self.key(index)).collect();
            let found = super::fetch(&mut connection, &keys)
                .unwrap_or_else(|error| panic!("cannot compare: {error}\nlog:\n{}", server.log()));
            for (&index, found) in batch.iter().zip(found) {
                let known = self.states[index];
                let doubtful = doubts.get(&index).into_iter().flatten().copied();
                let mut states = std::iter::once(known).chain(doubtful);
                let is = states.find(|&state| self.content(index, state) == found);
                self.states[index] = is.unwrap_or_else(|| {
                    let expected = shown(&self.content(index, known));
                    violations.push(self.surprise(index, &expected, &found));
                    let deleted = connection.call(&self.words(index, Op::Delete, known));
                    deleted.expect("the server answers");
                    State { version: known.version + PIPELINE as u32, is_there: false }
                });
            }
        }
        violations
    }
}

impl Written {
    /// Compares what was touched, and some of what was not.
    fn compare(self, server: &Server) -> (Writer, Vec<String>) {
        let Written { mut writer, mut touched, doubtful, surprises, .. } = self;
        let mut doubts: HashMap<usize, Vec<State>> = HashMap::new();
        for sent in doubtful {
            touched.insert(sent.index);
            doubts.entry(sent.index).or_default().push(sent.after);
        }
        let keys = writer.states.len() as u64;
        touched.extend((0..LOOKED_AT).map(|_| writer.random.below(keys) as usize));
        let violations = writer.look_at(server, &touched, &doubts);
        (writer, surprises.into_iter().chain(violations).collect())
    }
}

/// What a key holds in a version: both are in its text, and decide the rest.
fn value(key: &str, version: u32) -> Vec<u8> {
    static NOISE: LazyLock<Vec<u8>> =
        LazyLock::new(|| Random::new(1).bytes(NOISE_STARTS + VALUE_BYTES[3]));
    let mut value = format!("{key} {version} ").into_bytes();
    let mix = |seed: u64, &byte: &u8| (seed ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let mut random = Random::new(value.iter().fold(0, mix));
    let bytes = VALUE_BYTES[random.below(VALUE_BYTES.len() as u64) as usize];
    let start = random.below(NOISE_STARTS as u64) as usize;
    value.extend(&NOISE[start..start + bytes - value.len()]);
    value
}

/// A reply without most of its bytes.
fn shown(reply: &Value) -> String {
    const SHOWN: usize = 24;
    match reply {
        Value::Bulk(bytes) => {
            let start = &bytes[..bytes.len().min(SHOWN)];
            format!("{:?} of {} bytes", String::from_utf8_lossy(start), bytes.len())
        }
        other => format!("{other:?}"),
    }
}
