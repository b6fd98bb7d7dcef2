//! The row of the cold tier with the seed of the hash by which rows of objects are ordered.
//!
//! ```text
//! key of the seed   0xFFFF 0x03
//! seed              version:u8=1 seed:u64le
//! ```
//! It is chosen by chance when a database is made, so that no client can choose keys that collide,
//! and stays: the rows stand in the order of these hashes, and a cursor of SCAN is one. It is as
//! secret as the data.

use crate::row::{BEHIND_ALL_PARTITIONS, RowError};

const SEED: u8 = 0x03;
const VERSION: u8 = 1;

/// Appends the key of the row. It sorts behind the marks and the libraries.
pub fn seed_key(out: &mut Vec<u8>) {
    out.extend_from_slice(&BEHIND_ALL_PARTITIONS.to_be_bytes());
    out.push(SEED);
}

/// Appends the row.
pub fn encode_seed(seed: u64, out: &mut Vec<u8>) {
    out.push(VERSION);
    out.extend_from_slice(&seed.to_le_bytes());
}

/// Reads a row.
///
/// # Errors
/// If it has another version or another length.
pub fn decode_seed(row: &[u8]) -> Result<u64, RowError> {
    let (&version, rest) = row.split_first().ok_or(RowError::Length)?;
    if version != VERSION {
        return Err(RowError::UnknownType(version));
    }
    rest.try_into().map(u64::from_le_bytes).map_err(|_| RowError::Length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_survives_the_round_trip_and_is_refused_when_cut_or_of_another_version() {
        let mut row = Vec::new();
        encode_seed(0x1234_5678_9ABC_DEF0, &mut row);
        assert_eq!(decode_seed(&row), Ok(0x1234_5678_9ABC_DEF0));
        for length in 0..row.len() {
            assert_eq!(decode_seed(&row[..length]), Err(RowError::Length), "{length}");
        }
        row[0] = 2;
        assert_eq!(decode_seed(&row), Err(RowError::UnknownType(2)));
    }
}
