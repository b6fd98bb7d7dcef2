//! Two clients that mind their own business, and how long their requests take.

use crate::client::Connection;
use crate::http::HttpClient;
use crate::server::Server;
use basalt_resp::Value;
use std::time::{Duration, Instant};

/// A request is due each time that this has passed.
const DUE_EVERY: Duration = Duration::from_millis(5);

/// The latencies of a phase: of PING, of GET.
pub(super) type Latencies = [Vec<Duration>; 2];

/// Asks on a schedule and notes how long that takes.
pub(super) struct Meter {
    redis: Connection,
    http: HttpClient,
    pub(super) resident_bytes_max: u64,
    pub(super) failures: Vec<String>,
}

impl Meter {
    pub(super) fn new(server: &Server) -> Meter {
        let address = server.http_address().expect("it was told a port");
        Meter {
            redis: server.connect(),
            http: HttpClient::open(address).expect("it listens"),
            resident_bytes_max: 0,
            failures: Vec::new(),
        }
    }

    pub(super) fn watch(&mut self, server: &Server, duration: Duration) -> Latencies {
        let Meter { redis, http, resident_bytes_max, .. } = self;
        let ping = || match redis.run("PING") {
            Ok(Value::Simple(text)) if text == b"PONG" => {
                *resident_bytes_max = server.resident_bytes().max(*resident_bytes_max);
                Ok(())
            }
            other => Err(format!("PING answered {other:?}")),
        };
        let get = || {
            let asked = http.request("GET /v1/strings/key", "", b"");
            match asked.and_then(|()| http.response()) {
                Ok(response) if response.status == 200 => Ok(()),
                other => Err(format!("GET answered {other:?}")),
            }
        };
        let (pings, gets) = std::thread::scope(|scope| {
            let gets = scope.spawn(move || measure(get, duration));
            let pings = measure(ping, duration);
            (pings, gets.join().unwrap_or_else(|_| (Vec::new(), Err("it has panicked".to_owned()))))
        });
        self.failures.extend([pings.1.err(), gets.1.err()].into_iter().flatten());
        [pings.0, gets.0]
    }
}

/// How long requests take, from when they are sent. One that comes due while the one before is not
/// answered has waited since then: a stall of a second counts as two hundred late answers.
fn measure(
    mut ask: impl FnMut() -> Result<(), String>,
    duration: Duration,
) -> (Vec<Duration>, Result<(), String>) {
    let (mut latencies, started) = (Vec::new(), Instant::now());
    let mut due = started;
    while due - started < duration {
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        let sent = Instant::now();
        if let Err(what) = ask() {
            return (latencies, Err(what));
        }
        let answered = Instant::now();
        latencies.push(answered - sent);
        due += DUE_EVERY;
        // That this thread was woken late is not the server's.
        due = due.max(sent);
        while due < answered {
            latencies.push(answered - due);
            due += DUE_EVERY;
        }
    }
    (latencies, Ok(()))
}

/// The median of the phases' 99th percentiles of one kind.
pub(super) fn p99(phases: &mut [Latencies], kind: usize) -> Duration {
    let of_phase = |latencies: &mut Vec<Duration>| {
        latencies.sort_unstable();
        latencies.get(latencies.len() * 99 / 100).copied().unwrap_or_default()
    };
    let mut all: Vec<Duration> =
        phases.iter_mut().map(|phase| of_phase(&mut phase[kind])).collect();
    all.sort_unstable();
    all.get(all.len() / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stall_is_as_many_late_answers_as_were_due() {
        let mut asked = 0;
        let stall = || {
            asked += 1;
            if asked == 3 {
                std::thread::sleep(Duration::from_millis(100));
            }
            Ok(())
        };
        let (latencies, end) = measure(stall, Duration::from_millis(200));
        let late = latencies.iter().filter(|latency| **latency > Duration::from_millis(40)).count();
        assert!(late >= 10, "{late} of {latencies:?}");
        assert_eq!(end, Ok(()));
    }

    #[test]
    fn the_median_of_the_phases_counts() {
        let phase = |millis: u64| [vec![Duration::from_millis(millis); 100], Vec::new()];
        let mut phases = [phase(1), phase(900), phase(2)];
        assert_eq!(p99(&mut phases, 0), Duration::from_millis(2));
        assert_eq!(p99(&mut phases, 1), Duration::ZERO);
    }
}
