//! Attacks on the front for HTTP: what each is answered, what it takes, and what other clients
//! feel, compared with what they feel without it.
//!
//! ```text
//! time      quiet │ elsewhere │ attack │ quiet │ …     PING and GET on fixed schedules
//! P99         q₁       e₁         a₁      q₂           median of a / the greater one of q and e
//! memory        ▲ before            ▲ most
//! ```
//! The phases take turns, because the machine is not the same from one second to the next. A server
//! of its own answers each attack. Elsewhere is the same attack on another server beside it: what
//! others feel of that is the work of two programs on the cores that they share with them, and no
//! fault of the server that they ask.

mod answers;
mod attacks;
mod meter;
mod tricks;

use super::attack::{Scale, Stop};
use super::data;
use crate::server::{Kind, Launch, Server};
use answers::Answers;
use meter::{Latencies, Meter, p99};
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
    /// The median of those beside the same attack on another server.
    pub elsewhere: Duration,
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
    /// Of others' P99 as multiples of theirs without the attack, or with it elsewhere …
    pub ratio: f64,
    /// … unless it is below this anyway.
    pub p99: Duration,
}

/// Runs an attack against a new server with these options.
pub fn run(attack: &FrontAttack, options: &[(&str, &str)], course: Course) -> FrontVerdict {
    let (server, other) = (start(attack, options), start(attack, options));
    let (answers, answers_elsewhere) = (Answers::default(), Answers::default());
    let mut meter = Meter::new(&server);
    let (mut alone, mut elsewhere, mut beside) = (Vec::new(), Vec::new(), Vec::new());
    let mut resident_before = None;
    for _ in 0..course.rounds {
        alone.push(meter.watch(&server, course.phase));
        let asked = (&server, &mut meter);
        elsewhere.push(watch_beside(attack, course, (&other, &answers_elsewhere), asked));
        resident_before.get_or_insert_with(|| {
            let before = server.resident_bytes();
            meter.resident_bytes_max = before;
            before
        });
        let asked = (&server, &mut meter);
        beside.push(watch_beside(attack, course, (&server, &answers), asked));
    }
    let mut failures = answers.wrong(attack.statuses);
    failures.append(&mut meter.failures);
    let hidden = server.connect().call(&["EXISTS", SMUGGLED]);
    if !matches!(hidden, Ok(basalt_resp::Value::Integer(0))) {
        failures.push(format!("a request within another one was taken: {hidden:?}"));
    }
    let before = resident_before.unwrap_or_default();
    let mut felt = |request| Felt {
        alone: p99(&mut alone, request),
        elsewhere: p99(&mut elsewhere, request),
        beside: p99(&mut beside, request),
    };
    FrontVerdict {
        answered: answers.shown(),
        resident_bytes_beyond: meter.resident_bytes_max.saturating_sub(before),
        ping: felt(0),
        get: felt(1),
        failures,
    }
}

/// A server that has what is asked for.
fn start(attack: &FrontAttack, options: &[(&str, &str)]) -> Server {
    let options = attack.options.iter().chain(options);
    let launch = Launch::new(Kind::Basalt).with_http();
    let launch = options.fold(launch, |launch, (name, value)| launch.option(name, value));
    let server = launch.start();
    data::string(&server, "key", VALUE_BYTES);
    server
}

/// What others feel that ask one server while one is attacked, the same or another one.
fn watch_beside(
    attack: &FrontAttack,
    course: Course,
    (attacked, answers): (&Server, &Answers),
    (asked, meter): (&Server, &mut Meter),
) -> Latencies {
    let stop = Stop::default();
    let felt = std::thread::scope(|scope| {
        let scene = Scene { server: attacked, scale: course.scale, stop: &stop, answers };
        scope.spawn(move || {
            // A machine that does not permit it has attackers that are less nice.
            let _ = rustix::process::nice(NICE);
            (attack.run)(&scene);
        });
        let felt = meter.watch(asked, course.phase);
        stop.set();
        felt
    });
    std::thread::sleep(REST);
    felt
}

impl Felt {
    fn ratio(&self) -> f64 {
        let others = self.alone.max(self.elsewhere);
        self.beside.as_secs_f64() / others.as_secs_f64().max(1e-6)
    }

    fn shown(&self) -> String {
        let millis = |time: Duration| time.as_secs_f64() * 1e3;
        let Felt { alone, elsewhere, beside } = *self;
        let [alone, elsewhere, beside] = [alone, elsewhere, beside].map(millis);
        format!("{alone:.2}, {elsewhere:.2}, {beside:.2} ms: {:.1}", self.ratio())
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

    /// A row of a Markdown table: name, answers, memory, P99 of PING and GET without, with it
    /// elsewhere, with it, ratio.
    pub fn row(&self, name: &str) -> String {
        let (ping, get) = (self.ping.shown(), self.get.shown());
        format!("| {name} | {} | {:.0} MiB | {ping} | {get} |", self.answered, self.mebibytes())
    }
}
