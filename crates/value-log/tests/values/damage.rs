//! Files that are damaged, missing, or of another time.

use crate::{DIR, World, collect_all, commit, read};
use basalt_cold::{CheckpointWriter, ColdError, ColdTier, MemoryTier, Residency};
use basalt_env::Disk;
use basalt_value_log::{ValueOptions, ValueTier};
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn segments(world: &World) -> Vec<PathBuf> {
    let dir = Path::new(DIR).join("values");
    let mut names = world.disk.list(&dir).expect("a directory");
    names.retain(|name| name.ends_with(".vlog"));
    names.into_iter().map(|name| dir.join(name)).collect()
}

#[test]
fn a_damaged_record_is_an_error_for_its_key_and_no_other() {
    let world = World::default();
    let tier = world.open();
    let noise: Vec<u8> =
        (0..2_000u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    commit(&tier, &[(b"a", Some(&noise)), (b"b", Some(&noise)), (b"c", Some(&noise))]);
    let [path] = &segments(&world)[..] else { panic!("one segment") };
    // In the midst of the second.
    world.disk.corrupt(path, 64 + 2_048 + 500, 1).expect("is damaged");
    for is_built in [false, true] {
        let error = tier.read_many(&[b"b".to_vec()]).expect_err("it is damaged");
        assert!(
            matches!(&error, ColdError::Corrupt { place, .. } if place.contains("00000001.vlog")),
            "{error}"
        );
        assert_eq!(read(&tier, b"a").as_ref(), Some(&noise));
        assert_eq!(read(&tier, b"c").as_ref(), Some(&noise));
        if !is_built {
            collect_all(&tier, 1);
        }
    }
    // It is not collected away, and what is sound is moved.
    drop(tier);
    let tier = world.open();
    commit(&tier, &[(b"a", None)]);
    collect_all(&tier, 1);
    assert!(tier.read_many(&[b"b".to_vec()]).is_err());
    assert_eq!(read(&tier, b"c").as_ref(), Some(&noise));
    assert!(segments(&world).contains(path));
    // Until a checkpoint has another value for the key.
    commit(&tier, &[(b"b", Some(&noise))]);
    assert_eq!(read(&tier, b"b").as_ref(), Some(&noise));
}

#[test]
fn a_missing_segment_is_an_error_for_its_keys() {
    let world = World::default();
    let tier = world.open();
    commit(&tier, &[(b"a", Some(&[1; 5_000])), (b"b", Some(b"small"))]);
    drop(tier);
    world.disk.remove(&segments(&world)[0]).expect("is removed");
    let tier = world.open();
    for _ in 0..2 {
        let error = tier.read_many(&[b"a".to_vec()]).expect_err("it is gone");
        assert!(matches!(error, ColdError::Corrupt { .. }), "{error}");
        assert_eq!(read(&tier, b"b").as_deref(), Some(&b"small"[..]));
        collect_all(&tier, 1);
    }
    // As by the flush of a database.
    let mut writer = tier.checkpoint_writer().expect("begins");
    writer.delete_range(b"a", b"b").expect("is taken");
    writer.prepare().expect("prepares").commit().expect("commits");
    assert_eq!(read(&tier, b"a"), None);
}

#[test]
fn rows_of_an_earlier_program_are_refused() {
    let world = World::default();
    let open_rows = || MemoryTier::open(&world.rows, Path::new(DIR), Residency::Cached);
    let rows = open_rows();
    let mut writer: Box<dyn CheckpointWriter<'_> + '_> = rows.checkpoint_writer().expect("begins");
    writer.put(b"a", b"value").expect("is taken");
    writer.prepare().expect("prepares").commit().expect("commits");
    let disk: Arc<dyn Disk> = Arc::new(world.disk.clone());
    let opened =
        ValueTier::open(Arc::new(open_rows()), disk, Path::new(DIR), ValueOptions::default());
    let error = opened.err().expect("is refused").to_string();
    assert!(error.contains("earlier version"), "{error}");
}

#[test]
fn a_mark_of_another_version_is_refused() {
    let world = World::default();
    let tier = world.open();
    commit(&tier, &[(b"a", Some(b"value"))]);
    drop(tier);
    world.disk.corrupt(&Path::new(DIR).join("values/FORMAT"), 14, 3).expect("is damaged");
    let disk: Arc<dyn Disk> = Arc::new(world.disk.clone());
    let rows = MemoryTier::open(&world.rows, Path::new(DIR), Residency::Cached);
    let opened = ValueTier::open(Arc::new(rows), disk, Path::new(DIR), ValueOptions::default());
    assert!(opened.err().expect("is refused").to_string().contains("another version"));
}
