//! No key is given a version twice, whatever the clock, the power and the checkpoints do.

use basalt_cold::{ColdTier, MemoryDisk, MemoryTier, Residency};
use basalt_engine::{Absent, PutOptions, Txn, Version};
use basalt_env::random::Random;
use basalt_journal::FsyncPolicy;
use basalt_model::stage::TierFaults;
use basalt_model::world::{START_MS, Setting, World};
use basalt_value::hash::{Field, Terms};
use basalt_value::item::Item;
use basalt_value::{Edits, Hash};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

const STEPS: u64 = 300;
const HOUR_MS: u64 = 3_600_000;
/// How long a field of a hash stays.
const FIELD_MS: u64 = 100;

/// What moves versions in a run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mover {
    /// Strings are put.
    Commands,
    /// Fields of hashes expire, and are removed.
    Time,
}

/// What is done to the world beside writes.
#[derive(Clone, Copy)]
struct Weather {
    policy: FsyncPolicy,
    /// How far the clock goes back or forth.
    clock_ms: u64,
    /// Marks do not say which version was the last.
    forgets: bool,
    mover: Mover,
}

/// Writes, deletes, checkpoints, power cuts; returns the first version that a key was given twice,
/// by a command or by time, or, if nothing is ever lost, after a greater one.
fn repeated(seed: u64, weather: &Weather) -> Option<Version> {
    let mut random = Random::new(seed);
    let disk = Arc::new(MemoryDisk::new());
    let open_cold = || -> Arc<dyn ColdTier> {
        Arc::new(MemoryTier::open(&disk, Path::new("cold"), Residency::Uncached))
    };
    let setting = Setting { policy: weather.policy, ..Setting::default() };
    let mut world = World::new(setting, &open_cold).expect("it opens");
    let faults = TierFaults { drops_last_versions: weather.forgets, ..TierFaults::default() };
    world.stage.set_faults(faults);
    let mut given = BTreeSet::new();
    for _ in 0..STEPS {
        // Of one partition.
        let key = format!("{{t}}{}", random.below(4)).into_bytes();
        match random.below(20) {
            0 | 1 => {
                write(&world, &key, |txn, key| {
                    txn.delete(key);
                });
            }
            2 => world.engine().checkpoint().expect("a checkpoint"),
            3 => drop(world.engine().unload()),
            4 => world.crash(random.next_u64()).expect("it opens again"),
            5 => world.clock.set_unix_ms(START_MS + random.below(weather.clock_ms)),
            number => {
                let begins = number % 2 == 0;
                let version = write(&world, &key, |txn, key| match weather.mover {
                    Mover::Commands => {
                        txn.put(key, b"value", PutOptions::whole(0));
                        if begins {
                            txn.make_versioned(key);
                        }
                    }
                    Mover::Time => put_fields(txn, key),
                });
                if version.is_none() {
                    continue;
                }
                let version = match weather.mover {
                    Mover::Commands => version,
                    Mover::Time => {
                        given.insert((key.clone(), version));
                        let moved = let_expire(&world, &key, weather.policy);
                        assert_ne!(moved, version, "a field has expired");
                        moved
                    }
                };
                let is_always = weather.policy == FsyncPolicy::Always;
                let later = given.range((key.clone(), version)..).next();
                let is_late = is_always && later.is_some_and(|(of, _)| *of == key);
                if is_late || !given.insert((key, version)) {
                    return Some(version);
                }
            }
        }
    }
    None
}

/// Returns the key's version afterwards; under `always` the change is durable then.
fn write(
    world: &World<'_>,
    key: &[u8],
    work: impl Fn(&mut Txn<'_>, &basalt_engine::Key<'_>),
) -> Version {
    let gate = world.write(0, &[key], |txn, keys| work(txn, &keys[0])).expect("written");
    world.wait_for_gate(gate).expect("acknowledged");
    world.version(0, key)
}

/// A field of a hash that stays, and one that expires.
fn put_fields(txn: &mut Txn<'_>, key: &basalt_engine::Key<'_>) {
    let terms = Terms { now_ms: txn.now_ms(), limits: txn.limits() };
    let put = |hash: &mut Hash, edits: &mut Edits<'_>| {
        for (name, expire_ms) in [("stays", 0), ("expires", terms.now_ms + FIELD_MS)] {
            let (name, value) = (Item::of(name.as_bytes()), Item::of(b"value"));
            hash.set_versioned(Field { name, value, expire_ms }, None, &terms, edits);
        }
    };
    txn.edit_versioned(key, Absent::Create, put).expect("there are only hashes");
}

/// Returns the key's version when its field has expired and is gone, which is durable under
/// `always`.
fn let_expire(world: &World<'_>, key: &[u8], policy: FsyncPolicy) -> Version {
    world.clock.advance_ms(FIELD_MS);
    world.engine().expire_due();
    if policy == FsyncPolicy::Always {
        world.engine().log().sync_all().expect("synced");
    }
    world.version(0, key)
}

fn no_version_is_repeated(weather: &Weather) {
    // Each step of time looks at all partitions.
    for (mover, seeds) in [(Mover::Commands, 12), (Mover::Time, 4)] {
        for seed in 1..=seeds {
            assert_eq!(repeated(seed, &Weather { mover, ..*weather }), None, "seed {seed}");
        }
    }
}

#[test]
fn no_version_is_given_twice_though_the_clock_goes_back_by_an_hour() {
    let policy = FsyncPolicy::Always;
    no_version_is_repeated(&Weather {
        policy,
        clock_ms: HOUR_MS,
        forgets: false,
        mover: Mover::Commands,
    });
}

#[test]
fn no_version_is_given_twice_though_a_power_cut_has_taken_it_back() {
    for policy in [FsyncPolicy::EverySecond, FsyncPolicy::Never] {
        for clock_ms in [1, 60_000] {
            no_version_is_repeated(&Weather {
                policy,
                clock_ms,
                forgets: false,
                mover: Mover::Commands,
            });
        }
    }
}

#[test]
fn a_mark_without_the_last_version_is_noticed() {
    for mover in [Mover::Commands, Mover::Time] {
        let policy = FsyncPolicy::Always;
        let weather = Weather { policy, clock_ms: HOUR_MS, forgets: true, mover };
        assert!((1..=12).any(|seed| repeated(seed, &weather).is_some()));
    }
}
