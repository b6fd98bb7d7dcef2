//! The list of hot keys, by the byte.
//!
//! ```text
//! header
//!  0  magic "BASALTHK"
//!  8  version, 1                      u32
//! 12  crc32 of bytes 0..12            u32
//! section, any number of them
//!  0  crc32 of all that follows       u32
//!  4  bytes of the keys               u32
//!  8  number of keys; 0 ends the list u32
//! 12  partition                       u16
//! 14  database                        u8
//! 15  zero                            u8
//! 16  generation of the database      u64
//! 24  for each key: how many bytes it shares with the key before it in the section, how many
//!     others it has (LEB128), and these others
//! ```
//! All numbers are little-endian. Sections stand by partition and database, keys in the order of
//! their rows. That order goes by hashes, which are not in the list: they follow from the keys.
//! What neighbours share is therefore what most keys have in common, such as `user:`.
//!
//! Each section can be read alone and has its own checksum, so that neither writing nor reading
//! holds more than one in memory, and damage costs what follows it and not what stands before.

use basalt_change::place::PartitionId;
use basalt_stdx::varint;
use std::io;

pub(super) const HEADER_BYTES: usize = 16;
pub(super) const SECTION_HEAD_BYTES: usize = 24;
/// A longer key is not listed: the list is bounded, and short ones are worth more.
pub(super) const KEY_BYTES_MAX: usize = 4 << 10;
/// Keys of a section.
pub(super) const SECTION_KEYS_MAX: usize = 1_024;
/// Bytes of keys from which a section is closed.
const SECTION_BYTES: usize = 64 << 10;
/// No section has more: the last key that it takes may be the longest.
const SECTION_BYTES_MAX: usize = SECTION_BYTES + KEY_BYTES_MAX + 2 * varint::BYTES_MAX;
const MAGIC: [u8; 8] = *b"BASALTHK";
const VERSION: u32 = 1;

/// Why a list cannot be read, or not further.
#[derive(Debug, thiserror::Error)]
pub(super) enum ListError {
    /// The disk refuses.
    #[error("the list of hot keys cannot be read: {0}")]
    Io(#[from] io::Error),
    /// It is none, or is not what was written.
    #[error("the list of hot keys is damaged")]
    Damaged,
    /// Another program's.
    #[error("the list of hot keys has version {0}, which this program does not know")]
    Version(u32),
}

/// Where the keys of a section are from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Origin {
    pub(super) partition: PartitionId,
    pub(super) db: u8,
    pub(super) generation: u64,
}

/// Keys of one database of a partition.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Section {
    pub(super) origin: Origin,
    pub(super) keys: Vec<Vec<u8>>,
}

/// A section in the making.
pub(super) struct SectionBuilder {
    origin: Origin,
    keys: u32,
    packed: Vec<u8>,
    last: Vec<u8>,
}

/// The beginning of a section, of which the checksum is not yet known to be right.
#[derive(Clone, Copy)]
pub(super) struct SectionHead {
    crc: u32,
    keys: u32,
    /// Of the keys, which follow.
    pub(super) bytes: usize,
    bytes_of_head: [u8; SECTION_HEAD_BYTES],
}

/// What a list begins with.
pub(super) fn header() -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[..8].copy_from_slice(&MAGIC);
    header[8..12].copy_from_slice(&VERSION.to_le_bytes());
    let crc = crc32fast::hash(&header[..12]);
    header[12..].copy_from_slice(&crc.to_le_bytes());
    header
}

pub(super) fn check_header(header: &[u8; HEADER_BYTES]) -> Result<(), ListError> {
    let is_intact = header[..8] == MAGIC && u32_at(header, 12) == crc32fast::hash(&header[..12]);
    match u32_at(header, 8) {
        _ if !is_intact => Err(ListError::Damaged),
        VERSION => Ok(()),
        other => Err(ListError::Version(other)),
    }
}

/// What a list ends with.
pub(super) fn end() -> Vec<u8> {
    let partition = PartitionId::all().next().expect("there are some");
    let mut end = Vec::new();
    SectionBuilder::new(Origin { partition, db: 0, generation: 0 }).encode(&mut end);
    end
}

