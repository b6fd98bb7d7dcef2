//! bytes ▸ resp ▸ command ▸ engine ▸ log ▸ \[cold\]
//!
//! Large values beside the rows of a cold tier: a log of segments behind the `ColdTier` trait.
//!
//! ```text
//! put ─▶ value of `value_bytes_min` or more? ─▶ record in a segment ─▶ row with a pointer to it
//!                    └ less ─▶ row with the value                           (`writer`, `appender`)
//! read ─▶ locator: where its record is ─▶ one read of the segment         (`reads`, `locator`)
//!           └ not there ─▶ the row ─▶ its value, or its record
//! collect ─▶ the segment with most garbage: what is alive goes into another one, and so do the
//!            pointers of the rows; then the segment is removed                (`collect`)
//! ```
//! A tier of sorted rows rewrites a row about as often as it has levels. With the value elsewhere
//! it rewrites a pointer. [`ValueTier`] is such a tier over any other, so the same code runs over
//! RocksDB, and in tests over rows in memory and a disk that loses power.
//!
//! What holds at any time:
//! 1. No row points to a record that is not durable: segments are synced before the rows are.
//! 2. A segment is removed only after the commit that moved its last pointer, and when no scan that
//!    began before can come to it.
//! 3. Once *built*, the locator has the place of every value that a row points to, and nothing
//!    else. So the live bytes of a segment are exact, and a record that the locator does not name
//!    is garbage.
//! 4. Segments are written once: what is at a place never changes.
//!
//! Formats are described in `docs/formats/value-log.md`.
#![forbid(unsafe_code)]

mod appender;
mod collect;
mod envelope;
mod error;
mod format_file;
mod learn;
mod locator;
mod moment;
mod place;
mod reads;
mod record;
mod records;
mod segment;
mod segments;
mod space;
mod tier;
mod writer;

pub use tier::{ValueOptions, ValueTier};

#[doc(hidden)]
pub mod fuzzing {
    //! What has foreign bytes to read, for fuzzing.

    use crate::envelope::Stored;
    use crate::record::{self, Record};

    /// Reads bytes as a row, and as a record whose checksum is right.
    ///
    /// # Panics
    /// If a record's value is another one after it was written again.
    pub fn decode(bytes: &[u8]) {
        let _ = Stored::decode(bytes);
        let mut sealed = bytes.to_vec();
        record::seal(&mut sealed, 1);
        if let Ok(read) = Record::decode(&sealed, 1)
            && let Some(value) = read.value()
        {
            let mut again = Vec::new();
            record::encode(read.key, &value, 1, &mut again);
            let again = Record::decode(&again, 1).map(|record| record.value());
            assert_eq!(again, Ok(Some(value)));
        }
    }
}
