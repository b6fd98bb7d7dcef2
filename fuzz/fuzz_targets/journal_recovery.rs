//! Whatever the segment files hold, opening the journal must end, without a panic, in a journal or
//! an error; and a journal that opened must open again and hold the same.
#![no_main]

use std::io::IoSlice;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use basalt_env::{Disk, Env, SimDisk};
use basalt_journal::{FsyncPolicy, Group, Journal, Options, ReplaySink, ReplayError, Seq, StreamId};
use libfuzzer_sys::fuzz_target;

const DIR: &str = "/journal";

#[derive(Default, PartialEq, Debug)]
struct Heard(Vec<(u16, u64, Vec<u8>)>);

impl ReplaySink for Heard {
    fn record(&mut self, stream: StreamId, seq: Seq, bytes: &[u8]) -> Result<(), ReplayError> {
        self.0.push((stream.0, seq.0, bytes.to_vec()));
        Ok(())
    }

    fn truncate_suffix(&mut self, stream: StreamId, from: Seq) -> Result<(), ReplayError> {
        self.0.retain(|(of, seq, _)| *of != stream.0 || *seq < from.0);
        Ok(())
    }

    fn raise(&mut self, _stream: StreamId, _last: Seq) -> Result<(), ReplayError> {
        Ok(())
    }
}

fn open(disk: &SimDisk) -> Option<(Journal, Heard)> {
    let options = Options {
        streams: 2,
        segment_bytes: 16 * 1024,
        policy: FsyncPolicy::Always,
        ..Options::default()
    };
    let mut heard = Heard::default();
    let journal =
        Journal::open(&Env::system(), Arc::new(disk.clone()), Path::new(DIR), options, &mut heard).ok()?;
    Some((journal, heard))
}

/// A log's files: names and bytes.
type Files = Vec<(String, Vec<u8>)>;

/// Logs of none to fifteen groups in a few segments. Made once: a group takes a sync, and that
/// takes two switches of threads.
static LOGS: LazyLock<Vec<Files>> = LazyLock::new(|| (0..16).map(log_of).collect());

/// A log that the journal itself made.
fn log_of(groups: u8) -> Files {
    let disk = SimDisk::new();
    let (journal, _) = open(&disk).expect("an empty directory");
    for byte in 0..groups {
        let record = vec![byte; usize::from(byte) * 300];
        let mut group: Group = journal.append(StreamId(u16::from(byte % 2)), &[&record]).1;
        if byte % 5 == 4 {
            group = journal.truncate_suffix(StreamId(0), Seq(2)).max(group);
        }
        journal.wait_durable(group).expect("a healthy disk");
    }
    disk.kill();
    drop(journal);
    let names = disk.list(Path::new(DIR)).expect("the journal made it");
    names.into_iter().map(|name| (name.clone(), read(&disk, &name))).collect()
}

fn read(disk: &SimDisk, name: &str) -> Vec<u8> {
    let file = disk.open(&Path::new(DIR).join(name)).expect("it is listed");
    let mut bytes = vec![0; file.bytes().expect("a healthy disk") as usize];
    let read = file.read_at(&mut bytes, 0).expect("a healthy disk");
    assert_eq!(read, bytes.len());
    bytes
}

/// A disk with these files.
fn disk_with<'a>(files: impl Iterator<Item = (String, &'a [u8])>) -> SimDisk {
    let disk = SimDisk::new();
    disk.create_dir(Path::new(DIR)).expect("room");
    for (name, bytes) in files {
        let path = Path::new(DIR).join(name);
        let file = disk.create(&path, bytes.len() as u64).expect("room");
        file.write_all_at(&[IoSlice::new(bytes)], 0).expect("room");
        file.sync_data().expect("a healthy disk");
    }
    disk.sync_dir(Path::new(DIR)).expect("a healthy disk");
    disk
}

/// Patches of four bytes: file, offset (two), mask.
fn damage(disk: &SimDisk, data: &[u8]) {
    let names = disk.list(Path::new(DIR)).expect("list");
    for patch in data.chunks_exact(4) {
        let Some(name) = names.get(usize::from(patch[0]) % names.len().max(1)) else { return };
        let offset = u64::from(u16::from_le_bytes([patch[1], patch[2]]));
        disk.corrupt(&Path::new(DIR).join(name), offset, patch[3]).expect("the file is there");
    }
}

// Bytes 0 and 1 choose a log of the journal's, which is then damaged, or files of raw input.
fuzz_target!(|data: &[u8]| {
    let [groups, mode, rest @ ..] = data else { return };
    let disk = if mode % 2 == 0 {
        let files = &LOGS[usize::from(groups % 16)];
        let disk = disk_with(files.iter().map(|(name, bytes)| (name.clone(), &bytes[..])));
        damage(&disk, rest);
        disk
    } else {
        let chunks = (u64::from(*mode / 2)..).zip(rest.chunks(12 * 1024));
        disk_with(chunks.map(|(id, chunk)| (format!("{id:016x}.log"), chunk)))
    };
    let Some((journal, heard)) = open(&disk) else { return };
    let positions = journal.positions();
    disk.crash(u64::from(*groups));
    drop(journal);
    let (journal, again) = open(&disk).expect("what opened once opens again");
    assert_eq!((journal.positions(), again), (positions, heard));
});