impl SectionBuilder {
    pub(super) fn new(origin: Origin) -> SectionBuilder {
        SectionBuilder { origin, keys: 0, packed: Vec::new(), last: Vec::new() }
    }

    pub(super) fn origin(&self) -> Origin {
        self.origin
    }

    pub(super) fn is_empty(&self) -> bool {
        self.keys == 0
    }

    pub(super) fn is_full(&self) -> bool {
        self.keys as usize == SECTION_KEYS_MAX || self.packed.len() >= SECTION_BYTES
    }

    /// Bytes that the section takes.
    pub(super) fn bytes(&self) -> usize {
        SECTION_HEAD_BYTES + self.packed.len()
    }

    /// Adds a key of at most [`KEY_BYTES_MAX`] bytes; the section must not be full.
    pub(super) fn push(&mut self, key: &[u8]) {
        debug_assert!(!self.is_full() && key.len() <= KEY_BYTES_MAX);
        let shared = std::iter::zip(&self.last, key).take_while(|(last, new)| last == new).count();
        varint::put(&mut self.packed, shared as u64);
        varint::put(&mut self.packed, (key.len() - shared) as u64);
        self.packed.extend_from_slice(&key[shared..]);
        self.last.truncate(shared);
        self.last.extend_from_slice(&key[shared..]);
        self.keys += 1;
    }

    /// Appends the section.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&(self.packed.len() as u32).to_le_bytes());
        out.extend_from_slice(&self.keys.to_le_bytes());
        out.extend_from_slice(&self.origin.partition.number().to_le_bytes());
        out.extend_from_slice(&[self.origin.db, 0]);
        out.extend_from_slice(&self.origin.generation.to_le_bytes());
        out.extend_from_slice(&self.packed);
        let crc = crc32fast::hash(&out[start + 4..]);
        out[start..start + 4].copy_from_slice(&crc.to_le_bytes());
    }
}

impl SectionHead {
    /// # Errors
    /// It says what no section has.
    pub(super) fn decode(head: &[u8; SECTION_HEAD_BYTES]) -> Result<SectionHead, ListError> {
        let (bytes, keys) = (u32_at(head, 4) as usize, u32_at(head, 8));
        if bytes > SECTION_BYTES_MAX || keys as usize > SECTION_KEYS_MAX {
            return Err(ListError::Damaged);
        }
        Ok(SectionHead { crc: u32_at(head, 0), keys, bytes, bytes_of_head: *head })
    }

    /// The section, of which these are the keys; `None` for the end of the list.
    ///
    /// # Errors
    /// It is not what was written.
    pub(super) fn with_keys(&self, packed: &[u8]) -> Result<Option<Section>, ListError> {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&self.bytes_of_head[4..]);
        hasher.update(packed);
        if hasher.finalize() != self.crc {
            return Err(ListError::Damaged);
        }
        if self.keys == 0 {
            return Ok(None);
        }
        let keys = unpack(packed, self.keys).ok_or(ListError::Damaged)?;
        Ok(Some(Section { origin: self.origin().ok_or(ListError::Damaged)?, keys }))
    }

    fn origin(&self) -> Option<Origin> {
        let (_, place) = self.bytes_of_head.split_at(12);
        let (partition, rest) = place.split_first_chunk()?;
        let (&[db, _], generation) = rest.split_first_chunk()?;
        Some(Origin {
            partition: PartitionId::new(u16::from_le_bytes(*partition))?,
            db,
            generation: u64::from_le_bytes(generation.try_into().ok()?),
        })
    }
}

