//! What the rows of keys say of them: their types, when they expire, how long a string is, what
//! further rows they have. Commands that ask for no more, or remove the keys, bring nothing into
//! memory, however large it is. They are read and looked at by `residency/head_reads.rs`.

use crate::residency::queue::{Miss, Missing};
use crate::residency::rows::{BadRow, kind};
use basalt_change::row::{HashEnd, ObjectRow, RowKind, SpreadHead};
use basalt_cold::Beginning;
use basalt_keyspace::deferred::Change;
use basalt_value::{Hash, Kind};
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

/// What has to be read of which keys.
#[derive(Debug)]
pub enum Unknown {
    /// What their rows begin with.
    Heads(Missing),
    /// All of them: what their rows begin with is not enough, or something has changed that is not
    /// in their rows.
    Values(Missing),
}

/// What a command does with keys of which it knows no more than what their rows begin with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    Ask,
    Remove,
}

/// By the keys of their rows.
pub(super) type Heads = HashMap<Vec<u8>, ReadHead>;

/// Where heads are put that have been read for a command, and for those behind it in a pipeline.
#[derive(Debug, Default)]
pub struct ReadHeads {
    pub(super) heads: Mutex<Heads>,
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
    /// Not all: the key is a hash of which the row does not say when it is gone.
    NotAll,
}

/// What a row begins with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowHead {
    pub(crate) key: KeyHead,
    /// When it is a hash of which all fields have expired; all ones for never.
    pub(crate) gone_ms: u64,
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

/// Heads that are true while the partitions of their keys are held.
#[derive(Debug, Default)]
pub struct KnownHeads(pub(super) Heads);

impl RowHead {
    /// The key's own time has come.
    pub(crate) fn is_due(&self, now_ms: u64) -> bool {
        self.key.expire_ms != 0 && self.key.expire_ms <= now_ms
    }

    pub(crate) fn is_live(&self, now_ms: u64) -> bool {
        !self.is_due(now_ms) && self.gone_ms > now_ms
    }
}

impl Said {
    /// Reads what a row begins with.
    pub(super) fn by(row: &Beginning) -> Result<Said, BadRow> {
        let ObjectRow { expire_ms, kind: of, end, value, .. } = ObjectRow::decode(&row.bytes)?;
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
            RowKind::Collection(number) => {
                (HeadContent::Collection(kind(number)?), FurtherRows::None)
            }
            RowKind::Spread(number) => {
                (HeadContent::Collection(kind(number)?), FurtherRows::by(row, value)?)
            }
        };
        let gone_ms = match (content, end) {
            (_, HashEnd::At(gone_ms)) => gone_ms,
            (HeadContent::Collection(Kind::Hash), HashEnd::Unsaid)
                if further != FurtherRows::None || value.first() != Some(&HASH_THAT_STAYS) =>
            {
                return Ok(Said::NotAll);
            }
            _ => u64::MAX,
        };
        Ok(Said::Head(RowHead { key: KeyHead { expire_ms, content }, gone_ms, further }))
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

impl ReadHead {
    /// What it says after changes that wait for the key to be read.
    pub(super) fn after(mut self, changes: &[Change]) -> ReadHead {
        for change in changes {
            let Said::Head(row) = &mut self.said else { break };
            match change {
                Change::Expire(expire_ms) => row.key.expire_ms = *expire_ms,
                Change::Version(_) => {}
                // None takes the last element: that would remove the key.
                Change::Edit { edits, .. } => {
                    let is_hash = row.key.content == HeadContent::Collection(Kind::Hash);
                    let lasts = || Hash::lasts_through(edits).unwrap_or(false);
                    if is_hash && (row.gone_ms != u64::MAX || !lasts()) {
                        self.said = Said::NotAll;
                    }
                }
            }
        }
        self
    }

    /// It says what a command has to know for this.
    pub(super) fn is_enough_to(&self, purpose: Purpose) -> bool {
        match self.said {
            Said::NoKey => true,
            Said::Head(row) => purpose == Purpose::Ask || row.further != FurtherRows::Unsaid,
            Said::NotAll => false,
        }
    }
}

impl KnownHeads {
    /// What the row with this key says, if there is one.
    pub(crate) fn of(&self, row_key: &[u8]) -> Option<&RowHead> {
        match &self.0.get(row_key)?.said {
            Said::Head(row) => Some(row),
            Said::NoKey | Said::NotAll => None,
        }
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
        let (expire_ms, end) = (5, HashEnd::Unsaid);
        ObjectRow { expire_ms, version, kind, end, value: &value }.encode(&mut row);
        let value_bytes = row.len() as u64;
        row.truncate(bytes);
        Said::by(&Beginning { bytes: row, value_bytes })
    }

    #[test]
    fn an_id_that_stands_behind_what_was_read_is_not_known() {
        let head = |bytes| match said(bytes) {
            Ok(Said::Head(row)) => (row, ReadHead { cold_version: 0, said: Said::Head(row) }),
            said => panic!("{said:?}"),
        };
        // The type, the expiry, the version, and a number of six bytes.
        for bytes in [17, 20, 22] {
            let (row, read) = head(bytes);
            assert_eq!((row.key.expire_ms, row.further), (5, FurtherRows::Unsaid), "{bytes}");
            assert!(read.is_enough_to(Purpose::Ask) && !read.is_enough_to(Purpose::Remove));
        }
        let (row, read) = head(24);
        assert_eq!(row.further, FurtherRows::Of(1 << 40));
        assert!(read.is_enough_to(Purpose::Remove));
    }

    /// What is said of the end of a hash whose row has this kind and value.
    fn gone_ms(kind: RowKind, end: HashEnd, value: &[u8]) -> Option<u64> {
        let mut bytes = Vec::new();
        ObjectRow { expire_ms: 0, version: Version::NONE, kind, end, value }.encode(&mut bytes);
        let value_bytes = bytes.len() as u64;
        match Said::by(&Beginning { bytes, value_bytes }).expect("it is a row") {
            Said::Head(row) => Some(row.gone_ms),
            Said::NotAll => None,
            Said::NoKey => panic!("there is a row"),
        }
    }

    #[test]
    fn a_row_says_when_its_hash_is_gone_and_one_of_before_that_none_of_its_fields_expires() {
        let (whole, spread) =
            (RowKind::Collection(Kind::Hash as u8), RowKind::Spread(Kind::Hash as u8));
        for (kind, value) in [(whole, &[1, 0xD1, 0xD2, 0xC1, 9][..]), (spread, &[0, 1][..])] {
            assert_eq!(gone_ms(kind, HashEnd::Never, value), Some(u64::MAX), "{kind:?}");
            assert_eq!(gone_ms(kind, HashEnd::At(9), value), Some(9), "{kind:?}");
            assert_eq!(gone_ms(kind, HashEnd::Unsaid, value), None, "{kind:?}");
        }
        assert_eq!(gone_ms(whole, HashEnd::Unsaid, &[0, 0xD1, 0xD2]), Some(u64::MAX));
        // The id of a spread one is no such byte.
        assert_eq!(gone_ms(spread, HashEnd::Unsaid, &[0, 0]), None);
    }
}
