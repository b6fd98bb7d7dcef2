//! Probes touch no disk: also not when nothing is cached, and not through the page cache.

use std::{fs, io::Read};

use basalt_cold::{ColdTier, Probe};
use basalt_cold_rocks::{RocksOptions, RocksTier};

use crate::commit;

const ROWS: u32 = 100_000;
/// Ten bits a key promise 1 %; one sorted run, so one filter a key.
const FALSE_POSITIVES_MAX: usize = ROWS as usize * 15 / 1000;

#[test]
fn absent_keys_are_absent_without_any_read() {
    let root = tempfile::tempdir().expect("a temporary directory");
    let options = RocksOptions { cache_bytes: 1 << 20, ..RocksOptions::default() };
    let open = || RocksTier::open(root.path(), &options).expect("opens");
    let key = |row: u32| [&[1, 2, b'k'][..], &row.to_be_bytes()].concat();
    commit(&open(), (0..ROWS).map(|row| (key(row * 2), row.to_be_bytes().repeat(16))));
    let tier = open();
    let before = reads_so_far();
    let mut unknown = 0;
    for row in 0..ROWS {
        match tier.probe(&key(row * 2 + 1)) {
            Probe::Absent => {}
            Probe::Unknown => unknown += 1,
            Probe::Present(_) => panic!("row {row} is absent"),
        }
        assert_ne!(tier.probe(&key(row * 2)), Probe::Absent, "row {row} is there");
    }
    assert_eq!(reads_so_far(), before + 1, "a probe read from a file");
    assert!(unknown <= FALSE_POSITIVES_MAX, "{unknown} of {ROWS} absent keys were unknown");
    // Another partition has no file at all.
    assert_eq!(tier.probe(b"\x00\x00other"), Probe::Absent);
}

/// Read calls of this thread so far, cached by the system or not. Asking is one of them.
fn reads_so_far() -> u64 {
    let mut file = fs::File::open("/proc/thread-self/io").expect("this thread's counters");
    let mut text = [0; 1024];
    let len = file.read(&mut text).expect("reads");
    let text = str::from_utf8(&text[..len]).expect("text");
    let count = text.lines().find_map(|line| line.strip_prefix("syscr: "));
    count.expect("a count of reads").parse().expect("a number")
}

#[test]
fn a_cached_row_is_present_without_any_read() {
    let root = tempfile::tempdir().expect("a temporary directory");
    let rows = [(b"a".to_vec(), b"1".to_vec()), (b"b".to_vec(), vec![7; 2000])];
    commit(&crate::open(root.path()), rows);
    // Opened again, because ingestion itself looks at the first and the last row.
    let tier = crate::open(root.path());
    assert_eq!(tier.probe(b"a"), Probe::Unknown);
    tier.read_many(&[b"a".to_vec()]).expect("reads");
    assert_eq!(tier.probe(b"a"), Probe::Present(b"1".to_vec()));
    assert_eq!(tier.probe(b"c"), Probe::Absent);
    tier.close();
    assert_eq!(tier.probe(b"a"), Probe::Unknown);
}
