//! Why the engine cannot do what it was asked for.

use crate::residency::rows::{BadRow, LoadError};
use basalt_cold::ColdError;

/// Why the engine cannot serve a request that was fine in itself.
#[derive(Clone, Debug, thiserror::Error)]
pub enum EngineError {
    /// The cold tier could not be read.
    #[error("reading from disk failed: {0}")]
    Cold(#[from] ColdError),
    /// A row of the cold tier makes no sense.
    #[error("a row on disk is corrupt: {0}")]
    Row(#[from] BadRow),
    /// A command needs more in memory at once than there may be.
    #[error(
        "OOM command needs {keys} keys that are on disk, some {bytes} bytes, in memory at once, and no more than \
         {bytes_max} may be of what maxmemory leaves for keys"
    )]
    TooMuch {
        /// Keys.
        keys: u64,
        /// Bytes, estimated.
        bytes: u64,
        /// Bytes that may be.
        bytes_max: u64,
    },
    /// The engine is shutting down.
    #[error("the server is shutting down")]
    Stopping,
}

impl EngineError {
    /// A row is damaged: reading it again would not help, and others are not concerned.
    pub(crate) fn is_damage(&self) -> bool {
        matches!(self, EngineError::Row(_) | EngineError::Cold(ColdError::Corrupt { .. }))
    }

    /// A row is damaged, or its part of the disk does not answer: other rows may be to be had.
    pub(crate) fn is_of_a_row(&self) -> bool {
        self.is_damage() || matches!(self, EngineError::Cold(ColdError::Failed { .. }))
    }
}

impl From<LoadError> for EngineError {
    fn from(error: LoadError) -> EngineError {
        match error {
            LoadError::Cold(error) => EngineError::Cold(error),
            LoadError::Row(error) => EngineError::Row(error),
            LoadError::Interrupted => EngineError::Stopping,
        }
    }
}
