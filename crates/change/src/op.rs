//! HOT PATH
//! The ChangeSet: what one command changed in one partition, as bytes.
//!
//! ```text
//! record    = partition:u16le op*              partition 0xFFFF = every partition of the shard
//! op        = head:u8 db:u8 body
//! head      = code (low 5 bits) | NEW 0x20 | EXPIRY 0x40 | RAW 0x80
//! 1 PUT       [expire_ms:u64le if EXPIRY] klen:varint key vlen:varint value
//! 2 DELETE    klen:varint key
//! 3 EXPIRE    expire_ms:u64le klen:varint key                    0 = no expiry any more
//! 4 SPLICE    offset:varint klen:varint key vlen:varint bytes    overwrite or extend, zero-filled
//! 5 FLUSH_DB  generation:varint
//! 6 SWAP_DB   other:u8
//! 7 EDIT      kind:u8 klen:varint key elen:u32le edits            elements of a collection changed
//! 8 PUT_VALUE [expire_ms:u64le if EXPIRY] kind:u8 klen:varint key vlen:varint value
//! 9 REPLACE   offset:varint removed:varint klen:varint key vlen:varint bytes
//! 10 VERSION  version:u64le klen:varint key
//! 11 LIBRARY  nlen:varint name clen:varint code                  no code = there is none any more
//! 12 PUT_UNREAD  as PUT, without NEW                      whether the key existed is not known
//! ```
//!
//! Physical on purpose: a follower, a replica or recovery applies these without running a command,
//! so clocks, randomness and hash order cannot make copies drift apart. NEW says that the key did
//! not exist before: the number of keys can then be kept exact without asking the cold tier during
//! replay. PUT_UNREAD is for a string that was put without a look at the cold tier: replay has to
//! find out what the command has not. SPLICE exists so that APPEND to a value of a megabyte logs
//! the appended bytes only, REPLACE so that a run in the middle of a string can grow or shrink
//! without what is behind it being logged (`PFADD`), and EDIT so that a change of one element of a
//! collection logs that element: what its bytes mean is the affair of the collection's type
//! (`basalt-value`). An EDIT with NEW begins with an empty collection. One record holds one
//! partition's changes, because a partition is what has a checkpoint position; a command over
//! several partitions appends several records, atomically, through the log.
//!
//! Rejected: a general serialiser (serde with bincode or protobuf) costs two to four times the CPU
//! of these pushes, and the bytes would not be drawn on one page.

use crate::place::PartitionId;
use crate::version::Version;
use basalt_stdx::varint;

/// Partition number of a record that concerns every partition of its shard.
const EVERY_PARTITION: u16 = 0xFFFF;

const CODE_MASK: u8 = 0x1F;
const NEW: u8 = 0x20;
const EXPIRY: u8 = 0x40;
const RAW: u8 = 0x80;

const PUT: u8 = 1;
const DELETE: u8 = 2;
const EXPIRE: u8 = 3;
const SPLICE: u8 = 4;
const FLUSH_DB: u8 = 5;
const SWAP_DB: u8 = 6;
const EDIT: u8 = 7;
const PUT_VALUE: u8 = 8;
const REPLACE: u8 = 9;
const VERSION: u8 = 10;
const LIBRARY: u8 = 11;
const PUT_UNREAD: u8 = 12;

/// Whom a record concerns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// One partition.
    Partition(PartitionId),
    /// Every partition of the shard whose stream the record is in.
    Shard,
}

/// Longest string that a change may make, in bytes: what `proto-max-bulk-len` allows at most, and a
/// field of 64 bits that BITFIELD may begin in its last byte.
pub const STRING_BYTES_MAX: u64 = (512 << 20) + 8;

