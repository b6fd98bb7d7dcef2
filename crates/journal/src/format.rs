//! The bytes of a segment file. All numbers are little-endian.
//!
//! ```text
//! 0000000000000007.log                one segment; the name is its id in hex
//! +----------------+---------+---------+-----+---------+--------------------------+
//! | segment header | group n | n + 1   | ... | group m | rest: zeros, or the stale |
//! | whole pages    |         |         |     |         | bytes of a recycled file  |
//! +----------------+---------+---------+-----+---------+--------------------------+
//!
//! segment header                      group: 8-byte aligned, back to back
//!   0  magic "BASALTJ2"                 0  magic "BGRP"
//!   8  crc32 of bytes 12..used          4  crc32 of bytes 8..56
//!  12  used bytes            u32        8  segment id              u64
//!  16  segment id            u64       16  salt of the segment     u64
//!  24  salt (random)         u64       24  group number            u64
//!  32  number of first group u64       32  durable through group   u64
//!  40  durable through group u64       40  body bytes              u64
//!  48  previous checksum     u32       48  previous checksum       u32
//!  52  number of streams     u32       52  zero
//!  56  the journal's name    16 bytes  56  body: frames
//!  72  id of the segment before  u64    +  checksum: crc32 of bytes 0..56+body, seeded by the salt
//!  80  per stream:                      +  zeros to the next multiple of 8
//!      last sequence number  u64
//!      hard state bytes      u32
//!      hard state
//!   +  zeros to a multiple of 4096
//!
//! Format 1 (magic "BASALTJ1") has no bytes 56 to 80. Its segments are read, never written.
//!
//! frame: 24 bytes, then its payload, unaligned
//!   0  kind: 1 records, 2 truncate suffix, 3 raise, 4 hard state
//!   1  zero
//!   2  stream                u16
//!   4  number of records     u32       (kind 1, else 0)
//!   8  sequence number       u64       (1: first record's; 2: first removed; 3: new last; 4: 0)
//!  16  payload bytes         u64       (1: records: varint length, bytes; 4: the state)
//! ```
//!
//! Why it is so:
//! - A group is accepted whole or not at all, so its checksum stands at its end and covers
//!   everything. Its header has a checksum of its own, so that a length is trusted only after it
//!   was checked.
//! - The salt makes every stale byte of a recycled file, and every value that a client chose to
//!   look like a group, foreign to this segment.
//! - "previous checksum" chains the groups: a group that was cut off and written again differently
//!   cannot be followed by the old successor.
//! - "durable through" is what tells damage from a torn tail (`evidence`): a group that a later
//!   header calls durable must be there. Without it, a power cut under `EverySecond`, where later
//!   groups may reach the disk before earlier ones, would look like corruption, or corruption like
//!   a power cut.
//! - The journal's name and the id of the segment before tell a missing file, and one of another
//!   journal, from a torn tail, for which the durable group says nothing. Ids alone have gaps where
//!   a tail was cut.
//! - A segment header repeats each stream's position and hard state, so that any older segment can
//!   be deleted without rewriting anything.
//! - Writes are whole pages. The last page is padded with zeros and written again, with the same
//!   bytes so far, by the next group: no read-modify-write of a recycled file. This relies on a
//!   disk that writes sectors of 512 bytes whole or not at all.
//!
//! Rejected: a record header with a checksum each (12 bytes on 100, and atomic groups need a commit
//! mark anyway); groups padded to pages (a 100-byte group would cost 4 KiB of log); an end mark per
//! segment (the next segment's first group number says the same).

use crc32fast::Hasher;

use crate::types::JournalId;

/// Writes start and end at multiples of this.
pub(crate) const PAGE_BYTES: u64 = 4096;
pub(crate) const GROUP_MAGIC: [u8; 4] = *b"BGRP";
pub(crate) const GROUP_HEADER_BYTES: usize = 56;
pub(crate) const GROUP_ALIGN: u64 = 8;
pub(crate) const CHECKSUM_BYTES: usize = 4;
pub(crate) const FRAME_HEADER_BYTES: usize = 24;
const SEGMENT_MAGIC: [u8; 8] = *b"BASALTJ2";
const SEGMENT_MAGIC_1: [u8; 8] = *b"BASALTJ1";
const SEGMENT_FIXED_BYTES: usize = 56;
const LINEAGE_BYTES: usize = 24;
const STREAM_STATE_BYTES: usize = 12;

