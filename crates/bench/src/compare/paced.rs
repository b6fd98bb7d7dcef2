//! `compare http`: how long answers take at a pace that the server can keep, alone and while it is
//! scraped.
//!
//! The pace is a share of what the server answers when it is asked as fast as it can. Latency
//! counts from when a request was due. Phases with and without scrapes follow one another, several
//! times in a server's life, and each is compared with its neighbour: a machine that is shared
//! differs more from minute to minute than scrapes make it differ. What a scrape costs is said as
//! CPU time, too, which depends on the machine's hour least of all. The scraper runs where the load
//! does, not where the server does.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use crate::compare::Arena;
use crate::compare::http::HttpCell;
use crate::compare::table::summarise;
use crate::error::BenchError;
use crate::plan::{Limit, Load, Plan};
use crate::process::thread_ran_ns;
use crate::progress::Watch;
use crate::report::TestReport;
use crate::run::run as run_load;
use crate::target::Target;
use crate::template::Wire;

/// Of what the server can do.
const SHARE: f64 = 0.7;
/// How long the server is asked as fast as it can, and at the pace.
const PROBED: Duration = Duration::from_secs(3);
const PACED: Duration = Duration::from_secs(4);
/// How often the phases take turns in a server's life.
const TURNS: usize = 6;
const SCRAPED_EVERY: Duration = Duration::from_secs(1);
/// Requests that may be unanswered on one connection.
const IN_FLIGHT: u32 = 4;
/// The server's thread that writes reports.
const REPORTING: &str = "report";

/// What came of one way to ask one server.
#[derive(Debug, Default, Clone)]
pub(crate) struct Paced {
    requests_per_second: f64,
    turns: Vec<Turn>,
    /// CPU time of the server's thread that writes reports, a scrape.
    report_us: f64,
}

/// Two phases that were neighbours.
#[derive(Debug, Default, Clone, Copy)]
struct Turn {
    p99_us: f64,
    p99_scraped_us: f64,
}

impl Turn {
    fn ratio(&self) -> f64 {
        self.p99_scraped_us / self.p99_us
    }
}

/// Asks a server that is filled, by one protocol.
pub(crate) fn paced(
    arena: &Arena<'_>,
    cell: &HttpCell,
    (target, wire): (Target, Wire),
    (server, http_port): (u32, u16),
) -> Result<Paced, BenchError> {
    let plan = cell.plan(wire, target)?;
    let fastest = Plan { load: Load::Closed(Limit::Duration(PROBED)), ..plan.clone() };
    let outcome = run_load(&fastest, &mut Watch::new("fastest", arena.display, None))?;
    let requests_per_second = SHARE * outcome.requests_per_second();
    let load = Load::Open { requests_per_second, duration: PACED };
    let plan = Plan { load, pipeline: IN_FLIGHT, ..plan };
    let p99_us = || {
        let outcome = run_load(&plan, &mut Watch::new("pace", arena.display, None))?;
        Ok::<f64, BenchError>(TestReport::new(&plan, &outcome, None).latency.p99_us)
    };
    let (mut turns, mut scrapes) = (Vec::with_capacity(TURNS), Scrapes::default());
    for number in 0..TURNS {
        let mut turn = Turn::default();
        for is_scraped in [number % 2 == 1, number % 2 == 0] {
            match is_scraped {
                true => turn.p99_scraped_us = scrapes.during((server, http_port), p99_us)?,
                false => turn.p99_us = p99_us()?,
            }
        }
        turns.push(turn);
    }
    let report_us = scrapes.report_ns as f64 / 1e3 / scrapes.count.max(1) as f64;
    Ok(Paced { requests_per_second, turns, report_us })
}

/// How often metrics were fetched, and what that cost the server's thread that writes reports.
#[derive(Debug, Default)]
struct Scrapes {
    count: usize,
    report_ns: u64,
}

impl Scrapes {
    /// Fetches the metrics regularly while `work` goes on.
    fn during<R>(&mut self, (server, port): (u32, u16), work: impl FnOnce() -> R) -> R {
        let before_ns = thread_ran_ns(server, REPORTING);
        let (result, count) = std::thread::scope(|scope| {
            let (ended, end) = channel::<()>();
            let scraper = scope.spawn(move || {
                let mut count = 0;
                while end.recv_timeout(SCRAPED_EVERY) == Err(RecvTimeoutError::Timeout) {
                    // A scrape that fails is one the less.
                    count += usize::from(scrape(port).is_ok());
                }
                count
            });
            let result = work();
            drop(ended);
            (result, scraper.join().expect("it does not panic"))
        });
        self.count += count;
        self.report_ns += thread_ran_ns(server, REPORTING).saturating_sub(before_ns);
        result
    }
}

/// The metrics, with the head of the response.
pub(crate) fn scrape(port: u16) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    Ok(text)
}

/// Lines of a table: medians of all turns of all rounds. The ratio is the median of those of
/// neighbours.
pub(crate) fn table(ways: &[(&'static str, &[Paced])]) -> String {
    let share = SHARE * 100.0;
    let mut text = format!(
        "\n  {:18}{:>16}{:>16}{:>16}{:>12}{:>16}\n",
        format!("at {share:.0}% of the load"),
        "requests/s",
        "P99 µs",
        "P99 µs, scraped",
        "scraped",
        "report cpu µs"
    );
    for (way, rounds) in ways.iter().filter(|(_, rounds)| !rounds.is_empty()) {
        let turns = || rounds.iter().flat_map(|round| &round.turns);
        let alone = summarise(turns().map(|turn| turn.p99_us)).median;
        let scraped = summarise(turns().map(|turn| turn.p99_scraped_us)).median;
        let ratio = summarise(turns().map(Turn::ratio));
        let rate = summarise(rounds.iter().map(|round| round.requests_per_second)).median;
        let report_us = summarise(rounds.iter().map(|round| round.report_us)).median;
        let ratio = format!("{:.2}x ±{:2.0}%", ratio.median, ratio.spread * 100.0);
        text.push_str(&format!(
            "  {way:18}{rate:>16.0}{alone:>16.1}{scraped:>16.1}{ratio:>12}{report_us:>16.0}\n"
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ways_that_were_measured_have_a_line() {
        let turn = Turn { p99_us: 2.0, p99_scraped_us: 3.0 };
        let one = Paced { requests_per_second: 1.0, turns: vec![turn], report_us: 4.0 };
        let text = table(&[("resp", &[one]), ("http", &[])]);
        assert!(text.contains("1.50x") && !text.contains("http"), "{text}");
    }

    #[test]
    fn phases_are_compared_with_their_neighbours() {
        // A machine whose hour makes each turn ten times as slow as the one before.
        let turn = |p99_us: f64| Turn { p99_us, p99_scraped_us: p99_us * 1.1 };
        let turns = vec![turn(1.0), turn(10.0), turn(100.0)];
        let one = Paced { requests_per_second: 1.0, turns, report_us: 4.0 };
        let text = table(&[("resp", &[one])]);
        assert!(text.contains("1.10x ± 0%"), "{text}");
    }
}