/// One change to one key, or to one database of a partition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op<'a> {
    /// The key now holds this string.
    Put(Put<'a>),
    /// The key, which existed, is gone.
    Delete {
        /// Database number.
        db: u8,
        /// The key.
        key: &'a [u8],
    },
    /// The key's expiry changed.
    Expire {
        /// Database number.
        db: u8,
        /// The key.
        key: &'a [u8],
        /// Unix time in milliseconds, 0 for none.
        expire_ms: u64,
    },
    /// Bytes of a string were overwritten or added.
    Splice {
        /// Database number.
        db: u8,
        /// The key.
        key: &'a [u8],
        /// First changed byte; a gap up to it is filled with zeros.
        offset: u64,
        /// The bytes.
        bytes: &'a [u8],
    },
    /// Bytes of a string gave way to others, perhaps more or fewer.
    Replace(Replace<'a>),
    /// Elements of a collection changed.
    Edit(Edit<'a>),
    /// The key now holds this collection.
    PutValue(PutValue<'a>),
    /// The database is empty and starts again under another generation.
    FlushDb {
        /// Database number.
        db: u8,
        /// The generation that its rows carry from now on.
        generation: u64,
    },
    /// Two databases changed places.
    SwapDb {
        /// One.
        db: u8,
        /// The other.
        other: u8,
    },
    /// The key, which has just changed, has this version from now on.
    Version {
        /// Database number.
        db: u8,
        /// The key.
        key: &'a [u8],
        /// The version.
        version: Version,
    },
    /// A library of functions has this text from now on. It is no key, and in no database: all
    /// libraries are in the partition [`PartitionId::LIBRARIES`].
    Library {
        /// Its name.
        name: &'a [u8],
        /// Its text; empty if it has gone.
        code: &'a [u8],
    },
}

/// A string put under a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Put<'a> {
    /// Database number.
    pub db: u8,
    /// The key.
    pub key: &'a [u8],
    /// The value.
    pub value: &'a [u8],
    /// Unix time in milliseconds, 0 for none.
    pub expire_ms: u64,
    /// Whether the key existed before.
    pub origin: Origin,
    /// How `OBJECT ENCODING` calls the value.
    pub form: StringForm,
}

/// Bytes of a string gave way to others; what was behind them follows the new ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Replace<'a> {
    /// Database number.
    pub db: u8,
    /// The key.
    pub key: &'a [u8],
    /// Where the bytes began.
    pub offset: u64,
    /// How many there were; what of them was beyond the string's end was nothing.
    pub removed: u64,
    /// The new bytes.
    pub bytes: &'a [u8],
}

/// Elements of a collection changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edit<'a> {
    /// Database number.
    pub db: u8,
    /// The key.
    pub key: &'a [u8],
    /// Number of the collection's kind.
    pub kind: u8,
    /// Whether the key existed before.
    pub origin: Origin,
    /// What changed, in the words of the kind.
    pub edits: &'a [u8],
}

/// A collection put under a key as a whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PutValue<'a> {
    /// Database number.
    pub db: u8,
    /// The key.
    pub key: &'a [u8],
    /// Number of the collection's kind.
    pub kind: u8,
    /// Unix time in milliseconds, 0 for none.
    pub expire_ms: u64,
    /// Whether the key existed before.
    pub origin: Origin,
    /// The collection, encoded.
    pub value: &'a [u8],
}

/// Whether a put made its key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// The key did not exist.
    New,
    /// The key existed, in memory or in the cold tier.
    Existing,
    /// Only a look at the cold tier would tell. Of strings only ([`Op::Put`]).
    Unread,
}

/// How a string came about, which Redis shows in `OBJECT ENCODING`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StringForm {
    /// Set as a whole: `int`, `embstr` or `raw` by content.
    Whole,
    /// Edited in place (`APPEND`, `SETRANGE`, `SETBIT`): always `raw`.
    Edited,
}

/// A record that does not follow the format.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DecodeError {
    /// The bytes end inside an op.
    #[error("change set ends inside an operation")]
    Truncated,
    /// The op code is not known to this version.
    #[error("change set has unknown operation {0}: written by a newer version?")]
    UnknownOp(u8),
    /// The partition number is out of range.
    #[error("change set names partition {0}, which does not exist")]
    Partition(u16),
}

/// Opens a record for one partition at the end of `out`.
#[inline]
pub fn begin(out: &mut Vec<u8>, partition: PartitionId) {
    out.extend_from_slice(&partition.number().to_le_bytes());
}

/// Opens a record for every partition of a shard.
pub fn begin_shard(out: &mut Vec<u8>) {
    out.extend_from_slice(&EVERY_PARTITION.to_le_bytes());
}

