//! The rows of the cold tier: one per object, those of the elements of large collections and of the
//! pieces of long strings, and one per partition that says how far the rows go.
//!
//! ```text
//! key of a partition's mark   partition:u16be 0x00
//! key of an object            partition:u16be 0x01 generation:u64be hash:5 bytes, user_key
//! key of an element           partition:u16be 0x02 generation:u64be id:u64be set:u8 name
//!
//! object    = head:u8 [expire_ms:u64le if EXPIRY] [version:u64le if VERSIONED]
//!             [gone_ms:u64le if type 8] body
//! head      = type (4 bits: 1 string, 2 list, 3 set, 4 sorted set, 5 hash, 6 stream, 7 queue; 8 a
//!             hash of which all fields expire; 9 a string in pieces, 10 to 15 collections of 2 to
//!             7, spread) | EDITED 0x10 (strings; of type 8: spread) | EXPIRY 0x20 | VERSIONED 0x40
//!             | LASTING 0x80 (hashes)
//! body      = the string, or the collection as `basalt-value` encodes it
//!             | of a spread collection: id:varint elements:varint, what is in none of its elements
//!             | of a string in pieces: id:varint pieces:varint bytes:varint
//! mark      = version:u8=4 applied:u64le next_id:varint last_version:u64le
//!             databases:u8 { generation:varint keys:varint spread:varint expiry:varint }*
//! ```
//! A *spread* collection has a row for each of its elements ([`crate::element`]), found by the *id*
//! that its object has; the partition gives every id once. A string in pieces has one for each
//! piece.
//!
//! The objects of a generation stand in the order of their keys' hashes, of which their keys have
//! the leading 40 bits: as in memory, so that a walk over both is one walk, and its cursor a hash.
//! The hash has a seed of the database's own ([`crate::seed`]).
//!
//! A partition is one contiguous range of keys, so moving or dropping it is one range operation,
//! and its mark sorts first. The generation changes when a database is flushed: that makes FLUSHDB
//! a matter of a new number, and the old rows are a range to delete whenever there is time. The
//! mark is written in the same atomic ingest as the rows, so rows and `applied` (the position in
//! the shard's stream up to which they hold every change) can never disagree.

use crate::op::StringForm;
use crate::place::PartitionId;
use crate::version::Version;
use basalt_stdx::varint;

const MARK: u8 = 0x00;
const OBJECT: u8 = 0x01;
pub(crate) const ELEMENT: u8 = 0x02;
const GENERATION_AT: usize = 3;
const HASH_AT: usize = 11;
const HASH_BYTES: usize = 5;
const OBJECT_PREFIX_BYTES: usize = HASH_AT + HASH_BYTES;
/// Bits of a hash that the key of a row leaves out.
pub const HASH_SHIFT: u32 = u64::BITS - 8 * HASH_BYTES as u32;

const TYPE_MASK: u8 = 0x0F;
const STRING: u8 = 1;
/// Added to a collection's type when it is spread, and to that of a string in pieces.
const SPREAD: u8 = 8;
const STRING_IN_PIECES: u8 = SPREAD | STRING;
const HASH: u8 = 5;
/// A hash of which all fields expire, spread or not.
const PASSING_HASH: u8 = 8;
const EDITED: u8 = 0x10;
/// Of a [`PASSING_HASH`], which is never edited.
const PASSING_IS_SPREAD: u8 = 0x10;
const EXPIRY: u8 = 0x20;
const VERSIONED: u8 = 0x40;
/// Of a hash: it has a field that does not expire.
const LASTING: u8 = 0x80;
/// A program that knows no hashes in the keys of rows refuses this mark, and this one refuses those
/// of earlier programs.
const MARK_VERSION: u8 = 4;

/// What is asked for of any object without its value: three bytes behind its type and two numbers,
/// which are its expiry, its version, or when its last field expires.
const HEAD_BYTES_MAX: usize = 20;

/// Most databases that a mark may list; a guard against garbage, not a setting.
const DATABASES_MAX: usize = 256;

