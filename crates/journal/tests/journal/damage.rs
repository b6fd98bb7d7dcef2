//! Torn tails are cut; damage stops the start and names the place.

use std::path::{Path, PathBuf};

use basalt_env::{Disk, Random, SimDisk};
use basalt_journal::{FsyncPolicy, OpenError};

use crate::support::{DIR, Heard, fill, open, open_ok, options};

fn files(disk: &SimDisk) -> Vec<PathBuf> {
    let mut names = disk.list(Path::new(DIR)).expect("list");
    names.sort();
    names.iter().map(|name| Path::new(DIR).join(name)).collect()
}

/// A log of one group per record; returns where each group ends in the only segment.
fn write_log(disk: &SimDisk, records: u8) -> Vec<u64> {
    let (journal, _) = open_ok(disk, FsyncPolicy::Always);
    let ends = (0..records).map(|byte| {
        let group = fill(&journal, 0, byte, 100);
        journal.wait_durable(group).expect("a healthy disk");
        journal.bytes_since_trim()
    });
    let ends = ends.collect();
    disk.crash(0);
    ends
}

fn reopen(disk: &SimDisk) -> Result<Heard, OpenError> {
    open(disk, options(FsyncPolicy::Always)).map(|(_journal, heard)| heard)
}

#[test]
fn a_flipped_bit_before_the_last_group_stops_the_start_and_names_the_place() {
    let mut random = Random::new(3);
    for _ in 0..300 {
        let disk = SimDisk::new();
        let ends = write_log(&disk, 10);
        let file = files(&disk)[0].clone();
        let first = 4096;
        let offset = first + random.below(ends[8] - first);
        disk.corrupt(&file, offset, 1 << random.below(8)).expect("the file is there");
        let group = ends.partition_point(|end| *end <= offset);
        let start = if group == 0 { first } else { ends[group - 1] };
        match reopen(&disk) {
            Err(OpenError::Corrupt { file: named, offset: at, .. }) => {
                assert_eq!((named, at), (file, start), "flipped at {offset}");
            }
            // Padding between groups is covered by nothing and means nothing.
            Ok(heard) => assert_eq!(heard.0.len(), 10, "flipped at {offset}"),
            Err(other) => panic!("flipped at {offset}: {other}"),
        }
    }
}

#[test]
fn the_message_says_what_to_do() {
    let disk = SimDisk::new();
    write_log(&disk, 3);
    disk.corrupt(&files(&disk)[0], 4096 + 70, 1).expect("the file is there");
    let message = reopen(&disk).expect_err("damaged").to_string();
    assert_eq!(
        message,
        "journal is corrupt: file /journal/0000000000000001.log, offset 4096: group 1 is unreadable, \
         and later headers say that everything through group 2 was on disk; restore the file from a \
         backup or a replica, or move the journal directory away to start from the last checkpoint"
    );
}

#[test]
fn damage_to_the_last_group_is_a_torn_tail_unless_the_log_was_closed() {
    let disk = SimDisk::new();
    let ends = write_log(&disk, 5);
    disk.corrupt(&files(&disk)[0], ends[4] - 20, 1).expect("the file is there");
    assert_eq!(reopen(&disk).expect("cut").0.len(), 4);
    // That closed the log cleanly: from now on the same damage shows.
    disk.corrupt(&files(&disk)[0], ends[3] - 20, 1).expect("the file is there");
    assert!(matches!(reopen(&disk), Err(OpenError::Corrupt { .. })));
}

#[test]
fn a_damaged_segment_header_stops_the_start() {
    for victim in 0..2 {
        let disk = SimDisk::new();
        let (journal, _) = open_ok(&disk, FsyncPolicy::Always);
        while journal.stats().segments < 2 {
            journal.wait_durable(fill(&journal, 0, 1, 1_000)).expect("a healthy disk");
        }
        for _ in 0..3 {
            journal.wait_durable(fill(&journal, 0, 1, 1_000)).expect("a healthy disk");
        }
        drop(journal);
        disk.corrupt(&files(&disk)[victim], 40, 1).expect("the file is there");
        assert!(matches!(reopen(&disk), Err(OpenError::Corrupt { .. })), "segment {victim}");
    }
}

#[test]
fn a_missing_segment_stops_the_start() {
    let disk = SimDisk::new();
    let (journal, _) = open_ok(&disk, FsyncPolicy::Always);
    while journal.stats().segments < 3 {
        journal.wait_durable(fill(&journal, 0, 1, 1_000)).expect("a healthy disk");
    }
    drop(journal);
    disk.remove(&files(&disk)[1]).expect("the file is there");
    assert!(matches!(reopen(&disk), Err(OpenError::Corrupt { .. })));
}

#[test]
fn a_cut_tail_is_written_over_and_stays_cut() {
    for lost in 1..5u64 {
        let disk = SimDisk::new();
        let ends = write_log(&disk, 1);
        let (journal, _) = open_ok(&disk, FsyncPolicy::Never);
        for byte in 10..15 {
            // Groups of one size, none of them synced.
            let group = fill(&journal, 0, byte, 100);
            while journal.written() < group {
                std::thread::yield_now();
            }
        }
        // A power cut that loses one group in the middle and keeps those behind it.
        let size = ends[0] - 4096;
        disk.corrupt(&files(&disk)[0], ends[0] + lost * size + 70, 1).expect("the file is there");
        disk.kill();
        drop(journal);
        let (journal, heard) = open_ok(&disk, FsyncPolicy::Always);
        let survivors = heard.0.len();
        assert_eq!(survivors as u64, 1 + lost);
        journal.wait_durable(fill(&journal, 0, 10 + lost as u8, 100)).expect("a healthy disk");
        disk.crash(0);
        drop(journal);
        assert_eq!(reopen(&disk).expect("opens").0.len(), survivors + 1, "old groups stay dead");
    }
}
