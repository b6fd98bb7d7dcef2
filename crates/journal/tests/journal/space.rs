//! Segments: filled, trimmed, recycled, and refused by a full disk.

use basalt_env::{Disk, Fault, FaultKind, Operation, SimDisk};
use basalt_journal::{FsyncPolicy, Health, Journal, JournalError, Options, Seq};
use std::path::Path;

use crate::support::{DIR, News, fill, open, open_ok, options};

const SEGMENT: u64 = 16 * 1024;

/// Writes groups of their own until the log has this many segments.
fn fill_segments(journal: &Journal, count: u64) {
    while journal.stats().segments < count {
        let group = fill(journal, 0, 9, 1_000);
        journal.wait_durable(group).expect("room");
    }
}

/// Leaves the disk no room beyond what the journal has, which is one file more than it uses.
fn fill_disk(disk: &SimDisk, journal: &Journal) {
    // Nobody is told when the next file is ready.
    while journal.stats().prepared_files == 0 {
        std::thread::yield_now();
    }
    disk.limit_capacity(Some(disk.used_bytes()));
}

#[test]
fn trimmed_segments_are_recycled_and_their_old_records_never_parse() {
    let disk = SimDisk::new();
    let (journal, _) = open_ok(&disk, FsyncPolicy::Always);
    let mut used_bytes_max = 0;
    for round in 0..20 {
        fill_segments(&journal, 4);
        let through = journal.positions();
        journal.trim(&through).expect("trimmed");
        assert_eq!(journal.stats().segments, 1);
        assert!(journal.bytes_since_trim() <= SEGMENT);
        used_bytes_max = disk.used_bytes().max(used_bytes_max);
        assert!(journal.first_available()[0] > Seq(10 * round));
    }
    assert!(used_bytes_max <= 8 * SEGMENT, "{used_bytes_max} bytes of files for a log of four");
    let (first, last) = (journal.first_available()[0], journal.positions()[0]);
    disk.crash(5);
    drop(journal);
    let (journal, heard) = open_ok(&disk, FsyncPolicy::Always);
    let seqs: Vec<u64> = heard.0.iter().map(|(_, seq, _)| *seq).collect();
    assert_eq!(seqs, (first.0..=last.0).collect::<Vec<_>>());
    assert_eq!(journal.first_available()[0], first);
}

#[test]
fn a_stream_that_lags_keeps_its_segments() {
    let disk = SimDisk::new();
    let (journal, _) = open_ok(&disk, FsyncPolicy::Always);
    fill(&journal, 3, 1, 10);
    fill_segments(&journal, 4);
    let mut through = journal.positions();
    through[3] = Seq(0);
    journal.trim(&through).expect("nothing to do");
    assert_eq!(journal.stats().segments, 4);
    through[3] = Seq(1);
    journal.trim(&through).expect("trimmed");
    assert_eq!(journal.stats().segments, 1);
    assert_eq!(journal.first_available()[3], Seq(2), "gone, and known to be gone");
}

#[test]
fn a_group_larger_than_a_segment_gets_a_larger_one() {
    let disk = SimDisk::new();
    let (journal, _) = open_ok(&disk, FsyncPolicy::Always);
    fill(&journal, 0, 1, 100);
    fill(&journal, 1, 2, 200_000);
    journal.sync().expect("written");
    fill(&journal, 0, 3, 100);
    journal.close().expect("a clean end");
    let (_journal, heard) = open_ok(&disk, FsyncPolicy::Always);
    let lengths: Vec<usize> = heard.0.iter().map(|(_, _, bytes)| bytes.len()).collect();
    assert_eq!(lengths, [100, 200_000, 100]);
}

#[test]
fn a_long_log_refuses_records_for_moments_only() {
    let disk = SimDisk::new();
    let paced = Options {
        pace_from_bytes: 10_000,
        segment_bytes: 8 << 20,
        buffered_bytes_max: 6 << 20,
        ..options(FsyncPolicy::EverySecond)
    };
    let (journal, _) = open(&disk, paced).expect("opens");
    let news = News::of(&journal);
    fill(&journal, 0, 1, 100_000);
    journal.sync().expect("a healthy disk");
    for _ in 0..3 {
        // Each group closes the door once; it may be open again before we look.
        while journal.accepting() {
            fill(&journal, 0, 1, 1);
            std::thread::yield_now();
        }
        assert!(journal.stats().buffered_bytes < 1 << 20, "the buffers are not full");
        assert_eq!(journal.health(), Health::Ok);
        news.wait_until(|| journal.accepting());
    }
}

