//! HOT PATH
//! The hash table of one database of one partition.
//!
//! **Idea.** Two memory accesses a hit: one bucket, one entry. Buckets are cache lines with nine
//! tags and nine 48-bit references. Within a segment, buckets are ordered by hash: the bucket of a
//! hash is `hash * buckets >> 32` on the hash's leading bits, so a table grows by any factor, not
//! only by two, and a SCAN cursor is simply a hash: it stays valid through any growth, and every
//! key that exists throughout a scan is returned, once.
//!
//! ```text
//! directory[hash >> (64 - depth)] ─▶ segment: head | bucket 0 … bucket n-1 | overflow buckets
//!
//! bucket (64 bytes) = 9 references of 6 bytes | 9 tags of 1 byte | passed:u8
//! reference         = address (47 bits, 8-aligned) | DIRTY 1 | COLD 2 | EXPIRING 4
//! passed            = entries whose home is this bucket or before and that stand further on
//! ```
//! A full bucket sends entries on to the next ones; `passed` tells a lookup whether to follow. A
//! segment grows when it is 82% full, a large one by a sixth, in steps of 4 KiB, which entries can
//! use when it gives them back; at [`segment::BUCKETS_MAX`] buckets it splits in two instead and
//! the directory doubles when it must, so that no growth moves more than 9,216 entries (about 0.2
//! ms), however large the table becomes.
//!
//! **Keys that collide.** What finds no place within eight buckets, however large its segment, goes
//! to a list beside the buckets (`table/strays.rs`).
//!
//! **Flags in references.** Checkpoint, expiry and (later) eviction find their candidates by
//! walking buckets, without touching a clean or timeless entry.
//!
//! **Rejected.** Seven slots with full pointers (the design page's sketch): 13% more memory a key.
//! Power-of-two growth: between 44% and 88% full, 3 bytes a key more on average and twice as much
//! at once. Linear hashing: half of its buckets are twice as full as the others. SwissTable: no
//! order, so cursors break, and it doubles.

pub mod bucket;
mod compact;
mod found;
mod grow;
pub mod scan;
pub mod segment;
mod store;
mod strays;

pub use compact::{COMPACT_CELLS_MAX, Compacted};
pub use found::{EntryHint, Found};
pub use store::{Counts, Lookup, Table};