/// How many bytes a group with such a body takes in the file.
pub(crate) fn group_bytes(body_bytes: u64) -> Option<u64> {
    let framing = (GROUP_HEADER_BYTES + CHECKSUM_BYTES) as u64;
    body_bytes.checked_add(framing)?.checked_next_multiple_of(GROUP_ALIGN)
}

/// A hasher whose result depends on the segment's salt.
pub(crate) fn salted_hasher(salt: u64) -> Hasher {
    Hasher::new_with_initial((salt ^ (salt >> 32)) as u32)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GroupHeader {
    pub(crate) segment: u64,
    pub(crate) salt: u64,
    pub(crate) number: u64,
    pub(crate) durable: u64,
    pub(crate) body_bytes: u64,
    pub(crate) previous_checksum: u32,
}

impl GroupHeader {
    pub(crate) fn encode(&self) -> [u8; GROUP_HEADER_BYTES] {
        let mut bytes = [0; GROUP_HEADER_BYTES];
        bytes[..4].copy_from_slice(&GROUP_MAGIC);
        bytes[8..16].copy_from_slice(&self.segment.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.salt.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.number.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.durable.to_le_bytes());
        bytes[40..48].copy_from_slice(&self.body_bytes.to_le_bytes());
        bytes[48..52].copy_from_slice(&self.previous_checksum.to_le_bytes());
        let crc = crc32fast::hash(&bytes[8..]);
        bytes[4..8].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// `None` if these bytes are no undamaged group header.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.get(..GROUP_HEADER_BYTES)?;
        let intact = bytes[..4] == GROUP_MAGIC && u32_at(bytes, 4) == crc32fast::hash(&bytes[8..]);
        intact.then(|| Self {
            segment: u64_at(bytes, 8),
            salt: u64_at(bytes, 16),
            number: u64_at(bytes, 24),
            durable: u64_at(bytes, 32),
            body_bytes: u64_at(bytes, 40),
            previous_checksum: u32_at(bytes, 48),
        })
    }
}

/// What a segment says at its start about everything before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SegmentHeader {
    pub(crate) id: u64,
    pub(crate) salt: u64,
    pub(crate) first_group: u64,
    pub(crate) durable: u64,
    pub(crate) previous_checksum: u32,
    /// `None` in format 1.
    pub(crate) lineage: Option<Lineage>,
    pub(crate) streams: Vec<StreamState>,
}

/// Where a segment belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lineage {
    pub(crate) journal: JournalId,
    /// The segment before; 0 for a journal's first.
    pub(crate) previous: u64,
}

/// A stream as it stood when the segment began.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct StreamState {
    pub(crate) last: u64,
    pub(crate) hard_state: Vec<u8>,
}

