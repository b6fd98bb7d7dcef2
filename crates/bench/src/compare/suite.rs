//! The suites that are lists of cells: `cpu` and `always`.

use serde::Serialize;

use crate::compare::Arena;
use crate::compare::cell::{Cell, Sample};
use crate::compare::server::Contender;
use crate::compare::table::{Quantity, Summary, render, summarise};
use crate::error::BenchError;

/// One life of one side.
#[derive(Debug, Serialize)]
struct Round {
    round: usize,
    side: &'static str,
    /// In the order of the cells.
    samples: Vec<(&'static str, Sample)>,
}

const QUANTITIES: &[Quantity] = &[
    Quantity { name: "ops/s", decimals: 0 },
    Quantity { name: "server cpu µs/op", decimals: 3 },
    Quantity { name: "  its children µs/op", decimals: 3 },
    Quantity { name: "  put off µs/op", decimals: 3 },
    Quantity { name: "cpu in all µs/op", decimals: 3 },
    Quantity { name: "client cpu µs/op", decimals: 3 },
    Quantity { name: "server waited share", decimals: 2 },
    Quantity { name: "p50 ms", decimals: 3 },
    Quantity { name: "p99 ms", decimals: 3 },
    Quantity { name: "p99.9 ms", decimals: 3 },
    Quantity { name: "max ms", decimals: 3 },
];

/// Runs all rounds of `cells` and prints a table for each cell.
pub(super) fn run(arena: &Arena<'_>, cells: &[Cell]) -> Result<(), BenchError> {
    if cells.is_empty() {
        return Err(BenchError::Usage("no test has that name".into()));
    }
    let servers = arena.introduce()?;
    let rounds = arena.rounds(|round, contender| one_life(arena, cells, round, contender))?;
    for cell in cells {
        let sides: Vec<(&str, Vec<Summary>)> = arena
            .contenders
            .iter()
            .map(|contender| (contender.name, summaries(&rounds, contender.name, cell.name)))
            .collect();
        let table = render(QUANTITIES, &sides);
        arena.print(&format!("{}: {}\n{table}\n", cell.name, cell.title()))?;
    }
    report_errors(arena, &rounds)?;
    arena.write_json(servers, &rounds)
}

fn one_life(
    arena: &Arena<'_>,
    cells: &[Cell],
    round: usize,
    contender: &Contender,
) -> Result<Round, BenchError> {
    let life = arena.start(contender)?;
    let mut samples = Vec::with_capacity(cells.len());
    let mut filled_with = None;
    for cell in cells {
        if filled_with != Some(cell.value_bytes) {
            cell.fill(&life.server, arena.display)?;
            filled_with = Some(cell.value_bytes);
        }
        samples.push((cell.name, cell.measure(&life.server, arena.display)?));
    }
    life.server.stop()?;
    Ok(Round { round, side: contender.name, samples })
}

fn summaries(rounds: &[Round], side: &str, cell: &str) -> Vec<Summary> {
    let samples: Vec<&Sample> = rounds
        .iter()
        .filter(|round| round.side == side)
        .flat_map(|round| round.samples.iter().filter(|(name, _)| *name == cell))
        .map(|(_, sample)| sample)
        .collect();
    let of = |quantity: &dyn Fn(&Sample) -> f64| summarise(samples.iter().map(|s| quantity(s)));
    vec![
        of(&|sample| sample.test.requests_per_second),
        of(&|sample| sample.test.server_cpu_us_per_request.unwrap_or(0.0)),
        of(&|sample| sample.test.server_children_cpu_us_per_request.unwrap_or(0.0)),
        of(&|sample| sample.deferred_cpu_us_per_request),
        of(&Sample::cpu_us_per_request_in_all),
        of(&|sample| sample.test.client_cpu_us_per_request),
        of(&|sample| sample.test.server_cpu_wait_share.unwrap_or(0.0)),
        of(&|sample| sample.test.latency.p50_us / 1e3),
        of(&|sample| sample.test.latency.p99_us / 1e3),
        of(&|sample| sample.test.latency.p999_us / 1e3),
        of(&|sample| sample.test.latency.max_us / 1e3),
    ]
}

/// Numbers from error replies are worth nothing, so they are not passed over in silence.
fn report_errors(arena: &Arena<'_>, rounds: &[Round]) -> Result<(), BenchError> {
    for round in rounds {
        for (cell, sample) in &round.samples {
            if let Some(error) = &sample.test.first_error {
                let (side, count) = (round.side, sample.test.errors);
                arena.print(&format!("{side} {cell}: {count} error replies, first: {error}\n"))?;
            }
        }
    }
    Ok(())
}
