//! The row of the cold tier that holds a library of functions.
//!
//! ```text
//! key of a library   0xFFFF 0x02 name
//! library            version:u8=1 text
//! ```
//! It is written in the same ingest as the mark of the partition [`PartitionId::LIBRARIES`], so
//! libraries are as of the position that the mark has.
//!
//! [`PartitionId::LIBRARIES`]: crate::place::PartitionId::LIBRARIES

use crate::row::{BEHIND_ALL_PARTITIONS, RowError};

const LIBRARY: u8 = 0x02;
/// What stands before the name.
const PREFIX_BYTES: usize = 3;
/// The version of the row.
pub const LIBRARY_VERSION: u8 = 1;

/// Appends the key of a library. It sorts behind the marks of all partitions and that of the log.
pub fn library_key(name: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&BEHIND_ALL_PARTITIONS.to_be_bytes());
    out.push(LIBRARY);
    out.extend_from_slice(name);
}

/// The keys of all libraries: from here to there, which is not one of them.
pub fn library_range() -> (Vec<u8>, Vec<u8>) {
    let [high, low] = BEHIND_ALL_PARTITIONS.to_be_bytes();
    (vec![high, low, LIBRARY], vec![high, low, LIBRARY + 1])
}

/// The name in a key of [`library_range`].
pub fn library_name(key: &[u8]) -> &[u8] {
    key.get(PREFIX_BYTES..).unwrap_or_default()
}

/// The text in a row.
///
/// # Errors
/// It has another version.
pub fn decode_library(row: &[u8]) -> Result<&[u8], RowError> {
    match row.split_first() {
        Some((&LIBRARY_VERSION, code)) => Ok(code),
        Some((&version, _)) => Err(RowError::UnknownType(version)),
        None => Err(RowError::Length),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_in_their_range_and_rows_of_other_versions_are_refused() {
        let (from, to) = library_range();
        for name in [&b""[..], b"lib", &[0xFF; 300]] {
            let mut key = Vec::new();
            library_key(name, &mut key);
            assert!(from <= key && key < to);
            assert_eq!(library_name(&key), name);
        }
        assert_eq!(decode_library(b"\x01text"), Ok(&b"text"[..]));
        assert_eq!(decode_library(b"\x02text"), Err(RowError::UnknownType(2)));
        assert_eq!(decode_library(b""), Err(RowError::Length));
    }
}
