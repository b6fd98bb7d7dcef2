//! From indexes as clients write them to ranges of bits.

use std::ops::Range;

/// What an index counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Bytes.
    Byte,
    /// Bits.
    Bit,
}

/// Two indexes, both inclusive; negative ones count from the end, -1 being the last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Indexes {
    /// The first.
    pub start: i64,
    /// The last, by default the end of the string.
    pub end: i64,
    /// What they count.
    pub unit: Unit,
}

impl Indexes {
    /// The whole string.
    pub const WHOLE: Indexes = Indexes { start: 0, end: -1, unit: Unit::Byte };

    /// The bits meant in a string of `len` bytes; empty if the indexes cross. An end before the
    /// first element means the first element, as in Redis.
    pub fn resolve(self, len: usize) -> Range<u64> {
        let bits_per_unit = if self.unit == Unit::Bit { 1 } else { 8 };
        let total = (len as u64 * 8 / bits_per_unit) as i64;
        let from_end = |index: i64| if index < 0 { (total + index).max(0) } else { index };
        let (start, end) = (from_end(self.start), from_end(self.end).min(total - 1));
        if start > end {
            return 0..0;
        }
        start as u64 * bits_per_unit..(end as u64 + 1) * bits_per_unit
    }
}

#[cfg(test)]
mod tests {
    use super::{Indexes, Unit};

    #[test]
    fn indexes_resolve_as_in_redis() {
        for (start, end, unit, expected) in [
            (0, -1, Unit::Byte, 0..24),
            (1, 1, Unit::Byte, 8..16),
            (-2, -1, Unit::Byte, 8..24),
            (-100, 100, Unit::Byte, 0..24),
            (0, -100, Unit::Byte, 0..8),
            (3, 5, Unit::Byte, 0..0),
            (2, 1, Unit::Byte, 0..0),
            (5, 9, Unit::Bit, 5..10),
            (-5, -1, Unit::Bit, 19..24),
            (0, i64::MIN, Unit::Bit, 0..1),
            (i64::MIN, i64::MAX, Unit::Bit, 0..24),
            (i64::MAX, i64::MAX, Unit::Bit, 0..0),
        ] {
            let indexes = Indexes { start, end, unit };
            assert_eq!(indexes.resolve(3), expected, "{indexes:?}");
            assert!(indexes.resolve(0).is_empty());
        }
    }
}
