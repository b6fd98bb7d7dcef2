//! Torn tail or damage? What later bytes say about a group that cannot be read.
//!
//! The log ends at the first group that cannot be read. That is as it should be if the group was
//! never made durable: nobody was told that its records are safe. It is damage if it had been
//! durable, and then to cut the log there would silently drop acknowledged records. Every group and
//! segment header says through which group the log was durable when the header was written. So: if
//! any header behind the unreadable group says that this group was durable, it is damage; if none
//! does, it is a torn tail.
//!
//! What this cannot see: damage to the last durable group with nothing written after it. A clean
//! close writes an empty group for that reason.

use std::io;

use basalt_env::DiskFile;
use memchr::memmem;

use crate::format::{GROUP_ALIGN, GROUP_HEADER_BYTES, GROUP_MAGIC, GroupHeader};

const CHUNK_BYTES: usize = 1 << 20;

/// The group headers that were found in a piece of a segment file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Evidence {
    pub(crate) headers: u64,
    /// The highest group that one of them calls durable.
    pub(crate) durable: u64,
    /// Where the last of them ends.
    pub(crate) end: u64,
}

/// Looks for group headers of a segment from an offset to the end of its file. Without a salt,
/// those of any use of the file under this id count.
pub(crate) fn search(
    file: &dyn DiskFile,
    from: u64,
    segment: u64,
    salt: Option<u64>,
) -> io::Result<Evidence> {
    let mut evidence = Evidence::default();
    let finder = memmem::Finder::new(&GROUP_MAGIC);
    let mut buffer = vec![0; CHUNK_BYTES];
    let mut offset = from;
    loop {
        let count = file.read_at(&mut buffer, offset)?;
        let chunk = &buffer[..count];
        for at in finder.find_iter(chunk) {
            let place = offset + at as u64;
            let header = chunk.get(at..at + GROUP_HEADER_BYTES).and_then(GroupHeader::decode);
            if let Some(header) = header
                && place.is_multiple_of(GROUP_ALIGN)
                && header.segment == segment
                && salt.is_none_or(|salt| salt == header.salt)
            {
                evidence.headers += 1;
                evidence.durable = evidence.durable.max(header.durable);
                evidence.end = place + GROUP_HEADER_BYTES as u64;
            }
        }
        if count < buffer.len() {
            return Ok(evidence);
        }
        // A header that straddles the end of this piece is whole in the next.
        offset += (count - GROUP_HEADER_BYTES) as u64;
    }
}
