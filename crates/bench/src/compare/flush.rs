//! `compare flush`: how long FLUSHALL takes with little to flush, again and again, as test suites
//! call it.

use std::time::{Duration, Instant};

use serde::Serialize;

use crate::compare::Arena;
use crate::compare::server::Contender;
use crate::compare::table::{Quantity, Summary, render, summarise};
use crate::error::BenchError;
use crate::target::Client;

/// Small strings that are set before each flush.
const WRITES: usize = 10;

/// One life of one side.
#[derive(Debug, Serialize)]
struct Round {
    round: usize,
    side: &'static str,
    flushes: usize,
    p50_ms: f64,
    p99_ms: f64,
    longest_ms: f64,
}

const QUANTITIES: &[Quantity] = &[
    Quantity { name: "FLUSHALL P50 ms", decimals: 3 },
    Quantity { name: "FLUSHALL P99 ms", decimals: 3 },
    Quantity { name: "longest ms", decimals: 3 },
];

pub(super) fn run(arena: &Arena<'_>, flushes: usize) -> Result<(), BenchError> {
    if flushes == 0 {
        return Err(BenchError::Usage(
            "there must be something to measure; raise --flushes".into(),
        ));
    }
    let servers = arena.introduce()?;
    let rounds = arena.rounds(|round, contender| one_life(arena, flushes, round, contender))?;
    let sides: Vec<(&str, Vec<Summary>)> = arena
        .contenders
        .iter()
        .map(|contender| (contender.name, summaries(&rounds, contender.name)))
        .collect();
    let table = render(QUANTITIES, &sides);
    arena.print(&format!("{flushes} times {WRITES} SETs of one client and FLUSHALL\n{table}"))?;
    arena.write_json(servers, &rounds)
}

fn one_life(
    arena: &Arena<'_>,
    flushes: usize,
    round: usize,
    contender: &Contender,
) -> Result<Round, BenchError> {
    let life = arena.start(contender)?;
    let mut client = Client::connect(&life.server.target())?;
    let mut times = Vec::with_capacity(flushes);
    for flush in 0..flushes {
        for write in 0..WRITES {
            client.text(&["SET", &format!("key:{flush}:{write}"), "value"])?;
        }
        let start = Instant::now();
        client.text(&["FLUSHALL"])?;
        times.push(start.elapsed());
    }
    life.server.stop()?;
    times.sort();
    Ok(Round {
        round,
        side: contender.name,
        flushes,
        p50_ms: at_share(&times, 50),
        p99_ms: at_share(&times, 99),
        longest_ms: at_share(&times, 100),
    })
}

/// The time in milliseconds below which this percentage of `times` is. `times` ascend.
fn at_share(times: &[Duration], percent: usize) -> f64 {
    let rank = (times.len() * percent).div_ceil(100).saturating_sub(1);
    times.get(rank).map_or(0.0, |time| time.as_secs_f64() * 1e3)
}

fn summaries(rounds: &[Round], side: &str) -> Vec<Summary> {
    let of = |quantity: &dyn Fn(&Round) -> f64| {
        summarise(rounds.iter().filter(|round| round.side == side).map(quantity))
    };
    vec![of(&|round| round.p50_ms), of(&|round| round.p99_ms), of(&|round| round.longest_ms)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_a_hundred_times() {
        let times: Vec<Duration> = (1..=100).map(Duration::from_millis).collect();
        let shares = [50, 99, 100].map(|percent| at_share(&times, percent));
        assert_eq!(shares, [50.0, 99.0, 100.0]);
        assert_eq!(at_share(&times[..1], 50), 1.0);
    }
}
