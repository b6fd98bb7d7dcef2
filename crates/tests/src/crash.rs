//! Rounds of: write from several connections, kill at a random moment, start again, compare.
//!
//! Each writer sets keys that no one else sets and notes which were acknowledged. After the restart
//! every acknowledged key must have its value; a key that was sent but not acknowledged may be
//! there or not. With [`Placement::OneSlot`] all keys of a writer are in one slot, so that the log
//! must have kept a prefix of them: a later key without an earlier one is a hole, which no
//! durability setting allows.
//!
//! This kills the process, not the kernel: what was handed to the kernel survives. So it cannot see
//! a forgotten fsync; the simulated disk does that. The canary shows that it sees what it can.
//! [`collections`] does the same with lists, sets, hashes, sorted sets and streams, [`mixed`] with
//! all types in transactions and scripts, [`large`] with more keys than memory.

pub mod collections;
pub mod large;
pub mod mixed;

use std::collections::HashSet;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::client::Connection;
use crate::random::Random;
use crate::server::{Kind, Launch, Server};
use basalt_resp::Value;

/// Requests that a writer sends before it waits for their replies.
const PIPELINE: u64 = 8;

/// Keys compared by one request.
const COMPARE_BATCH: usize = 500;

/// A round whose writers do not get this far in time is killed all the same.
const ROUND_TIMEOUT: Duration = Duration::from_secs(120);

/// Which slots a writer's keys are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// All over the key space.
    Spread,
    /// One hash tag for each writer: their order in the log is the writer's order.
    OneSlot,
}

/// What to do.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The program.
    pub kind: Kind,
    /// How many kills.
    pub rounds: u64,
    /// How many connections write at once.
    pub writers: u64,
    /// The moment of each kill is drawn from 1 to this many acknowledged writes.
    pub acknowledged_max: u64,
    /// How long a round writes at least, however many writes that is.
    pub duration_min: Duration,
    /// Where keys go.
    pub placement: Placement,
    /// The server's options, as (name, value).
    pub options: Vec<(String, String)>,
    /// Reproduces the moments, as far as time allows.
    pub seed: u64,
}

/// An acknowledged write that was gone after the restart.
#[derive(Clone, Debug)]
pub struct Loss {
    /// Which key.
    pub key: String,
    /// How long before the kill its acknowledgement was read.
    pub age: Duration,
    /// Whether a later write of the same writer was kept (only with [`Placement::OneSlot`]).
    pub hole: bool,
}

/// What came of all rounds.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Acknowledged writes over all rounds.
    pub acknowledged: u64,
    /// Those of them that were lost.
    pub losses: Vec<Loss>,
}

struct Acknowledged {
    key: String,
    at: Instant,
}

/// Runs all rounds in one data folder.
pub fn run(plan: &Plan, dir: &Path) -> Outcome {
    let mut random = Random::new(plan.seed);
    let mut outcome = Outcome::default();
    let mut kept: Vec<String> = Vec::new();
    let mut server = launch(plan, dir);
    for round in 0..plan.rounds {
        let moment = 1 + random.below(plan.acknowledged_max);
        let (written, killed_at) = write_and_kill(plan, &mut server, round, moment);
        drop(server);
        server = launch(plan, dir);
        for writer in written {
            outcome.acknowledged += writer.len() as u64;
            let losses = compare(&server, plan, &writer, killed_at);
            let lost: HashSet<&str> = losses.iter().map(|loss| loss.key.as_str()).collect();
            kept.extend(
                writer.iter().map(|write| write.key.clone()).filter(|key| !lost.contains(&**key)),
            );
            outcome.losses.extend(losses);
        }
    }
    // What one restart has shown, all later ones must.
    outcome.losses.extend(missing(&server, &kept).into_iter().map(|key| Loss {
        key,
        age: Duration::MAX,
        hole: false,
    }));
    outcome
}

fn launch(plan: &Plan, dir: &Path) -> Server {
    launching(plan, dir).start()
}

fn launching(plan: &Plan, dir: &Path) -> Launch {
    let mut launch = Launch::new(plan.kind).dir(dir);
    for (name, value) in &plan.options {
        launch = launch.option(name, value);
    }
    // A kill in the middle of a write leaves a torn tail, which recovery cuts and reports; and a
    // server told to acknowledge too early should say so.
    launch.allow_log("torn tail").allow_log("acknowledges before it syncs")
}

