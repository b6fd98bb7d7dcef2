//! What the placeholders of a template stand for.

use crate::error::BenchError;

/// How requests look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Wire {
    /// Redis' protocol.
    #[default]
    Resp,
    /// GET and SET as HTTP's GET and PUT of a string.
    Http,
}

/// What the placeholders stand for.
#[derive(Debug, Clone)]
pub(crate) struct Vocabulary {
    pub(crate) key_prefix: String,
    pub(crate) key_bytes: usize,
    pub(crate) keyspace: u64,
    pub(crate) value_bytes_min: usize,
    pub(crate) value_bytes_max: usize,
    pub(crate) keys_per_request: usize,
    pub(crate) wire: Wire,
}

impl Vocabulary {
    /// The text of key number `number`, as requests carry it.
    pub(crate) fn key(&self, number: u64) -> String {
        let digits = self.key_bytes - self.key_prefix.len();
        format!("{}{number:0digits$}", self.key_prefix)
    }

    pub(super) fn digits_needed(&self) -> usize {
        (self.keyspace - 1).checked_ilog10().unwrap_or(0) as usize + 1
    }

    pub(crate) fn check(&self) -> Result<(), BenchError> {
        if self.keyspace == 0 {
            return Err(BenchError::Usage("the keyspace must hold at least one key".into()));
        }
        let bytes_min = self.key_prefix.len() + self.digits_needed();
        if self.key_bytes < bytes_min {
            return Err(BenchError::Usage(format!(
                "{} keys with prefix {:?} need a key size of at least {bytes_min}",
                self.keyspace, self.key_prefix
            )));
        }
        Ok(())
    }
}
