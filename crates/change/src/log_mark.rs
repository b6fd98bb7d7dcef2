//! The row of the cold tier that says which log it belongs to.
//!
//! ```text
//! key of the log's mark   0xFFFF 0x01
//! mark of the log         version:u8=1 log:16 bytes shards:varint { trimmed:varint }*
//! ```
//! It is written in the same ingest as the rows that make a trim of the log possible, and before
//! that trim. So a log whose records are gone beyond `trimmed` belongs to a younger copy of these
//! rows, or to other ones.

use crate::row::{BEHIND_ALL_PARTITIONS, RowError};
use basalt_stdx::varint;

const LOG_MARK: u8 = 0x01;
const VERSION: u8 = 1;
const NAME_BYTES: usize = 16;
/// A guard against garbage.
const SHARDS_MAX: u64 = 1 << 16;

/// Which log the rows belong to, and how much of it they replace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogMark {
    /// The log's name.
    pub log: [u8; NAME_BYTES],
    /// Per shard, the position through which the log may have been trimmed: the rows hold every
    /// change up to there.
    pub trimmed: Vec<u64>,
}

/// Appends the key of the log's mark. It sorts behind the marks of all partitions.
pub fn log_mark_key(out: &mut Vec<u8>) {
    out.extend_from_slice(&BEHIND_ALL_PARTITIONS.to_be_bytes());
    out.push(LOG_MARK);
}

impl LogMark {
    /// Appends the row.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.push(VERSION);
        out.extend_from_slice(&self.log);
        varint::put(out, self.trimmed.len() as u64);
        self.trimmed.iter().for_each(|&position| varint::put(out, position));
    }

    /// Reads a row.
    ///
    /// # Errors
    /// If it has another version or another length.
    pub fn decode(row: &[u8]) -> Result<LogMark, RowError> {
        let (&version, rest) = row.split_first().ok_or(RowError::Length)?;
        if version != VERSION {
            return Err(RowError::UnknownType(version));
        }
        let (log, mut rest) = rest.split_first_chunk().ok_or(RowError::Length)?;
        let shards = varint::take(&mut rest).filter(|&shards| shards <= SHARDS_MAX);
        let trimmed = (0..shards.ok_or(RowError::Length)?)
            .map(|_| varint::take(&mut rest).ok_or(RowError::Length))
            .collect::<Result<_, _>>()?;
        if rest.is_empty() { Ok(LogMark { log: *log, trimmed }) } else { Err(RowError::Length) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_survives_the_round_trip_and_is_refused_when_cut_or_of_another_version() {
        let mark = LogMark { log: [7; NAME_BYTES], trimmed: vec![0, 1, 300, u64::MAX] };
        let mut row = Vec::new();
        mark.encode(&mut row);
        assert_eq!(LogMark::decode(&row), Ok(mark));
        for length in 0..row.len() {
            assert_eq!(LogMark::decode(&row[..length]), Err(RowError::Length), "{length}");
        }
        row[0] = 2;
        assert_eq!(LogMark::decode(&row), Err(RowError::UnknownType(2)));
    }
}
