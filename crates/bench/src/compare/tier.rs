//! `compare tier`: data that is larger than memory. Basalt alone; what is measured is said beside
//! each figure.

mod budget;
mod cold_get;
mod hot;
mod known;
mod probe;

use serde::Serialize;

use crate::compare::Arena;
use crate::compare::server::{Contender, Server};
use crate::error::BenchError;

/// What can be measured, in this order.
pub(super) const CHECKS: [&str; 3] = ["budget", "cold-get", "hot"];

/// How much of it.
#[derive(Debug, Clone)]
pub(super) struct Amount {
    /// Gigabytes (10^9) of keys and values of `cold-get`, with a tenth of that as `maxmemory`.
    pub(super) gb: f64,
    /// Bytes of its values.
    pub(super) value_bytes: Vec<usize>,
    /// Connections of its clients.
    pub(super) connections: Vec<usize>,
}

/// A figure of a round.
#[derive(Debug, Serialize)]
pub(super) struct Figure {
    round: usize,
    check: &'static str,
    /// What was measured, such as `get, 50 connections, values of 1024 bytes`.
    what: String,
    name: &'static str,
    value: f64,
}

/// Where figures go: to the screen as they come, and to the file at the end.
struct Figures<'a, 'b> {
    arena: &'a Arena<'b>,
    round: usize,
    check: &'static str,
    all: Vec<Figure>,
}

impl Figures<'_, '_> {
    fn say(&mut self, what: &str, figures: &[(&'static str, f64)]) -> Result<(), BenchError> {
        let texts: Vec<String> =
            figures.iter().map(|(name, value)| format!("{name} {}", rounded(*value))).collect();
        self.arena.print(&format!("  {:9} {what}: {}\n", self.check, texts.join(", ")))?;
        let Figures { round, check, .. } = *self;
        self.all.extend(figures.iter().map(|&(name, value)| Figure {
            round,
            check,
            what: what.to_owned(),
            name,
            value,
        }));
        Ok(())
    }
}

fn rounded(value: f64) -> String {
    let decimals = match value.abs() {
        value if value >= 100.0 || value == value.trunc() => 0,
        value if value >= 1.0 => 2,
        _ => 4,
    };
    format!("{value:.decimals$}")
}

pub(super) fn run(
    arena: &Arena<'_>,
    checks: &[&'static str],
    amount: &Amount,
) -> Result<(), BenchError> {
    let servers = arena.introduce()?;
    let mut figures = Figures { arena, round: 0, check: "", all: Vec::new() };
    for round in 0..arena.common.runs {
        for &check in checks {
            (figures.round, figures.check) = (round, check);
            match check {
                "budget" => budget::run(arena, &mut figures)?,
                "cold-get" => cold_get::run(arena, amount, &mut figures)?,
                _ => hot::run(arena, &mut figures)?,
            }
        }
    }
    let all = std::mem::take(&mut figures.all);
    arena.write_json(servers, &all)
}

/// The first side with a memory budget, and with more options.
fn with_budget(arena: &Arena<'_>, maxmemory: &str, options: &[&str]) -> Contender {
    let mut contender = arena.contenders[0].clone();
    contender.extra.extend(["--maxmemory", maxmemory, "--http-port", "0"].map(str::to_owned));
    contender.extra.extend(options.iter().map(|&option| option.to_owned()));
    contender
}

/// Has everything written to disk, so that it can leave memory.
fn save(server: &Server) -> Result<(), BenchError> {
    let mut client = crate::target::Client::connect(&server.target())?;
    client.text(&["SAVE"]).map(drop)
}
