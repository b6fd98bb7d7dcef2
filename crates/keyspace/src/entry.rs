//! HOT PATH
//! An entry: header, key and value of one object in one allocation.
//!
//! ```text
//!  0        1        2          4            8
//!  kind:u8  klen:u8  vlen:u16   access:u32   [word:ptr] [expire_ms:u64] [klen:u64] key value
//!                                            [version:u64]
//!
//!  kind   = type (low 3 bits: 0 tombstone, 1 string, 2… the kinds of collections)
//!           | VERSIONED 0x08 | EXPIRY 0x10 | LONG_KEY 0x20 | APART 0x40 | EDITED 0x80
//!  access = seconds of the last access (24 bits, wraps) | frequency ^ 5 (8 bits)
//! ```
//! A 16-byte key with a 64-byte value takes 88 bytes and two cache lines. Keys of more than 255
//! bytes keep their length in front of the key. Strings of [`SHARED_BYTES_MIN`] bytes and more live
//! in an `Arc<Vec<u8>>` of their own, whose address is the word: a reply or a checkpoint can then
//! hold the value without copying it while a writer replaces it. A collection is its word
//! (`basalt_value::form`); the word is aligned, so that the collection can be borrowed where it
//! stands.
//!
//! A tombstone has a key and no value: the key is gone, but the cold tier still has a row for it.
//!
//! The version stands at the end, where no look at key or value has to pass it, and its flag beside
//! the type: what overwrites a string in place compares the two together, and so leaves an entry
//! with a version alone without asking for it.

mod access;
mod content;
mod equal;
mod layout;
mod pointer;
mod read;
mod shared;
mod string;
#[cfg(test)]
mod tests;

pub use access::Access;
pub use content::{Content, NewValue, SHARED_BYTES_MIN};
pub use pointer::EntryPtr;
pub use read::{Entry, EntryValue};
pub use shared::SharedMut;
pub use string::{SharedValue, StringValue};