/// Length of a record that has been opened and holds no op yet.
pub const EMPTY_RECORD_BYTES: usize = 2;

impl Put<'_> {
    /// Appends this op to the record in `out`.
    #[inline(always)]
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.reserve(self.key.len() + self.value.len() + 32);
        self.encode_without_value(out);
        out.extend_from_slice(self.value);
    }

    /// Opens a record for one partition and appends this op: what [`begin`] and [`Put::encode`] do,
    /// for a short key in pieces of which each asks once whether there is room.
    #[inline(always)]
    pub fn encode_record(&self, partition: PartitionId, out: &mut Vec<u8>) {
        match u8::try_from(self.key.len()) {
            Ok(key_bytes) if key_bytes < varint::ONE_BYTE_END && self.expire_ms == 0 => {
                let [low, high] = partition.number().to_le_bytes();
                out.extend_from_slice(&[low, high, self.head(), self.db, key_bytes]);
                out.extend_from_slice(self.key);
                put_bytes(out, self.value);
            }
            _ => {
                begin(out, partition);
                self.encode(out);
            }
        }
    }

    /// The op's code and marks, but for that of an expiry.
    #[inline(always)]
    fn head(&self) -> u8 {
        let head = match self.origin {
            Origin::New => PUT | NEW,
            Origin::Existing => PUT,
            Origin::Unread => PUT_UNREAD,
        };
        if self.form == StringForm::Edited { head | RAW } else { head }
    }

    #[inline(always)]
    fn encode_without_value(&self, out: &mut Vec<u8>) {
        let head = self.head();
        if self.expire_ms != 0 {
            out.extend_from_slice(&[head | EXPIRY, self.db]);
            out.extend_from_slice(&self.expire_ms.to_le_bytes());
        } else {
            out.extend_from_slice(&[head, self.db]);
        }
        put_bytes(out, self.key);
        varint::put(out, self.value.len() as u64);
    }
}

impl<'a> Op<'a> {
    /// The key that it changes; empty if it changes none.
    pub fn key(&self) -> &'a [u8] {
        match *self {
            Op::Put(Put { key, .. })
            | Op::Delete { key, .. }
            | Op::Expire { key, .. }
            | Op::Version { key, .. }
            | Op::Splice { key, .. }
            | Op::Replace(Replace { key, .. })
            | Op::Edit(Edit { key, .. })
            | Op::PutValue(PutValue { key, .. }) => key,
            Op::FlushDb { .. } | Op::SwapDb { .. } | Op::Library { .. } => b"",
        }
    }

    /// Appends this op to the record in `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        if let Op::Put(put) = self {
            return put.encode(out);
        }
        self.encode_without_payload(out);
        out.extend_from_slice(self.payload());
    }

    /// The bytes at its end, if there may be many of them: the value, the spliced bytes, the edits.
    pub fn payload(&self) -> &'a [u8] {
        match *self {
            Op::Put(put) => put.value,
            Op::Splice { bytes, .. } => bytes,
            Op::Replace(replace) => replace.bytes,
            Op::PutValue(put) => put.value,
            Op::Edit(edit) => edit.edits,
            Op::Library { code, .. } => code,
            Op::Delete { .. }
            | Op::Expire { .. }
            | Op::Version { .. }
            | Op::FlushDb { .. }
            | Op::SwapDb { .. } => &[],
        }
    }

    /// Appends this op but for its [payload](Op::payload), which has to follow.
    pub fn encode_without_payload(&self, out: &mut Vec<u8>) {
        match *self {
            Op::Put(put) => put.encode_without_value(out),
            Op::Delete { db, key } => {
                out.extend_from_slice(&[DELETE, db]);
                put_bytes(out, key);
            }
            Op::Expire { db, key, expire_ms } => {
                out.extend_from_slice(&[EXPIRE, db]);
                out.extend_from_slice(&expire_ms.to_le_bytes());
                put_bytes(out, key);
            }
            Op::Splice { db, key, offset, bytes } => {
                out.extend_from_slice(&[SPLICE, db]);
                varint::put(out, offset);
                put_bytes(out, key);
                varint::put(out, bytes.len() as u64);
            }
            Op::Replace(Replace { db, key, offset, removed, bytes }) => {
                out.extend_from_slice(&[REPLACE, db]);
                varint::put(out, offset);
                varint::put(out, removed);
                put_bytes(out, key);
                varint::put(out, bytes.len() as u64);
            }
            Op::Edit(Edit { db, key, kind, origin, edits }) => {
                let at = begin_edit(out, db, key, kind, origin);
                set_edit_length(out, at, edits.len());
            }
            Op::PutValue(PutValue { db, key, kind, expire_ms, origin, value }) => {
                let expiry = if expire_ms != 0 { EXPIRY } else { 0 };
                out.extend_from_slice(&[PUT_VALUE | new_bit(origin) | expiry, db]);
                if expire_ms != 0 {
                    out.extend_from_slice(&expire_ms.to_le_bytes());
                }
                out.push(kind);
                put_bytes(out, key);
                varint::put(out, value.len() as u64);
            }
            Op::FlushDb { db, generation } => {
                out.extend_from_slice(&[FLUSH_DB, db]);
                varint::put(out, generation);
            }
            Op::SwapDb { db, other } => out.extend_from_slice(&[SWAP_DB, db, other]),
            Op::Version { db, key, version } => {
                out.extend_from_slice(&[VERSION, db]);
                out.extend_from_slice(&version.number().to_le_bytes());
                put_bytes(out, key);
            }
            Op::Library { name, code } => {
                out.extend_from_slice(&[LIBRARY, 0]);
                put_bytes(out, name);
                varint::put(out, code.len() as u64);
            }
        }
    }
}

