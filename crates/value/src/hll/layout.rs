//! The numbers that all parts go by, and what a string can have wrong.

/// Number of registers.
pub const REGISTERS: usize = 1 << INDEX_BITS;
/// Bits of a hash that choose a register.
pub(super) const INDEX_BITS: u32 = 14;
/// The other bits of a hash.
pub(super) const COUNT_BITS: u32 = 64 - INDEX_BITS;
/// Bytes in front of the registers.
pub(super) const HEADER_BYTES: usize = 16;

/// The string is no HyperLogLog: its header or its length says so.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("not a HyperLogLog")]
pub struct NotHll;

/// The string has the header of a HyperLogLog, but its runs do not make up all registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the runs of a sparse HyperLogLog do not make up its registers")]
pub struct Corrupted;
