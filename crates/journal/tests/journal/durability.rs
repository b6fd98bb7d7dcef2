//! Groups, policies, waking and failing.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use basalt_env::{Env, Fault, FaultKind, Operation, SimDisk};
use basalt_journal::{
    FsyncPolicy, Health, Journal, JournalError, OpenError, Options, ReplayError, Seq, StreamId,
};
use basalt_stdx::lent::{LentBytes, Parts};

use crate::support::{DIR, News, fill, hold_syncs, open, open_ok, options};

#[test]
fn under_always_one_sync_covers_what_gathered_during_the_last() {
    let disk = SimDisk::new();
    let (journal, _) = open_ok(&disk, FsyncPolicy::Always);
    let news = News::of(&journal);
    let held = hold_syncs(&disk, &journal);
    let first = fill(&journal, 0, 1, 100);
    assert_eq!(disk.syncs_waiting(), 0, "nobody wakes the writer before the turn ends");
    journal.kick();
    while disk.syncs_waiting() == 0 {
        std::thread::yield_now();
    }
    let second = fill(&journal, 1, 2, 100);
    let third = fill(&journal, 2, 3, 100);
    assert!(first < second && second == third, "both gather in the next group");
    assert_eq!(journal.written(), first);
    assert!(journal.durable() < first, "written is not durable");
    drop(held);
    news.wait_until(|| journal.durable() >= third);
    assert_eq!(journal.stats().groups, 2);
    assert_eq!(journal.stats().fsyncs, 2);
    journal.close().expect("a clean end");
}

#[test]
fn without_always_appends_wake_the_writer_and_sync_waits_for_the_disk() {
    for policy in [FsyncPolicy::EverySecond, FsyncPolicy::Never] {
        let disk = SimDisk::new();
        let (journal, _) = open_ok(&disk, policy);
        let group = fill(&journal, 3, 7, 10);
        while journal.written() < group {
            std::thread::yield_now();
        }
        assert_eq!(journal.sync().expect("synced"), group);
        journal.wait_durable(group).expect("it is");
        disk.crash(1);
        drop(journal);
        let (_journal, heard) = open_ok(&disk, policy);
        assert_eq!(heard.0, [(3, 1, vec![7; 10])]);
    }
}

#[test]
fn every_second_syncs_by_itself_and_never_does_not() {
    let disk = SimDisk::new();
    let (journal, _) = open_ok(&disk, FsyncPolicy::EverySecond);
    let news = News::of(&journal);
    let group = fill(&journal, 0, 1, 10);
    news.wait_until(|| journal.durable() >= group);
    journal.set_policy(FsyncPolicy::Never);
    journal.sync().expect("synced");
    let fsyncs = journal.stats().fsyncs;
    let group = fill(&journal, 0, 1, 10);
    while journal.written() < group {
        std::thread::yield_now();
    }
    journal.set_policy(FsyncPolicy::Always);
    news.wait_until(|| journal.durable() >= group);
    assert_eq!(journal.stats().fsyncs, fsyncs + 1);
}

#[test]
fn a_group_that_is_wanted_is_synced_at_once_whatever_the_policy() {
    for policy in [FsyncPolicy::EverySecond, FsyncPolicy::Never] {
        let disk = SimDisk::new();
        let slow = Options { sync_interval: Duration::from_secs(3600), ..options(policy) };
        let (journal, _) = open(&disk, slow).expect("it opens");
        let news = News::of(&journal);
        journal.sync().expect("synced");
        for round in 0..200 {
            let group = fill(&journal, 0, 1, 10);
            if round % 2 == 0 {
                // The writer has been there before.
                while journal.written() < group {
                    std::thread::yield_now();
                }
            }
            journal.want_durable(group);
            news.wait_until(|| journal.durable() >= group);
        }
        let fsyncs = journal.stats().fsyncs;
        let group = fill(&journal, 0, 1, 10);
        while journal.written() < group {
            std::thread::yield_now();
        }
        assert_eq!((journal.durable() < group, journal.stats().fsyncs), (true, fsyncs));
    }
}

#[test]
fn a_second_journal_in_the_directory_is_refused() {
    let disk = SimDisk::new();
    let (journal, _) = open_ok(&disk, FsyncPolicy::Always);
    assert!(matches!(open(&disk, options(FsyncPolicy::Always)), Err(OpenError::Locked(_))));
    drop(journal);
    open_ok(&disk, FsyncPolicy::Always);
}

