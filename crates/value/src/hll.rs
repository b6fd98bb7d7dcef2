//! HyperLogLog: how many different elements there were, in 12 KiB, within 0.81%.
//!
//! The algorithm, the estimator and every byte are those of Redis, so that counts agree exactly
//! with a redis-server's and strings can travel between the two.
//!
//! An element is hashed to 64 bits (`element`). The low 14 bits choose one of 16,384 registers,
//! the others make a count: one more than the zero bits before the first set one. A register keeps
//! the largest count that it has seen; many large counts mean many elements (`estimate`).
//!
//! ```text
//!  0     4         5         8                                  16
//!  HYLL  encoding  not used  cached count, 64 bits, low first   registers
//!        0 dense   3 bytes   highest bit set: out of date
//!        1 sparse
//! ```
//! *Dense*: 16,384 registers of 6 bits, the low bits of a byte first; the string has 12,304 bytes
//! (`dense`).
//!
//! *Sparse*: runs of equal registers, from the first to the last (`sparse`):
//!
//! ```text
//!  00rrrrrr            ZERO    r + 1 registers (1 to 64) are 0
//!  01rrrrrr rrrrrrrr   XZERO   r + 1 registers (1 to 16,384) are 0, high bits first
//!  1vvvvvrr            VAL     r + 1 registers (1 to 4) are v + 1 (1 to 32)
//! ```
//! A sparse string becomes dense, and stays so, when a count is above 32 or the string would grow
//! beyond `hll-sparse-max-bytes`. Which opcodes a string has depends on the order of its elements;
//! [`HllBuf`] makes the same choices as Redis, or a GET would tell the difference.
//!
//! [`Hll`] reads a string, which may come from anywhere: a client can SET it. It looks at the
//! header first ([`NotHll`]); runs that do not make up 16,384 registers are found when they are
//! walked ([`Corrupted`]).
//!
//! Rejected: one representation in memory and Redis' at the border. GET, SETRANGE and the log see
//! the string all the time, and the sparse form is smaller than a table of counts.
//!
//! Sources: P. Flajolet and others, "HyperLogLog: the analysis of a near-optimal cardinality
//! estimation algorithm" (2007); S. Heule and others, "HyperLogLog in Practice" (2013); O. Ertl,
//! "New cardinality estimation algorithms for HyperLogLog sketches", arXiv:1702.01284.

#![forbid(unsafe_code)]

mod dense;
mod edit;
mod element;
mod estimate;
mod layout;
mod patch;
mod sparse;
mod view;

pub use dense::DENSE_BYTES;
pub use edit::{Change, HllBuf};
pub use element::Element;
pub use estimate::Registers;
pub use layout::{Corrupted, NotHll, REGISTERS};
pub use patch::Patch;
pub use view::{COUNT_FIELD, Encoding, Hll};
