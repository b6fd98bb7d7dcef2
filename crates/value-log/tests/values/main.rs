//! The value log over rows in memory and a disk that loses power.

mod attacks;
mod collecting;
mod conformance;
mod damage;
mod faulty;
mod flushes;
mod late;
mod located;
mod model;
mod scans;

use basalt_cold::{ColdTier, Collecting, MemoryDisk, MemoryTier, Residency};
use basalt_env::SimDisk;
use basalt_value_log::{ValueOptions, ValueTier};
use std::path::Path;
use std::sync::Arc;

const DIR: &str = "/data/cold";
/// Values from here on stand in the log.
const VALUE_BYTES_MIN: usize = 64;

/// What outlives a tier: its rows and its disk.
#[derive(Default)]
struct World {
    rows: Arc<MemoryDisk>,
    disk: SimDisk,
}

impl World {
    fn open_at(&self, dir: &Path) -> ValueTier {
        self.open_at_with(dir, |_| {})
    }

    fn open_at_with(&self, dir: &Path, change: impl FnOnce(&mut ValueOptions)) -> ValueTier {
        let rows = Arc::new(MemoryTier::open(&self.rows, dir, Residency::Cached));
        let mut options = ValueOptions {
            value_bytes_min: VALUE_BYTES_MIN,
            segment_bytes_min: 16 << 10,
            seed: 7,
            ..ValueOptions::default()
        };
        change(&mut options);
        ValueTier::open(rows, Arc::new(self.disk.clone()), dir, options).expect("opens")
    }

    fn open(&self) -> ValueTier {
        self.open_at(Path::new(DIR))
    }

    fn open_with(&self, change: impl FnOnce(&mut ValueOptions)) -> ValueTier {
        self.open_at_with(Path::new(DIR), change)
    }
}

/// Collects until there is nothing to collect.
fn collect_all(tier: &dyn ColdTier, percent_min: u64) {
    while tier.collect(percent_min).expect("collects") > Collecting::Nothing {}
}

fn commit(tier: &dyn ColdTier, rows: &[(&[u8], Option<&[u8]>)]) {
    let mut writer = tier.checkpoint_writer().expect("begins");
    for (key, value) in rows {
        match value {
            Some(value) => writer.put(key, value),
            None => writer.delete(key),
        }
        .expect("is taken");
    }
    writer.prepare().expect("prepares").commit().expect("commits");
}

fn read(tier: &dyn ColdTier, key: &[u8]) -> Option<Vec<u8>> {
    tier.read_many(&[key.to_vec()]).expect("reads").remove(0)
}

/// Noise, so that it takes the space that it has.
fn noise(number: u64, bytes: usize) -> Vec<u8> {
    let mut random = basalt_env::Random::new(number);
    std::iter::repeat_with(|| random.below(256) as u8).take(bytes).collect()
}

fn key(number: u64) -> Vec<u8> {
    format!("key:{number:06}").into_bytes()
}

fn put_all(tier: &dyn ColdTier, keys: std::ops::Range<u64>, round: u64) {
    let rows: Vec<_> =
        keys.map(|number| (key(number), noise(number + round * 1_000, 1_000))).collect();
    let rows: Vec<_> = rows.iter().map(|(key, value)| (&key[..], Some(&value[..]))).collect();
    commit(tier, &rows);
}