#[test]
fn streams_positions_and_jumps_survive_and_closures_refuse_truncation() {
    let disk = SimDisk::new();
    let (journal, _) = open_ok(&disk, FsyncPolicy::Always);
    fill(&journal, 0, 1, 10);
    journal.raise_stream(StreamId(0), Seq(41));
    assert_eq!(journal.append(StreamId(0), &[b"x"]).0, Seq(42));
    journal.set_hard_state(StreamId(2), b"term 1");
    journal.set_hard_state(StreamId(2), b"term 2");
    journal.close().expect("a clean end");
    let seen = AtomicU64::new(0);
    let mut count = |_: StreamId, _: Seq, _: &[u8]| -> Result<(), ReplayError> {
        seen.fetch_add(1, Ordering::Relaxed);
        Ok(())
    };
    let (shared, dir) = (Arc::new(disk.clone()), std::path::Path::new(DIR));
    let always = options(FsyncPolicy::Always);
    let journal = Journal::open(&Env::system(), shared.clone(), dir, always.clone(), &mut count)
        .expect("opens");
    assert_eq!(journal.positions(), [Seq(42), Seq(0), Seq(0), Seq(0)]);
    assert_eq!(journal.first_available(), [Seq(42), Seq(1), Seq(1), Seq(1)]);
    assert_eq!(journal.hard_state(StreamId(2)), b"term 2");
    journal.truncate_suffix(StreamId(0), Seq(42));
    assert_eq!(journal.append(StreamId(0), &[b"y"]).0, Seq(42));
    journal.close().expect("a clean end");
    let refused = Journal::open(&Env::system(), shared, dir, always.clone(), &mut count).map(drop);
    assert!(matches!(refused, Err(OpenError::Replay(ReplayError::Truncated { .. }))));
    let (_journal, heard) = open(&disk, always).expect("opens");
    assert_eq!(heard.0.last(), Some(&(0, 42, b"y".to_vec())));
}

#[test]
fn another_number_of_streams_is_refused() {
    let disk = SimDisk::new();
    drop(open_ok(&disk, FsyncPolicy::Always));
    let other = Options { streams: 5, ..options(FsyncPolicy::Always) };
    assert!(matches!(
        open(&disk, other).map(drop),
        Err(OpenError::StreamsDiffer { found: 4, wanted: 5 })
    ));
}

#[test]
fn a_failed_sync_or_write_and_a_panic_poison_for_ever() {
    let cases = [
        (Operation::Sync, FaultKind::Broken),
        (Operation::Write, FaultKind::Broken),
        (Operation::Write, FaultKind::Panic),
    ];
    for (operation, kind) in cases {
        let disk = SimDisk::new();
        let (journal, _) = open_ok(&disk, FsyncPolicy::Always);
        let news = News::of(&journal);
        let safe = fill(&journal, 0, 1, 100);
        journal.wait_durable(safe).expect("a healthy disk");
        disk.inject(Fault { operation, kind, skip: 0, times: 1 });
        let lost = fill(&journal, 0, 2, 100);
        let failed = journal.wait_durable(lost);
        assert!(matches!(failed, Err(JournalError::Failed(_))), "{operation:?} {kind:?}");
        news.wait_until(|| !journal.accepting());
        assert!(matches!(journal.health(), Health::Failed(_)));
        assert_eq!(journal.durable(), safe);
        // The disk is well again, and the journal must not believe it.
        let later = fill(&journal, 0, 3, 100_000);
        assert!(journal.sync().is_err());
        assert!(journal.wait_durable(later).is_err());
        assert_eq!(journal.durable(), safe);
        assert!(journal.stats().buffered_bytes < 200_000, "what cannot be written is dropped");
        assert!(journal.close().is_err());
        let (_journal, heard) = open_ok(&disk, FsyncPolicy::Always);
        assert_eq!(heard.0[0], (0, 1, vec![1; 100]));
        assert!(heard.0.iter().all(|(_, _, bytes)| bytes[0] != 3));
    }
}

#[test]
fn full_buffers_close_the_gate_until_they_are_written() {
    close_the_gate_with(|journal| {
        fill(journal, 1, 2, 1_000);
    });
}

#[test]
fn lent_bytes_count_as_buffered_and_are_given_back_when_they_are_written() {
    let owner = Arc::new(vec![2; 5_000]);
    let lent = LentBytes::new(Arc::clone(&owner), 3_000..3_990);
    let journal = close_the_gate_with(|journal| {
        let parts = Parts { copied: b"0123456789", lent: Some(&lent) };
        journal.append_atomically(&[(StreamId(1), parts)], &mut Vec::new());
        assert!(Arc::strong_count(&owner) > 2);
    });
    assert_eq!(Arc::strong_count(&owner), 2);
    drop(journal);
}

/// Appends records of 1,000 bytes each until no more are taken, and then lets them be written.
fn close_the_gate_with(append: impl Fn(&Journal)) -> Journal {
    let disk = SimDisk::new();
    let small = Options { buffered_bytes_max: 10_000, ..options(FsyncPolicy::Always) };
    let (journal, _) = open(&disk, small).expect("opens");
    let news = News::of(&journal);
    let held = hold_syncs(&disk, &journal);
    fill(&journal, 0, 1, 10);
    journal.kick();
    while disk.syncs_waiting() == 0 {
        std::thread::yield_now();
    }
    for _ in 0..9 {
        append(&journal);
        assert!(journal.accepting());
    }
    append(&journal);
    assert!(!journal.accepting(), "10 kB of records and their framing wait, and 10 kB are allowed");
    assert_eq!(journal.health(), Health::Ok);
    drop(held);
    news.wait_until(|| journal.accepting());
    journal
}
