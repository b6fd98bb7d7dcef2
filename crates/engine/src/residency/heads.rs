//! What the rows of keys say of them: their types, when they expire, how long a string is. Commands
//! that ask for no more bring nothing into memory, however large it is. They are read and looked at
//! by `residency/head_reads.rs`.

use crate::residency::rows::{BadRow, kind};
use basalt_change::row::{ObjectRow, RowKind, SpreadHead};
use basalt_cold::Beginning;
use basalt_value::Kind;
use parking_lot::Mutex;
use std::collections::HashMap;

/// The first byte of a hash without fields that expire (`docs/formats/collections.md`).
const HASH_THAT_STAYS: u8 = 0;

/// What is known of a key without its value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeyHead {
    /// In unix milliseconds; 0 for never.
    pub expire_ms: u64,
    /// What is under it.
    pub content: HeadContent,
}

/// What is under a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HeadContent {
    /// A string of this many bytes.
    String(u64),
    /// A collection.
    Collection(Kind),
}

/// What has to be read of keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unknown {
    /// What their rows begin with.
    Head,
    /// All of them: something has changed that is not in their rows.
    Value,
}

/// Where heads are put that have been read for a command.
#[derive(Debug, Default)]
pub struct ReadHeads(pub(super) Mutex<HashMap<Vec<u8>, ReadHead>>);

/// Of one row.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadHead {
    pub(super) cold_version: u64,
    pub(super) said: Said,
}

/// What a row says of its key by what it begins with.
#[derive(Clone, Copy, Debug)]
pub(super) enum Said {
    /// There is none.
    NoKey,
    /// All that is asked for.
    Head(KeyHead),
    /// Not all: the key is a hash that is gone when the last of its fields has expired.
    NotAll,
}

/// Heads that are true while the partitions of their keys are held, by their keys.
#[derive(Debug, Default)]
pub struct KnownHeads(pub(super) HashMap<Box<[u8]>, Option<KeyHead>>);

impl KeyHead {
    pub(crate) fn is_live(&self, now_ms: u64) -> bool {
        self.expire_ms == 0 || self.expire_ms > now_ms
    }
}

impl Said {
    /// Reads what a row begins with.
    pub(super) fn by(row: &Beginning) -> Result<Said, BadRow> {
        let ObjectRow { expire_ms, kind: of, value, .. } = ObjectRow::decode(&row.bytes)?;
        let before = (row.bytes.len() - value.len()) as u64;
        let content = match of {
            RowKind::String(_) => HeadContent::String(row.value_bytes.saturating_sub(before)),
            RowKind::StringInPieces(_) => {
                HeadContent::String(SpreadHead::decode(value)?.string_bytes()?)
            }
            RowKind::Collection(number) => match kind(number)? {
                Kind::Hash if value.first() != Some(&HASH_THAT_STAYS) => return Ok(Said::NotAll),
                kind => HeadContent::Collection(kind),
            },
            RowKind::Spread(number) => match kind(number)? {
                Kind::Hash => return Ok(Said::NotAll),
                kind => HeadContent::Collection(kind),
            },
        };
        Ok(Said::Head(KeyHead { expire_ms, content }))
    }
}

impl KnownHeads {
    pub(crate) fn of(&self, key: &[u8]) -> Option<&KeyHead> {
        self.0.get(key)?.as_ref()
    }
}
