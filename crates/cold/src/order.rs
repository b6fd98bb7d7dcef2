//! The check that every checkpoint writer makes on every row.

use crate::{error::ColdError, tier::ROW_BYTES_MAX};

/// Refuses rows that are too big or do not come in strictly ascending key order.
///
/// It lives here so that all back ends refuse the same rows with the same error, also across the
/// files into which one of them may split a checkpoint.
#[derive(Debug, Default)]
pub struct RowCheck {
    last_key: Option<Vec<u8>>,
}

impl RowCheck {
    /// Checks the next row.
    ///
    /// # Errors
    /// [`ColdError::RowTooBig`] or [`ColdError::KeyOrder`]; the row then does not count as seen.
    pub fn check(&mut self, key: &[u8], value_bytes: usize) -> Result<(), ColdError> {
        let bytes = key.len().saturating_add(value_bytes);
        if bytes > ROW_BYTES_MAX {
            return Err(ColdError::RowTooBig { bytes, bytes_max: ROW_BYTES_MAX });
        }
        match &mut self.last_key {
            Some(last) if key <= last.as_slice() => return Err(ColdError::KeyOrder),
            Some(last) => {
                last.clear();
                last.extend_from_slice(key);
            }
            None => self.last_key = Some(key.to_vec()),
        }
        Ok(())
    }
}
