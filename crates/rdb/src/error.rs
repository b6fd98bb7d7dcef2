//! Why bytes are no value.

use thiserror::Error;

/// Bytes that cannot be decoded. `RESTORE` answers with one of two texts:
/// [`is_footer`](Self::is_footer) says which.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum DecodeError {
    /// A payload that is shorter than its type and its footer.
    #[error("payload is too short for a type, a version and a checksum")]
    Footer,
    /// A payload of a newer RDB version than [`RDB_VERSION_MAX`](crate::RDB_VERSION_MAX).
    #[error("payload has the unknown RDB version {0}")]
    Version(u16),
    /// A payload whose checksum is not that of its bytes.
    #[error("payload does not match its checksum")]
    Checksum,
    /// A type byte that no known RDB version has.
    #[error("values of type {0} are unknown")]
    UnknownType(u8),
    /// A value of a module.
    #[error("values of modules are not supported")]
    Module,
    /// The bytes end before the value does, or announce more than there is.
    #[error("value goes beyond its end")]
    Truncated,
    /// Bytes follow the value.
    #[error("{0} bytes follow the value")]
    Trailing(usize),
    /// A list, set, sorted set or hash without an element.
    #[error("collection is empty")]
    Empty,
    /// The value is larger than the limits allow.
    #[error("value is larger than allowed")]
    TooLarge,
    /// The bytes break a rule of their encoding.
    #[error("corrupt {0}")]
    Corrupt(&'static str),
}

impl DecodeError {
    /// Whether the footer is at fault, for which Redis answers `ERR DUMP payload version or
    /// checksum are wrong`; for all others it answers `ERR Bad data format`.
    pub fn is_footer(self) -> bool {
        matches!(self, DecodeError::Footer | DecodeError::Version(_) | DecodeError::Checksum)
    }
}
