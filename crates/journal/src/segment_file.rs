//! A segment file: its name, its creation, and what its first page says.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use basalt_env::{Disk, DiskFile};

use crate::format::{PAGE_BYTES, SegmentHeader};
use crate::options::{HARD_STATE_BYTES_MAX, STREAMS_MAX};

const EXTENSION: &str = ".log";
const ID_DIGITS: usize = 16;
/// No header is longer, however many streams there are.
const HEADER_BYTES_MAX: u64 = PAGE_BYTES + STREAMS_MAX as u64 * (12 + HARD_STATE_BYTES_MAX as u64);

/// Where the segment with this id lives.
pub(crate) fn path_of(dir: &Path, id: u64) -> PathBuf {
    dir.join(format!("{id:0ID_DIGITS$x}{EXTENSION}"))
}

/// The id in a file name; `None` for a file that is none of ours.
pub(crate) fn id_of(name: &str) -> Option<u64> {
    let digits = name.strip_suffix(EXTENSION)?;
    let canonical = digits.len() == ID_DIGITS
        && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    canonical.then(|| u64::from_str_radix(digits, 16).ok()).flatten()
}

/// Makes a segment file whose name and length survive a crash.
pub(crate) fn create(
    disk: &dyn Disk,
    dir: &Path,
    id: u64,
    bytes: u64,
) -> io::Result<Arc<dyn DiskFile>> {
    let path = path_of(dir, id);
    let made = match disk.create(&path, bytes) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            // Left by an attempt that failed half-way: ids are given out once, so nothing is in it.
            disk.remove(&path)?;
            disk.create(&path, bytes)
        }
        made => made,
    };
    let file = made?;
    file.sync_data()?;
    disk.sync_dir(dir)?;
    Ok(file)
}

/// What the start of a segment file says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// This segment was begun; groups follow at the offset.
    Begun(SegmentHeader, u64),
    /// It was not: empty, or recycled and not yet used under this name.
    Unused,
    /// Neither: a torn first write, or damage.
    Unreadable,
}

pub(crate) fn read_start(file: &dyn DiskFile, id: u64) -> io::Result<Start> {
    let mut bytes = vec![0; PAGE_BYTES as usize];
    let count = file.read_at(&mut bytes, 0)?;
    bytes.truncate(count);
    if bytes.iter().all(|&byte| byte == 0) {
        return Ok(Start::Unused);
    }
    match SegmentHeader::used_bytes(&bytes) {
        Some(used) if used <= HEADER_BYTES_MAX => {
            bytes.resize(used.max(count as u64) as usize, 0);
            let count = file.read_at(&mut bytes, 0)?;
            bytes.truncate(count);
        }
        _ => return Ok(Start::Unreadable),
    }
    Ok(match SegmentHeader::decode(&bytes) {
        Some(header) if header.id == id => {
            let used = SegmentHeader::used_bytes(&bytes).unwrap_or(0);
            Start::Begun(header, used.next_multiple_of(PAGE_BYTES))
        }
        Some(_) => Start::Unused,
        None => Start::Unreadable,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_carry_ids_and_others_are_left_alone() {
        let path = path_of(Path::new("/j"), 0x2a);
        assert_eq!(path, Path::new("/j/000000000000002a.log"));
        assert_eq!(id_of("000000000000002a.log"), Some(42));
        for other in
            ["2a.log", "000000000000002A.log", "000000000000002a.txt", "+00000000000002a.log"]
        {
            assert_eq!(id_of(other), None, "{other}");
        }
    }
}
