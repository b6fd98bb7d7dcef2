//! `compare queue`: what the life of a message costs a server, and what a message takes of its
//! memory. Redis does with a stream and a group what Basalt does with a queue.
//!
//! ```text
//!            put        take               done
//! Basalt     Q.PUT      Q.GET              Q.ACK
//! Redis      XADD       XREADGROUP         XACK, XDEL
//! beanstalkd put        reserve            delete
//! ```
//! One client sends fifty of each kind together, a message in each.

mod beanstalkd;

use std::io::{BufReader, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::compare::Arena;
use crate::compare::peer::Peer;
use crate::compare::server::Contender;
use crate::compare::table::{Quantity, Summary, render, summarise};
use crate::error::BenchError;
use crate::process::{CpuTime, Memory};
use crate::replies::{read_reply, unexpected, write_request};
use crate::target::{Socket, Target};

const PIPELINE: u64 = 50;
const BODY_BYTES: usize = 100;
/// Of the messages in memory one in this many is held.
const HELD_SHARE: u64 = 10;

/// One life of one side.
#[derive(Debug, Serialize)]
struct Round {
    round: usize,
    side: &'static str,
    messages: u64,
    server_cpu_us_per_message: f64,
    messages_per_second: f64,
    bytes_per_ready_message: f64,
    bytes_per_held_message: f64,
}

const QUANTITIES: &[Quantity] = &[
    Quantity { name: "server CPU µs", decimals: 3 },
    Quantity { name: "messages/s", decimals: 0 },
    Quantity { name: "bytes, ready", decimals: 0 },
    Quantity { name: "bytes, held", decimals: 0 },
];

/// How often resident memory is looked at, and how long in between.
const RESIDENT_LOOKS: u32 = 30;
const RESIDENT_LOOK_EVERY: Duration = Duration::from_millis(100);

/// What can be measured.
pub(super) const PARTS: [&str; 2] = ["life", "memory"];

pub(super) fn run(
    arena: &Arena<'_>,
    (messages, kept): (u64, u64),
    parts: &[&str],
    beanstalkd: &Path,
) -> Result<(), BenchError> {
    let of = |part, count| if parts.contains(&part) { count } else { 0 };
    let (messages, kept) = (of(PARTS[0], messages), of(PARTS[1], kept));
    if messages + kept == 0 {
        return Err(BenchError::Usage("nothing is to be measured".into()));
    }
    let servers = arena.introduce()?;
    let mut rounds =
        arena.rounds(|round, contender| one_life(arena, (messages, kept), round, contender))?;
    let sides: Vec<(&str, Vec<Summary>)> = arena
        .contenders
        .iter()
        .map(|contender| (contender.name, summaries(&rounds, contender.name)))
        .collect();
    let table = render(QUANTITIES, &sides);
    arena.print(&format!(
        "{messages} messages of {BODY_BYTES} bytes put, taken and done; then {kept} kept, one in \
         {HELD_SHARE} of them held\n{table}"
    ))?;
    if arena.contenders.len() > 1 {
        rounds.extend(beside_beanstalkd(arena, (messages, kept), &sides, beanstalkd)?);
    }
    arena.write_json(servers, &rounds)
}

/// Measures beanstalkd, if there is such a program.
fn beside_beanstalkd(
    arena: &Arena<'_>,
    counts: (u64, u64),
    sides: &[(&str, Vec<Summary>)],
    program: &Path,
) -> Result<Vec<Round>, BenchError> {
    if !Peer::is_there(program) {
        let program = program.display();
        arena.print(&format!("{program} cannot be started: beanstalkd is not compared\n"))?;
        return Ok(Vec::new());
    }
    let mut rounds = Vec::new();
    for round in 0..arena.common.runs {
        rounds.push(beanstalkd::one_life(arena, counts, round, program)?);
    }
    let mut sides: Vec<_> = sides.iter().filter(|side| side.0 == "basalt").cloned().collect();
    sides.push((beanstalkd::NAME, summaries(&rounds, beanstalkd::NAME)));
    arena.print(&format!("\n{}", render(QUANTITIES, &sides)))?;
    Ok(rounds)
}

/// A client that puts, takes and is done with messages.
trait Client {
    /// That many messages, fifty at a time, from put to done.
    fn live(&mut self, messages: u64) -> Result<(), BenchError>;

    fn put(&mut self, messages: u64) -> Result<(), BenchError>;

    /// Takes messages and returns what they are called to be done with.
    fn take(&mut self, messages: u64) -> Result<Vec<String>, BenchError>;
}

fn one_life(
    arena: &Arena<'_>,
    (messages, kept): (u64, u64),
    round: usize,
    contender: &Contender,
) -> Result<Round, BenchError> {
    let life = arena.start(contender)?;
    let mut client = Worker::connect(&life.server.target(), contender.name)?;
    let wait = || {
        life.server.wait_quiet();
    };
    let place = (round, contender.name);
    let round = measure((life.server.pid(), &wait), &mut client, (messages, kept), place)?;
    life.server.stop()?;
    Ok(round)
}

/// What messages cost a process; `wait` returns when it has come to rest.
fn measure(
    (pid, wait): (u32, &dyn Fn()),
    client: &mut dyn Client,
    (messages, kept): (u64, u64),
    (round, side): (usize, &'static str),
) -> Result<Round, BenchError> {
    client.live(messages / 10)?;
    wait();
    let (before, begun) = (CpuTime::of(pid), Instant::now());
    client.live(messages)?;
    let (cpu, time) = (CpuTime::of(pid).since(before).own_ns, begun.elapsed());
    wait();
    let resident = || if kept == 0 { 0.0 } else { least_resident_bytes(pid) };
    let empty = resident();
    client.put(kept)?;
    wait();
    let ready = resident();
    let held = kept / HELD_SHARE;
    client.take(held)?;
    wait();
    let per_ready = (ready - empty) / kept.max(1) as f64;
    Ok(Round {
        round,
        side,
        messages,
        server_cpu_us_per_message: cpu as f64 / 1e3 / messages.max(1) as f64,
        messages_per_second: messages as f64 / time.as_secs_f64(),
        bytes_per_ready_message: per_ready,
        bytes_per_held_message: per_ready + (resident() - ready) / held.max(1) as f64,
    })
}

/// What the process needs: the least of some seconds, for the allocator returns late what was
/// freed, as the half of a table that has grown.
fn least_resident_bytes(pid: u32) -> f64 {
    let looks = (0..RESIDENT_LOOKS).map(|_| {
        std::thread::sleep(RESIDENT_LOOK_EVERY);
        Memory::of(pid).resident_bytes
    });
    looks.min().unwrap_or_default() as f64
}

fn summaries(rounds: &[Round], side: &str) -> Vec<Summary> {
    let of = |quantity: &dyn Fn(&Round) -> f64| {
        summarise(rounds.iter().filter(|round| round.side == side).map(quantity))
    };
    vec![
        of(&|round| round.server_cpu_us_per_message),
        of(&|round| round.messages_per_second),
        of(&|round| round.bytes_per_ready_message),
        of(&|round| round.bytes_per_held_message),
    ]
}

/// A client by Redis' protocol.
struct Worker {
    stream: BufReader<TcpStream>,
    is_redis: bool,
    body: String,
    out: Vec<u8>,
}

impl Worker {
    fn connect(target: &Target, side: &str) -> Result<Worker, BenchError> {
        let Socket::Tcp(stream) = target.connect()? else {
            return Err(BenchError::Usage("this suite runs over TCP".into()));
        };
        let is_redis = side == "redis";
        let body = "m".repeat(BODY_BYTES);
        let mut worker = Worker { stream: BufReader::new(stream), is_redis, body, out: Vec::new() };
        if is_redis {
            worker.send(&["XGROUP", "CREATE", "q", "g", "0", "MKSTREAM"]);
            worker.receive(1, |_| ())?;
        }
        Ok(worker)
    }

    fn send(&mut self, words: &[&str]) {
        write_request(words, &mut self.out);
    }

    /// Sends what is to be sent, and hands on the texts of each reply.
    fn receive(
        &mut self,
        replies: usize,
        mut each: impl FnMut(&[String]),
    ) -> Result<(), BenchError> {
        let out = std::mem::take(&mut self.out);
        self.stream.get_mut().write_all(&out)?;
        self.out = out;
        self.out.clear();
        let mut texts = Vec::new();
        for _ in 0..replies {
            texts.clear();
            read_reply(&mut self.stream, &mut texts)?;
            each(&texts);
        }
        Ok(())
    }
}

impl Client for Worker {
    fn live(&mut self, messages: u64) -> Result<(), BenchError> {
        for _ in 0..messages.div_ceil(PIPELINE) {
            self.put(PIPELINE)?;
            let taken = self.take(PIPELINE)?;
            for token in &taken {
                if self.is_redis {
                    self.send(&["XACK", "q", "g", token]);
                    self.send(&["XDEL", "q", token]);
                } else {
                    self.send(&["Q.ACK", "q", token]);
                }
            }
            let replies = taken.len() * if self.is_redis { 2 } else { 1 };
            self.receive(replies, |_| ())?;
        }
        Ok(())
    }

    fn put(&mut self, messages: u64) -> Result<(), BenchError> {
        let body = self.body.clone();
        for _ in 0..messages.div_ceil(PIPELINE) {
            for _ in 0..PIPELINE {
                if self.is_redis {
                    self.send(&["XADD", "q", "*", "d", &body]);
                } else {
                    self.send(&["Q.PUT", "q", &body]);
                }
            }
            self.receive(PIPELINE as usize, |_| ())?;
        }
        Ok(())
    }

    fn take(&mut self, messages: u64) -> Result<Vec<String>, BenchError> {
        // Its place among the texts of a reply: queue, token, body; stream, ID, field, value.
        let mut taken = Vec::new();
        for _ in 0..messages.div_ceil(PIPELINE) {
            for _ in 0..PIPELINE {
                if self.is_redis {
                    self.send(&[
                        "XREADGROUP",
                        "GROUP",
                        "g",
                        "c",
                        "COUNT",
                        "1",
                        "STREAMS",
                        "q",
                        ">",
                    ]);
                } else {
                    self.send(&["Q.GET", "LEASE", "600000", "QUEUES", "q"]);
                }
            }
            self.receive(PIPELINE as usize, |texts| taken.extend(texts.get(1).cloned()))?;
        }
        if taken.len() as u64 != messages.div_ceil(PIPELINE) * PIPELINE {
            return Err(unexpected("fewer messages than were put"));
        }
        Ok(taken)
    }
}
