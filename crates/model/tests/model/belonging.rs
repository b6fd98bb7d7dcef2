//! A journal and a cold tier that do not belong together are not opened.

use basalt_cold::{ColdTier, MemoryDisk, MemoryTier, Residency};
use basalt_engine::PutOptions;
use basalt_env::Disk;
use basalt_model::world::{Setting, World};
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const JOURNAL: &str = "/journal";

/// Keys that are in every shard, and some.
const KEYS: u32 = 400;

/// Directories of cold tiers, one of which is used.
struct Tiers {
    disk: Arc<MemoryDisk>,
    chosen: Cell<&'static str>,
}

impl Tiers {
    fn new() -> Tiers {
        Tiers { disk: Arc::default(), chosen: Cell::new("cold") }
    }

    fn open(&self) -> Arc<dyn ColdTier> {
        Arc::new(MemoryTier::open(&self.disk, Path::new(self.chosen.get()), Residency::Uncached))
    }

    fn copy(&self, to: &str) {
        self.open().backup(Path::new(to)).expect("a copy");
    }
}

fn put_all(world: &World<'_>, value: &str) {
    let value = value.repeat(1_000);
    for number in 0..KEYS {
        let key = format!("key-{number}").into_bytes();
        world
            .write(0, &[&key], |txn, keys| {
                txn.put(&keys[0], value.as_bytes(), PutOptions::whole(0));
            })
            .expect("written");
        if number % 20 == 0 {
            world.engine().log().sync_all().expect("a healthy disk");
        }
    }
}

/// Writes and stores, until the journal has been trimmed.
fn live(world: &World<'_>, value: &str) {
    for _ in 0..3 {
        put_all(world, value);
        world.engine().checkpoint().expect("a checkpoint");
    }
}

fn all(value: &str) -> String {
    value.repeat(KEYS as usize)
}

fn values(world: &World<'_>) -> String {
    (0..KEYS)
        .map(|number| {
            let found = world.read(0, format!("key-{number}").as_bytes()).expect("readable");
            found.map_or('-', |value| char::from(value.string()[0]))
        })
        .collect()
}

fn segments(world: &World<'_>) -> Vec<PathBuf> {
    let mut names = world.disk.list(Path::new(JOURNAL)).expect("listed");
    names.retain(|name| name.ends_with(".log"));
    names.sort();
    names.iter().map(|name| Path::new(JOURNAL).join(name)).collect()
}

fn in_world(test: impl FnOnce(&mut World<'_>, &Tiers)) {
    let tiers = Tiers::new();
    let open_cold = || tiers.open();
    let mut world = World::new(Setting::default(), &open_cold).expect("an empty world");
    test(&mut world, &tiers);
}

#[track_caller]
fn assert_refused(world: &mut World<'_>, reasons: &[&str]) {
    let refused = world.open().expect_err("it is refused").to_string();
    for reason in reasons {
        assert!(refused.contains(reason), "{refused:?} does not say {reason:?}");
    }
    assert!(refused.contains("accept-data-loss"), "{refused:?} does not say what to do");
}

/// Opens what is refused, and sees that from then on all is as usual.
fn accept(world: &mut World<'_>) -> String {
    world.setting.accept_data_loss = true;
    world.open().expect("the loss is accepted");
    let left = values(world);
    world.setting.accept_data_loss = false;
    world.restart().expect("nothing more is lost");
    assert_eq!(values(world), left);
    live(world, "d");
    put_all(world, "e");
    world.engine().log().sync_all().expect("a healthy disk");
    world.crash(1).expect("nothing is lost");
    assert_eq!(values(world), all("e"));
    left
}

#[test]
fn a_cold_tier_that_is_gone_is_missed() {
    in_world(|world, tiers| {
        live(world, "a");
        world.bury();
        tiers.chosen.set("empty");
        assert_refused(world, &["the cold tier is empty", "/journal/"]);
        accept(world);
    });
}

#[test]
fn an_older_copy_of_the_cold_tier_is_refused_once_the_journal_is_trimmed() {
    in_world(|world, tiers| {
        live(world, "a");
        tiers.copy("older");
        put_all(world, "b");
        world.bury();
        tiers.chosen.set("older");
        world.open().expect("the journal has all that came after the copy");
        assert_eq!(values(world), all("b"));
        live(world, "b");
        live(world, "c");
        world.bury();
        tiers.chosen.set("cold");
        assert_refused(world, &["older copy", "/journal/"]);
        accept(world);
    });
}

#[test]
fn missing_oldest_segments_are_missed() {
    in_world(|world, _| {
        live(world, "a");
        for value in ["b", "c"] {
            put_all(world, value);
        }
        world.bury();
        for oldest in &segments(world)[..3] {
            world.disk.remove(oldest).expect("it is there");
        }
        assert_refused(world, &["oldest files are missing", "/journal/"]);
        accept(world);
    });
}

#[test]
fn a_journal_that_is_gone_is_missed() {
    in_world(|world, _| {
        live(world, "a");
        world.bury();
        for file in segments(world) {
            world.disk.remove(&file).expect("it is there");
        }
        world.disk.remove(&Path::new(JOURNAL).join("clean-end")).expect("it is there");
        assert_refused(world, &["there is no journal in /journal"]);
        assert!(segments(world).is_empty(), "none is begun");
        assert_eq!(accept(world), all("a"));
    });
}

#[test]
fn a_journal_that_ends_before_the_cold_tier_is_refused() {
    in_world(|world, _| {
        live(world, "a");
        let copies: Vec<(PathBuf, Vec<u8>)> = segments(world)
            .into_iter()
            .map(|path| (path.clone(), bytes_of(world, &path)))
            .collect();
        live(world, "b");
        world.bury();
        for file in world.disk.list(Path::new(JOURNAL)).expect("listed") {
            world.disk.remove(&Path::new(JOURNAL).join(file)).expect("it is there");
        }
        for (path, bytes) in copies {
            let file = world.disk.create(&path, bytes.len() as u64).expect("made");
            file.write_all_at(&[std::io::IoSlice::new(&bytes)], 0).expect("written");
        }
        assert_refused(world, &["ends at position", "the cold tier has"]);
        accept(world);
    });
}

fn bytes_of(world: &World<'_>, path: &Path) -> Vec<u8> {
    let file = world.disk.open(path).expect("it is there");
    let mut bytes = vec![0; file.bytes().expect("measured") as usize];
    file.read_at(&mut bytes, 0).expect("read");
    bytes
}

#[test]
fn directories_of_two_databases_are_told_apart() {
    in_world(|world, tiers| {
        put_all(world, "a");
        world.engine().checkpoint().expect("a checkpoint");
        in_world(|other, others| {
            put_all(other, "b");
            other.engine().checkpoint().expect("a checkpoint");
            let rows = others.open();
            tiers.chosen.set("other");
            let copy = tiers.open();
            let mut writer = copy.checkpoint_writer().expect("open");
            rows.scan(b"", &[0xFF; 3], &mut |key, value| {
                writer.put(key, value).expect("room");
                std::ops::ControlFlow::Continue(())
            })
            .expect("open");
            writer.prepare().expect("room").commit().expect("room");
        });
        world.bury();
        assert_refused(world, &["two databases", "another journal"]);
        for file in world.disk.list(Path::new(JOURNAL)).expect("listed") {
            world.disk.remove(&Path::new(JOURNAL).join(file)).expect("it is there");
        }
        assert_eq!(accept(world), all("b"));
    });
}