/// Where the edits of an EDIT begin that is being written.
#[derive(Clone, Copy, Debug)]
pub struct EditStart(usize);

impl EditStart {
    /// The place as a length of the record in bytes.
    pub fn position(self) -> usize {
        self.0
    }
}

const EDIT_LENGTH_BYTES: usize = 4;

/// Begins an EDIT: what is appended until [`end_edit`] are its edits. So they need no buffer of
/// their own.
#[inline]
pub fn begin_edit(out: &mut Vec<u8>, db: u8, key: &[u8], kind: u8, origin: Origin) -> EditStart {
    out.extend_from_slice(&[EDIT | new_bit(origin), db, kind]);
    put_bytes(out, key);
    out.extend_from_slice(&[0; EDIT_LENGTH_BYTES]);
    EditStart(out.len())
}

/// Ends an EDIT.
///
/// # Panics
/// If the edits exceed 4 GiB. The caller cuts what may become that long
/// (`basalt_value::Breaks`), and one edit alone is part of one request.
#[inline]
pub fn end_edit(out: &mut [u8], start: EditStart) {
    set_edit_length(out, start, out.len() - start.0);
}

#[inline]
fn set_edit_length(out: &mut [u8], start: EditStart, bytes: usize) {
    let bytes = u32::try_from(bytes).expect("long edits have been cut");
    out[start.0 - EDIT_LENGTH_BYTES..start.0].copy_from_slice(&bytes.to_le_bytes());
}

/// Whether nothing has been appended since [`begin_edit`].
#[inline]
pub fn is_empty_edit(out: &[u8], start: EditStart) -> bool {
    out.len() == start.0
}

#[inline]
fn new_bit(origin: Origin) -> u8 {
    match origin {
        Origin::New => NEW,
        // Of collections it is known.
        Origin::Existing | Origin::Unread => 0,
    }
}

#[inline]
fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    varint::put(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Splits a record into its scope and its ops.
#[inline]
pub fn decode(record: &[u8]) -> Result<(Scope, Ops<'_>), DecodeError> {
    let (number, rest) = record.split_first_chunk::<2>().ok_or(DecodeError::Truncated)?;
    let number = u16::from_le_bytes(*number);
    let scope = match PartitionId::new(number) {
        Some(partition) => Scope::Partition(partition),
        None if number == EVERY_PARTITION => Scope::Shard,
        None => return Err(DecodeError::Partition(number)),
    };
    Ok((scope, Ops { rest }))
}

/// The ops of a record whose scope has been taken off.
pub fn ops(bytes: &[u8]) -> Ops<'_> {
    Ops { rest: bytes }
}

