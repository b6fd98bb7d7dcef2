//! What bytes that should be a value can have wrong.

/// Bytes that are no encoded value or no edits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DecodeError {
    /// The bytes end too early.
    #[error("the value ends too early")]
    Truncated,
    /// The bytes contradict themselves.
    #[error("the value is inconsistent: {0}")]
    Corrupt(&'static str),
    /// An edit that this version does not know.
    #[error("unknown edit {0}: written by a newer version?")]
    UnknownEdit(u8),
}
