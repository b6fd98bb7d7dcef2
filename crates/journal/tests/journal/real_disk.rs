//! Many threads on the operating system's disk.

use std::sync::Arc;

use basalt_env::{Env, RealDisk};
use basalt_journal::{FsyncPolicy, Group, Journal, Options, Seq, StreamId};

use crate::support::Heard;

const THREADS: u64 = 4;
const RECORDS: u64 = 5_000;

#[test]
fn concurrent_appends_keep_their_order_and_atomic_ones_stay_whole() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let options = Options {
        streams: 8,
        segment_bytes: 256 * 1024,
        policy: FsyncPolicy::EverySecond,
        ..Options::default()
    };
    let mut nothing = Heard::default();
    let journal = Journal::open(
        &Env::system(),
        Arc::new(RealDisk),
        dir.path(),
        options.clone(),
        &mut nothing,
    );
    let journal = Arc::new(journal.expect("opens"));
    let threads: Vec<_> = (0..THREADS)
        .map(|thread| {
            let journal = Arc::clone(&journal);
            std::thread::spawn(move || append_many(&journal, thread))
        })
        .collect();
    for policy in [FsyncPolicy::Always, FsyncPolicy::Never, FsyncPolicy::EverySecond] {
        journal.set_policy(policy);
        journal.sync().expect("synced");
    }
    for thread in threads {
        thread.join().expect("no panic");
    }
    let positions = journal.positions();
    Arc::into_inner(journal).expect("the only owner").close().expect("a clean end");

    let mut heard = Heard::default();
    let journal =
        Journal::open(&Env::system(), Arc::new(RealDisk), dir.path(), options, &mut heard)
            .expect("opens again");
    assert_eq!(journal.positions(), positions);
    check_order(&heard);
    let before = journal.first_available();
    journal.trim(&positions).expect("trimmed");
    assert!(journal.first_available() > before);
}

/// Appends single records to one stream and pairs to two others.
fn append_many(journal: &Journal, thread: u64) {
    let mut seqs = Vec::new();
    let mut last = (Seq(0), Group(0));
    for count in 0..RECORDS {
        let mut record = [0; 16];
        record[..8].copy_from_slice(&thread.to_le_bytes());
        record[8..].copy_from_slice(&count.to_le_bytes());
        let (seq, group) =
            journal.append(StreamId(thread as u16 % 2), &[&record[..8], &record[8..]]);
        assert!(seq > last.0 && group >= last.1);
        last = (seq, group);
        let pair = [(StreamId(5), record[..].into()), (StreamId(3), record[..].into())];
        let group = journal.append_atomically(&pair, &mut seqs);
        assert!(group >= last.1 && seqs.len() == 2);
        if count % 1_000 == 0 {
            journal.wait_durable(group).expect("a healthy disk");
        }
    }
}

fn check_order(heard: &Heard) {
    let mut next = vec![vec![0u64; THREADS as usize]; 8];
    for (stream, _, record) in &heard.0 {
        let thread = u64::from_le_bytes(record[..8].try_into().expect("8 bytes"));
        let count = u64::from_le_bytes(record[8..].try_into().expect("8 bytes"));
        let expected = &mut next[usize::from(*stream)][thread as usize];
        assert_eq!(count, *expected, "stream {stream}, thread {thread}");
        *expected += 1;
    }
    for stream in [3, 5] {
        assert_eq!(next[stream], vec![RECORDS; THREADS as usize]);
    }
}
