//! Rows of the cold tier becoming entries.

use basalt_change::element::{self, ElementsOf, RowSet};
use basalt_change::op::STRING_BYTES_MAX;
use basalt_change::place::PartitionId;
use basalt_change::row::{HashEnd, ObjectRow, RowError, RowKind, SpreadHead};
use basalt_cold::{ColdError, ColdTier};
use basalt_keyspace::database::{Row, RowState};
use basalt_keyspace::deferred::Change;
use basalt_keyspace::entry::{Access, NewValue};
use basalt_value::{DecodeError, FormLimits, Kind, Value, spread};
use std::ops::ControlFlow;
use std::sync::Arc;

/// A row that makes no sense.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadRow {
    /// It is no row.
    #[error("{0}")]
    Row(#[from] RowError),
    /// Its collection cannot be read.
    #[error("{0}")]
    Value(#[from] DecodeError),
    /// A collection has not as many elements as its object says.
    #[error("a collection has {found} elements on disk, its object says {expected}")]
    Elements {
        /// In their rows.
        found: u64,
        /// In the object.
        expected: u64,
    },
    /// The pieces of a string do not make up what its object says.
    #[error(
        "a string has {found} bytes on disk in the order of its pieces, its object says {expected}"
    )]
    Pieces {
        /// Up to the first piece that is missing or too much.
        found: u64,
        /// In the object.
        expected: u64,
    },
}

/// Why a row cannot become an entry.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum LoadError {
    /// The cold tier could not be read.
    #[error("{0}")]
    Cold(#[from] ColdError),
    /// It makes no sense. Elements that were read after their object make none either if both were
    /// replaced in between; the caller, which looks after them, knows.
    #[error("{0}")]
    Row(#[from] BadRow),
    /// It is not wanted any more.
    #[error("interrupted")]
    Interrupted,
}

impl From<RowError> for LoadError {
    fn from(error: RowError) -> LoadError {
        LoadError::Row(error.into())
    }
}

impl From<DecodeError> for LoadError {
    fn from(error: DecodeError) -> LoadError {
        LoadError::Row(error.into())
    }
}

/// Where a row is from, and how elements are read.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) cold: &'a dyn ColdTier,
    pub(crate) limits: FormLimits,
    /// Asked now and then while a large collection or a long string is read.
    pub(crate) goes_on: &'a dyn Fn() -> bool,
}

/// A row, ready to become an entry. Made without a lock: decoding a large collection takes its
/// time.
pub(crate) struct LoadedRow<'a> {
    row: Row<'a>,
}

impl<'a> LoadedRow<'a> {
    /// Reads an object's row that is all of it; `None` if there are elements to be read.
    pub(crate) fn decode(
        row: &'a [u8],
        limits: &FormLimits,
    ) -> Result<Option<LoadedRow<'a>>, BadRow> {
        let row = ObjectRow::decode(row)?;
        let value = match row.kind {
            RowKind::String(form) => NewValue::string(row.value, form),
            RowKind::Collection(number) => {
                NewValue::Collection(Value::decode(kind(number)?, row.value, limits)?)
            }
            RowKind::Spread(_) | RowKind::StringInPieces(_) => return Ok(None),
        };
        let ObjectRow { expire_ms, version, .. } = row;
        let (spread_id, state) = (None, RowState::AsOnDisk);
        Ok(Some(LoadedRow {
            row: Row { value, expire_ms, version, spread_id, state, access: Access::default() },
        }))
    }

    /// Reads an object's row, and the pieces of a string; `None` if it is a collection whose
    /// elements are to be read.
    pub(crate) fn read_unless_spread(
        row: &'a [u8],
        partition: PartitionId,
        generation: u64,
        source: Source<'_>,
    ) -> Result<Option<LoadedRow<'a>>, LoadError> {
        match ObjectRow::decode(row)?.kind {
            RowKind::Spread(_) => Ok(None),
            _ => LoadedRow::read(row, partition, generation, source).map(Some),
        }
    }

    /// Reads an object's row, and those of its elements or pieces if there are any.
    pub(crate) fn read(
        row: &'a [u8],
        partition: PartitionId,
        generation: u64,
        source: Source<'_>,
    ) -> Result<LoadedRow<'a>, LoadError> {
        if let Some(loaded) = LoadedRow::decode(row, &source.limits)? {
            return Ok(loaded);
        }
        let row = ObjectRow::decode(row)?;
        let head = SpreadHead::decode(row.value)?;
        let of = ElementsOf { partition, generation, id: head.id };
        let value = match row.kind {
            RowKind::Spread(number) => {
                NewValue::Collection(read_elements(of, kind(number)?, head, source)?)
            }
            RowKind::StringInPieces(form) => {
                NewValue::Shared(Arc::new(read_pieces(of, head, source)?), form)
            }
            RowKind::String(_) | RowKind::Collection(_) => return Err(RowError::Length.into()),
        };
        let ObjectRow { expire_ms, version, .. } = row;
        let (spread_id, state) = (Some(head.id), RowState::AsOnDisk);
        Ok(LoadedRow {
            row: Row { value, expire_ms, version, spread_id, state, access: Access::default() },
        })
    }

    /// Its elements or pieces have rows of their own: changes may wait for a collection.
    pub(crate) fn is_spread(&self) -> bool {
        self.row.spread_id.is_some()
    }

    /// Makes the changes that waited for it to be read.
    pub(crate) fn catch_up(
        &mut self,
        changes: &[Change],
        limits: &FormLimits,
    ) -> Result<(), BadRow> {
        for change in changes {
            match (change, &mut self.row.value) {
                (Change::Expire(expire_ms), _) => self.row.expire_ms = *expire_ms,
                (Change::Version(version), _) => self.row.version = *version,
                (Change::Edit { kind, edits }, NewValue::Collection(value))
                    if Kind::from_number(*kind) == Some(value.as_ref().kind()) =>
                {
                    value.as_mut().apply(edits, limits)?;
                }
                (Change::Edit { .. }, _) => return Err(OF_ANOTHER_KIND.into()),
            }
        }
        self.row.state = RowState::CaughtUp;
        Ok(())
    }

    /// What becomes of it in memory, into which it comes now.
    pub(crate) fn into_row(self, now: Access) -> Row<'a> {
        Row { access: now, ..self.row }
    }
}

