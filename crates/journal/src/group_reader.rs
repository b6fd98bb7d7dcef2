//! Reads groups off a segment file in large pieces, into one buffer that is used again and again.

use std::io;
use std::sync::Arc;

use basalt_env::DiskFile;

use crate::format::{
    CHECKSUM_BYTES, GROUP_HEADER_BYTES, GroupHeader, group_bytes, salted_hasher, u32_at,
};

/// Large enough that system calls do not count, small enough to stay in the second-level cache.
const CHUNK_BYTES: usize = 1 << 20;

pub(crate) struct GroupReader {
    file: Arc<dyn DiskFile>,
    file_bytes: u64,
    buffer: Vec<u8>,
    /// Where in the file the buffer begins, and how much of it is filled.
    buffer_offset: u64,
    filled: usize,
}

/// A group whose checksums are right and which belongs to the segment.
pub(crate) struct ReadGroup<'a> {
    pub(crate) header: GroupHeader,
    pub(crate) body: &'a [u8],
    pub(crate) checksum: u32,
    /// What it takes in the file.
    pub(crate) bytes: u64,
}

impl GroupReader {
    pub(crate) fn new(file: Arc<dyn DiskFile>, file_bytes: u64, buffer: Vec<u8>) -> Self {
        Self { file, file_bytes, buffer, buffer_offset: 0, filled: 0 }
    }

    pub(crate) fn into_buffer(self) -> Vec<u8> {
        self.buffer
    }

    /// The group at an offset; `None` if there is none, for whatever reason.
    pub(crate) fn group(
        &mut self,
        offset: u64,
        segment: u64,
        salt: u64,
    ) -> io::Result<Option<ReadGroup<'_>>> {
        let Some(bytes) = self.view(offset, GROUP_HEADER_BYTES as u64)? else { return Ok(None) };
        let Some(header) = GroupHeader::decode(bytes) else { return Ok(None) };
        if header.segment != segment || header.salt != salt {
            return Ok(None);
        }
        let Some(total) = group_bytes(header.body_bytes) else { return Ok(None) };
        let Some(bytes) = self.view(offset, total)? else { return Ok(None) };
        let covered = GROUP_HEADER_BYTES + header.body_bytes as usize;
        let mut hasher = salted_hasher(salt);
        hasher.update(&bytes[..covered]);
        let checksum = u32_at(&bytes[..covered + CHECKSUM_BYTES], covered);
        if hasher.finalize() != checksum {
            return Ok(None);
        }
        let body = &bytes[GROUP_HEADER_BYTES..covered];
        Ok(Some(ReadGroup { header, body, checksum, bytes: total }))
    }

    /// Bytes of the file; `None` if it ends before.
    pub(crate) fn view(&mut self, offset: u64, count: u64) -> io::Result<Option<&[u8]>> {
        let end = match offset.checked_add(count) {
            Some(end) if end <= self.file_bytes => end,
            _ => return Ok(None),
        };
        let buffered = self.buffer_offset..self.buffer_offset + self.filled as u64;
        if !(buffered.start <= offset && end <= buffered.end) {
            self.fill(offset, count as usize)?;
        }
        let start = (offset - self.buffer_offset) as usize;
        Ok(self.buffer[..self.filled].get(start..start + count as usize))
    }

    /// Moves the buffer so that it begins at `offset` and holds `count` bytes and as many more as
    /// fit.
    fn fill(&mut self, offset: u64, count: usize) -> io::Result<()> {
        let buffered_end = self.buffer_offset + self.filled as u64;
        let keeps = (self.buffer_offset..=buffered_end).contains(&offset);
        let kept = if keeps { (buffered_end - offset) as usize } else { 0 };
        self.buffer.copy_within(self.filled - kept..self.filled, 0);
        let wanted = count.max(CHUNK_BYTES);
        if self.buffer.len() < wanted {
            self.buffer.resize(wanted, 0);
        }
        let read = self.file.read_at(&mut self.buffer[kept..], offset + kept as u64)?;
        self.buffer_offset = offset;
        self.filled = kept + read;
        Ok(())
    }
}
