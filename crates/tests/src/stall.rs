//! Watches that a server answers everybody, whatever a test does to it: a second connection sends a
//! PING ten times a second, and one that takes longer than a second fails the test.
//!
//! A machine that is short of CPU is slow, too. So a thread beside it measures how late it is woken
//! itself, and a PING counts only as far as it is later than that. `BASALT_STALL_MS` sets another
//! bound.

use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::client::Connection;

/// A PING may take this long.
const STALL_MAX: Duration = Duration::from_secs(1);
const PING_EVERY: Duration = Duration::from_millis(100);
/// How often the machine is asked how late it is.
const PULSE_EVERY: Duration = Duration::from_millis(10);

/// Watches a server until it is stopped, or the server has gone.
#[derive(Debug)]
pub(crate) struct Watchdog {
    stop: Arc<AtomicBool>,
    /// Ends with the longest stall, if there was one.
    thread: JoinHandle<Option<Duration>>,
}

impl Watchdog {
    /// Watches the server at the other end of a connection.
    pub(crate) fn start(connection: Connection) -> io::Result<Watchdog> {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let watch = move || watch(connection, &stopped);
        let thread = std::thread::Builder::new().name("watchdog".to_owned()).spawn(watch)?;
        Ok(Watchdog { stop, thread })
    }

    /// Watches no longer; the longest time for which the server has answered nobody, if that was
    /// longer than it may be.
    pub(crate) fn end(self) -> Option<Duration> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("the watchdog does not panic")
    }
}

/// How late the machine has been at most since it was last asked.
#[derive(Default)]
struct Pulse {
    late_us: AtomicU64,
}

impl Pulse {
    fn beat(&self, stopped: &AtomicBool) {
        while !stopped.load(Ordering::Relaxed) {
            let start = Instant::now();
            std::thread::sleep(PULSE_EVERY);
            let late = start.elapsed().saturating_sub(PULSE_EVERY);
            self.late_us.fetch_max(late.as_micros() as u64, Ordering::Relaxed);
        }
    }

    fn take(&self) -> Duration {
        Duration::from_micros(self.late_us.swap(0, Ordering::Relaxed))
    }
}

fn watch(mut connection: Connection, stopped: &AtomicBool) -> Option<Duration> {
    let bound = std::env::var("BASALT_STALL_MS").ok().and_then(|ms| ms.parse().ok());
    let bound = bound.map_or(STALL_MAX, Duration::from_millis);
    let (pulse, ended) = (Pulse::default(), AtomicBool::new(false));
    let mut longest = None;
    std::thread::scope(|scope| {
        scope.spawn(|| pulse.beat(&ended));
        while !stopped.load(Ordering::Relaxed) {
            pulse.take();
            let start = Instant::now();
            // What it answers does not matter: a password may be wanted.
            let answer = connection.call(&["PING"]);
            let is_silent = answer.as_ref().is_err_and(|error| {
                matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
            });
            if answer.is_err() && !is_silent {
                break; // The server has gone.
            }
            let stalled = start.elapsed().saturating_sub(pulse.take());
            if stalled > bound {
                longest = longest.max(Some(stalled));
            }
            if is_silent {
                break; // It has not answered within the client's own limit.
            }
            std::thread::sleep(PING_EVERY);
        }
        ended.store(true, Ordering::Relaxed);
    });
    longest
}