const OF_ANOTHER_KIND: DecodeError =
    DecodeError::Corrupt("an edit of a collection of another kind");

pub(super) fn kind(number: u8) -> Result<Kind, RowError> {
    Kind::from_number(number).ok_or(RowError::UnknownType(number))
}

/// When all fields of a hash have expired, if its row says so without them; all ones else.
pub(crate) fn gone_ms(row: &ObjectRow<'_>) -> u64 {
    match row.end {
        HashEnd::At(gone_ms) => gone_ms,
        HashEnd::Never | HashEnd::Unsaid => u64::MAX,
    }
}

/// The id under which an object has rows of elements or pieces, if it has any.
pub(crate) fn spread_id(row: &[u8]) -> Result<Option<u64>, BadRow> {
    let row = ObjectRow::decode(row)?;
    match row.kind {
        RowKind::Spread(_) | RowKind::StringInPieces(_) => {
            Ok(Some(SpreadHead::decode(row.value)?.id))
        }
        RowKind::String(_) | RowKind::Collection(_) => Ok(None),
    }
}

/// Joins the pieces of a string, of which each must be there, in the order of their numbers.
fn read_pieces(
    of: ElementsOf,
    head: SpreadHead<'_>,
    source: Source<'_>,
) -> Result<Vec<u8>, LoadError> {
    let expected = head.string_bytes()?;
    if expected > STRING_BYTES_MAX {
        return Err(RowError::Length.into());
    }
    let mut string = Vec::with_capacity(expected as usize);
    let (from, to) = of.range(RowSet::ByName);
    let (mut outcome, mut pieces) = (Ok(()), 0u32);
    source.cold.scan(&from, &to, &mut |key, piece| {
        let is_next = element::name_in(key) == Some(&pieces.to_be_bytes()[..]);
        let found = string.len() as u64;
        if !is_next || found + piece.len() as u64 > expected {
            outcome = Err(BadRow::Pieces { found, expected }.into());
        } else if !(source.goes_on)() {
            outcome = Err(LoadError::Interrupted);
        } else {
            string.extend_from_slice(piece);
            pieces += 1;
        }
        if outcome.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    outcome?;
    let found = string.len() as u64;
    if found == expected && u64::from(pieces) == head.elements {
        Ok(string)
    } else {
        Err(BadRow::Pieces { found, expected }.into())
    }
}

fn read_elements(
    of: ElementsOf,
    kind: Kind,
    head: SpreadHead<'_>,
    source: Source<'_>,
) -> Result<Value, LoadError> {
    /// Elements after which is asked whether to go on.
    const ELEMENTS_AN_ASKING: u64 = 4_096;
    let mut value = Value::from_head(kind, head.head)?;
    let set = if spread::is_ordered(kind) { RowSet::ByOrder } else { RowSet::ByName };
    let (from, to) = of.range(set);
    let mut outcome = Ok(());
    let mut read = 0;
    source.cold.scan(&from, &to, &mut |key, content| {
        let name = element::name_in(key).unwrap_or_default();
        outcome = value.adopt(name, content, &source.limits).map_err(LoadError::from);
        read += 1;
        if read % ELEMENTS_AN_ASKING == 0 && !(source.goes_on)() {
            outcome = Err(LoadError::Interrupted);
        }
        if outcome.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    outcome?;
    let (found, expected) = (value.as_ref().len() as u64, head.elements);
    if found == expected { Ok(value) } else { Err(BadRow::Elements { found, expected }.into()) }
}
