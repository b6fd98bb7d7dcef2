//! Torn tails are cut; damage stops the start and names the place.

use std::path::{Path, PathBuf};

use basalt_env::{Disk, Random, SimDisk};
use basalt_journal::{FsyncPolicy, Journal, OpenError, Options};

use crate::support::{DIR, Heard, fill, open, open_ok, options};

fn files(disk: &SimDisk) -> Vec<PathBuf> {
    let mut names = disk.list(Path::new(DIR)).expect("list");
    names.sort();
    names.iter().map(|name| Path::new(DIR).join(name)).collect()
}

/// The segments that hold something of the log.
fn begun(disk: &SimDisk) -> Vec<PathBuf> {
    let begun = |path: &PathBuf| {
        let mut bytes = [0; 24];
        let file = disk.open(path).expect("it is there");
        let read = file.read_at(&mut bytes, 0).expect("read");
        let name = path.file_stem().and_then(|name| u64::from_str_radix(name.to_str()?, 16).ok());
        read == bytes.len() && name.is_some_and(|id| bytes[16..24] == id.to_le_bytes())
    };
    files(disk).into_iter().filter(begun).collect()
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
         backup or a replica, or start with --accept-data-loss yes to end the journal there"
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

/// Groups of a kilobyte each, until there are some segments.
fn fill_segments(journal: &Journal, segments: u64) {
    while journal.stats().segments < segments {
        let group = fill(journal, 0, 1, 1_000);
        while journal.written() < group {
            std::thread::yield_now();
        }
    }
}

fn assert_corrupt(opened: Result<Heard, OpenError>, file: &Path, reason: &str) {
    match opened {
        Err(OpenError::Corrupt { file: named, detail, .. }) => {
            assert_eq!(named, file, "{detail}");
            assert!(detail.contains(reason), "{detail:?} does not say {reason:?}");
        }
        Err(other) => panic!("{other}"),
        Ok(heard) => panic!("it opens, with {} records", heard.0.len()),
    }
}

#[test]
fn a_log_that_is_shorter_than_when_it_was_closed_stops_the_start() {
    for removed in 1..3 {
        let disk = SimDisk::new();
        let (journal, _) = open_ok(&disk, FsyncPolicy::Never);
        fill_segments(&journal, 4);
        journal.close().expect("a healthy disk");
        let files = begun(&disk);
        for file in files.iter().rev().take(removed) {
            disk.remove(file).expect("the file is there");
        }
        let last = &files[files.len() - 1 - removed];
        assert_corrupt(reopen(&disk), last, "closed");
        let accepting = Options { accept_loss: true, ..options(FsyncPolicy::Always) };
        let (journal, heard) = open(&disk, accepting).expect("what is lost is accepted");
        assert!(!heard.0.is_empty());
        journal.close().expect("a healthy disk");
        assert_eq!(reopen(&disk).expect("nothing more is lost"), heard);
    }
}

#[test]
fn a_gap_between_segments_is_named_though_nothing_was_durable() {
    let disk = SimDisk::new();
    let (journal, _) = open_ok(&disk, FsyncPolicy::Never);
    fill_segments(&journal, 3);
    disk.kill();
    drop(journal);
    let files = begun(&disk);
    disk.remove(&files[1]).expect("the file is there");
    assert_corrupt(reopen(&disk), &files[1], "missing");
}

#[test]
fn files_of_two_journals_are_told_apart() {
    let [one, other] = [(); 2].map(|()| {
        let disk = SimDisk::new();
        let (journal, _) = open_ok(&disk, FsyncPolicy::Never);
        fill_segments(&journal, 3);
        journal.close().expect("a healthy disk");
        disk
    });
    let file = begun(&one)[1].clone();
    let mut bytes = vec![0; 16 * 1024];
    let read = other.open(&file).expect("it is there").read_at(&mut bytes, 0).expect("read");
    one.open(&file)
        .expect("it is there")
        .write_all_at(&[std::io::IoSlice::new(&bytes[..read])], 0)
        .expect("written");
    assert_corrupt(reopen(&one), &file, "another journal");
}
