//! What one request may ask of the server's memory.

/// Most arguments of a multibulk request from a client that has yet to authenticate (Redis: 10).
pub const UNAUTHENTICATED_ARGS_MAX: usize = 10;
/// Longest argument of a multibulk request from a client that has yet to authenticate (Redis:
/// 16384).
pub const UNAUTHENTICATED_BULK_BYTES_MAX: usize = 16 * 1024;

/// Limits on one request. All are inclusive: a request that reaches a limit is accepted.
///
/// Redis applies the tighter limits of the unauthenticated request by request, so a client may
/// pipeline `AUTH` and a large `SET`. A caller that parses a batch before it executes must
/// therefore parse one request at a time for as long as `authenticated` is false.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestLimits {
    /// Most arguments in one multibulk request, the command's name included.
    pub args_max: usize,
    /// Longest argument of a multibulk request (`proto-max-bulk-len`).
    pub bulk_bytes_max: usize,
    /// Longest inline request, and longest `*count` or `$length` line, up to its line end.
    pub line_bytes_max: usize,
    /// Whether the client may use the limits above. If not, [`UNAUTHENTICATED_ARGS_MAX`] and
    /// [`UNAUTHENTICATED_BULK_BYTES_MAX`] hold as well, each with its own error.
    pub authenticated: bool,
}

impl Default for RequestLimits {
    /// 1,048,576 arguments, 512 MiB an argument, 64 KiB a line, authenticated.
    fn default() -> Self {
        Self {
            args_max: 1024 * 1024,
            bulk_bytes_max: 512 * 1024 * 1024,
            line_bytes_max: 64 * 1024,
            authenticated: true,
        }
    }
}

/// Largest number of four digits.
const SHORT_MAX: usize = 9999;

impl RequestLimits {
    /// Whether an argument whose length has at most four digits is within the limits without a look
    /// at its length.
    #[inline]
    pub(crate) fn allow_short(&self) -> bool {
        self.authenticated && self.bulk_bytes_max >= SHORT_MAX
    }
}
