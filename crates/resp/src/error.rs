//! What is wrong with a request, in the words of Redis 7.

use thiserror::Error;

/// A request that cannot be parsed. The stream cannot be trusted from here on: answer with
/// [`Reply::protocol_error`](crate::Reply::protocol_error) and close the connection.
///
/// `Display` gives the text that Redis 7.0 sends after `-ERR `.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ProtocolError {
    /// The number after `*` is no number, or above
    /// [`RequestLimits::args_max`](crate::RequestLimits::args_max).
    #[error("Protocol error: invalid multibulk length")]
    InvalidMultibulkLength,
    /// The number after `$` is no number, negative, or above
    /// [`RequestLimits::bulk_bytes_max`](crate::RequestLimits::bulk_bytes_max).
    #[error("Protocol error: invalid bulk length")]
    InvalidBulkLength,
    /// An argument does not start with `$`; this byte came instead.
    #[error("Protocol error: expected '$', got '{}'", char::from(*.0))]
    ExpectedDollar(u8),
    /// A `*count` line does not end within
    /// [`RequestLimits::line_bytes_max`](crate::RequestLimits::line_bytes_max).
    #[error("Protocol error: too big mbulk count string")]
    TooBigMultibulkCount,
    /// A `$length` line does not end within
    /// [`RequestLimits::line_bytes_max`](crate::RequestLimits::line_bytes_max).
    #[error("Protocol error: too big bulk count string")]
    TooBigBulkCount,
    /// An inline request does not end within
    /// [`RequestLimits::line_bytes_max`](crate::RequestLimits::line_bytes_max).
    #[error("Protocol error: too big inline request")]
    TooBigInline,
    /// An inline request has a quote that does not close, or that closes within a word.
    #[error("Protocol error: unbalanced quotes in request")]
    UnbalancedQuotes,
    /// More than [`UNAUTHENTICATED_ARGS_MAX`](crate::UNAUTHENTICATED_ARGS_MAX) arguments before
    /// `AUTH`.
    #[error("Protocol error: unauthenticated multibulk length")]
    UnauthenticatedMultibulkLength,
    /// More than [`UNAUTHENTICATED_BULK_BYTES_MAX`](crate::UNAUTHENTICATED_BULK_BYTES_MAX) bytes in
    /// one argument before `AUTH`.
    #[error("Protocol error: unauthenticated bulk length")]
    UnauthenticatedBulkLength,
}
