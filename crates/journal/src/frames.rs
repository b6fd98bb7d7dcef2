//! Frames: the parts of a group's body, and the records in them.

use std::path::Path;

use crate::error::ReplayError;
use crate::format::{FRAME_HEADER_BYTES, u16_at, u32_at, u64_at};
use crate::types::{JournalId, Seq, StreamId};

/// What the files say of a log before its first record.
#[derive(Debug)]
pub struct Beginning<'a> {
    /// The journal's name.
    pub journal: JournalId,
    /// Whether its oldest segment has the name, which those of format 1 do not.
    pub is_named: bool,
    /// There is no log yet; the name is what the one to be made will have.
    pub is_new: bool,
    /// The oldest segment's file, or the directory where there is none.
    pub file: &'a Path,
    /// Through here each stream's records were trimmed.
    pub missing_through: &'a [Seq],
}

/// Receives what the log holds, in the order in which it was written.
///
/// A closure over stream, position and bytes will do where records are never taken back; it refuses
/// a log in which some were.
pub trait ReplaySink {
    /// What the log is and where it begins: said once, before anything is brought or changed.
    fn begin(&mut self, beginning: &Beginning<'_>) -> Result<(), ReplayError> {
        let _ = beginning;
        Ok(())
    }
    /// The next record of a stream.
    fn record(&mut self, stream: StreamId, seq: Seq, bytes: &[u8]) -> Result<(), ReplayError>;
    /// The stream's records from `from` on are taken back; the next one will be `from` again.
    fn truncate_suffix(&mut self, stream: StreamId, from: Seq) -> Result<(), ReplayError>;
    /// The stream jumps: the next record will be the one after `last`.
    fn raise(&mut self, stream: StreamId, last: Seq) -> Result<(), ReplayError>;
}

impl<F> ReplaySink for F
where
    F: FnMut(StreamId, Seq, &[u8]) -> Result<(), ReplayError>,
{
    fn record(&mut self, stream: StreamId, seq: Seq, bytes: &[u8]) -> Result<(), ReplayError> {
        self(stream, seq, bytes)
    }

    fn truncate_suffix(&mut self, stream: StreamId, from: Seq) -> Result<(), ReplayError> {
        Err(ReplayError::Truncated { stream, from })
    }

    fn raise(&mut self, _stream: StreamId, _last: Seq) -> Result<(), ReplayError> {
        Ok(())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FrameKind {
    Records = 1,
    Truncate = 2,
    Raise = 3,
    HardState = 4,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FrameHeader {
    pub(crate) kind: FrameKind,
    pub(crate) stream: u16,
    pub(crate) count: u32,
    pub(crate) seq: u64,
    pub(crate) payload_bytes: u64,
}

impl FrameHeader {
    pub(crate) fn encode(&self) -> [u8; FRAME_HEADER_BYTES] {
        let mut bytes = [0; FRAME_HEADER_BYTES];
        bytes[0] = self.kind as u8;
        bytes[2..4].copy_from_slice(&self.stream.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.count.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.seq.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.payload_bytes.to_le_bytes());
        bytes
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let kind = match bytes[0] {
            1 => FrameKind::Records,
            2 => FrameKind::Truncate,
            3 => FrameKind::Raise,
            4 => FrameKind::HardState,
            _ => return None,
        };
        Some(Self {
            kind,
            stream: u16_at(bytes, 2),
            count: u32_at(bytes, 4),
            seq: u64_at(bytes, 8),
            payload_bytes: u64_at(bytes, 16),
        })
    }
}

/// Told about each frame of a body in turn.
pub(crate) trait FrameVisitor {
    type Error;
    fn records(&mut self, header: &FrameHeader, payload: &[u8]) -> Result<(), Self::Error>;
    fn control(&mut self, header: &FrameHeader, payload: &[u8]) -> Result<(), Self::Error>;
}

/// Why a body could not be visited to its end.
#[derive(Debug)]
pub(crate) enum FrameFault<E> {
    /// The checksum was right and the content is not: another version of this program, or a bug.
    Malformed(&'static str),
    /// The visitor stopped.
    Visitor(E),
}

/// Visits every frame; returns how many there were.
pub(crate) fn visit_frames<V: FrameVisitor>(
    body: &[u8],
    visitor: &mut V,
) -> Result<usize, FrameFault<V::Error>> {
    let mut rest = body;
    let mut count = 0;
    while !rest.is_empty() {
        if rest.len() < FRAME_HEADER_BYTES {
            return Err(FrameFault::Malformed("a frame is shorter than its header"));
        }
        let (fixed, after) = rest.split_at(FRAME_HEADER_BYTES);
        let header =
            FrameHeader::decode(fixed).ok_or(FrameFault::Malformed("a frame of unknown kind"))?;
        if header.payload_bytes > after.len() as u64 {
            return Err(FrameFault::Malformed("a frame is longer than its group"));
        }
        let (payload, next) = after.split_at(header.payload_bytes as usize);
        let told = match header.kind {
            FrameKind::Records => visitor.records(&header, payload),
            FrameKind::Truncate | FrameKind::Raise | FrameKind::HardState => {
                visitor.control(&header, payload)
            }
        };
        told.map_err(FrameFault::Visitor)?;
        rest = next;
        count += 1;
    }
    Ok(count)
}

/// Appends a length, 7 bits a byte, lowest first.
#[inline]
pub(crate) fn push_varint(bytes: &mut Vec<u8>, mut value: usize) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Takes one record off the front of a payload.
#[inline]
pub(crate) fn split_record(payload: &[u8]) -> Option<(&[u8], &[u8])> {
    let (&first, mut rest) = payload.split_first()?;
    let mut length = u64::from(first & 0x7f);
    let mut shift = 7;
    let mut byte = first;
    while byte & 0x80 != 0 {
        if shift > 28 {
            return None;
        }
        (byte, rest) = rest.split_first().map(|(&byte, rest)| (byte, rest))?;
        length |= u64::from(byte & 0x7f) << shift;
        shift += 7;
    }
    (length <= rest.len() as u64).then(|| rest.split_at(length as usize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn record_lengths_survive_and_hostile_ones_are_refused() {
        for length in [0usize, 1, 127, 128, 16_383, 16_384, 2_100_000] {
            let mut payload = Vec::new();
            push_varint(&mut payload, length);
            payload.resize(payload.len() + length + 3, 7);
            let (record, rest) = split_record(&payload).expect("whole");
            assert_eq!((record.len(), rest.len()), (length, 3));
        }
        assert_eq!(split_record(&[]), None);
        assert_eq!(split_record(&[0x80]), None);
        assert_eq!(split_record(&[5, 1, 2]), None);
        assert_eq!(split_record(&[0xff; 12]), None);
    }
}