#[test]
fn a_backlog_behind_the_log_refuses_records_for_moments_only() {
    let disk = SimDisk::new();
    let paced = Options { pace_from_bytes: 1 << 30, ..options(FsyncPolicy::EverySecond) };
    let (journal, _) = open(&disk, paced).expect("opens");
    let news = News::of(&journal);
    let write_and_look = || {
        fill(&journal, 0, 1, 1);
        journal.sync().expect("a healthy disk");
        journal.accepting()
    };
    let always_accepts = || (0..20).all(|_| write_and_look());
    assert!(always_accepts(), "nothing is behind");
    journal.set_backlog(400);
    // Each group closes the door once; it may be open again before we look.
    while write_and_look() {
        std::thread::yield_now();
    }
    assert_eq!(journal.health(), Health::Ok);
    journal.set_backlog(0);
    news.wait_until(|| journal.accepting());
    // The writer may have looked at the backlog just before.
    write_and_look();
    news.wait_until(|| journal.accepting());
    assert!(always_accepts(), "nothing is behind again");
}

#[test]
fn a_full_disk_refuses_records_early_and_recovers_when_space_returns() {
    let disk = SimDisk::new();
    let (journal, _) = open_ok(&disk, FsyncPolicy::Always);
    let news = News::of(&journal);
    fill_segments(&journal, 3);
    fill_disk(&disk, &journal);
    fill_segments(&journal, 4);
    news.wait_until(|| journal.health() != Health::Ok);
    // What was begun is still taken, and written as far as there is room.
    let group = fill(&journal, 0, 1, 1_000);
    journal.wait_durable(group).expect("room in the current segment");
    assert!(!journal.accepting());
    journal.trim(&journal.positions()).expect("trimmed");
    news.wait_until(|| journal.accepting());
    assert_eq!(journal.health(), Health::Ok);
    fill_segments(&journal, 3);
}

#[test]
fn a_disk_too_full_for_a_group_keeps_it_in_memory_until_space_returns() {
    let disk = SimDisk::new();
    let (journal, _) = open_ok(&disk, FsyncPolicy::Always);
    let news = News::of(&journal);
    fill_segments(&journal, 2);
    fill_disk(&disk, &journal);
    let large = fill(&journal, 0, 1, 100_000);
    assert!(matches!(journal.wait_durable(large), Err(JournalError::DiskFull)));
    assert!(matches!(journal.sync(), Err(JournalError::DiskFull)));
    assert_eq!(journal.health(), Health::DiskFull);
    disk.limit_capacity(None);
    // The group may be on disk before the next file is ready, which is health's last word.
    news.wait_until(|| journal.durable() >= large && journal.health() == Health::Ok);
    journal.close().expect("a clean end");
}

#[test]
fn a_write_that_finds_the_disk_full_is_tried_again() {
    let disk = SimDisk::new();
    let (journal, _) = open_ok(&disk, FsyncPolicy::Always);
    let news = News::of(&journal);
    let fault = Fault { operation: Operation::Write, kind: FaultKind::Full, skip: 0, times: 1 };
    disk.inject(fault);
    let group = fill(&journal, 0, 1, 5_000);
    journal.kick();
    news.wait_until(|| journal.durable() >= group);
    assert_eq!(journal.health(), Health::Ok);
    disk.crash(1);
    drop(journal);
    assert_eq!(open_ok(&disk, FsyncPolicy::Always).1.0.len(), 1);
}

#[test]
fn a_trim_that_fails_leaves_the_log_whole_and_can_be_repeated() {
    let disk = SimDisk::new();
    let none = Options { recycle_files_max: 0, ..options(FsyncPolicy::Always) };
    let (journal, _) = open(&disk, none).expect("opens");
    fill_segments(&journal, 4);
    let through = journal.positions();
    let fault = Fault { operation: Operation::Remove, kind: FaultKind::Broken, skip: 1, times: 1 };
    disk.inject(fault);
    assert!(matches!(journal.trim(&through), Err(JournalError::Trim { .. })));
    assert_eq!(journal.stats().segments, 3);
    assert_eq!(journal.health(), Health::Ok);
    journal.trim(&through).expect("trimmed");
    journal.close().expect("a clean end");
    let mut names = disk.list(Path::new(DIR)).expect("list");
    names.retain(|name| name.ends_with(".log"));
    assert!(names.len() <= 2, "the current and the prepared file: {names:?}");
}

#[test]
fn on_a_full_disk_there_is_room_for_removals() {
    let disk = SimDisk::new();
    let (journal, _) = open_ok(&disk, FsyncPolicy::Always);
    let news = News::of(&journal);
    fill_disk(&disk, &journal);
    // Into the file that was ready; there is no other.
    fill_segments(&journal, 2);
    news.wait_until(|| !journal.accepting());
    assert_eq!(journal.health(), Health::DiskFull);
    assert!(journal.accepting_removals(), "the segment that has been begun has room");
    journal.wait_durable(fill(&journal, 0, 1, 50)).expect("there is room");
    // Until it has none.
    while journal.accepting_removals() {
        fill(&journal, 0, 1, 1_000);
        journal.kick();
        std::thread::yield_now();
    }
    disk.limit_capacity(None);
    news.wait_until(|| journal.accepting());
    journal.set_on_reserve(true);
    assert_eq!((journal.accepting(), journal.accepting_removals()), (false, true));
    assert_eq!(journal.health(), Health::DiskFull);
    journal.set_on_reserve(false);
    assert!(journal.accepting());
}
