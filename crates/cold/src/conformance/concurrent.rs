//! Readers while checkpoints commit.

use std::{
    sync::atomic::{AtomicBool, AtomicU32, Ordering},
    thread,
};

use super::{
    Change::{self, DeleteRange, Put},
    Site, all_rows, commit,
};
use crate::ColdTier;

const KEYS: u8 = 40;
const ROUNDS: u32 = 60;
/// Rounds of each reader that end while checkpoints commit: a busy machine may let all of these
/// pass before it lets a reader begin.
const READ_ROUNDS_MIN: u32 = 3;

/// Every round writes its number into all rows; even rounds delete a range of others, as the engine
/// does with the rows of a flushed database. A range that is deleted and written again in one
/// checkpoint is another matter: the engine never does that, and RocksDB was seen to show a reader
/// neither the old row nor the new one, in one of some dozen runs.
pub(super) fn whole_checkpoints(site: &Site<'_>) {
    let tier = site.tier();
    write_round(&*tier, 0);
    let done = AtomicBool::new(false);
    let rounds_read = [const { AtomicU32::new(0) }; 2];
    thread::scope(|scope| {
        let (tier, done) = (&*tier, &done);
        let read = |count| scope.spawn(move || read_rounds(tier, done, count));
        let readers: Vec<_> = rounds_read.iter().map(read).collect();
        let probes = scope.spawn(|| probe_rounds(tier, done));
        let mut round = 0;
        // Relaxed: one more round does no harm. A reader that has ended has something to say.
        let is_waited_for = |count: &AtomicU32| count.load(Ordering::Relaxed) < READ_ROUNDS_MIN;
        while round < ROUNDS
            || readers.iter().zip(&rounds_read).any(|(r, n)| !r.is_finished() && is_waited_for(n))
        {
            round += 1;
            write_round(tier, round);
        }
        // Release is not needed: joining orders everything.
        done.store(true, Ordering::Relaxed);
        for reader in readers {
            reader.join().expect("the reader saw a torn checkpoint");
        }
        probes.join().expect("the probe saw time go backwards");
    });
}

fn write_round(tier: &dyn ColdTier, round: u32) {
    let keys: Vec<[u8; 2]> = (0..KEYS).map(|i| [b'k', i]).collect();
    let value = round.to_be_bytes();
    let mut changes: Vec<Change<'_>> = keys.iter().map(|key| Put(key, &value)).collect();
    if round.is_multiple_of(2) {
        changes.push(DeleteRange(b"a", b"b"));
    }
    commit(tier, &changes);
}

fn read_rounds(tier: &dyn ColdTier, done: &AtomicBool, count: &AtomicU32) {
    let keys: Vec<Vec<u8>> = (0..KEYS).map(|i| vec![b'k', i]).collect();
    let mut last = Vec::new();
    while !done.load(Ordering::Relaxed) {
        let values = tier.read_many(&keys).expect("reads succeed");
        let first = values[0].clone().expect("the row is never missing");
        assert!(values.iter().all(|value| value.as_ref() == Some(&first)), "torn read_many");
        assert!(first >= last, "read_many went back in time");
        last = first;
        let rows = all_rows(tier);
        assert_eq!(rows.len(), usize::from(KEYS), "torn scan");
        assert!(rows.iter().all(|(_, value)| *value == rows[0].1), "torn scan");
        count.fetch_add(1, Ordering::Relaxed);
    }
}

fn probe_rounds(tier: &dyn ColdTier, done: &AtomicBool) {
    let mut last = Vec::new();
    while !done.load(Ordering::Relaxed) {
        match tier.probe(&[b'k', KEYS / 2]) {
            crate::Probe::Absent => panic!("probe says absent for a row that always exists"),
            crate::Probe::Present(value) => {
                assert!(value >= last, "probe went back in time");
                last = value;
            }
            crate::Probe::Unknown => {}
        }
    }
}

pub(super) fn scan_of_one_moment(site: &Site<'_>) {
    let tier = site.tier();
    write_round(&*tier, 1);
    let mut seen = Vec::new();
    tier.scan(b"", &super::TOP, &mut |_, value| {
        // The commit happens in the midst of the scan, on its own thread.
        if seen.is_empty() {
            write_round(&*tier, 2);
        }
        seen.push(value.to_vec());
        std::ops::ControlFlow::Continue(())
    })
    .expect("a scan must end");
    assert_eq!(seen, vec![1u32.to_be_bytes().to_vec(); usize::from(KEYS)]);
}
