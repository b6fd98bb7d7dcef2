//! Rows of the cold tier becoming entries.

use basalt_change::row::{ObjectRow, RowError, RowKind};
use basalt_keyspace::entry::{Content, NewValue};
use basalt_keyspace::partition::Database;
use basalt_value::{DecodeError, Kind, Limits, Value};

/// A row that makes no sense.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadRow {
    /// It is no row.
    #[error("{0}")]
    Row(#[from] RowError),
    /// Its collection cannot be read.
    #[error("{0}")]
    Value(#[from] DecodeError),
}

/// A row, ready to become an entry. Made without a lock: decoding a large collection takes its time.
pub(crate) struct LoadedRow<'a> {
    expire_ms: u64,
    value: NewValue<'a>,
}

impl<'a> LoadedRow<'a> {
    pub(crate) fn decode(row: &'a [u8], limits: &Limits) -> Result<LoadedRow<'a>, BadRow> {
        let row = ObjectRow::decode(row)?;
        let value = match row.kind {
            RowKind::String(form) => NewValue::string(row.value, form),
            RowKind::Collection(number) => {
                let kind = Kind::from_number(number).ok_or(RowError::UnknownType(number))?;
                NewValue::Collection(Value::decode(kind, row.value, limits)?)
            }
        };
        Ok(LoadedRow { expire_ms: row.expire_ms, value })
    }

    /// Makes it resident under a key that is not.
    pub(crate) fn install(self, database: &mut Database, hash: u64, key: &[u8], flags: u64) {
        let LoadedRow { expire_ms, value } = self;
        if expire_ms != 0 {
            database.next_expiry_ms = database.next_expiry_ms.min(expire_ms);
        }
        if let NewValue::Collection(value) = &value {
            database.field_expiries.note(value.as_ref().next_expiry_ms(), hash);
        }
        let content = Content { key, value, expire_ms, access: Default::default() };
        database.table.insert(hash, content, flags);
        database.keys_cold_only = database.keys_cold_only.saturating_sub(1);
    }
}
