//! Where a record is.

/// Records begin at multiples of this, in bytes.
pub(crate) const UNIT_BYTES: u64 = 16;

const CLASS_BITS: u32 = 6;

/// Where a record begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    /// Number of its segment, from 1 on.
    pub(crate) segment: u32,
    /// Units before it in the segment.
    pub(crate) unit: u32,
}

impl Place {
    pub(crate) fn offset(self) -> u64 {
        u64::from(self.unit) * UNIT_BYTES
    }
}

/// About how many units a record takes, never fewer, in [`SizeClass::BITS`]: exact up to 128,
/// a 64th too many at most.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SizeClass(pub(crate) u16);

impl SizeClass {
    /// Bits that it needs, for records of up to 2^32 units.
    pub(crate) const BITS: u32 = 11;

    pub(crate) fn of(units: u32) -> SizeClass {
        let mut exponent = 0;
        let mut mantissa = u64::from(units);
        while mantissa >= 2 << CLASS_BITS {
            // Rounded up, so that it never says fewer.
            mantissa = u64::from(units).div_ceil(2 << exponent);
            exponent += 1;
        }
        // The leading bit is there except in the smallest.
        SizeClass(match exponent {
            0 if mantissa < 1 << CLASS_BITS => mantissa as u16,
            _ => {
                (((exponent + 1) << CLASS_BITS) | (mantissa as u32 & ((1 << CLASS_BITS) - 1)))
                    as u16
            }
        })
    }

    pub(crate) fn units(self) -> u64 {
        let (exponent, rest) = (self.0 >> CLASS_BITS, u64::from(self.0) & ((1 << CLASS_BITS) - 1));
        match exponent {
            0 => rest,
            _ => (rest + (1 << CLASS_BITS)) << (exponent - 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_never_says_fewer_units_and_at_most_a_64th_more() {
        let around = |power: u32| [(1 << power) - 1, 1 << power, (1 << power) + 1];
        for units in (1..5_000).chain((4..24).flat_map(around)) {
            let said = SizeClass::of(units).units();
            assert!(said >= u64::from(units), "{units} is said to be {said}");
            assert!(said <= u64::from(units) * 65 / 64 + 1, "{units} is said to be {said}");
            assert!(units > 128 || said == u64::from(units), "{units} is said to be {said}");
        }
        assert_eq!(SizeClass::of(0).units(), 0);
        assert!(SizeClass::of(u32::MAX).0 < 1 << SizeClass::BITS);
    }
}
