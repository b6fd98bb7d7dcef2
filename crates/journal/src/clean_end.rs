//! What the journal was when it was last closed, in a file of its own.
//!
//! ```text
//! clean-end          written over in place, within one sector
//!   0  magic "BASALTE1"
//!   8  crc32 of bytes 12..48
//!  12  zero
//!  16  the journal's name    16 bytes
//!  32  segment id            u64
//!  40  number of the last group, which is empty   u64
//! ```
//! All groups through the one named here were on disk, so a log that ends before it has lost some
//! of them: the newest segments are gone, or the end of the last one. Nothing that is left of the
//! log could tell. The file is not removed when the log goes on, for what it says stays true.
//!
//! It is an aid, not a part of the log: if it cannot be written, the journal is closed as well
//! without it, and one that is damaged or missing says nothing.

use std::io::{self, IoSlice};
use std::path::{Path, PathBuf};

use basalt_env::Disk;

use crate::format::{PAGE_BYTES, u32_at, u64_at};
use crate::types::JournalId;

const NAME: &str = "clean-end";
const MAGIC: [u8; 8] = *b"BASALTE1";
const BYTES: usize = 48;

/// The last group of a log that was closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CleanEnd {
    pub(crate) journal: JournalId,
    pub(crate) segment: u64,
    pub(crate) group: u64,
}

pub(crate) fn path_in(dir: &Path) -> PathBuf {
    dir.join(NAME)
}

impl CleanEnd {
    /// `None` if there is none that can be read.
    pub(crate) fn read(disk: &dyn Disk, dir: &Path) -> io::Result<Option<Self>> {
        let file = match disk.open(&path_in(dir)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        let mut bytes = [0; BYTES];
        let read = file.read_at(&mut bytes, 0)?;
        Ok(Self::decode(&bytes[..read]))
    }

    /// Makes it durable.
    pub(crate) fn write(&self, disk: &dyn Disk, dir: &Path) -> io::Result<()> {
        let path = path_in(dir);
        let file = match disk.open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let file = disk.create(&path, PAGE_BYTES)?;
                disk.sync_dir(dir)?;
                file
            }
            opened => opened?,
        };
        file.write_all_at(&[IoSlice::new(&self.encode())], 0)?;
        file.sync_data()
    }

    /// Removes it: it is known to be no longer true.
    pub(crate) fn remove(disk: &dyn Disk, dir: &Path) -> io::Result<()> {
        match disk.remove(&path_in(dir)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed.and_then(|()| disk.sync_dir(dir)),
        }
    }

    fn encode(&self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[16..32].copy_from_slice(&self.journal.0);
        bytes[32..40].copy_from_slice(&self.segment.to_le_bytes());
        bytes[40..48].copy_from_slice(&self.group.to_le_bytes());
        let crc = crc32fast::hash(&bytes[12..]);
        bytes[8..12].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.get(..BYTES)?;
        let intact = bytes[..8] == MAGIC && u32_at(bytes, 8) == crc32fast::hash(&bytes[12..]);
        let journal = JournalId(*bytes[16..].first_chunk()?);
        intact.then(|| Self { journal, segment: u64_at(bytes, 32), group: u64_at(bytes, 40) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_survives_the_round_trip_and_no_flipped_bit() {
        let end = CleanEnd { journal: JournalId([7; 16]), segment: 3, group: 99 };
        let bytes = end.encode();
        assert_eq!(CleanEnd::decode(&bytes), Some(end));
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes;
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(CleanEnd::decode(&damaged), None, "bit {bit}");
        }
    }
}
