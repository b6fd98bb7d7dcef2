//! Giving space back changes no row, whatever is deleted, and whatever files it is in.

use std::{collections::BTreeMap, ops::ControlFlow};

use super::{
    Change::{DeleteRange, Put},
    Site, TOP, all_rows, commit,
    model::Noise,
    scan_rows,
};
use crate::{ColdTier, Collecting};

const ROUNDS: u64 = 250;
/// Ranges that rows are put into and deleted by, as a partition has of each of its databases.
const PARTITIONS: u64 = 6;
const GENERATIONS: u64 = 4;
const ROWS: u64 = 12;
const COLLECTIONS_MAX: usize = 50;

type Model = BTreeMap<Vec<u8>, Vec<u8>>;

/// Generations of partitions are put and deleted, one at a time or of all partitions, in files of
/// their own or together, and space is given back in between.
pub(super) fn changes_no_row(site: &Site<'_>) {
    let mut noise = Noise::new(7);
    let mut model = Model::new();
    let mut tier = site.tier();
    for round in 0..ROUNDS {
        change(&*tier, &mut model, &mut noise);
        let percent_min = [1, 15, 70][noise.below(3) as usize];
        for _ in 0..noise.below(4) {
            tier.collect(percent_min).expect("collects");
        }
        let rows: Model = all_rows(&*tier).into_iter().collect();
        assert!(rows == model, "rows differ after round {round}");
        if noise.below(25) == 0 {
            drop(tier);
            tier = site.tier();
        }
    }
    // At last all of it.
    commit(&*tier, &[DeleteRange(b"", &TOP), Put(b"z", b"last")]);
    collect_all(&*tier);
    assert_eq!(all_rows(&*tier), [(b"z".to_vec(), b"last".to_vec())]);
    drop(tier);
    assert_eq!(all_rows(&*site.tier()), [(b"z".to_vec(), b"last".to_vec())]);
}

fn change(tier: &dyn ColdTier, model: &mut Model, noise: &mut Noise) {
    let mut writer = tier.checkpoint_writer().expect("begins");
    let of_all = (noise.below(3) == 0).then(|| noise.below(GENERATIONS));
    for partition in 0..PARTITIONS {
        let generation = of_all.or_else(|| (noise.below(4) == 0).then(|| noise.below(GENERATIONS)));
        let Some(generation) = generation else { continue };
        let (from, to) = (key(partition, generation, 0), key(partition, generation + 1, 0));
        writer.delete_range(&from, &to).expect("deletes a range");
        model.retain(|key, _| *key < from || *key >= to);
    }
    for partition in 0..PARTITIONS {
        for generation in 0..GENERATIONS {
            if noise.below(5) > 0 {
                continue;
            }
            for row in 0..ROWS {
                let key = key(partition, generation, row);
                if noise.below(8) == 0 {
                    writer.delete(&key).expect("deletes");
                    model.remove(&key);
                } else {
                    let mut value = vec![0; 1 + noise.below(700) as usize];
                    noise.fill(&mut value);
                    writer.put(&key, &value).expect("puts");
                    model.insert(key, value);
                }
            }
            if noise.below(2) == 0 {
                writer.begin_file().expect("begins a file");
            }
        }
    }
    writer.prepare().expect("prepares").commit().expect("commits");
}

fn key(partition: u64, generation: u64, row: u64) -> Vec<u8> {
    vec![partition as u8, generation as u8, row as u8]
}

fn collect_all(tier: &dyn ColdTier) {
    for _ in 0..COLLECTIONS_MAX {
        if tier.collect(1).expect("collects") == Collecting::Nothing {
            return;
        }
    }
    panic!("there is always something to collect");
}

/// A scan goes on over rows that have been deleted since, and whose space was given back.
pub(super) fn of_rows_under_a_scan(site: &Site<'_>) {
    let tier = site.tier();
    let keys: Vec<Vec<u8>> = (0..ROWS).map(|row| key(1, 1, row)).collect();
    let rows: Vec<_> = keys.iter().map(|key| Put(key, &[7; 2000])).collect();
    commit(&*tier, &rows);
    let mut seen = 0;
    tier.scan(b"", &TOP, &mut |_, value| {
        if seen == 0 {
            commit(&*tier, &[DeleteRange(b"", &TOP)]);
            collect_all(&*tier);
            assert_eq!(scan_rows(&*tier, b"", &TOP), []);
        }
        assert_eq!(value, [7; 2000]);
        seen += 1;
        ControlFlow::Continue(())
    })
    .expect("a scan must end");
    assert_eq!(seen, ROWS);
}