/// A row that does not follow the format.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RowError {
    /// The bytes end too early, or there are too many.
    #[error("cold row has the wrong length")]
    Length,
    /// The type or version is not known to this version.
    #[error("cold row has unknown type {0}: written by a newer version?")]
    UnknownType(u8),
    /// A version that is not read any more.
    #[error(
        "the data is in format {0} of an earlier version, which this one does not read: start that version, \
         copy the data over with replication tools or DUMP and RESTORE, or begin with an empty directory"
    )]
    Outdated(u8),
}

/// An object as a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ObjectRow<'a> {
    /// Unix time in milliseconds, 0 for none.
    pub expire_ms: u64,
    /// The version of the key.
    pub version: Version,
    /// What kind of object the value is.
    pub kind: RowKind,
    /// When it is gone without having been removed. Only hashes have one.
    pub end: HashEnd,
    /// The value.
    pub value: &'a [u8],
}

/// When the last of a hash's fields has expired. It is said by what its row begins with, so that
/// nobody has to read the fields to know whether there still is a hash.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HashEnd {
    /// It is no hash; or its fields say it, and nothing else does.
    Unsaid,
    /// Never: it has a field that does not expire.
    Never,
    /// At this unix time in milliseconds.
    At(u64),
}

/// What kind of object a row holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RowKind {
    /// A string, and how `OBJECT ENCODING` calls it.
    String(StringForm),
    /// A string with its bytes in rows of their own; the value is a [`SpreadHead`].
    StringInPieces(StringForm),
    /// A collection of the kind with this number, from 2 to 7.
    Collection(u8),
    /// A collection with its elements in rows of their own; the value is a [`SpreadHead`].
    Spread(u8),
}

/// How far a partition's rows go.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Mark {
    /// Position in the shard's stream: the rows hold every change up to here and none after.
    pub applied: u64,
    /// The id that the next collection gets that is spread, or the next string in pieces.
    pub next_id: u64,
    /// The last version that a key of the partition was given.
    pub last_version: Version,
    /// One per database, by number.
    pub databases: Vec<DatabaseMark>,
}

/// One database of a partition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DatabaseMark {
    /// The generation that its live rows carry.
    pub generation: u64,
    /// Number of keys.
    pub keys: u64,
    /// How many of them are spread collections or strings in pieces.
    pub spread: u64,
    /// No key, and no field of one, expires before this, in unix milliseconds; 0 if none expires.
    pub expiry_ms: u64,
}

/// What the object of a spread collection, or of a string in pieces, says beside its expiry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SpreadHead<'a> {
    /// What its elements' rows are found by.
    pub id: u64,
    /// How many there are: what the collection calls its length, or the number of pieces.
    pub elements: u64,
    /// What is in none of them. Of a string [`SpreadHead::string_bytes`].
    pub head: &'a [u8],
}

/// What stands in the keys of marks where others have their partition's number. Marks are together,
/// behind all other rows: a start reads all of them, and one beside each partition's rows would be
/// a read from the disk each.
pub(crate) const BEHIND_ALL_PARTITIONS: u16 = u16::MAX;

/// Appends the key of the partition's mark.
pub fn mark_key(partition: PartitionId, out: &mut Vec<u8>) {
    out.extend_from_slice(&BEHIND_ALL_PARTITIONS.to_be_bytes());
    out.push(MARK);
    out.extend_from_slice(&partition.number().to_be_bytes());
}

/// Appends the key of an object whose key has this hash.
#[inline]
pub fn object_key(
    partition: PartitionId,
    generation: u64,
    (hash, key): (u64, &[u8]),
    out: &mut Vec<u8>,
) {
    out.reserve(OBJECT_PREFIX_BYTES + key.len());
    generation_start(partition, generation, out);
    out.extend_from_slice(&hash.to_be_bytes()[..HASH_BYTES]);
    out.extend_from_slice(key);
}

/// First key and end of the objects of a generation.
pub fn generation_range(partition: PartitionId, generation: u64) -> (Vec<u8>, Vec<u8>) {
    generation_range_from(partition, generation, 0)
}

