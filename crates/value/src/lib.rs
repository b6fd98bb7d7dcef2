//! bytes ▸ resp ▸ command ▸ engine ▸ log ▸ cold — what a key holds: \[value\]
//!
//! The data types: list, set, sorted set, hash, stream and queue, each in a packed form for few
//! elements and a native form that scales ([`form`]), and each with its edits: the bytes that say
//! what changed, which the log carries and recovery applies. It owns the layout of every collection
//! in memory and its encoding as one row. It must never know keys, expiry of keys, commands,
//! replies or locks. Its one invariant: applying the edits that an operation wrote to an equal
//! value makes an equal value, and foreign bytes give an error, never a panic. Read [`collection`]
//! next, then one type. What strings can hold besides text is here too: bits ([`bits`]) and
//! HyperLogLogs ([`hll`]).
//!
//! # The map
//!
//! Each type has a file and a folder of its name, and meets the same six things:
//!
//! ```text
//!              Value: a kind and a word                                          value.rs, kind.rs
//!                │ what all types have in common: Collection                     collection.rs
//!        ┌───────┴────────┐ the word's lowest bit                                form.rs
//!     packed            native
//!     few elements      many; a type's own structure
//!     packed.rs         set, hash: a Members table                               members.rs
//!     items in a row    sorted set: Members and a tree      sorted_set/tree.rs
//!     item.rs           list: chunks; stream: nodes         list/chunks.rs, stream/node.rs
//!
//!   an operation ─┬─▶ changes the value
//!                 ├─▶ Edits: bytes for the log                        edits.rs, */edit.rs
//!                 └─▶ DirtyElements: what a checkpoint has to write          dirty.rs
//!                       only if their rows are apart, that is, if it is spread
//!   a checkpoint ───▶ Gathering: rows of what was touched, in slices  spread.rs, spread/*
//!   before it all ──▶ Step: what will be read, brought into the cache fetch.rs
//! ```
//!
//! - [`form`] decides which of the two forms a word is, [`limits`] when a packed one becomes
//!   native. A native one becomes packed again only by being encoded and decoded.
//! - [`members`] is how a native set, hash or sorted set finds a member by name: segments of at
//!   most 224, so that no growth pauses; scanning and random members come from it, too.
//! - [`edits`] are what an operation writes for the log, and what [`Collection::apply`] reads. An
//!   operation that writes nothing has changed nothing. Where a record may be cut between two edits
//!   is noted there as well.
//! - [`dirty`] is kept beside the value by its owner, and handed to an operation with its
//!   `Edits`. Only collections with a row for each element have one ([`spread`]); those of one row
//!   are written whole.
//! - [`attributes`] are what single elements have beside their content, if a command has asked for
//!   it: versions, and expiries of members.
//! - [`spread`] says which rows a collection has then: their names, contents and order, and how a
//!   value is read back from them. `spread/gathering.rs` walks a value between two locks and gives
//!   what it was when the walk began.
//! - [`fetch`] is for speed alone: nothing depends on a step having been taken.
//!
//! A new operation on a type touches the type's own file and its `edit.rs` (a set's edits are in
//! `set.rs`); a new type also `kind.rs`, `value.rs`, `value/variant.rs` and, to be spread,
//! `<type>/spread.rs`.

// JUSTIFICATION for `unsafe` in this crate: a collection is one word with its form in the lowest
// bit, and its packed bytes have their length in front of them. As a safe enum of a vector and a
// box the same costs 40 bytes a collection, a tenth of a hash of ten short fields, and one cache
// miss an access.

pub mod attributes;
pub mod bits;
pub mod collection;
pub mod dirty;
pub mod edits;
pub mod error;
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
pub mod queue;
pub mod seed;
pub mod set;
pub mod sorted_set;
pub mod spread;
pub mod stream;
pub mod value;
pub mod version_clock;

pub use attributes::Attribute;
pub use collection::Collection;
pub use dirty::DirtyElements;
pub use edits::{Breaks, Edits};
pub use error::DecodeError;
pub use hash::Hash;
pub use kind::Kind;
pub use limits::FormLimits;
pub use list::List;
pub use queue::Queue;
pub use set::Set;
pub use sorted_set::SortedSet;
pub use spread::Spread;
pub use stream::Stream;
pub use value::{Value, ValueMut, ValueRef, Variant};
pub use version_clock::VersionClock;
