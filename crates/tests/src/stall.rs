//! Watches that a server answers everybody, whatever a test does to it: a second connection sends a
//! PING ten times a second, and one that takes longer than a second fails the test.
//!
//! A machine that is short of CPU is slow, too. So a thread beside it measures how late it is woken
//! itself, and a PING counts only as far as it is later than that. `BASALT_STALL_MS` sets another
//! bound. A stall is told with the requests that were sent last before it was one.
//!
//! `crates/net/tests/waiting` has this file, too: its servers run in the test's own process.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, ErrorKind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A PING may take this long.
const STALL_MAX: Duration = Duration::from_secs(1);
const PING_EVERY: Duration = Duration::from_millis(100);
/// How often the machine is asked how late it is.
const PULSE_EVERY: Duration = Duration::from_millis(10);
/// Requests that are kept, and how many of them a stall names.
const SENT_KEPT_MAX: usize = 256;
const SENT_NAMED_MAX: usize = 8;
/// Bytes of a request that are kept.
const SENT_BYTES_MAX: usize = 100;

/// What the clients of a server have sent last.
#[derive(Debug, Default)]
pub(crate) struct LastSent(Mutex<VecDeque<(Instant, String)>>);

impl LastSent {
    /// A client sends these bytes.
    pub(crate) fn note(&self, bytes: &[u8]) {
        let text = bytes[..bytes.len().min(SENT_BYTES_MAX)].escape_ascii().to_string();
        let mut sent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if sent.len() == SENT_KEPT_MAX {
            sent.pop_front();
        }
        sent.push_back((Instant::now(), text));
    }

    /// The last requests that were sent before a moment, the latest last.
    fn before(&self, moment: Instant) -> Vec<String> {
        let sent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = sent.iter().rev().filter(|(at, _)| *at <= moment).take(SENT_NAMED_MAX);
        let mut texts: Vec<String> = before.map(|(_, text)| text.clone()).collect();
        texts.reverse();
        texts
    }
}

/// A time in which a server has answered nobody.
pub(crate) struct Stall {
    lasted: Duration,
    sent: Vec<String>,
}

impl fmt::Debug for Stall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}, and the last requests before were:", self.lasted)?;
        self.sent.iter().try_for_each(|request| write!(f, "\n  {request}"))
    }
}

/// Watches a server until it is stopped, or the server has gone.
#[derive(Debug)]
pub(crate) struct Watchdog {
    stop: Arc<AtomicBool>,
    /// Ends with the longest stall, if there was one.
    thread: JoinHandle<Option<Stall>>,
}

impl Watchdog {
    /// Watches a server that `ping` sends a PING and waits for the answer, whatever it is: a
    /// password may be wanted. What is sent besides is noted in `sent`.
    pub(crate) fn start(
        ping: impl FnMut() -> io::Result<()> + Send + 'static,
        sent: &Arc<LastSent>,
    ) -> io::Result<Watchdog> {
        let stop = Arc::new(AtomicBool::new(false));
        let (stopped, sent) = (Arc::clone(&stop), Arc::clone(sent));
        let watch = move || watch(ping, &sent, &stopped);
        let thread = std::thread::Builder::new().name("watchdog".to_owned()).spawn(watch)?;
        Ok(Watchdog { stop, thread })
    }

    /// Watches no longer; the longest time for which the server has answered nobody, if that was
    /// longer than it may be.
    pub(crate) fn end(self) -> Option<Stall> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.thread().unpark();
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

fn watch(
    mut ping: impl FnMut() -> io::Result<()>,
    sent: &LastSent,
    stopped: &AtomicBool,
) -> Option<Stall> {
    let bound = std::env::var("BASALT_STALL_MS").ok().and_then(|ms| ms.parse().ok());
    let bound = bound.map_or(STALL_MAX, Duration::from_millis);
    let (pulse, ended) = (Pulse::default(), AtomicBool::new(false));
    let mut longest: Option<Stall> = None;
    std::thread::scope(|scope| {
        scope.spawn(|| pulse.beat(&ended));
        while !stopped.load(Ordering::Relaxed) {
            pulse.take();
            let start = Instant::now();
            let answer = ping();
            let is_silent = answer.as_ref().is_err_and(|error| {
                matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
            });
            if answer.is_err() && !is_silent {
                break; // The server has gone.
            }
            let lasted = start.elapsed().saturating_sub(pulse.take());
            let is_longest = longest.as_ref().is_none_or(|longest| lasted > longest.lasted);
            if lasted > bound && is_longest {
                longest = Some(Stall { lasted, sent: sent.before(start + bound) });
            }
            if is_silent {
                break; // It has not answered within the client's own limit.
            }
            std::thread::park_timeout(PING_EVERY);
        }
        ended.store(true, Ordering::Relaxed);
    });
    longest
}