/// As [`generation_range`], beginning with the leading 40 bits of this hash.
pub fn generation_range_from(
    partition: PartitionId,
    generation: u64,
    hash: u64,
) -> (Vec<u8>, Vec<u8>) {
    let (mut from, mut to) = (Vec::new(), Vec::new());
    object_key(partition, generation, (hash, b""), &mut from);
    match generation.checked_add(1) {
        Some(next) => generation_start(partition, next, &mut to),
        None => {
            to.extend_from_slice(&partition.number().to_be_bytes());
            to.push(OBJECT + 1);
        }
    }
    (from, to)
}

fn generation_start(partition: PartitionId, generation: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(&partition.number().to_be_bytes());
    out.push(OBJECT);
    out.extend_from_slice(&generation.to_be_bytes());
}

/// Takes generation and user key out of an object's key, or `None` if it is no such key.
#[inline]
pub fn split_object_key(row_key: &[u8]) -> Option<(u64, &[u8])> {
    let (prefix, key) = row_key.split_at_checked(OBJECT_PREFIX_BYTES)?;
    if prefix[2] != OBJECT {
        return None;
    }
    let generation = u64::from_be_bytes(prefix[GENERATION_AT..HASH_AT].try_into().ok()?);
    Some((generation, key))
}

/// The leading 40 bits of the hash in an object's key, the others being 0; `None` if it is no such
/// key.
pub fn hash_in_object_key(row_key: &[u8]) -> Option<u64> {
    let prefix: &[u8; OBJECT_PREFIX_BYTES] = row_key.first_chunk()?;
    let mut hash = [0; 8];
    hash[..HASH_BYTES].copy_from_slice(&prefix[HASH_AT..]);
    (prefix[2] == OBJECT).then(|| u64::from_be_bytes(hash))
}

impl<'a> ObjectRow<'a> {
    /// Appends the row's value.
    #[inline]
    pub fn encode(&self, out: &mut Vec<u8>) {
        self.encode_head(out);
        out.extend_from_slice(self.value);
    }

    /// Appends what stands before the value itself.
    #[inline]
    pub fn encode_head(&self, out: &mut Vec<u8>) {
        let kind = match (self.kind, self.end) {
            (RowKind::String(StringForm::Whole), _) => STRING,
            (RowKind::String(StringForm::Edited), _) => STRING | EDITED,
            (RowKind::StringInPieces(StringForm::Whole), _) => STRING_IN_PIECES,
            (RowKind::StringInPieces(StringForm::Edited), _) => STRING_IN_PIECES | EDITED,
            (RowKind::Collection(HASH), HashEnd::At(_)) => PASSING_HASH,
            (RowKind::Spread(HASH), HashEnd::At(_)) => PASSING_HASH | PASSING_IS_SPREAD,
            (RowKind::Collection(HASH), HashEnd::Never) => HASH | LASTING,
            (RowKind::Spread(HASH), HashEnd::Never) => HASH | SPREAD | LASTING,
            (RowKind::Collection(kind), _) => {
                debug_assert!(kind > STRING && kind < SPREAD, "a kind has three bits");
                kind
            }
            (RowKind::Spread(kind), _) => {
                debug_assert!(kind > STRING && kind < SPREAD, "a kind has three bits");
                kind | SPREAD
            }
        };
        let expiry = if self.expire_ms == 0 { 0 } else { EXPIRY };
        let versioned = if self.version.is_none() { 0 } else { VERSIONED };
        out.push(kind | expiry | versioned);
        if self.expire_ms != 0 {
            out.extend_from_slice(&self.expire_ms.to_le_bytes());
        }
        if !self.version.is_none() {
            out.extend_from_slice(&self.version.number().to_le_bytes());
        }
        if let HashEnd::At(gone_ms) = self.end {
            debug_assert_eq!(kind & TYPE_MASK, PASSING_HASH, "others have no such end");
            out.extend_from_slice(&gone_ms.to_le_bytes());
        }
    }

