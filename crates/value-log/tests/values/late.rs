//! Commits that fail, and that the next start finds, unless another has succeeded since.

use crate::World;
use crate::faulty::{Late, open};
use basalt_cold::{ColdError, ColdTier, Collecting};
use basalt_env::{Fault as DiskFault, FaultKind, Operation, Random};
use basalt_value_log::ValueTier;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

type Model = BTreeMap<Vec<u8>, Vec<u8>>;

fn key(number: u64) -> Vec<u8> {
    format!("key:{number:04}").into_bytes()
}

fn check(tier: &ValueTier, model: &Model, seed: u64, step: u32) {
    let keys: Vec<_> = (0..65).map(key).collect();
    let expected: Vec<_> = keys.iter().map(|key| model.get(key).cloned()).collect();
    let read = tier.read_many(&keys);
    assert!(read.as_ref() == Ok(&expected), "seed {seed} step {step}: {:?}", read.err());
}

struct Life {
    world: World,
    late: Arc<Late>,
    tier: Option<ValueTier>,
    random: Random,
    model: Model,
    /// What it would be if the next start found what has failed.
    found: Option<Model>,
}

impl Life {
    fn new(seed: u64) -> Life {
        let (world, late) = (World::default(), Arc::<Late>::default());
        let tier = Some(open(&world, &late, false));
        let random = Random::new(seed);
        Life { world, late, tier, random, model: Model::new(), found: None }
    }

    fn tier(&self) -> &ValueTier {
        self.tier.as_ref().expect("it is open")
    }

    fn commit(&mut self) {
        let (mut next, random) = (self.model.clone(), &mut self.random);
        let mut changes: BTreeMap<Vec<u8>, Option<Vec<u8>>> = BTreeMap::new();
        for _ in 0..random.below(20) {
            let bytes = random.below(3_000);
            let value = (random.below(5) > 0)
                .then(|| (0..bytes).map(|_| random.below(256) as u8).collect());
            changes.insert(key(random.below(60)), value);
        }
        let from = random.below(60);
        let range = key(from)..key(from + random.below(30));
        let range = Some(range).filter(|range| random.below(4) == 0 && !range.is_empty());
        if let Some(range) = range.clone() {
            next.extract_if(range, |_, _| true).for_each(drop);
        }
        for (key, value) in &changes {
            match value {
                Some(value) => next.insert(key.clone(), value.clone()),
                None => next.remove(key),
            };
        }
        let fails = self.late.fails.load(Ordering::Relaxed);
        match self.write(&changes, range) {
            Ok(Ok(())) => (self.model, self.found) = (next, None),
            Ok(Err(_)) if self.late.fails.load(Ordering::Relaxed) < fails => {
                self.found = Some(next);
            }
            _ => {}
        }
    }

    /// The inner result is that of the commit.
    fn write(
        &self,
        changes: &BTreeMap<Vec<u8>, Option<Vec<u8>>>,
        range: Option<std::ops::Range<Vec<u8>>>,
    ) -> Result<Result<(), ColdError>, ColdError> {
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
        Ok(writer.prepare()?.commit())
    }

    fn collect(&mut self) {
        let before = self.late.has_ops();
        let fails = self.late.fails.load(Ordering::Relaxed);
        let percent = [0, 1, 15, 40][self.random.below(4) as usize];
        let _ = self.tier().collect(percent);
        if self.late.fails.load(Ordering::Relaxed) < fails {
            // Its own commit failed; it changes no value.
            self.found = Some(self.model.clone());
        } else if before && !self.late.has_ops() {
            self.found = None;
        }
        self.world.disk.heal();
    }

    fn inject(&mut self) {
        let operations = [
            Operation::Write,
            Operation::Sync,
            Operation::Create,
            Operation::SyncDir,
            Operation::Remove,
            Operation::Read,
        ];
        self.world.disk.inject(DiskFault {
            operation: operations[self.random.below(6) as usize],
            kind: [FaultKind::Broken, FaultKind::Full][self.random.below(2) as usize],
            skip: self.random.below(4) as u32,
            times: 1 + self.random.below(2) as u32,
        });
    }

    fn restart(&mut self) {
        self.tier = None;
        self.world.disk.heal();
        if self.random.below(2) == 0 {
            self.world.disk.crash(self.random.below(u64::MAX));
        }
        let finds = self.random.below(2) == 0;
        if let Some(next) = self.found.take().filter(|_| finds) {
            self.model = next;
        }
        self.tier = Some(open(&self.world, &self.late, finds));
    }

    fn step(&mut self) {
        let times = 1 + self.random.below(2) as u32;
        match self.random.below(16) {
            0..=6 => self.commit(),
            7..=10 => self.collect(),
            11 => self.late.fails.store(times, Ordering::Relaxed),
            12 => self.late.scan_fails.store(times, Ordering::Relaxed),
            13 => self.inject(),
            14 => self.restart(),
            _ => self.world.disk.heal(),
        }
    }
}

fn run(seed: u64) {
    let mut life = Life::new(seed);
    for step in 0..250 {
        life.step();
        if step % 16 == 15 {
            life.world.disk.heal();
            check(life.tier(), &life.model, seed, step);
        }
    }
    life.world.disk.heal();
    life.late.fails.store(0, Ordering::Relaxed);
    life.late.scan_fails.store(0, Ordering::Relaxed);
    check(life.tier(), &life.model, seed, 1_000);
    while life.tier().collect(15).expect("collects") > Collecting::Nothing {}
    check(life.tier(), &life.model, seed, 1_001);
}

#[test]
fn what_failed_may_be_found_and_nothing_else_is_lost() {
    for seed in 0..40 {
        run(seed);
    }
}

/// Collections and reads go on beside commits of which some fail.
#[test]
fn nothing_is_lost_where_commits_fail_beside_collections() {
    for seed in 0..10 {
        let (world, late) = (World::default(), Arc::<Late>::default());
        let tier = open(&world, &late, false);
        let has_ended = std::sync::atomic::AtomicBool::new(false);
        let mut random = Random::new(seed);
        let mut model = Model::new();
        let goes_on = || !has_ended.load(Ordering::Relaxed);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while goes_on() {
                    let _ = tier.collect(1);
                }
            });
            scope.spawn(|| {
                let keys: Vec<_> = (0..60).map(key).collect();
                while goes_on() {
                    tier.read_many(&keys).expect("reads");
                }
            });
            for _ in 0..150 {
                if random.below(3) == 0 {
                    late.fails.store(1, Ordering::Relaxed);
                }
                if random.below(6) == 0 {
                    late.scan_fails.store(3, Ordering::Relaxed);
                }
                let mut next = model.clone();
                let mut writer = tier.checkpoint_writer().expect("begins");
                if random.below(2) == 0 {
                    let from = random.below(60);
                    let (from, to) = (key(from), key(from + 1 + random.below(30)));
                    writer.delete_range(&from, &to).expect("is taken");
                    next.extract_if(from..to, |_, _| true).for_each(drop);
                }
                for number in 0..60 {
                    if random.below(4) == 0 {
                        let value: Vec<_> = (0..700).map(|_| random.below(256) as u8).collect();
                        writer.put(&key(number), &value).expect("is taken");
                        next.insert(key(number), value);
                    }
                }
                if writer.prepare().expect("prepares").commit().is_ok() {
                    model = next;
                }
            }
            has_ended.store(true, Ordering::Relaxed);
        });
        check(&tier, &model, seed, 0);
        drop(tier);
        let tier = open(&world, &late, false);
        while tier.collect(15).expect("collects") > Collecting::Nothing {}
        check(&tier, &model, seed, 1);
    }
}
