//! `compare memory-types`: what an element of each collection costs in memory.
//!
//! One life of a server for each collection, so that what one leaves behind in the allocator does
//! not serve the next.

use serde::Serialize;

use crate::compare::Arena;
use crate::compare::memory::used_memory;
use crate::compare::scenario::{Manner, Sending};
use crate::compare::server::Contender;
use crate::compare::table::summarise;
use crate::error::BenchError;
use crate::process::Memory;

/// Few connections, so that their buffers do not count.
const CONNECTIONS: usize = 8;
/// Fields of a small hash, each with a value of [`FIELD_VALUE_BYTES`].
const FIELDS: usize = 10;
const FIELD_VALUE_BYTES: usize = 8;
const LIST_ELEMENT_BYTES: usize = 16;

/// One data set.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Holding {
    pub(crate) name: &'static str,
    /// What the bytes are divided by.
    unit: &'static str,
    elements: u64,
    fill: Sending,
}

/// The data sets; `scale` 1 is a million hashes, and 10, 5 and 10 million elements of the others.
pub(crate) fn holdings(scale: f64) -> Vec<Holding> {
    let count = |millions: f64| ((millions * 1e6 * scale) as u64).max(1);
    let holding = |name, unit, elements, value_bytes, command: String| Holding {
        name,
        unit,
        elements,
        fill: Sending { command, keyspace: elements, value_bytes, requests: elements },
    };
    let mut hash = "HSET __key__".to_owned();
    for field in 0..FIELDS {
        hash.push_str(&format!(" field{field} __data__"));
    }
    let one = |command: &str| command.to_owned();
    vec![
        holding("small hashes", "hash", count(1.0), FIELD_VALUE_BYTES, hash),
        // A digit other than zero in front makes the 12 digits a canonical number.
        holding("set of integers", "member", count(10.0), 1, one("SADD myset 1__rand_int__")),
        holding(
            "sorted set",
            "member",
            count(5.0),
            1,
            one("ZADD myzset __rand:1000000__ element:__rand_int__"),
        ),
        holding("list", "element", count(10.0), LIST_ELEMENT_BYTES, one("RPUSH mylist __data__")),
    ]
}

/// One life of one side with one data set.
#[derive(Debug, Serialize)]
struct Sample {
    name: &'static str,
    elements: u64,
    at_start: Memory,
    settled: Memory,
    /// What the server itself says (`used_memory`), before and after.
    used_at_start_bytes: u64,
    used_bytes: u64,
}

/// One round of one side.
#[derive(Debug, Serialize)]
struct Round {
    round: usize,
    side: &'static str,
    samples: Vec<Sample>,
}

impl Sample {
    fn resident_per_element(&self) -> f64 {
        let bytes = self.settled.resident_bytes.saturating_sub(self.at_start.resident_bytes);
        bytes as f64 / self.elements as f64
    }

    fn used_per_element(&self) -> f64 {
        self.used_bytes.saturating_sub(self.used_at_start_bytes) as f64 / self.elements as f64
    }
}

pub(super) fn run(arena: &Arena<'_>, holdings: &[Holding]) -> Result<(), BenchError> {
    if holdings.is_empty() {
        return Err(BenchError::Usage("no data set has that name".into()));
    }
    let servers = arena.introduce()?;
    let rounds = arena.rounds(|round, contender| {
        let samples = holdings.iter().map(|holding| one_life(arena, holding, contender));
        Ok(Round { round, side: contender.name, samples: samples.collect::<Result<_, _>>()? })
    })?;
    arena.print(&table(arena, holdings, &rounds))?;
    arena.write_json(servers, &rounds)
}

fn one_life(
    arena: &Arena<'_>,
    holding: &Holding,
    contender: &Contender,
) -> Result<Sample, BenchError> {
    let life = arena.start(contender)?;
    let server = &life.server;
    server.wait_quiet();
    let (at_start, used_at_start_bytes) = (Memory::of(server.pid()), used_memory(server)?);
    let manner = Manner::Fill { connections: CONNECTIONS };
    holding.fill.run(holding.name, server, manner, arena.display)?;
    server.wait_settled();
    let (settled, used_bytes) = (Memory::of(server.pid()), used_memory(server)?);
    life.server.stop()?;
    let (name, elements) = (holding.name, holding.elements);
    Ok(Sample { name, elements, at_start, settled, used_at_start_bytes, used_bytes })
}

/// Bytes of one kind for each element.
type Quantity = fn(&Sample) -> f64;

/// Two lines for each data set; for two sides the ratios, with average and maximum.
fn table(arena: &Arena<'_>, holdings: &[Holding], rounds: &[Round]) -> String {
    let mut text = format!("  {:34}", "bytes above an empty server");
    for contender in &arena.contenders {
        text.push_str(&format!(" {:>12}", contender.name));
    }
    text.push('\n');
    let quantities: [(&str, Quantity); 2] =
        [("resident", Sample::resident_per_element), ("used_memory", Sample::used_per_element)];
    for (quantity, of) in quantities {
        let mut ratios = Vec::new();
        for holding in holdings {
            let title = format!("{} / {}, {quantity}", holding.name, holding.unit);
            text.push_str(&format!("  {title:34}"));
            let sides: Vec<f64> = arena
                .contenders
                .iter()
                .map(|contender| per_element(rounds, contender.name, holding.name, of))
                .collect();
            sides.iter().for_each(|bytes| text.push_str(&format!(" {bytes:>12.1}")));
            if let [first, second] = sides[..] {
                text.push_str(&format!(" {:>8.2}x", first / second));
                ratios.push(first / second);
            }
            text.push('\n');
        }
        if !ratios.is_empty() {
            let average = ratios.iter().sum::<f64>() / ratios.len() as f64;
            let (middle, most) = (
                summarise(ratios.iter().copied()).median,
                ratios.iter().copied().fold(0.0, f64::max),
            );
            text.push_str(&format!(
                "  {quantity}: average {average:.2}x, median {middle:.2}x, maximum {most:.2}x\n"
            ));
        }
    }
    text
}

fn per_element(rounds: &[Round], side: &str, holding: &str, of: Quantity) -> f64 {
    let of_side = rounds.iter().filter(|round| round.side == side);
    let samples = of_side.flat_map(|round| round.samples.iter().filter(|s| s.name == holding));
    summarise(samples.map(of)).median
}