/// The ops of one record, in order. After an error the iterator ends.
#[derive(Clone, Debug)]
pub struct Ops<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Ops<'a> {
    type Item = Result<Op<'a>, DecodeError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let op = decode_op(&mut self.rest);
        if op.is_err() {
            self.rest = &[];
        }
        Some(op)
    }
}

#[inline]
fn decode_op<'a>(rest: &mut &'a [u8]) -> Result<Op<'a>, DecodeError> {
    let ([head, db], after) = rest.split_first_chunk::<2>().ok_or(DecodeError::Truncated)?;
    let (head, db) = (*head, *db);
    *rest = after;
    match head & CODE_MASK {
        code @ (PUT | PUT_UNREAD) => {
            let expire_ms = if head & EXPIRY != 0 { take_u64(rest)? } else { 0 };
            let key = take_bytes(rest)?;
            let value = take_bytes(rest)?;
            let origin = if code == PUT { origin(head) } else { Origin::Unread };
            let form = if head & RAW != 0 { StringForm::Edited } else { StringForm::Whole };
            Ok(Op::Put(Put { db, key, value, expire_ms, origin, form }))
        }
        DELETE => Ok(Op::Delete { db, key: take_bytes(rest)? }),
        EXPIRE => {
            let expire_ms = take_u64(rest)?;
            Ok(Op::Expire { db, expire_ms, key: take_bytes(rest)? })
        }
        SPLICE => {
            let offset = varint::take(rest).ok_or(DecodeError::Truncated)?;
            let key = take_bytes(rest)?;
            Ok(Op::Splice { db, offset, key, bytes: take_bytes(rest)? })
        }
        REPLACE => {
            let offset = varint::take(rest).ok_or(DecodeError::Truncated)?;
            let removed = varint::take(rest).ok_or(DecodeError::Truncated)?;
            let key = take_bytes(rest)?;
            Ok(Op::Replace(Replace { db, key, offset, removed, bytes: take_bytes(rest)? }))
        }
        EDIT => {
            let kind = take_u8(rest)?;
            let key = take_bytes(rest)?;
            let (len, after) = rest.split_first_chunk::<4>().ok_or(DecodeError::Truncated)?;
            let len = u32::from_le_bytes(*len) as usize;
            let (edits, after) = after.split_at_checked(len).ok_or(DecodeError::Truncated)?;
            *rest = after;
            Ok(Op::Edit(Edit { db, key, kind, origin: origin(head), edits }))
        }
        PUT_VALUE => {
            let expire_ms = if head & EXPIRY != 0 { take_u64(rest)? } else { 0 };
            let kind = take_u8(rest)?;
            let key = take_bytes(rest)?;
            let value = take_bytes(rest)?;
            let origin = origin(head);
            Ok(Op::PutValue(PutValue { db, key, kind, expire_ms, origin, value }))
        }
        FLUSH_DB => {
            let generation = varint::take(rest).ok_or(DecodeError::Truncated)?;
            Ok(Op::FlushDb { db, generation })
        }
        SWAP_DB => {
            let (other, after) = rest.split_first().ok_or(DecodeError::Truncated)?;
            *rest = after;
            Ok(Op::SwapDb { db, other: *other })
        }
        LIBRARY => Ok(Op::Library { name: take_bytes(rest)?, code: take_bytes(rest)? }),
        VERSION => {
            let version = Version::new(take_u64(rest)?);
            Ok(Op::Version { db, version, key: take_bytes(rest)? })
        }
        unknown => Err(DecodeError::UnknownOp(unknown)),
    }
}

#[inline]
fn origin(head: u8) -> Origin {
    if head & NEW != 0 { Origin::New } else { Origin::Existing }
}

#[inline]
fn take_u8(rest: &mut &[u8]) -> Result<u8, DecodeError> {
    let (&byte, after) = rest.split_first().ok_or(DecodeError::Truncated)?;
    *rest = after;
    Ok(byte)
}

#[inline]
fn take_u64(rest: &mut &[u8]) -> Result<u64, DecodeError> {
    let (bytes, after) = rest.split_first_chunk::<8>().ok_or(DecodeError::Truncated)?;
    *rest = after;
    Ok(u64::from_le_bytes(*bytes))
}

