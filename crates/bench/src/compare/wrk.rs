//! `compare http`: what the requests of `wrk` have the server use, beside those of our own load.
//!
//! What a request costs depends on how many of them a turn of the server's event loop finds: each
//! turn has a poll, and often a sleep and a wake-up. `wrk` uses more CPU for a request than our
//! load, so with as many connections the server waits for it more often, and its turns are smaller.
//! That is no property of its requests. So our load is measured with all connections and with few
//! of them, and `wrk` is compared with what our requests cost at as many turns a request as its
//! own: a point on the line through the two. All three take turns in a server's life.

use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::compare::Arena;
use crate::compare::paced::scrape;
use crate::compare::table::{Summary, summarise};
use crate::error::BenchError;
use crate::plan::{Limit, Load, Plan};
use crate::process::CpuTime;
use crate::progress::Watch;
use crate::run::run as run_load;

/// How long each load lasts; whole seconds, as `wrk` takes them.
const LASTING: Duration = Duration::from_secs(2);
const TURNS: usize = 5;
/// So few that the server's turns are smaller than `wrk` makes them.
const FEW_CONNECTIONS: usize = 4;
/// How long a report of the server is given out before it writes another one.
const REPORT_VALID: Duration = Duration::from_millis(1050);

/// What a request took.
#[derive(Debug, Default, Clone, Copy)]
struct Spent {
    server_cpu_us: f64,
    /// Turns of the server's event loop.
    loop_turns: f64,
}

/// Three loads that followed one another.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Turn {
    own: Spent,
    own_by_few: Spent,
    wrk: Spent,
}

/// Measures a server by HTTP whose load is that of `plan`; `path` is the one key of it. Nothing if
/// `wrk` is not there.
pub(crate) fn compare(
    arena: &Arena<'_>,
    plan: &Plan,
    path: &str,
    server: (u32, u16),
) -> Result<Vec<Turn>, BenchError> {
    let own = |connections| {
        let load = Load::Closed(Limit::Duration(LASTING));
        let plan = Plan { load, connections, ..plan.clone() };
        spent(server, || {
            let outcome = run_load(&plan, &mut Watch::new("own load", arena.display, None))?;
            Ok(Some(outcome.stats.completed))
        })
    };
    let mut turns = Vec::with_capacity(TURNS);
    for _ in 0..TURNS {
        let wrk = spent(server, || Ok(run_wrk(path, plan.connections, server.1)))?;
        let Some(wrk) = wrk else { break };
        let (own, own_by_few) = (own(plan.connections)?, own(FEW_CONNECTIONS)?);
        turns.extend(own.zip(own_by_few).map(|(own, own_by_few)| Turn { own, own_by_few, wrk }));
    }
    Ok(turns)
}

/// What the server uses for each of the requests that `load` says it has made; `None` if there were
/// none, or the server does not say how often its loops have turned.
fn spent(
    (server, port): (u32, u16),
    load: impl FnOnce() -> Result<Option<u64>, BenchError>,
) -> Result<Option<Spent>, BenchError> {
    let loop_turns = || {
        sleep(REPORT_VALID);
        loop_turns_of(&scrape(port).unwrap_or_default())
    };
    let (turns_before, cpu_before) = (loop_turns(), CpuTime::of(server));
    let requests = load()?;
    let cpu_ns = CpuTime::of(server).since(cpu_before).own_ns;
    let turns = loop_turns().zip(turns_before).map(|(after, before)| after - before);
    let per_request = |requests: u64, turns| Spent {
        server_cpu_us: cpu_ns as f64 / 1e3 / requests as f64,
        loop_turns: turns / requests as f64,
    };
    let requests = requests.filter(|&requests| requests > 0);
    Ok(requests.zip(turns).map(|(requests, turns)| per_request(requests, turns)))
}

/// Of all network threads.
fn loop_turns_of(metrics: &str) -> Option<f64> {
    let of_threads = metrics.lines().filter(|line| line.starts_with("basalt_loop_turns_total{"));
    of_threads.map(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok()).sum()
}

