//! Attacks on the front for HTTP: what each is answered, what it takes, and what other clients
//! feel, compared with what they feel without it.
//!
//! ```text
//! time      quiet │ attack │ quiet │ attack │ …     PING and GET on fixed schedules all the time
//! P99         q₁      a₁      q₂      a₂            median of a / median of q
//! memory        ▲ before    ▲ most    ▲ most
//! ```
//! Quiet and attacked phases take turns, because the machine is not the same from one second to the
//! next. A server of its own answers each attack.

mod answers;
mod attacks;
mod meter;
mod tricks;

use super::attack::{Scale, Stop};
use super::data;
use crate::server::{Kind, Launch, Server};
use answers::Answers;
use meter::{Meter, p99};
use std::time::Duration;

pub use attacks::attacks;

/// Bytes of the value that others ask for, and that attackers have sent to them.
const VALUE_BYTES: u64 = 10_000;
/// The key that a request makes which is hidden within another one.
const SMUGGLED: &str = "smuggled";
/// How much nicer attackers are than the server: their machine would be another one.
const NICE: i32 = 10;
/// From an attack to the quiet phase behind it.
const REST: Duration = Duration::from_millis(300);

/// One way to harm the front.
#[derive(Clone, Copy, Debug)]
pub struct FrontAttack {
    /// A few words, for a row of a table.
    pub name: &'static str,
    options: &'static [(&'static str, &'static str)],
    /// Statuses that attackers may be answered, beside the end of their connection.
    statuses: &'static [u16],
    run: fn(&Scene<'_>),
}

/// What an attacker knows.
struct Scene<'a> {
    server: &'a Server,
    scale: Scale,
    stop: &'a Stop,
    answers: &'a Answers,
}

/// How long an attack is watched.
#[derive(Clone, Copy, Debug)]
pub struct Course {
    /// How large it is.
    pub scale: Scale,
    /// How often a quiet phase and an attacked one take turns.
    pub rounds: usize,
    /// The length of a phase.
    pub phase: Duration,
}

/// 99th percentiles of a kind of request.
#[derive(Clone, Copy, Debug)]
pub struct Felt {
    /// The median of those without the attack.
    pub alone: Duration,
    /// The median of those with it.
    pub beside: Duration,
}

/// What has come of an attack.
#[derive(Clone, Debug)]
pub struct FrontVerdict {
    answered: String,
    /// Resident bytes beyond those before the attack.
    resident_bytes_beyond: u64,
    ping: Felt,
    get: Felt,
    failures: Vec<String>,
}

/// What is held.
#[derive(Clone, Copy, Debug)]
pub struct FrontBounds {
    /// Of resident memory beyond that before the attack.
    pub resident_bytes: u64,
    /// Of others' P99 as multiples of theirs without the attack …
    pub ratio: f64,
    /// … unless it is below this anyway.
    pub p99: Duration,
}

/// Runs an attack against a new server with these options.
pub fn run(attack: &FrontAttack, options: &[(&str, &str)], course: Course) -> FrontVerdict {
    let options = attack.options.iter().chain(options);
    let launch = Launch::new(Kind::Basalt).with_http();
    let launch = options.fold(launch, |launch, (name, value)| launch.option(name, value));
    let server = launch.start();
    data::string(&server, "key", VALUE_BYTES);
    let answers = Answers::default();
    let mut meter = Meter::new(&server);
    let (mut alone, mut beside) = (Vec::new(), Vec::new());
    let mut resident_before = None;
    for _ in 0..course.rounds {
        alone.push(meter.watch(&server, course.phase));
        resident_before.get_or_insert_with(|| {
            let before = server.resident_bytes();
            meter.resident_bytes_max = before;
            before
        });
        let stop = Stop::default();
        beside.push(std::thread::scope(|scope| {
            let scene =
                Scene { server: &server, scale: course.scale, stop: &stop, answers: &answers };
            scope.spawn(move || {
                // A machine that does not permit it has attackers that are less nice.
                let _ = rustix::process::nice(NICE);
                (attack.run)(&scene);
            });
            let felt = meter.watch(&server, course.phase);
            stop.set();
            felt
        }));
        std::thread::sleep(REST);
    }
    let mut failures = answers.wrong(attack.statuses);
    failures.append(&mut meter.failures);
    let hidden = server.connect().call(&["EXISTS", SMUGGLED]);
    if !matches!(hidden, Ok(basalt_resp::Value::Integer(0))) {
        failures.push(format!("a request within another one was taken: {hidden:?}"));
    }
    let before = resident_before.unwrap_or_default();
    FrontVerdict {
        answered: answers.shown(),
        resident_bytes_beyond: meter.resident_bytes_max.saturating_sub(before),
        ping: Felt { alone: p99(&mut alone, 0), beside: p99(&mut beside, 0) },
        get: Felt { alone: p99(&mut alone, 1), beside: p99(&mut beside, 1) },
        failures,
    }
}

impl Felt {
    fn ratio(&self) -> f64 {
        self.beside.as_secs_f64() / self.alone.as_secs_f64().max(1e-6)
    }

    fn shown(&self) -> String {
        let millis = |time: Duration| time.as_secs_f64() * 1e3;
        let Felt { alone, beside } = *self;
        format!("{:.2} ms, {:.2} ms, {:.1}", millis(alone), millis(beside), self.ratio())
    }
}

impl FrontVerdict {
    /// What is out of bounds, in words; empty if nothing is.
    pub fn violations(&self, bounds: &FrontBounds) -> Vec<String> {
        let mut found = self.failures.clone();
        if self.resident_bytes_beyond > bounds.resident_bytes {
            found.push(format!("{:.1} MiB beyond before", self.mebibytes()));
        }
        for (name, felt) in [("PING", self.ping), ("GET", self.get)] {
            if felt.beside > bounds.p99 && felt.ratio() > bounds.ratio {
                found.push(format!("P99 of {name}: {}", felt.shown()));
            }
        }
        found
    }

    fn mebibytes(&self) -> f64 {
        self.resident_bytes_beyond as f64 / f64::from(1 << 20)
    }

    /// A row of a Markdown table: name, answers, memory, P99 of PING and GET without, with, ratio.
    pub fn row(&self, name: &str) -> String {
        let (ping, get) = (self.ping.shown(), self.get.shown());
        format!("| {name} | {} | {:.0} MiB | {ping} | {get} |", self.answered, self.mebibytes())
    }
}
