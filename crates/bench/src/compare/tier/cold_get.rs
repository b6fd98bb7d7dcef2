//! GET of keys by chance, of ten times as many as memory holds: what reads a miss takes, beside
//! what the disk can do.

use super::Amount;
use super::figures::{Bound, Figures, ratio};
use super::filled::{self, CONNECTIONS, Filled};
use super::measured::{MISSES, Measured, measure};
use crate::compare::Arena;
use crate::disk::Ceiling;
use crate::error::BenchError;
use crate::plan::Plan;
use crate::template::Vocabulary;

/// Depths of the disk's own reads, beside the numbers of connections.
const DEPTHS: [usize; 4] = [1, 8, 32, 64];
/// Values from this size on are large, and have stricter bounds.
const LARGE_BYTES_MIN: usize = 512;
/// A load that leaves no more than this of the cores is bound by them and not by the disk.
const CPU_BOUND_SHARE: f64 = 0.9;
/// Reads of a key that does not exist.
const ABSENT_READS: Bound = Bound::AtMost(0.01);

pub(super) fn run(
    arena: &Arena<'_>,
    amount: &Amount,
    figures: &mut Figures<'_, '_>,
) -> Result<(), BenchError> {
    for &value_bytes in &amount.value_bytes {
        let filled = filled::fill(arena, amount, value_bytes)?;
        let ceilings = filled.ceilings(&depths(&amount.connections), figures)?;
        for &connections in &amount.connections {
            // Not the keys that the clients before have brought into memory.
            let seed = connections as u64;
            let plan = Plan { connections, seed, ..filled.test("get", &filled.words)? };
            let measured = measure(arena, filled.server(), &plan, amount.duration)?;
            let what = format!("get, {value_bytes} bytes, {connections} connections");
            say(&what, &measured, figures)?;
            if connections == CONNECTIONS {
                let bounds = Bounds::of(value_bytes);
                hold(arena, &what, (&measured, &ceilings), bounds, figures)?;
            }
        }
        absent(arena, amount, &filled, figures)?;
        filled.finish(figures)?;
    }
    Ok(())
}

/// What uniform reads by [`CONNECTIONS`] clients are held to.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Bounds {
    reads_a_miss: Bound,
    share_of_disk: Bound,
    /// The share need not be reached if there is no CPU time left.
    may_lack_cpu: bool,
}

impl Bounds {
    fn of(value_bytes: usize) -> Bounds {
        if value_bytes >= LARGE_BYTES_MIN {
            return Bounds {
                reads_a_miss: Bound::AtMost(1.01),
                share_of_disk: Bound::AtLeast(0.6),
                may_lack_cpu: false,
            };
        }
        Bounds {
            reads_a_miss: Bound::AtMost(1.05),
            share_of_disk: Bound::AtLeast(0.4),
            may_lack_cpu: true,
        }
    }
}

/// The depths to measure the disk at: ours, and one for each number of connections.
fn depths(connections: &[usize]) -> Vec<usize> {
    let mut depths: Vec<usize> = DEPTHS.iter().chain(connections).copied().collect();
    depths.sort_unstable();
    depths.dedup();
    depths
}

fn say(what: &str, measured: &Measured, figures: &mut Figures<'_, '_>) -> Result<(), BenchError> {
    let reads = &measured.reads;
    let mut all = measured.load();
    all.extend([
        ("misses a GET", 1.0 - reads.hit_ratio(measured.report.requests as f64)),
        ("blocks read a miss", reads.blocks_a_miss()),
        ("disk bytes a miss", ratio(reads.disk_bytes, reads.keys)),
        ("server CPU µs a miss", measured.cpu_us_a_miss()),
    ]);
    figures.say(what, &all)?;
    figures.hold_answers(what, &measured.report)
}

fn hold(
    arena: &Arena<'_>,
    what: &str,
    (measured, ceilings): (&Measured, &[Ceiling]),
    bounds: Bounds,
    figures: &mut Figures<'_, '_>,
) -> Result<(), BenchError> {
    let misses = 1.0 - measured.reads.hit_ratio(measured.report.requests as f64);
    figures.hold(what, ("misses a GET", misses), MISSES)?;
    let reads = ("blocks read a miss", measured.reads.blocks_a_miss());
    figures.hold(what, reads, bounds.reads_a_miss)?;
    let ceiling = ceilings.iter().find(|ceiling| ceiling.depth == CONNECTIONS);
    let most = ceiling.map_or(0.0, |ceiling| ceiling.reads_per_second);
    let share = ("misses/s, of the disk's reads/s", ratio(measured.misses_per_second(), most));
    let cpu = ("CPU time, of all cores", measured.cpu_share(arena.machine.cores));
    if bounds.may_lack_cpu && cpu.1 >= CPU_BOUND_SHARE {
        figures.say(what, &[share])?;
        return figures.hold(what, cpu, Bound::AtLeast(CPU_BOUND_SHARE));
    }
    figures.say(what, &[cpu])?;
    figures.hold(what, share, bounds.share_of_disk)
}

fn absent(
    arena: &Arena<'_>,
    amount: &Amount,
    filled: &Filled,
    figures: &mut Figures<'_, '_>,
) -> Result<(), BenchError> {
    let words = Vocabulary { key_prefix: "no:".into(), ..filled.words.clone() };
    let plan = filled.test("get", &words)?;
    let measured = measure(arena, filled.server(), &plan, amount.duration)?;
    let value_bytes = filled.value_bytes;
    let what = format!("absent keys, {value_bytes} bytes, {CONNECTIONS} connections");
    figures.say(&what, &measured.load())?;
    figures.hold_answers(&what, &measured.report)?;
    let blocks = ratio(measured.reads.blocks, measured.report.requests as f64);
    figures.hold(&what, ("blocks read a GET", blocks), ABSENT_READS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_disk_is_measured_at_the_depth_of_every_number_of_connections() {
        assert_eq!(depths(&[50, 8, 1]), [1, 8, 32, 50, 64]);
        assert_eq!(depths(&[]), DEPTHS);
    }

    #[test]
    fn small_values_have_wider_bounds() {
        assert_eq!(Bounds::of(1024), Bounds::of(512));
        assert_eq!(Bounds::of(100).reads_a_miss, Bound::AtMost(1.05));
        assert!(Bounds::of(511).may_lack_cpu && !Bounds::of(512).may_lack_cpu);
    }
}
