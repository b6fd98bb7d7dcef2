//! bytes ▸ resp ▸ command ▸ engine ▸ log ▸ cold — what a key holds: \[value\]
//!
//! The data types: list, set, sorted set, hash and stream, each in a packed form for few elements and
//! a native form that scales ([`form`]), and each with its edits: the bytes that say what changed, which
//! the log carries and recovery applies. It owns the layout of every collection in memory and its
//! encoding as one row. It must never know keys, expiry of keys, commands, replies or locks. Its one
//! invariant: applying the edits that an operation wrote to an equal value makes an equal value, and
//! foreign bytes give an error, never a panic. Read [`collection`] next, then one type. What strings can hold
//! besides text is here too: bits ([`bits`]) and HyperLogLogs ([`hll`]).

// JUSTIFICATION for `unsafe` in this crate: a collection is one word with its form in the lowest bit, and its
// packed bytes have their length in front of them. As a safe enum of a vector and a box the same costs 40
// bytes a collection, a tenth of a hash of ten short fields, and one cache miss an access.

pub mod bits;
pub mod collection;
pub mod edits;
pub mod fetch;
pub mod form;
pub mod hash;
pub mod hll;
pub mod item;
pub mod kind;
pub mod limits;
pub mod list;
pub mod members;
pub mod packed;
pub mod seed;
pub mod set;
pub mod sorted_set;
pub mod spread;
pub mod stream;
pub mod touched;
pub mod value;

pub use collection::{Collection, DecodeError};
pub use edits::{Breaks, Edits};
pub use hash::Hash;
pub use kind::Kind;
pub use limits::Limits;
pub use list::List;
pub use set::Set;
pub use sorted_set::SortedSet;
pub use spread::Spread;
pub use stream::Stream;
pub use touched::Touched;
pub use value::{Value, ValueMut, ValueRef};
