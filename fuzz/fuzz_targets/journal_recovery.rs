//! Whatever the segment files hold, opening the journal must end, without a panic, in a journal or an
//! error; and a journal that opened must open again and hold the same.
#![no_main]

use std::io::IoSlice;
use std::path::Path;
use std::sync::Arc;

use basalt_env::{Disk, SimDisk};
use basalt_journal::{FsyncPolicy, Group, Journal, Options, Replay, ReplayError, Seq, StreamId};
use libfuzzer_sys::fuzz_target;

const DIR: &str = "/journal";

#[derive(Default, PartialEq, Debug)]
struct Heard(Vec<(u16, u64, Vec<u8>)>);

impl Replay for Heard {
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
        Journal::open(Arc::new(disk.clone()), Path::new(DIR), options, &mut heard).ok()?;
    Some((journal, heard))
}

/// A log of a few groups in a few segments, made by the journal itself.
fn write_log(disk: &SimDisk, groups: u8) {
    let Some((journal, _)) = open(disk) else { return };
    for byte in 0..groups % 16 {
        let record = vec![byte; usize::from(byte) * 300];
        let mut group: Group = journal.append(StreamId(u16::from(byte % 2)), &[&record]).1;
        if byte % 5 == 4 {
            group = journal.truncate_suffix(StreamId(0), Seq(2)).max(group);
        }
        journal.wait_durable(group).expect("a healthy disk");
    }
    disk.kill();
}

/// Bytes 0 and 1 choose a valid log and whether files of raw input are added; the rest is patches of four
/// bytes: file, offset (two), mask.
fn damage(disk: &SimDisk, data: &[u8]) {
    let names = disk.list(Path::new(DIR)).expect("list");
    for patch in data.chunks_exact(4) {
        let Some(name) = names.get(usize::from(patch[0]) % names.len().max(1)) else { return };
        let offset = u64::from(u16::from_le_bytes([patch[1], patch[2]]));
        disk.corrupt(&Path::new(DIR).join(name), offset, patch[3]).expect("the file is there");
    }
}

fuzz_target!(|data: &[u8]| {
    let [groups, mode, rest @ ..] = data else { return };
    let disk = SimDisk::new();
    write_log(&disk, *groups);
    if mode % 2 == 0 {
        damage(&disk, rest);
    } else {
        for (id, content) in (u64::from(*mode / 2)..).zip(rest.chunks(12 * 1024)) {
            let path = Path::new(DIR).join(format!("{id:016x}.log"));
            if let Ok(file) = disk.create(&path, content.len() as u64) {
                file.write_all_at(&[IoSlice::new(content)], 0).expect("room");
            }
        }
    }
    disk.kill();
    let Some((journal, heard)) = open(&disk) else { return };
    let positions = journal.positions();
    disk.crash(u64::from(*groups));
    drop(journal);
    let (journal, again) = open(&disk).expect("what opened once opens again");
    assert_eq!((journal.positions(), again), (positions, heard));
});