/// Lets the writers write until `moment` acknowledgements have come in, and kills the server.
fn write_and_kill(
    plan: &Plan,
    server: &mut Server,
    round: u64,
    moment: u64,
) -> (Vec<Vec<Acknowledged>>, Instant) {
    let writers = (0..plan.writers as usize).collect();
    kill_amid(plan, server, moment, writers, |writer, connection, count| {
        write(connection, |index| key(plan.placement, round, writer, index), count)
    })
}

/// Has all writers work, each on a connection of its own, until `moment` acknowledgements have been
/// counted, and kills the server. Returns what they bring back and when that was.
fn kill_amid<W: Send, T: Send>(
    plan: &Plan,
    server: &mut Server,
    moment: u64,
    writers: Vec<W>,
    work: impl Fn(W, Connection, &AtomicU64) -> T + Sync,
) -> (Vec<T>, Instant) {
    let count = AtomicU64::new(0);
    let writers: Vec<_> = writers.into_iter().map(|writer| (writer, server.connect())).collect();
    std::thread::scope(|scope| {
        let (count, work) = (&count, &work);
        let start = |(writer, connection)| scope.spawn(move || work(writer, connection, count));
        let writers: Vec<_> = writers.into_iter().map(start).collect();
        let started = Instant::now();
        // Relaxed: the count only says when; what was acknowledged is read after joining.
        let early =
            || count.load(Ordering::Relaxed) < moment || started.elapsed() < plan.duration_min;
        while early() && started.elapsed() < ROUND_TIMEOUT {
            std::thread::sleep(Duration::from_micros(100));
        }
        let killed_at = Instant::now();
        server.kill();
        let join = |writer: std::thread::ScopedJoinHandle<'_, _>| writer.join().expect("no panic");
        (writers.into_iter().map(join).collect(), killed_at)
    })
}

fn key(placement: Placement, round: u64, writer: usize, index: u64) -> String {
    match placement {
        Placement::Spread => format!("{round}:{writer}:{index}"),
        Placement::OneSlot => format!("{{{writer}}}:{round}:{index}"),
    }
}

/// Each value tells its key, so that a mix-up is a loss too.
fn value(key: &str) -> String {
    format!("value of {key}")
}

/// Writes until the connection breaks; returns what was acknowledged, in order.
fn write(
    mut connection: Connection,
    name: impl Fn(u64) -> String,
    count: &AtomicU64,
) -> Vec<Acknowledged> {
    let mut acknowledged = Vec::new();
    let mut next = 0;
    loop {
        let keys: Vec<String> = (next..next + PIPELINE).map(&name).collect();
        next += PIPELINE;
        for key in &keys {
            if connection.send(&["SET", key, &value(key)]).is_err() {
                return acknowledged;
            }
        }
        for key in keys {
            match connection.receive() {
                Ok(Value::Simple(_)) => acknowledged.push(Acknowledged { key, at: Instant::now() }),
                Ok(other) => panic!("SET answered {other:?}"),
                Err(_) => return acknowledged,
            }
            count.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// The acknowledged writes of one writer that are gone.
fn compare(server: &Server, plan: &Plan, writer: &[Acknowledged], killed_at: Instant) -> Vec<Loss> {
    let keys: Vec<String> = writer.iter().map(|write| write.key.clone()).collect();
    let lost: HashSet<String> = missing(server, &keys).into_iter().collect();
    let last_kept = keys.iter().rposition(|key| !lost.contains(key));
    let mut losses = Vec::new();
    for (index, write) in writer.iter().enumerate() {
        if lost.contains(&write.key) {
            let later_kept = last_kept.is_some_and(|last| index < last);
            losses.push(Loss {
                key: write.key.clone(),
                age: killed_at.saturating_duration_since(write.at),
                hole: later_kept && plan.placement == Placement::OneSlot,
            });
        }
    }
    losses
}

/// The keys that are absent or have another value.
fn missing(server: &Server, keys: &[String]) -> Vec<String> {
    let mut connection = server.connect();
    let mut lost = Vec::new();
    for batch in keys.chunks(COMPARE_BATCH) {
        let values = fetch(&mut connection, batch)
            .unwrap_or_else(|error| panic!("cannot compare: {error}\nlog:\n{}", server.log()));
        for (key, found) in batch.iter().zip(values) {
            if found != Value::Bulk(value(key).into_bytes()) {
                lost.push(key.clone());
            }
        }
    }
    lost
}

fn fetch(connection: &mut Connection, keys: &[String]) -> io::Result<Vec<Value>> {
    for key in keys {
        connection.send(&["GET", key])?;
    }
    keys.iter().map(|_| connection.receive()).collect()
}