    /// Reads a row's value.
    #[inline]
    pub fn decode(row: &'a [u8]) -> Result<ObjectRow<'a>, RowError> {
        let (&head, mut rest) = row.split_first().ok_or(RowError::Length)?;
        let edited = if head & EDITED != 0 { StringForm::Edited } else { StringForm::Whole };
        let number = head & TYPE_MASK;
        let kind = match number {
            0 => return Err(RowError::UnknownType(0)),
            STRING => RowKind::String(edited),
            PASSING_HASH if head & PASSING_IS_SPREAD != 0 => RowKind::Spread(HASH),
            PASSING_HASH => RowKind::Collection(HASH),
            kind if kind < SPREAD => RowKind::Collection(kind),
            STRING_IN_PIECES => RowKind::StringInPieces(edited),
            kind => RowKind::Spread(kind & !SPREAD),
        };
        let expire_ms = if head & EXPIRY != 0 { take_u64(&mut rest)? } else { 0 };
        let version = if head & VERSIONED != 0 { take_u64(&mut rest)? } else { 0 };
        let end = match kind {
            _ if number == PASSING_HASH => HashEnd::At(take_u64(&mut rest)?),
            RowKind::Collection(HASH) | RowKind::Spread(HASH) if head & LASTING != 0 => {
                HashEnd::Never
            }
            _ => HashEnd::Unsaid,
        };
        Ok(ObjectRow { expire_ms, version: Version::new(version), kind, end, value: rest })
    }
}

/// How many of an object's first bytes say all that is asked for without its value: of a string
/// what stands before it, as its length is known; of others what their values begin with, too.
pub fn head_bytes(object: &[u8]) -> usize {
    let Some(&head) = object.first() else { return 0 };
    if head & TYPE_MASK != STRING {
        return HEAD_BYTES_MAX;
    }
    let numbers = [EXPIRY, VERSIONED].into_iter().filter(|flag| head & flag != 0).count();
    1 + numbers * size_of::<u64>()
}

impl<'a> SpreadHead<'a> {
    /// Appends it.
    pub fn encode(&self, out: &mut Vec<u8>) {
        varint::put(out, self.id);
        varint::put(out, self.elements);
        out.extend_from_slice(self.head);
    }

    /// Appends that of a string.
    pub fn encode_of_string(id: u64, pieces: u64, bytes: u64, out: &mut Vec<u8>) {
        SpreadHead { id, elements: pieces, head: b"" }.encode(out);
        varint::put(out, bytes);
    }

    /// The length of the string that is in pieces.
    ///
    /// # Errors
    /// It does not say so, or says more.
    pub fn string_bytes(&self) -> Result<u64, RowError> {
        let mut head = self.head;
        let bytes = varint::take(&mut head).ok_or(RowError::Length)?;
        if head.is_empty() { Ok(bytes) } else { Err(RowError::Length) }
    }

    /// Reads the value of an object of [`RowKind::Spread`] or [`RowKind::StringInPieces`].
    ///
    /// # Errors
    /// It ends too early.
    pub fn decode(value: &'a [u8]) -> Result<SpreadHead<'a>, RowError> {
        let mut head = value;
        let id = varint::take(&mut head).ok_or(RowError::Length)?;
        let elements = varint::take(&mut head).ok_or(RowError::Length)?;
        Ok(SpreadHead { id, elements, head })
    }
}

impl Mark {
    /// Appends the mark's value.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.push(MARK_VERSION);
        out.extend_from_slice(&self.applied.to_le_bytes());
        varint::put(out, self.next_id);
        out.extend_from_slice(&self.last_version.number().to_le_bytes());
        out.push(self.databases.len() as u8);
        for database in &self.databases {
            varint::put(out, database.generation);
            varint::put(out, database.keys);
            varint::put(out, database.spread);
            varint::put(out, database.expiry_ms);
        }
    }