impl SegmentHeader {
    /// The header as whole pages.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(PAGE_BYTES as usize);
        let magic = self.lineage.map_or(SEGMENT_MAGIC_1, |_| SEGMENT_MAGIC);
        bytes.extend_from_slice(&magic);
        bytes.extend_from_slice(&[0; 8]);
        bytes.extend_from_slice(&self.id.to_le_bytes());
        bytes.extend_from_slice(&self.salt.to_le_bytes());
        bytes.extend_from_slice(&self.first_group.to_le_bytes());
        bytes.extend_from_slice(&self.durable.to_le_bytes());
        bytes.extend_from_slice(&self.previous_checksum.to_le_bytes());
        bytes.extend_from_slice(&(self.streams.len() as u32).to_le_bytes());
        if let Some(lineage) = self.lineage {
            bytes.extend_from_slice(&lineage.journal.0);
            bytes.extend_from_slice(&lineage.previous.to_le_bytes());
        }
        for stream in &self.streams {
            bytes.extend_from_slice(&stream.last.to_le_bytes());
            bytes.extend_from_slice(&(stream.hard_state.len() as u32).to_le_bytes());
            bytes.extend_from_slice(&stream.hard_state);
        }
        let used = bytes.len() as u32;
        bytes[12..16].copy_from_slice(&used.to_le_bytes());
        let crc = crc32fast::hash(&bytes[12..]);
        bytes[8..12].copy_from_slice(&crc.to_le_bytes());
        bytes.resize(bytes.len().next_multiple_of(PAGE_BYTES as usize), 0);
        bytes
    }

    /// How many bytes to read before `decode` can work, from the first bytes of the file;
    /// unchecked.
    pub(crate) fn used_bytes(first_bytes: &[u8]) -> Option<u64> {
        let magic = first_bytes.first_chunk::<8>()?;
        let plausible = first_bytes.len() >= 16 && [SEGMENT_MAGIC, SEGMENT_MAGIC_1].contains(magic);
        plausible.then(|| u64::from(u32_at(first_bytes, 12)))
    }

    /// `None` if these bytes are no undamaged segment header.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let used = Self::used_bytes(bytes)? as usize;
        let bytes = bytes.get(..used).filter(|bytes| bytes.len() >= SEGMENT_FIXED_BYTES)?;
        if u32_at(bytes, 8) != crc32fast::hash(&bytes[12..]) {
            return None;
        }
        let mut streams = Vec::new();
        let mut rest = &bytes[SEGMENT_FIXED_BYTES..];
        let mut lineage = None;
        if bytes[..8] == SEGMENT_MAGIC {
            let (fixed, after) = rest.split_at_checked(LINEAGE_BYTES)?;
            let journal = JournalId(*fixed.first_chunk()?);
            lineage = Some(Lineage { journal, previous: u64_at(fixed, 16) });
            rest = after;
        }
        for _ in 0..u32_at(bytes, 52) {
            let fixed = rest.get(..STREAM_STATE_BYTES)?;
            let end = STREAM_STATE_BYTES.checked_add(u32_at(fixed, 8) as usize)?;
            let hard_state = rest.get(STREAM_STATE_BYTES..end)?.to_vec();
            streams.push(StreamState { last: u64_at(fixed, 0), hard_state });
            rest = &rest[end..];
        }
        Some(Self {
            id: u64_at(bytes, 16),
            salt: u64_at(bytes, 24),
            first_group: u64_at(bytes, 32),
            durable: u64_at(bytes, 40),
            previous_checksum: u32_at(bytes, 48),
            lineage,
            streams,
        })
    }
}

pub(crate) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let (low, high) = (u32_at(bytes, at), u32_at(bytes, at + 4));
    u64::from(low) | u64::from(high) << 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_survive_the_round_trip_and_no_flipped_bit() {
        let group = GroupHeader {
            segment: 7,
            salt: 0x1234_5678_9abc_def0,
            number: 99,
            durable: 98,
            body_bytes: 1_000,
            previous_checksum: 0xdead_beef,
        };
        let bytes = group.encode();
        assert_eq!(GroupHeader::decode(&bytes), Some(group));
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes;
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(GroupHeader::decode(&damaged), None, "bit {bit}");
        }
        let hard_state = vec![5; 5_000];
        let streams = vec![StreamState { last: 9, hard_state }, StreamState::default()];
        let lineage = Some(Lineage { journal: JournalId([3; 16]), previous: 6 });
        let segment = SegmentHeader {
            id: 7,
            salt: 1,
            first_group: 2,
            durable: 1,
            previous_checksum: 4,
            lineage,
            streams,
        };
        let earlier = SegmentHeader { lineage: None, ..segment.clone() };
        assert_eq!(SegmentHeader::decode(&earlier.encode()), Some(earlier));
        let bytes = segment.encode();
        assert_eq!(bytes.len(), 8192);
        assert_eq!(SegmentHeader::decode(&bytes), Some(segment));
        let used = SegmentHeader::used_bytes(&bytes).expect("a header") as usize;
        for byte in 0..used {
            let mut damaged = bytes.clone();
            damaged[byte] ^= 0x10;
            assert_eq!(SegmentHeader::decode(&damaged), None, "byte {byte}");
        }
    }
}
