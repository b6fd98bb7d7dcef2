//! bytes ▸ resp ▸ command ▸ engine ▸ log ▸ cold — beside them: \[tracking\]
//!
//! Which clients keep copies of which keys (`CLIENT TRACKING`). It owns the table of the keys that
//! clients have read ([`TrackedKeys`], one for each partition) and the prefixes of keys that
//! clients want to hear of whether or not they have read them ([`Prefixes`]). It must never know
//! connections, the protocol or where a key is stored: a client is a number, a key is its bytes and
//! their hash. Its one invariant: a client that has been noted under a key is named by the next
//! change of that key, or by what removes the key from the table before. Read `keys.rs` next.

#![forbid(unsafe_code)]

mod keys;
mod prefixes;

pub use keys::{TrackedKeys, Untracked};
pub use prefixes::{Overlap, Prefixes};