    /// Reads a mark's value.
    pub fn decode(row: &[u8]) -> Result<Mark, RowError> {
        let (&version, mut rest) = row.split_first().ok_or(RowError::Length)?;
        match version {
            MARK_VERSION => {}
            1..MARK_VERSION => return Err(RowError::Outdated(version)),
            _ => return Err(RowError::UnknownType(version)),
        }
        let applied = take_u64(&mut rest)?;
        let next_id = varint::take(&mut rest).ok_or(RowError::Length)?;
        let last_version = take_u64(&mut rest)?;
        let (&count, mut rest) = rest.split_first().ok_or(RowError::Length)?;
        let mut databases = Vec::with_capacity(usize::from(count).min(DATABASES_MAX));
        for _ in 0..count {
            let generation = varint::take(&mut rest).ok_or(RowError::Length)?;
            let keys = varint::take(&mut rest).ok_or(RowError::Length)?;
            let spread = varint::take(&mut rest).ok_or(RowError::Length)?;
            let expiry_ms = varint::take(&mut rest).ok_or(RowError::Length)?;
            databases.push(DatabaseMark { generation, keys, spread, expiry_ms });
        }
        if !rest.is_empty() {
            return Err(RowError::Length);
        }
        Ok(Mark { applied, next_id, last_version: Version::new(last_version), databases })
    }
}

fn take_u64(rest: &mut &[u8]) -> Result<u64, RowError> {
    let (bytes, after) = rest.split_first_chunk::<8>().ok_or(RowError::Length)?;
    *rest = after;
    Ok(u64::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn partition() -> PartitionId {
        PartitionId::new(258).unwrap()
    }

    #[test]
    fn objects_round_trip() {
        for expire_ms in [0, 1, u64::MAX] {
            for kind in [
                RowKind::String(StringForm::Whole),
                RowKind::String(StringForm::Edited),
                RowKind::StringInPieces(StringForm::Whole),
                RowKind::StringInPieces(StringForm::Edited),
                RowKind::Collection(2),
                RowKind::Collection(5),
                RowKind::Collection(6),
                RowKind::Spread(2),
                RowKind::Spread(5),
                RowKind::Spread(6),
            ] {
                let ends = [HashEnd::Unsaid, HashEnd::Never, HashEnd::At(1), HashEnd::At(u64::MAX)];
                let ends = if is_hash(kind) { &ends[..] } else { &ends[..1] };
                for version in [0, 1, u64::MAX].map(Version::new) {
                    for &end in ends {
                        let row = ObjectRow { expire_ms, version, kind, end, value: b"hello" };
                        let mut bytes = Vec::new();
                        row.encode(&mut bytes);
                        assert_eq!(ObjectRow::decode(&bytes), Ok(row));
                    }
                }
            }
        }
        assert_eq!(ObjectRow::decode(b""), Err(RowError::Length));
        assert_eq!(ObjectRow::decode(&[STRING | EXPIRY, 1]), Err(RowError::Length));
        assert_eq!(ObjectRow::decode(&[STRING | VERSIONED, 1]), Err(RowError::Length));
        assert_eq!(ObjectRow::decode(&[PASSING_HASH, 1]), Err(RowError::Length));
        assert_eq!(ObjectRow::decode(&[0x10]), Err(RowError::UnknownType(0)));
    }

    fn is_hash(kind: RowKind) -> bool {
        matches!(kind, RowKind::Collection(HASH) | RowKind::Spread(HASH))
    }

    /// Earlier programs ignore the bit, and have not written it.
    #[test]
    fn a_hash_of_an_earlier_program_says_nothing_of_its_end_and_no_other_type_has_one() {
        for (head, end) in [(5, HashEnd::Unsaid), (0x85, HashEnd::Never), (0x8C, HashEnd::Unsaid)] {
            assert_eq!(ObjectRow::decode(&[head]).map(|row| row.end), Ok(end), "{head:02x}");
        }
    }

    #[test]
    fn the_head_of_a_string_has_all_but_its_value() {
        for expire_ms in [0, 1] {
            for version in [0, 1].map(Version::new) {
                let kind = RowKind::String(StringForm::Edited);
                let end = HashEnd::Unsaid;
                let row = ObjectRow { expire_ms, version, kind, end, value: &[b'x'; 600] };
                let mut bytes = Vec::new();
                row.encode(&mut bytes);
                let head = &bytes[..head_bytes(&bytes)];
                assert_eq!(ObjectRow::decode(head), Ok(ObjectRow { value: b"", ..row }));
                let row = ObjectRow { kind: RowKind::Collection(5), ..row };
                let mut bytes = Vec::new();
                row.encode(&mut bytes);
                assert_eq!(head_bytes(&bytes), HEAD_BYTES_MAX);
            }
        }
        assert_eq!(head_bytes(b""), 0);
    }

    #[test]
    fn heads_of_strings_round_trip_and_cuts_are_refused() {
        let mut bytes = Vec::new();
        SpreadHead::encode_of_string(7, 512, 1 << 29, &mut bytes);
        let head = SpreadHead::decode(&bytes).expect("it is whole");
        assert_eq!((head.id, head.elements, head.string_bytes()), (7, 512, Ok(1 << 29)));
        for cut in 0..bytes.len() {
            let head = SpreadHead::decode(&bytes[..cut]);
            assert!(head.and_then(|head| head.string_bytes()).is_err(), "{cut}");
        }
        bytes.push(0);
        let head = SpreadHead::decode(&bytes).expect("that a byte is too many is not seen here");
        assert_eq!(head.string_bytes(), Err(RowError::Length));
    }

    #[test]
    fn marks_round_trip_and_cuts_are_refused() {
        let databases = vec![
            DatabaseMark { generation: 0, keys: 10, spread: 300, expiry_ms: 1 << 41 },
            DatabaseMark { generation: u64::MAX, keys: 0, spread: 0, expiry_ms: 0 },
        ];
        let last_version = Version::new(7);
        let mark = Mark { applied: 12345, next_id: 1000, last_version, databases };
        let mut bytes = Vec::new();
        mark.encode(&mut bytes);
        assert_eq!(Mark::decode(&bytes), Ok(mark));
        for cut in 0..bytes.len() {
            assert!(Mark::decode(&bytes[..cut]).is_err());
        }
    }

    #[test]
    fn marks_of_other_versions_are_refused() {
        let before = [3, 44, 1, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0];
        assert_eq!(Mark::decode(&before), Err(RowError::Outdated(3)));
        assert_eq!(Mark::decode(&[5]), Err(RowError::UnknownType(5)));
    }

    #[test]
    fn keys_sort_by_partition_generation_and_hash_and_marks_are_last() {
        let mut mark = Vec::new();
        mark_key(partition(), &mut mark);
        let key = |generation, hash, key: &[u8]| {
            let mut out = Vec::new();
            object_key(partition(), generation, (hash, key), &mut out);
            out
        };
        let (start, end) = generation_range(partition(), 7);
        let last_partition = PartitionId::all().last().expect("there are some");
        assert!(mark > generation_range(last_partition, u64::MAX).1);
        assert!(start <= key(7, 0, b"") && key(7, u64::MAX, &[0xFF; 40]) < end);
        assert!(key(6, u64::MAX, b"x") < start && end <= key(8, 0, b""));
        assert!(key(7, 1 << 24, b"a") < key(7, 2 << 24, b""), "by hash before all else");
        let (from, to) = generation_range_from(partition(), 7, 5 << 24);
        assert!(key(7, (5 << 24) - 1, b"z") < from && from <= key(7, 5 << 24, b"") && to == end);
        let hash = 0x0123_4567_89AB_CDEF;
        let whole = key(7, hash, b"abc");
        assert_eq!(split_object_key(&whole), Some((7, &b"abc"[..])));
        assert_eq!(hash_in_object_key(&whole), Some(hash >> HASH_SHIFT << HASH_SHIFT));
        assert_eq!((split_object_key(&mark), hash_in_object_key(&mark)), (None, None));
        assert_eq!(split_object_key(&whole[..15]), None, "cut within the hash");
        assert!(key(u64::MAX, u64::MAX, &[0xFF; 9]) < generation_range(partition(), u64::MAX).1);
    }
}
