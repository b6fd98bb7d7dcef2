//! Random commits, collections, failures, restarts and power cuts, beside a map.

use crate::{DIR, VALUE_BYTES_MIN, World};
use basalt_cold::{ColdError, ColdTier, Collecting, Fault, Head};
use basalt_env::{Fault as DiskFault, FaultKind, Operation, Random};
use basalt_value_log::ValueTier;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

const KEYS: u64 = 120;

type Model = BTreeMap<Vec<u8>, Vec<u8>>;

struct Driver {
    world: World,
    tier: Option<ValueTier>,
    model: Model,
    random: Random,
    number: u64,
}

fn key(number: u64) -> Vec<u8> {
    format!("key:{number:04}").into_bytes()
}

impl Driver {
    fn new(seed: u64) -> Driver {
        let world = World::default();
        let tier = Some(world.open());
        Driver { world, tier, model: Model::new(), random: Random::new(seed), number: 0 }
    }

    fn tier(&self) -> &ValueTier {
        self.tier.as_ref().expect("it is open")
    }

    fn value(&mut self) -> Vec<u8> {
        self.number += 1;
        let bytes = match self.random.below(8) {
            0 => 0,
            1 | 2 => self.random.below(VALUE_BYTES_MIN as u64),
            7 => 3_000 + self.random.below(20_000),
            _ => VALUE_BYTES_MIN as u64 + self.random.below(1_500),
        } as usize;
        let mut value = self.number.to_le_bytes().to_vec();
        // Half of them can be compressed.
        let is_noise = self.random.below(2) == 0;
        while value.len() < bytes {
            value.push(if is_noise { self.random.below(256) as u8 } else { 7 });
        }
        value
    }

    /// A commit that may fail halfway; the model follows it.
    fn commit(&mut self) {
        let mut next = self.model.clone();
        let mut changes: BTreeMap<Vec<u8>, Option<Vec<u8>>> = BTreeMap::new();
        for _ in 0..self.random.below(30) {
            let value = (self.random.below(5) > 0).then(|| self.value());
            changes.insert(key(self.random.below(KEYS)), value);
        }
        let range = (self.random.below(6) == 0).then(|| {
            let from = self.random.below(KEYS);
            key(from)..key(from + self.random.below(KEYS / 4))
        });
        if let Some(range) = range.clone().filter(|range| range.start < range.end) {
            next.extract_if(range, |_, _| true).for_each(drop);
        }
        for (key, value) in &changes {
            match value {
                Some(value) => next.insert(key.clone(), value.clone()),
                None => next.remove(key),
            };
        }
        let is_discarded = self.random.below(10) == 0;
        let result = self.write(&changes, range, is_discarded);
        if result.is_ok() && !is_discarded {
            self.model = next;
        }
    }

    fn write(
        &self,
        changes: &BTreeMap<Vec<u8>, Option<Vec<u8>>>,
        range: Option<std::ops::Range<Vec<u8>>>,
        is_discarded: bool,
    ) -> Result<(), ColdError> {
        let mut writer = self.tier().checkpoint_writer()?;
        for (key, value) in changes {
            match value {
                Some(value) => writer.put(key, value)?,
                None => writer.delete(key)?,
            }
        }
        if let Some(range) = range {
            writer.delete_range(&range.start, &range.end)?;
        }
        let prepared = writer.prepare()?;
        match is_discarded {
            true => prepared.discard(),
            false => prepared.commit()?,
        }
        Ok(())
    }

    fn step(&mut self) {
        match self.random.below(20) {
            0..=9 => self.commit(),
            10..=13 => {
                let percent = [0, 15, 40][self.random.below(3) as usize];
                drop(self.tier().collect(percent));
            }
            14 => self.look(),
            15 => {
                let fault = [Fault::PrepareNoSpace, Fault::CommitNoSpace];
                self.world.rows.inject(Path::new(DIR), fault[self.random.below(2) as usize]);
            }
            16 => {
                let operation = [Operation::Write, Operation::Sync, Operation::Create];
                self.world.disk.inject(DiskFault {
                    operation: operation[self.random.below(3) as usize],
                    kind: [FaultKind::Broken, FaultKind::Full][self.random.below(2) as usize],
                    skip: self.random.below(3) as u32,
                    times: 1,
                });
            }
            17 => {
                self.tier = None;
                self.world.disk.heal();
                self.tier = Some(self.world.open());
            }
            18 => {
                // What was not synced may be gone. Commits in memory are durable at once, so a
                // pointer to what was not synced first would now lead nowhere.
                self.tier = None;
                let seed = self.random.below(u64::MAX);
                self.world.disk.crash(seed);
                self.tier = Some(self.world.open());
            }
            _ => self.read_some(),
        }
    }

    fn read_some(&mut self) {
        let keys: Vec<_> = (0..4).map(|_| key(self.random.below(KEYS + 5))).collect();
        let expected: Vec<_> = keys.iter().map(|key| self.model.get(key).cloned()).collect();
        assert_eq!(self.tier().read_many(&keys).expect("reads"), expected);
    }

    fn look(&self) {
        let mut rows = Model::new();
        let mut add = |key: &[u8], value: &[u8]| {
            rows.insert(key.to_vec(), value.to_vec());
            ControlFlow::Continue(())
        };
        self.tier().scan(b"", b"z", &mut add).expect("scans");
        assert_eq!(rows, self.model);
        let mut heads = 0;
        let mut look = |key: &[u8], head: Head<'_>| {
            let head = head.bytes();
            assert!(
                self.model[key].starts_with(head) && head.len() >= self.model[key].len().min(20)
            );
            heads += 1;
            ControlFlow::Continue(())
        };
        self.tier().scan_heads(b"", b"z", &mut look).expect("scans");
        assert_eq!(heads, self.model.len());
    }
}

#[test]
fn it_is_a_map_whatever_happens() {
    for seed in 0..if cfg!(miri) { 1 } else { 60 } {
        let mut driver = Driver::new(seed);
        for _ in 0..200 {
            driver.step();
        }
        driver.world.disk.heal();
        driver.look();
        // A fault may still wait for its commit.
        while driver.tier().collect(1) != Ok(Collecting::Nothing) {}
        driver.look();
        let stats = driver.tier().stats();
        let large = driver.model.values().filter(|value| value.len() >= VALUE_BYTES_MIN).count();
        assert!(stats.value_log_values >= large as u64 * u64::from(stats.locator_is_built));
    }
}
