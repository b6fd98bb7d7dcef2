//! `compare http`: how long answers take at a pace that the server can keep, alone and while it is
//! scraped, and what another load generator has the server use.
//!
//! The pace is a share of what the server answers when it is asked as fast as it can. Latency
//! counts from when a request was due.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use crate::compare::Arena;
use crate::compare::http::HttpCell;
use crate::compare::table::summarise;
use crate::error::BenchError;
use crate::plan::{Limit, Load, Plan};
use crate::process::CpuTime;
use crate::progress::Watch;
use crate::report::TestReport;
use crate::run::run as run_load;
use crate::target::Target;
use crate::template::Wire;

/// Of what the server can do.
const SHARE: f64 = 0.7;
/// How long the server is asked as fast as it can, and at the pace.
const PROBED: Duration = Duration::from_secs(3);
const PACED: Duration = Duration::from_secs(8);
const SCRAPED_EVERY: Duration = Duration::from_secs(1);
/// Requests that may be unanswered on one connection.
const IN_FLIGHT: u32 = 4;

/// What came of one way to ask one server.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Paced {
    requests_per_second: f64,
    p99_us: f64,
    p99_scraped_us: f64,
}

/// Asks a server that is filled, by one protocol.
pub(crate) fn paced(
    arena: &Arena<'_>,
    cell: &HttpCell,
    (target, wire): (Target, Wire),
    http_port: u16,
) -> Result<Paced, BenchError> {
    let plan = cell.plan(wire, target)?;
    let load = |load| {
        let plan = Plan { load, pipeline: IN_FLIGHT, ..plan.clone() };
        let outcome = run_load(&plan, &mut Watch::new("pace", arena.display, None))?;
        Ok::<TestReport, BenchError>(TestReport::new(&plan, &outcome, None))
    };
    let fastest = Plan { load: Load::Closed(Limit::Duration(PROBED)), ..plan.clone() };
    let outcome = run_load(&fastest, &mut Watch::new("fastest", arena.display, None))?;
    let fastest = TestReport::new(&fastest, &outcome, None).requests_per_second;
    let pace = Load::Open { requests_per_second: fastest * SHARE, duration: PACED };
    let alone = load(pace)?;
    let scraped = scraping(http_port, || load(pace))?;
    Ok(Paced {
        requests_per_second: fastest * SHARE,
        p99_us: alone.latency.p99_us,
        p99_scraped_us: scraped.latency.p99_us,
    })
}

/// Fetches the metrics regularly while `work` goes on.
fn scraping<R>(port: u16, work: impl FnOnce() -> R) -> R {
    std::thread::scope(|scope| {
        let (ended, end) = channel::<()>();
        scope.spawn(move || {
            while end.recv_timeout(SCRAPED_EVERY) == Err(RecvTimeoutError::Timeout) {
                // A scrape that fails is one the less.
                let _ = scrape(port);
            }
        });
        let result = work();
        drop(ended);
        result
    })
}

fn scrape(port: u16) -> std::io::Result<usize> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    stream.read_to_end(&mut Vec::new())
}

/// Lines of a table: medians of the rounds.
pub(crate) fn table(ways: &[(&'static str, &[Paced])]) -> String {
    let share = SHARE * 100.0;
    let mut text = format!(
        "\n  {:18}{:>16}{:>16}{:>16}{:>9}\n",
        format!("at {share:.0}% of the load"),
        "requests/s",
        "P99 µs",
        "P99 µs, scraped",
        "scraped"
    );
    for (way, rounds) in ways.iter().filter(|(_, rounds)| !rounds.is_empty()) {
        let median = |of: fn(&Paced) -> f64| summarise(rounds.iter().map(of)).median;
        let (alone, scraped) = (median(|one| one.p99_us), median(|one| one.p99_scraped_us));
        let rate = median(|one| one.requests_per_second);
        let ratio = format!("{:.2}x", scraped / alone);
        text.push_str(&format!("  {way:18}{rate:>16.0}{alone:>16.1}{scraped:>16.1}{ratio:>9}\n"));
    }
    text
}

/// Server CPU a request that `wrk` makes of one key, in microseconds; `None` if it cannot be
/// started or says nothing. It runs where this thread does.
pub(crate) fn wrk(key: &str, connections: usize, (server, port): (u32, u16)) -> Option<f64> {
    let url = format!("http://127.0.0.1:{port}/v1/strings/{key}");
    let (count, time) = (connections.to_string(), format!("{}s", PACED.as_secs()));
    let before = CpuTime::of(server);
    let arguments = ["-t1", "-c", &count, "-d", &time, &url];
    let output = Command::new("wrk").args(arguments).stderr(Stdio::null()).output().ok()?;
    let used = CpuTime::of(server).since(before).own_ns;
    let text = String::from_utf8_lossy(&output.stdout);
    let requests = requests_of(&text)?;
    Some(used as f64 / 1e3 / requests as f64)
}

/// `  123456 requests in 8.00s, 12.34MB read`
fn requests_of(text: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.contains(" requests in "))?;
    line.split_whitespace().next()?.parse().ok().filter(|&count| count > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_requests_of_wrk_are_found() {
        let text = "Running 8s test\n  1 threads and 50 connections\n  815340 requests in 8.00s, 1.01GB read\n";
        assert_eq!(requests_of(text), Some(815_340));
        assert_eq!(requests_of("unable to connect"), None);
    }

    #[test]
    fn only_ways_that_were_measured_have_a_line() {
        let one = Paced { requests_per_second: 1.0, p99_us: 2.0, p99_scraped_us: 3.0 };
        let text = table(&[("resp", &[one]), ("http", &[])]);
        assert!(text.contains("1.50x") && !text.contains("http"), "{text}");
    }
}
