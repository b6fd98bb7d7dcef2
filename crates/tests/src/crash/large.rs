//! Far more keys than memory: overwritten, deleted and read at random, killed at random moments, in
//! recovery, too.
//!
//! Each writer has keys of its own and knows the state of each; a value follows from its key and
//! its version, and is as likely to stand in a row as in a segment. Commands are sent some at a
//! time, so when the server dies that many are in doubt: their keys may be as before, or as any of
//! them has left it. What was answered must be there, and every GET must say so meanwhile, whether
//! its key is in memory or has left it.

use std::collections::{BTreeSet, HashMap};
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
    /// Of them, SETs that found memory full: on a machine that leaves the server no time for it,
    /// memory is not given back as fast as it is asked for.
    pub refused: u64,
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

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Op {
    Set,
    Delete,
    Get,
}

/// A command that was sent: the index of its key, and the version that a SET gives it.
#[derive(Clone, Copy, Debug)]
struct Sent {
    index: usize,
    op: Op,
    version: u32,
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
    refused: u64,
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
            outcome.refused += written.refused;
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
                let words = self.words(index, Op::Set, 1);
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
    fn work(self, mut connection: Connection, count: &AtomicU64) -> Written {
        let mut written = Written {
            writer: self,
            acknowledged: 0,
            refused: 0,
            touched: BTreeSet::new(),
            doubtful: Vec::new(),
            surprises: Vec::new(),
        };
        while written.surprises.is_empty() {
            let commands = written.writer.choose();
            let sent = commands.iter().try_for_each(|sent| {
                connection.send(&written.writer.words(sent.index, sent.op, sent.version))
            });
            let answered = commands
                .iter()
                .take_while(|_| sent.is_ok())
                .map_while(|sent| Some((sent, connection.receive().ok()?)))
                .map(|(sent, reply)| written.note(sent, &reply))
                .count();
            count.fetch_add(answered as u64, Ordering::Relaxed);
            if answered < commands.len() {
                written.doubtful = commands[answered..].to_vec();
                break;
            }
        }
        written
    }

    /// The next commands; SETs of one key have ascending versions.
    fn choose(&mut self) -> Vec<Sent> {
        let mut versions: HashMap<usize, u32> = HashMap::new();
        let mut choose = || {
            let index = self.random.below(self.states.len() as u64) as usize;
            let version = versions.entry(index).or_insert(self.states[index].version);
            let op = match self.random.below(10) {
                0..=5 => Op::Set,
                6 => Op::Delete,
                _ => Op::Get,
            };
            *version += u32::from(op == Op::Set);
            Sent { index, op, version: *version }
        };
        (0..PIPELINE).map(|_| choose()).collect()
    }

    fn words(&self, index: usize, op: Op, version: u32) -> Vec<Vec<u8>> {
        let key = self.key(index);
        match op {
            Op::Set => vec![b"SET".to_vec(), key.clone().into(), value(&key, version)],
            Op::Delete => vec![b"DEL".to_vec(), key.into()],
            Op::Get => vec![b"GET".to_vec(), key.into()],
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
                    let deleted = connection.call(&self.words(index, Op::Delete, 0));
                    deleted.expect("the server answers");
                    State { version: known.version + PIPELINE as u32, is_there: false }
                });
            }
        }
        violations
    }
}

impl Sent {
    /// What it makes of its key's state.
    fn after(&self, before: State) -> State {
        match self.op {
            Op::Set => State { version: self.version, is_there: true },
            Op::Delete => State { is_there: false, ..before },
            Op::Get => before,
        }
    }
}

impl Written {
    /// Compares a reply with what its key holds, and notes what it holds now.
    fn note(&mut self, sent: &Sent, reply: &Value) {
        let before = self.writer.states[sent.index];
        let expected = match sent.op {
            Op::Set => Value::Simple(b"OK".to_vec()),
            Op::Delete => Value::Integer(before.is_there.into()),
            Op::Get => self.writer.content(sent.index, before),
        };
        let is_full =
            |reply: &Value| matches!(reply, Value::Error(text) if text.starts_with(b"OOM "));
        self.acknowledged += 1;
        self.touched.insert(sent.index);
        if *reply == expected {
            self.writer.states[sent.index] = sent.after(before);
        } else if sent.op == Op::Set && is_full(reply) {
            self.refused += 1;
        } else {
            self.surprises.push(self.writer.surprise(sent.index, &shown(&expected), reply));
        }
    }

    /// Compares what was touched, and some of what was not.
    fn compare(self, server: &Server) -> (Writer, Vec<String>) {
        let Written { mut writer, mut touched, doubtful, surprises, .. } = self;
        let mut doubts: HashMap<usize, Vec<State>> = HashMap::new();
        for sent in doubtful {
            touched.insert(sent.index);
            let states = doubts.entry(sent.index).or_default();
            let before = *states.last().unwrap_or(&writer.states[sent.index]);
            states.push(sent.after(before));
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
        Value::Error(text) => String::from_utf8_lossy(text).into_owned(),
        other => format!("{other:?}"),
    }
}
