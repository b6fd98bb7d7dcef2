//! The shared half of a crash test: one side commits until it is killed, the other checks.
//!
//! The test of a durable back end starts a child process that opens the tier and calls
//! [`commit_until_killed`]; kills it at some moment; opens the tier itself; calls [`verify`]; and
//! does so again and again on the same directory.

use super::all_rows;
use crate::ColdTier;

const KEYS: u32 = 500;
/// Rows that each checkpoint puts under a prefix of its own, and the next one deletes.
const PASSING_KEYS: u32 = 50;
const META: &[u8] = b"meta";

/// Commits checkpoint after checkpoint for ever, calling `acknowledge` with the number of each
/// after it was committed. A checkpoint replaces every row and a meta row; every third does so by
/// a range deletion too. Others of its rows are only for the next checkpoint to delete, and space
/// is given back after each.
///
/// # Panics
/// When the tier refuses a checkpoint.
pub fn commit_until_killed(tier: &dyn ColdTier, acknowledge: &mut dyn FnMut(u64)) -> ! {
    let mut number = verify(tier);
    loop {
        number += 1;
        let mut writer = tier.checkpoint_writer().expect("begins");
        if number.is_multiple_of(3) {
            writer.delete_range(b"k", b"l").expect("deletes a range");
        }
        writer.delete_range(b"g", &passing_key(number, 0)).expect("deletes a range");
        for key in 0..PASSING_KEYS {
            writer.put(&passing_key(number, key), &number.to_be_bytes()).expect("puts");
        }
        writer.begin_file().expect("begins a file");
        for key in 0..KEYS {
            let value = number.to_be_bytes().repeat(if key % 50 == 0 { 300 } else { 5 });
            writer.put(&row_key(key), &value).expect("puts");
        }
        writer.put(META, &number.to_be_bytes()).expect("puts");
        writer.prepare().expect("prepares").commit().expect("commits");
        acknowledge(number);
        tier.collect(1).expect("gives space back");
    }
}

/// Checks that the tier holds exactly one checkpoint's rows and says which (0: none yet).
///
/// # Panics
/// When the rows of several checkpoints are mixed, or some are missing.
pub fn verify(tier: &dyn ColdTier) -> u64 {
    let rows = all_rows(tier);
    let Some((meta_key, meta)) = rows.last() else { return 0 };
    assert_eq!(meta_key, META, "the meta row is missing");
    let count = (PASSING_KEYS + KEYS) as usize;
    assert_eq!(rows.len(), count + 1, "rows are missing or left over");
    for (key, value) in &rows[..count] {
        assert_eq!(value[..8], meta[..], "row {key:?} is of another checkpoint than the meta row");
    }
    u64::from_be_bytes(meta[..].try_into().expect("the meta row has eight bytes"))
}

fn passing_key(number: u64, key: u32) -> Vec<u8> {
    format!("g{number:012}{key:05}").into_bytes()
}

fn row_key(key: u32) -> Vec<u8> {
    format!("k{key:05}").into_bytes()
}