/// `None` if they are no keys, or not this number of them.
fn unpack(mut packed: &[u8], count: u32) -> Option<Vec<Vec<u8>>> {
    let mut keys: Vec<Vec<u8>> = Vec::with_capacity(count as usize);
    for _ in 0..count {
        let shared = usize::try_from(varint::take(&mut packed)?).ok()?;
        let own = usize::try_from(varint::take(&mut packed)?).ok()?;
        if shared.checked_add(own)? > KEY_BYTES_MAX {
            return None;
        }
        let (own, rest) = packed.split_at_checked(own)?;
        let last = keys.last().map_or(&[][..], Vec::as_slice);
        keys.push([last.get(..shared)?, own].concat());
        packed = rest;
    }
    packed.is_empty().then_some(keys)
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(*bytes[at..].first_chunk().expect("heads have fixed lengths"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(bytes: &[u8]) -> Result<Option<Section>, ListError> {
        let (head, packed) = bytes.split_first_chunk().ok_or(ListError::Damaged)?;
        let head = SectionHead::decode(head)?;
        head.with_keys(packed.get(..head.bytes).ok_or(ListError::Damaged)?)
    }

    fn packed(origin: Origin, keys: &[Vec<u8>]) -> Vec<u8> {
        let mut builder = SectionBuilder::new(origin);
        keys.iter().for_each(|key| builder.push(key));
        let mut bytes = Vec::new();
        builder.encode(&mut bytes);
        assert_eq!(bytes.len(), builder.bytes());
        bytes
    }

    fn origins() -> impl Strategy<Value = Origin> {
        (0..1_024u16, any::<u8>(), any::<u64>()).prop_map(|(partition, db, generation)| Origin {
            partition: PartitionId::new(partition).expect("there are as many"),
            db,
            generation,
        })
    }

    fn keys() -> impl Strategy<Value = Vec<Vec<u8>>> {
        let named = "user:[0-9]{1,6}".prop_map(String::into_bytes);
        proptest::collection::vec(prop_oneof![named, any::<Vec<u8>>()], 1..40)
    }

    proptest! {
        #[test]
        fn sections_round_trip_and_neither_cuts_nor_flipped_bits_pass(
            origin in origins(),
            keys in keys(),
            flip in any::<proptest::sample::Index>(),
            cut in any::<proptest::sample::Index>(),
        ) {
            let bytes = packed(origin, &keys);
            prop_assert_eq!(read(&bytes).unwrap(), Some(Section { origin, keys }));
            prop_assert!(read(&bytes[..cut.index(bytes.len())]).is_err());
            let (mut flipped, bit) = (bytes.clone(), flip.index(bytes.len() * 8));
            flipped[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(read(&flipped).is_err(), "bit {bit}");
        }

        #[test]
        fn foreign_bytes_are_refused_or_read_but_never_end_the_process(
            mut bytes in proptest::collection::vec(any::<u8>(), SECTION_HEAD_BYTES..200),
            keys in 0..20u32,
        ) {
            let is_right = read(&bytes).is_ok();
            prop_assert!(!is_right || bytes[4..12] == [0; 8]);
            // With a head and a checksum that are right, so that the keys are looked at.
            let packed = (bytes.len() - SECTION_HEAD_BYTES) as u32;
            bytes[4..8].copy_from_slice(&packed.to_le_bytes());
            bytes[8..12].copy_from_slice(&keys.to_le_bytes());
            let crc = crc32fast::hash(&bytes[4..]);
            bytes[..4].copy_from_slice(&crc.to_le_bytes());
            if let Ok(Some(section)) = read(&bytes) {
                prop_assert_eq!(section.keys.len(), keys as usize);
            }
        }
    }

    #[test]
    fn headers_are_of_this_version_and_whole() {
        let ours = header();
        assert!(check_header(&ours).is_ok());
        for bit in 0..ours.len() * 8 {
            let mut flipped = ours;
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(matches!(check_header(&flipped), Err(ListError::Damaged)), "bit {bit}");
        }
        let mut later = ours;
        later[8] = 2;
        let crc = crc32fast::hash(&later[..12]);
        later[12..].copy_from_slice(&crc.to_le_bytes());
        assert!(matches!(check_header(&later), Err(ListError::Version(2))));
        assert!(matches!(read(&end()), Ok(None)));
    }

    #[test]
    fn the_longest_keys_fit_a_section() {
        let partition = PartitionId::new(1).expect("there is one");
        let mut builder = SectionBuilder::new(Origin { partition, db: 0, generation: 1 });
        let mut keys = Vec::new();
        while !builder.is_full() {
            let mut key = vec![b'k'; KEY_BYTES_MAX];
            key[0] = keys.len() as u8;
            builder.push(&key);
            keys.push(key);
        }
        let mut bytes = Vec::new();
        builder.encode(&mut bytes);
        assert_eq!(read(&bytes).unwrap().map(|section| section.keys), Some(keys));
    }
}
