//! What the rows of keys say of them: their types, when they expire, how long a string is, what
//! further rows they have. Commands that ask for no more, or remove the keys, bring nothing into
//! memory, however large it is. They are read and looked at by `residency/head_reads.rs`.

use crate::residency::queue::Miss;
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

/// Where heads are put that have been read for a command, and for those behind it in a pipeline.
#[derive(Debug, Default)]
pub struct ReadHeads {
    pub(super) heads: Mutex<HashMap<Vec<u8>, ReadHead>>,
    /// What is to be read for others than the command that waits.
    pub(super) expected: Mutex<Vec<Miss>>,
}

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
    Head(RowHead),
    /// Not all: the key is a hash that is gone when the last of its fields has expired.
    NotAll,
}

/// What a row begins with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowHead {
    pub(crate) key: KeyHead,
    pub(crate) further: FurtherRows,
}

/// Rows that go with that of a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FurtherRows {
    /// There are none.
    None,
    /// Those of elements, or of pieces, with this id.
    Of(u64),
    /// There are some. Their id stands behind what has been read.
    Unsaid,
}

/// Heads that are true while the partitions of their keys are held, by their keys.
#[derive(Debug, Default)]
pub struct KnownHeads(pub(super) HashMap<Box<[u8]>, Option<RowHead>>);

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
        let (content, further) = match of {
            RowKind::String(_) => {
                let bytes = row.value_bytes.saturating_sub(before);
                (HeadContent::String(bytes), FurtherRows::None)
            }
            RowKind::StringInPieces(_) => {
                let head = SpreadHead::decode(value)?;
                (HeadContent::String(head.string_bytes()?), FurtherRows::Of(head.id))
            }
            RowKind::Collection(number) => match kind(number)? {
                Kind::Hash if value.first() != Some(&HASH_THAT_STAYS) => return Ok(Said::NotAll),
                kind => (HeadContent::Collection(kind), FurtherRows::None),
            },
            RowKind::Spread(number) => match kind(number)? {
                Kind::Hash => return Ok(Said::NotAll),
                kind => (HeadContent::Collection(kind), FurtherRows::by(row, value)?),
            },
        };
        Ok(Said::Head(RowHead { key: KeyHead { expire_ms, content }, further }))
    }
}

impl FurtherRows {
    /// Of a spread collection, whose row ends in `value` as far as it has been read.
    fn by(row: &Beginning, value: &[u8]) -> Result<FurtherRows, BadRow> {
        match SpreadHead::decode(value) {
            Ok(head) => Ok(FurtherRows::Of(head.id)),
            Err(_) if (row.bytes.len() as u64) < row.value_bytes => Ok(FurtherRows::Unsaid),
            Err(error) => Err(error.into()),
        }
    }
}

impl KnownHeads {
    pub(crate) fn of(&self, key: &[u8]) -> Option<&KeyHead> {
        self.row_of(key).map(|row| &row.key)
    }

    pub(crate) fn row_of(&self, key: &[u8]) -> Option<&RowHead> {
        self.0.get(key)?.as_ref()
    }

    /// All is known of these keys that it takes to remove them.
    pub(super) fn are_enough_to_remove(&self) -> bool {
        self.0.values().flatten().all(|row| row.further != FurtherRows::Unsaid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use basalt_change::version::Version;

    /// By this many bytes of the row of a spread set.
    fn said(bytes: usize) -> Result<Said, BadRow> {
        let (mut value, mut row) = (Vec::new(), Vec::new());
        SpreadHead { id: 1 << 40, elements: 7, head: &[0; 20] }.encode(&mut value);
        let (kind, version) = (RowKind::Spread(Kind::Set as u8), Version::new(9));
        ObjectRow { expire_ms: 5, version, kind, value: &value }.encode(&mut row);
        let value_bytes = row.len() as u64;
        row.truncate(bytes);
        Said::by(&Beginning { bytes: row, value_bytes })
    }

    #[test]
    fn an_id_that_stands_behind_what_was_read_is_not_known() {
        let heads = |bytes| match said(bytes) {
            Ok(Said::Head(row)) => KnownHeads([(Box::from(&b"set"[..]), Some(row))].into()),
            said => panic!("{said:?}"),
        };
        // The type, the expiry, the version, and a number of six bytes.
        for bytes in [17, 20, 22] {
            let heads = heads(bytes);
            assert_eq!(heads.of(b"set").map(|head| head.expire_ms), Some(5), "{bytes}");
            assert!(!heads.are_enough_to_remove(), "{bytes}");
        }
        let further = heads(24).row_of(b"set").map(|row| row.further);
        assert_eq!(further, Some(FurtherRows::Of(1 << 40)));
        assert!(heads(24).are_enough_to_remove());
    }
}
