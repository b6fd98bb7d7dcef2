//! Section Keysizes: how the sizes of keys are distributed, by type.
//!
//! Redis 8 counts at each change of a key. That would be a shared write for each, so here a sample
//! of the keys in memory is looked at, and what it shows is scaled to all of them.

use super::Source;
use super::lines::Lines;
use crate::generic::length;
use basalt_engine::{Held, Object, Walk};
use basalt_env::Random;
use basalt_service::draws;

/// Keys that are looked at, of all databases: some milliseconds of work.
const SAMPLES: u64 = 20_000;
/// Keys that are looked at in each database that has as many.
const SAMPLES_OF_DATABASE_MIN: u64 = 500;

/// The types that Redis shows, by what TYPE calls them, and the names of their lines.
const LINES: [(&str, &str); 5] = [
    ("string", "strings_sizes"),
    ("list", "lists_items"),
    ("set", "sets_items"),
    ("zset", "zsets_items"),
    ("hash", "hashes_items"),
];

/// A bin for nothing, and one for each power of two up to the next.
const BINS: usize = u64::BITS as usize + 1;

pub(super) fn keysizes(source: &Source<'_>, lines: &mut Lines) {
    let databases = &source.census().databases;
    let keys_of_all: u64 = databases.iter().map(|totals| totals.keys).sum();
    let mut random = Random::new(draws::draw());
    for (db, totals) in (0..).zip(databases).filter(|(_, totals)| totals.keys > 0) {
        let share = u128::from(SAMPLES) * u128::from(totals.keys) / u128::from(keys_of_all);
        let samples = (share as u64).max(SAMPLES_OF_DATABASE_MIN);
        let walk = Walk { db, now_ms: source.now_ms, wait: source.lock_wait };
        let mut bins = [[0_u64; BINS]; LINES.len()];
        let sampled = source.server.engine.sample(walk, samples, &mut random, |_, object| {
            if let Some(line) = line_of(object) {
                bins[line][bin_of(length(object))] += 1;
            }
        });
        let Ok(sampled) = sampled.map_err(|Held| source.held.set(true)) else { return };
        for ((_, name), counts) in LINES.iter().zip(&bins) {
            let distribution = distribution(counts, (sampled.keys, sampled.seen));
            if !distribution.is_empty() {
                lines.put(format_args!("db{db}_distrib_{name}"), distribution);
            }
        }
    }
}

fn line_of(object: Object<'_>) -> Option<usize> {
    let kind = crate::generic::type_name(object);
    LINES.iter().position(|(line_kind, _)| *line_kind == kind)
}

fn bin_of(length: usize) -> usize {
    length.checked_ilog2().map_or(0, |power| power as usize + 1)
}

/// The bins that have some, each called by its least length.
fn distribution(counts: &[u64; BINS], (keys, seen): (u64, u64)) -> String {
    let scaled = |count: u64| {
        let (keys, seen) = (u128::from(keys), u128::from(seen.max(1)));
        ((u128::from(count) * keys + seen / 2) / seen).max(1)
    };
    let bins = counts.iter().enumerate().filter(|(_, count)| **count > 0);
    let bins = bins.map(|(bin, count)| format!("{}={}", label(bin), scaled(*count)));
    bins.collect::<Vec<_>>().join(",")
}

fn label(bin: usize) -> String {
    let Some(power) = bin.checked_sub(1) else { return "0".to_owned() };
    let unit = ["", "K", "M", "G", "T", "P", "E"][power / 10];
    format!("{}{unit}", 1 << (power % 10))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_called_by_their_least_length_and_scaled() {
        let mut counts = [0; BINS];
        for length in [0, 1, 2, 3, 1023, 1024, 3 << 20, usize::MAX] {
            counts[bin_of(length)] += 1;
        }
        let exact = distribution(&counts, (8, 8));
        assert_eq!(exact, "0=1,1=1,2=2,512=1,1K=1,2M=1,8E=1");
        let scaled = distribution(&counts, (80, 8));
        assert_eq!(scaled, "0=10,1=10,2=20,512=10,1K=10,2M=10,8E=10");
        assert_eq!(distribution(&[0; BINS], (8, 8)), "");
    }
}