/// How many requests it has made; `None` if it cannot be started or says nothing. It runs where
/// this thread does.
fn run_wrk(path: &str, connections: usize, port: u16) -> Option<u64> {
    let url = format!("http://127.0.0.1:{port}{path}");
    let (count, time) = (connections.to_string(), format!("{}s", LASTING.as_secs()));
    let arguments = ["-t1", "-c", &count, "-d", &time, &url];
    let output = Command::new("wrk").args(arguments).stderr(Stdio::null()).output().ok()?;
    requests_of(&String::from_utf8_lossy(&output.stdout))
}

/// `  123456 requests in 8.00s, 12.34MB read`
fn requests_of(text: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.contains(" requests in "))?;
    line.split_whitespace().next()?.parse().ok()
}

/// A line of medians.
pub(crate) fn line(turns: &[Turn]) -> String {
    if turns.is_empty() {
        return "\n  wrk is not there: nothing is compared with its load\n".to_owned();
    }
    let said = |of: fn(&Turn) -> Spent| {
        let cpu_us = summarise(turns.iter().map(|turn| of(turn).server_cpu_us)).median;
        let loop_turns = summarise(turns.iter().map(|turn| of(turn).loop_turns)).median;
        format!("{cpu_us:.2} µs in {loop_turns:.2} turns of its loop")
    };
    let ratio = ratio(turns);
    let (median, spread) = (ratio.median, ratio.spread * 100.0);
    [
        format!("\n  server cpu of a request by wrk {}\n", said(|turn| turn.wrk)),
        format!("  by our load {}\n", said(|turn| turn.own)),
        format!("  by few of its connections {}\n", said(|turn| turn.own_by_few)),
        format!("  by wrk {median:.2}x ±{spread:2.0}% of ours in as many turns\n"),
    ]
    .concat()
}

/// Of what `wrk` has the server use, to what our load has it use in as many turns of its loop. How
/// much a turn costs is a median of all, since two loads alone may differ by chance.
fn ratio(turns: &[Turn]) -> Summary {
    let slope = |turn: &Turn| {
        let more = turn.own_by_few.server_cpu_us - turn.own.server_cpu_us;
        more / (turn.own_by_few.loop_turns - turn.own.loop_turns)
    };
    let turn_us = summarise(turns.iter().map(slope).filter(|slope| slope.is_finite())).median;
    summarise(turns.iter().map(|turn| {
        let more_turns = turn.wrk.loop_turns - turn.own.loop_turns;
        turn.wrk.server_cpu_us / (turn.own.server_cpu_us + turn_us * more_turns)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_requests_of_wrk_are_found() {
        let text = "Running 8s test\n  1 threads\n  815340 requests in 8.00s, 1.01GB read\n";
        assert_eq!(requests_of(text), Some(815_340));
        assert_eq!(requests_of("unable to connect"), None);
    }

    #[test]
    fn the_turns_of_all_threads_are_summed_up() {
        let text = "# TYPE basalt_loop_turns_total counter\nbasalt_loop_turns_total{thread=\"net-0\"} 3\n\
                    basalt_loop_turns_total{thread=\"net-1\"} 4\nbasalt_keys 5\n";
        assert_eq!(loop_turns_of(text), Some(7.0));
    }

    #[test]
    fn requests_are_compared_at_as_many_turns() {
        // Each request takes 5 µs and each turn 8 µs.
        let spent = |loop_turns: f64| Spent { server_cpu_us: 5.0 + 8.0 * loop_turns, loop_turns };
        let turn = Turn { own: spent(0.05), own_by_few: spent(0.5), wrk: spent(0.2) };
        assert!((ratio(&[turn]).median - 1.0).abs() < 1e-9);
        // Requests that cost a tenth more.
        let wrk = Spent { server_cpu_us: turn.wrk.server_cpu_us * 1.1, ..turn.wrk };
        assert!((ratio(&[Turn { wrk, ..turn }]).median - 1.1).abs() < 1e-9);
        assert!(line(&[turn]).contains("1.00x"), "{}", line(&[turn]));
    }
}