#[inline]
fn take_bytes<'a>(rest: &mut &'a [u8]) -> Result<&'a [u8], DecodeError> {
    let len = varint::take(rest).ok_or(DecodeError::Truncated)?;
    let len = usize::try_from(len).map_err(|_| DecodeError::Truncated)?;
    let (bytes, after) = rest.split_at_checked(len).ok_or(DecodeError::Truncated)?;
    *rest = after;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn round_trip(ops: &[Op<'_>]) {
        let mut record = Vec::new();
        begin(&mut record, PartitionId::new(1023).unwrap());
        assert_eq!(record.len(), EMPTY_RECORD_BYTES);
        for op in ops {
            op.encode(&mut record);
        }
        let (scope, decoded) = decode(&record).unwrap();
        assert_eq!(scope, Scope::Partition(PartitionId::new(1023).unwrap()));
        assert_eq!(decoded.map(Result::unwrap).collect::<Vec<_>>(), ops);
        for cut in 0..record.len() {
            if let Ok((_, decoded)) = decode(&record[..cut]) {
                assert!(decoded.count() <= ops.len());
            }
        }
    }

    #[test]
    fn every_op_round_trips() {
        let put = Put {
            db: 3,
            key: b"key",
            value: b"value",
            expire_ms: 0,
            origin: Origin::New,
            form: StringForm::Whole,
        };
        let edited = Put {
            expire_ms: 1_700_000_000_000,
            origin: Origin::Existing,
            form: StringForm::Edited,
            ..put
        };
        round_trip(&[
            Op::Put(put),
            Op::Put(edited),
            Op::Put(Put { origin: Origin::Unread, ..put }),
            Op::Put(Put { origin: Origin::Unread, ..edited }),
            Op::Delete { db: 0, key: b"" },
            Op::Expire { db: 15, key: b"k", expire_ms: u64::MAX },
            Op::Splice { db: 1, key: b"k", offset: 1 << 40, bytes: b"xyz" },
            Op::Replace(Replace { db: 1, key: b"k", offset: 0, removed: u64::MAX, bytes: b"" }),
            Op::Replace(Replace { db: 9, key: b"", offset: 1 << 40, removed: 2, bytes: b"xyz" }),
            Op::Edit(Edit { db: 4, key: b"list", kind: 2, origin: Origin::New, edits: b"edits" }),
            Op::PutValue(PutValue {
                db: 4,
                key: b"hash",
                kind: 5,
                expire_ms: 7,
                origin: Origin::Existing,
                value: b"",
            }),
            Op::FlushDb { db: 2, generation: 77 },
            Op::SwapDb { db: 0, other: 1 },
            Op::Version { db: 7, key: b"k", version: Version::new(u64::MAX) },
            Op::Library { name: b"lib", code: b"#!lua name=lib" },
            Op::Library { name: b"lib", code: b"" },
        ]);
    }

    proptest! {
        #[test]
        fn foreign_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Ok((_, ops)) = decode(&bytes) {
                for op in ops {
                    let _ = op;
                }
            }
        }

        #[test]
        fn replacements_round_trip(offset in any::<u64>(), removed in any::<u64>(),
                                   key in proptest::collection::vec(any::<u8>(), 0..300),
                                   bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let replace = Replace { db: 0, key: &key, offset, removed, bytes: &bytes };
            round_trip(&[Op::Replace(replace)]);
        }

        #[test]
        fn puts_round_trip(key in proptest::collection::vec(any::<u8>(), 0..300),
                           value in proptest::collection::vec(any::<u8>(), 0..300),
                           expire_ms in prop_oneof![Just(0), any::<u64>()]) {
            let put = Put { db: 5, key: &key, value: &value, expire_ms, origin: Origin::New,
                            form: StringForm::Whole };
            round_trip(&[Op::Put(put)]);
            let partition = PartitionId::new(777).unwrap();
            let (mut record, mut at_once) = (Vec::new(), Vec::new());
            begin(&mut record, partition);
            put.encode(&mut record);
            put.encode_record(partition, &mut at_once);
            prop_assert_eq!(record, at_once);
        }
    }
}
