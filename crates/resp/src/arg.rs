//! One argument of a request.
//!
//! Positions are `usize`: with the default limits one request may come close to 512 TiB, so 32 bits
//! could not be defended, and a batch of 64 requests of three arguments still fits 3 KiB.

/// One argument: a range of the query buffer that was given to
/// [`Parser::parse`](crate::Parser::parse).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Arg {
    /// Index of the first byte, from the start of the whole buffer.
    pub start: usize,
    /// Count of bytes.
    pub len: usize,
}

impl Arg {
    /// The argument's bytes. `buf` is the buffer that was parsed, unmoved since.
    #[inline]
    pub fn of<'b>(&self, buf: &'b [u8]) -> &'b [u8] {
        &buf[self.start..self.start + self.len]
    }
}
