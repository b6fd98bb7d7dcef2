//! A full disk: a distinct error, nothing half visible, and writing resumes by itself.
//!
//! The test runs itself again in a user and mount namespace of its own, where it may mount a small
//! file system in memory. Where the system forbids that, the test fails, unless
//! `BASALT_WITHOUT_MOUNT=1` is set.

use std::{
    env, fs,
    path::Path,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use basalt_cold::{ColdError, ColdTier};

use crate::{commit, noise, open, try_commit};

const MOUNT_VARIABLE: &str = "BASALT_COLD_FULL_DISK";
/// What the shell ends with where it may not mount.
const CANNOT_MOUNT: i32 = 77;
/// RocksDB looks for space every five seconds.
const RESUME_SECONDS_MAX: u64 = 120;

#[allow(clippy::print_stderr, reason = "a test that is left out has no other voice")]
fn run_on_small_disk(test: &str, megabytes: u32) {
    let root = tempfile::tempdir().expect("a temporary directory");
    let script = format!(
        "mount -t tmpfs -o size={megabytes}m tmpfs \"${MOUNT_VARIABLE}\" || exit {CANNOT_MOUNT}; exec \"$0\" --exact {test} --nocapture"
    );
    let status = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", &script])
        .arg(env::current_exe().expect("this test"))
        .env(MOUNT_VARIABLE, root.path())
        .status();
    let cannot = match status {
        Ok(status) if status.success() => return,
        // `unshare` itself fails with 1, a test with 101.
        Ok(status) if [Some(1), Some(CANNOT_MOUNT)].contains(&status.code()) => status.to_string(),
        Ok(status) => panic!("{test} on a full disk: {status}"),
        Err(error) => error.to_string(),
    };
    let is_permitted = env::var_os("BASALT_WITHOUT_MOUNT").is_some_and(|value| value == "1");
    assert!(
        is_permitted,
        "cannot mount in a user namespace ({cannot}); BASALT_WITHOUT_MOUNT=1 leaves this out"
    );
    eprintln!("left out: cannot mount in a user namespace ({cannot})");
}

#[test]
fn a_full_disk_is_reported_and_forgiven() {
    let Some(dir) = env::var_os(MOUNT_VARIABLE) else {
        run_on_small_disk("full_disk::a_full_disk_is_reported_and_forgiven", 64);
        return;
    };
    let dir = Path::new(&dir);
    let tier = open(&dir.join("tier"));
    commit(&tier, [(b"before".to_vec(), b"1".to_vec())]);
    fill_with_checkpoints(&tier);
    fill_with_ballast(dir);
    for attempt in 0..3 {
        let refused = try_commit(&tier, big_rows(attempt));
        assert!(matches!(refused, Err(ColdError::NoSpace { .. })), "{refused:?}");
        assert_eq!(read(&tier, b"before"), Some(b"1".to_vec()));
    }
    // Small checkpoints get as far as the catalogue, or they fit: both are fine.
    for number in 0..200u32 {
        let rows = [(b"small".to_vec(), number.to_be_bytes().to_vec())];
        if let Err(error) = try_commit(&tier, rows) {
            assert!(matches!(error, ColdError::NoSpace { .. }), "{error}");
        }
    }
    fs::remove_file(dir.join("ballast")).expect("frees space");
    commit_when_possible(&tier);
    drop(tier);
    let tier = open(&dir.join("tier"));
    assert_eq!(read(&tier, b"before"), Some(b"1".to_vec()));
    assert_eq!(read(&tier, b"resumed"), Some(b"yes".to_vec()));
}

#[test]
fn a_merge_without_space_is_forgiven() {
    let Some(dir) = env::var_os(MOUNT_VARIABLE) else {
        run_on_small_disk("full_disk::a_merge_without_space_is_forgiven", 64);
        return;
    };
    let dir = Path::new(&dir);
    let tier = open(&dir.join("tier"));
    commit(&tier, big_rows(1).into_iter().take(180));
    commit(&tier, big_rows(2).into_iter().take(180));
    fill_with_ballast(dir);
    let merged = tier.compact();
    assert!(matches!(merged, Err(ColdError::NoSpace { .. }) | Ok(())), "{merged:?}");
    fs::remove_file(dir.join("ballast")).expect("frees space");
    commit_when_possible(&tier);
    let started = Instant::now();
    while let Err(error) = tier.compact() {
        assert!(started.elapsed().as_secs() < RESUME_SECONDS_MAX, "merging: {error}");
        thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(tier.stats().files_per_level[0], 0);
}

#[test]
fn a_full_disk_under_the_catalogue_is_forgiven() {
    const CHECKPOINTS: u64 = 60;
    let Some(dir) = env::var_os(MOUNT_VARIABLE) else {
        run_on_small_disk("full_disk::a_full_disk_under_the_catalogue_is_forgiven", 128);
        return;
    };
    let dir = Path::new(&dir);
    let tier = open(&dir.join("tier"));
    // The catalogue names the first and the last key of each file: long ones use up what it has
    // allocated in advance. Staged before the disk fills, only the catalogue wants more space.
    let long_key = |number: u64| [&number.to_be_bytes()[..], &noise(number + 1, 60_000)].concat();
    let prepared: Vec<_> = (0..CHECKPOINTS)
        .map(|number| {
            let mut writer = tier.checkpoint_writer().expect("begins");
            writer.put(&long_key(number * 2), b"first").expect("puts");
            writer.put(&long_key(number * 2 + 1), b"last").expect("puts");
            writer.prepare().expect("prepares")
        })
        .collect();
    fill_with_ballast(dir);
    let committed: Vec<_> = prepared.into_iter().map(|checkpoint| checkpoint.commit()).collect();
    let refused = committed.iter().filter(|result| result.is_err()).count();
    assert!(refused > 0, "the catalogue had space for everything");
    for result in &committed {
        assert!(matches!(result, Ok(()) | Err(ColdError::NoSpace { .. })), "{result:?}");
    }
    fs::remove_file(dir.join("ballast")).expect("frees space");
    commit_when_possible(&tier);
    drop(tier);
    let tier = open(&dir.join("tier"));
    for (number, result) in (0..).zip(&committed) {
        let found = [number * 2, number * 2 + 1].map(|key| read(&tier, &long_key(key)).is_some());
        assert_eq!(found[0], found[1], "checkpoint {number} is there in half");
        assert!(found[0] || result.is_err(), "checkpoint {number} was acknowledged");
    }
    assert_eq!(read(&tier, b"resumed"), Some(b"yes".to_vec()));
}

fn big_rows(seed: u64) -> Vec<(Vec<u8>, Vec<u8>)> {
    (0..256u64).map(|i| (i.to_be_bytes().to_vec(), noise(seed * 1000 + i + 1, 60_000))).collect()
}

/// Until not even one more of 15 MB fits.
fn fill_with_checkpoints(tier: &dyn ColdTier) {
    for seed in 1..20 {
        match try_commit(tier, big_rows(seed)) {
            Ok(()) => {}
            Err(ColdError::NoSpace { .. }) => return,
            Err(error) => panic!("{error}"),
        }
    }
}

/// Takes what space is left, to the last page.
fn fill_with_ballast(dir: &Path) {
    use std::io::Write;
    let mut ballast = fs::File::create(dir.join("ballast")).expect("creates");
    for len in [1 << 20, 4096, 1] {
        while ballast.write_all(&vec![1; len]).is_ok() {}
    }
}

/// The event to wait for is RocksDB's own, which it tells nobody: so this asks.
fn commit_when_possible(tier: &dyn ColdTier) {
    let started = Instant::now();
    while let Err(error) = try_commit(tier, [(b"resumed".to_vec(), b"yes".to_vec())]) {
        assert!(matches!(error, ColdError::NoSpace { .. }), "{error}");
        assert!(started.elapsed().as_secs() < RESUME_SECONDS_MAX, "not resumed: {error}");
        thread::sleep(Duration::from_millis(100));
    }
}

fn read(tier: &dyn ColdTier, key: &[u8]) -> Option<Vec<u8>> {
    tier.read_many(&[key.to_vec()]).expect("reads").remove(0)
}
