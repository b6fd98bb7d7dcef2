//! Changes as a log would hold them, whatever is in them, on their way into memory and into rows:
//! a start ends in an engine or an error, without a panic and without more memory than its changes
//! have bytes; and as many keys as it counts are found again behind a checkpoint.
//!
//! Run it with `-len_control=0`: short inputs have no change in them, and it runs some fifty inputs
//! a second.
#![no_main]

#[allow(dead_code, reason = "the tests need more of it")]
#[path = "../../crates/dispatch/tests/harness/log.rs"]
mod log;

use basalt_change::op::{
    self, Edit, Op, Origin, Put, PutValue, Replace, STRING_BYTES_MAX, StringForm,
};
use basalt_change::place::Slot;
use basalt_change::version::Version;
use basalt_cold::{ColdTier, MemoryDisk, MemoryTier, Residency};
use basalt_engine::{CommitLog, Engine, Options, RecoveryError};
use basalt_env::{Env, ManualClock};
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use log::MemoryLog;
use std::path::Path;
use std::sync::Arc;

const DATABASES: u8 = 2;
/// Keys of one slot, and so of one record.
const KEYS: &[&[u8]] = &[b"{k}", b"{k}1", b"{k}2"];
const OPS_MAX: usize = 12;
/// Gaps that are longer, and yet allowed, only take time.
const GAP_MAX: u64 = 1 << 16;

fn word<'a>(input: &mut Unstructured<'a>) -> Result<&'a [u8]> {
    let len = input.int_in_range(0..=200)?.min(input.len());
    input.bytes(len)
}

fn offset(input: &mut Unstructured<'_>) -> Result<u64> {
    let any = if input.ratio(1, 8)? { input.arbitrary()? } else { input.int_in_range(0..=300)? };
    Ok(if any > STRING_BYTES_MAX { any } else { any % GAP_MAX })
}

/// Which keys there are, by database. Whether a key was there before, a log is believed: to see it,
/// a start would have to read its row.
type There = [[bool; KEYS.len()]; DATABASES as usize];

fn change<'a>(input: &mut Unstructured<'a>, there: &mut There) -> Result<Op<'a>> {
    let (number, db) = (input.choose_index(KEYS.len())?, input.int_in_range(0..=DATABASES - 1)?);
    let key = KEYS[number];
    let is_there = &mut there[usize::from(db)][number];
    let origin = if *is_there { Origin::Existing } else { Origin::New };
    let expire_ms = *input.choose(&[0, 1, 1 << 40, u64::MAX])?;
    Ok(match input.int_in_range(0..=10)? {
        0 => {
            *is_there = true;
            let form = *input.choose(&[StringForm::Whole, StringForm::Edited])?;
            Op::Put(Put { db, key, value: word(input)?, expire_ms, origin, form })
        }
        1 if *is_there => {
            *is_there = false;
            Op::Delete { db, key }
        }
        1 | 2 => Op::Expire { db, key, expire_ms },
        3 => Op::Splice { db, key, offset: offset(input)?, bytes: word(input)? },
        4 => {
            let (offset, removed) = (offset(input)?, offset(input)?);
            Op::Replace(Replace { db, key, offset, removed, bytes: word(input)? })
        }
        5 | 6 => {
            *is_there = true;
            let kind = input.int_in_range(1..=7)?;
            Op::Edit(Edit { db, key, kind, origin, edits: word(input)? })
        }
        7 | 8 => {
            *is_there = true;
            let kind = input.int_in_range(1..=7)?;
            Op::PutValue(PutValue { db, key, kind, expire_ms, origin, value: word(input)? })
        }
        9 => Op::Version { db, key, version: Version::new(input.arbitrary()?) },
        _ => {
            let other = input.int_in_range(0..=DATABASES - 1)?;
            there.swap(usize::from(db), usize::from(other));
            Op::SwapDb { db, other }
        }
    })
}

/// Opens what is on a disk, with a record of these changes in its log.
fn open(disk: &Arc<MemoryDisk>, changes: &[Op<'_>]) -> std::result::Result<Engine, RecoveryError> {
    let tier = MemoryTier::open(disk, Path::new("cold"), Residency::Uncached);
    let options = Options {
        databases: DATABASES,
        collection_row_bytes_max: 100,
        string_piece_bytes: 1_000,
        ..Options::default()
    };
    let clock = Arc::new(ManualClock::at_unix_ms(1 << 39));
    let tier = Arc::new(tier) as Arc<dyn ColdTier>;
    Engine::open(options, tier, Env::manual(&clock, 1), |floor, replay| {
        let partition = Slot::of(KEYS[0]).partition();
        let shard = partition.shard();
        let mut positions = floor.to_vec();
        if !changes.is_empty() {
            let mut record = Vec::new();
            op::begin(&mut record, partition);
            changes.iter().for_each(|change| change.encode(&mut record));
            positions[shard.index()] += 1;
            replay.record(shard, positions[shard.index()], &record)?;
        }
        Ok::<Arc<dyn CommitLog>, RecoveryError>(Arc::new(MemoryLog::new(&positions)))
    })
}

/// Keys of each database, which are counted, not looked up.
fn counts(engine: &Engine) -> Vec<u64> {
    (0..DATABASES).map(|db| engine.totals(db).keys).collect()
}

fn run(input: &mut Unstructured<'_>) -> Result<()> {
    let disk = Arc::new(MemoryDisk::new());
    let (mut there, mut before) = (There::default(), vec![0; usize::from(DATABASES)]);
    // Onto nothing, onto rows, and onto those.
    for _ in 0..3 {
        let count = input.int_in_range(0..=OPS_MAX)?;
        let changes: Vec<Op<'_>> =
            (0..count).map(|_| change(input, &mut there)).collect::<Result<_>>()?;
        let Ok(engine) = open(&disk, &changes) else { break };
        if engine.checkpoint().is_err() || engine.checkpoint_stats().partitions_left_out > 0 {
            return Ok(());
        }
        before = counts(&engine);
    }
    let again = open(&disk, &[]).expect("what a checkpoint has written can be read");
    assert_eq!(before, counts(&again));
    Ok(())
}

fuzz_target!(|data: &[u8]| {
    // Bytes that end too early end the input.
    let _ = run(&mut Unstructured::new(data));
});
