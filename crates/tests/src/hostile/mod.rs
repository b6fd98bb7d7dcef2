//! Clients that try to stop, crash or bloat the server, and what another client feels meanwhile.
//!
//! ```text
//! prepare ▸ attack from threads of its own, for some time ┬▸ SIGTERM ▸ how long until its end
//!           another client: PING on a fixed schedule ─────┤
//!           resident memory, looked at with each PING ────┘
//! ```
//! A PING that is late makes those behind it late, too: each is timed from when it should have been
//! sent, so that a stall of a second counts as two hundred late PINGs and not as one.
//!
//! Every attack runs against a server of its own, so that its figures are its own. [`attacks()`]
//! lists them. [`Scale`] makes them small enough for every run of the tests; the figures in
//! `docs/testing.md` are from full size.

mod attack;
mod attacks;
mod data;
pub mod front;
mod held;
mod scripts;
mod web;

use std::time::{Duration, Instant};

use crate::client::Connection;
use crate::server::{Kind, Launch, Server};
use basalt_resp::Value;

pub use attack::{Attack, Scale, Stop};
pub use attacks::attacks;

/// A PING is due each time that this has passed.
const PING_EVERY: Duration = Duration::from_millis(5);

/// How long a server may take to end after SIGTERM before it counts as hung. Its own grace time is
/// shorter.
const END_TIMEOUT: Duration = Duration::from_secs(60);

/// What another client felt.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// PINGs that were due.
    pub pings: usize,
    /// Those answered with `-BUSY`.
    pub busy: usize,
    /// The 99th percentile of their latencies.
    pub p99: Duration,
    /// The longest.
    pub max: Duration,
    /// Resident bytes beyond those before the attack and those of the data that it stored.
    pub resident_bytes_beyond: u64,
    /// From SIGTERM in the midst of the attack to the end of the process; `None` if it had to be
    /// killed.
    pub end: Option<Duration>,
    /// What went wrong besides, in words.
    pub failures: Vec<String>,
}

/// Runs an attack against a new server with these options for some time.
pub fn run(attack: &Attack, options: &[(&str, &str)], scale: Scale, duration: Duration) -> Verdict {
    let mut launch = Launch::new(Kind::Basalt).with_http();
    for (name, value) in attack.options.iter().chain(options) {
        launch = launch.option(name, value);
    }
    for text in attack.allowed_log {
        launch = launch.allow_log(text);
    }
    let mut server = launch.start();
    (attack.prepare)(&server, scale);
    let mut meter = Meter::new(&server);
    let resident_before = server.resident_bytes() + (attack.data_bytes)(scale);
    let stop = Stop::default();
    let end = std::thread::scope(|scope| {
        scope.spawn(|| (attack.run)(&server, scale, &stop));
        meter.watch(&server, duration);
        let end = terminate(&server);
        stop.set();
        end
    });
    if end.is_none() {
        server.kill();
        meter.failures.push("did not end after SIGTERM".to_owned());
    }
    meter.verdict(resident_before, end)
}

/// Sends SIGTERM; how long it takes until nothing listens any more and the process is a corpse.
fn terminate(server: &Server) -> Option<Duration> {
    let asked = Instant::now();
    server.signal("TERM");
    while asked.elapsed() < END_TIMEOUT {
        if server.has_ended() {
            return Some(asked.elapsed());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    None
}

/// Pings on a schedule and notes what comes back.
struct Meter {
    connection: Option<Connection>,
    latencies: Vec<Duration>,
    busy: usize,
    resident_bytes_max: u64,
    failures: Vec<String>,
}

impl Meter {
    fn new(server: &Server) -> Meter {
        Meter {
            connection: Some(server.connect()),
            latencies: Vec::new(),
            busy: 0,
            resident_bytes_max: 0,
            failures: Vec::new(),
        }
    }

    fn watch(&mut self, server: &Server, duration: Duration) {
        let started = Instant::now();
        let mut due = started;
        while due - started < duration {
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            if !self.ping() {
                return;
            }
            // One reply answers for all PINGs that were due before it came.
            let now = Instant::now();
            while due <= now {
                self.latencies.push(now - due);
                due += PING_EVERY;
            }
            self.resident_bytes_max = self.resident_bytes_max.max(server.resident_bytes());
        }
    }

    /// False if there is no use in going on.
    fn ping(&mut self) -> bool {
        let Some(connection) = &mut self.connection else { return false };
        match connection.run("PING") {
            Ok(Value::Simple(text)) if text == b"PONG" => true,
            Ok(Value::Error(text)) if text.starts_with(b"BUSY") => {
                self.busy += 1;
                true
            }
            other => {
                self.failures.push(format!("PING answered {other:?}"));
                self.connection = None;
                false
            }
        }
    }

    fn verdict(mut self, resident_before: u64, end: Option<Duration>) -> Verdict {
        self.latencies.sort_unstable();
        let at = |share: f64| {
            let index = (self.latencies.len() as f64 * share) as usize;
            self.latencies.get(index).or(self.latencies.last()).copied().unwrap_or_default()
        };
        Verdict {
            pings: self.latencies.len(),
            busy: self.busy,
            p99: at(0.99),
            max: at(1.0),
            resident_bytes_beyond: self.resident_bytes_max.saturating_sub(resident_before),
            end,
            failures: self.failures,
        }
    }
}

/// What another client may feel at most.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Of the 99th percentile of PING.
    pub p99: Duration,
    /// Of any PING.
    pub max: Duration,
    /// Of resident memory beyond the data.
    pub resident_bytes: u64,
    /// From SIGTERM to the end.
    pub end: Duration,
}

impl Verdict {
    /// What is out of bounds, in words; empty if nothing is.
    pub fn violations(&self, bounds: &Bounds) -> Vec<String> {
        let mut found = self.failures.clone();
        if self.p99 > bounds.p99 {
            found.push(format!("P99 of PING {:?}", self.p99));
        }
        if self.max > bounds.max {
            found.push(format!("a PING took {:?}", self.max));
        }
        if self.resident_bytes_beyond > bounds.resident_bytes {
            found.push(format!("{} MB beyond the data", self.resident_bytes_beyond / 1_000_000));
        }
        if self.end.is_some_and(|end| end > bounds.end) {
            found.push(format!("ended {:?} after SIGTERM", self.end));
        }
        found
    }

    /// A row of a Markdown table: name, PINGs, P99, maximum, memory beyond the data, end.
    pub fn row(&self, name: &str) -> String {
        let millis = |time: Duration| time.as_secs_f64() * 1e3;
        let end = self.end.map_or("killed".to_owned(), |end| format!("{:.2} s", end.as_secs_f64()));
        format!(
            "| {name} | {} ({} busy) | {:.1} ms | {:.0} ms | {} MB | {end} |",
            self.pings,
            self.busy,
            millis(self.p99),
            millis(self.max),
            self.resident_bytes_beyond / 1_000_000,
        )
    }
}
