//! HOT PATH
//! Integers of 1 to 64 bits at any bit of a string: `BITFIELD`.
//!
//! The most significant bit of a field comes first. A field of 64 bits that begins inside a byte
//! touches nine bytes, so a field is read and written through a window of 128 bits:
//!
//! ```text
//! byte     n        n+1      n+2      …                                           n+15
//!          ···xxxxx xxxxxxxx xx·····                                              ········
//!             └── offset % 8            └── 128 - offset % 8 - width bits to the right ──┘
//! ```

/// Bytes that one field touches at most.
pub const FIELD_BYTES_MAX: usize = 9;

const WINDOW_BITS: u32 = u128::BITS;

/// The type of a field: `u1` to `u63`, `i1` to `i64`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FieldType {
    sign: Sign,
    width: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sign {
    Signed,
    Unsigned,
}

/// What happens to a number that does not fit its field.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Overflow {
    /// It loses its high bits.
    #[default]
    Wrap,
    /// The nearest number that fits takes its place.
    Saturate,
    /// Nothing is written.
    Fail,
}

/// Bytes to be written into a string.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Patch {
    at: usize,
    len: usize,
    bytes: [u8; FIELD_BYTES_MAX],
}

impl Patch {
    /// Index of the first byte.
    pub fn at(&self) -> usize {
        self.at
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl FieldType {
    /// Reads `i8`, `u31` and the like, in small letters. There is no `u64`: replies are signed.
    pub fn parse(text: &[u8]) -> Option<FieldType> {
        let (sign, digits, width_max) = match text {
            [b'i', digits @ ..] => (Sign::Signed, digits, 64),
            [b'u', digits @ ..] => (Sign::Unsigned, digits, 63),
            _ => return None,
        };
        let width = match *digits {
            [ones @ b'1'..=b'9'] => u32::from(ones - b'0'),
            [tens @ b'1'..=b'9', ones @ b'0'..=b'9'] => {
                u32::from(tens - b'0') * 10 + u32::from(ones - b'0')
            }
            _ => return None,
        };
        (width <= width_max).then_some(FieldType { sign, width })
    }

    /// Bits of a field.
    pub fn width(self) -> u32 {
        self.width
    }

    /// Reads the field that begins at a bit; behind the string's end there are zeros.
    pub fn read(self, bytes: &[u8], offset: u64) -> i64 {
        let window = u128::from_be_bytes(window(bytes, offset));
        let high = window << (offset % 8);
        match self.sign {
            Sign::Signed => (high as i128 >> (WINDOW_BITS - self.width)) as i64,
            Sign::Unsigned => (high >> (WINDOW_BITS - self.width)) as i64,
        }
    }

    /// What to write so that the field that begins at a bit holds a value, of which the low bits
    /// count. The string must reach to the end of the field.
    pub fn write(self, bytes: &[u8], offset: u64, value: i64) -> Patch {
        let inside = (offset % 8) as u32;
        let right = WINDOW_BITS - inside - self.width;
        let mask = u128::MAX >> (WINDOW_BITS - self.width) << right;
        let old = u128::from_be_bytes(window(bytes, offset));
        let new = old & !mask | (value as u128) << right & mask;
        let mut patch = Patch {
            at: (offset / 8) as usize,
            len: (inside + self.width).div_ceil(8) as usize,
            bytes: [0; FIELD_BYTES_MAX],
        };
        patch.bytes.copy_from_slice(&new.to_be_bytes()[..FIELD_BYTES_MAX]);
        patch
    }

    /// A number to be stored in a field of this type; `None` if it does not fit and shall not be
    /// stored then.
    pub fn fit(self, value: i64, overflow: Overflow) -> Option<i64> {
        if self.sign == Sign::Signed && value < self.min() as i64 {
            return self.fit_below(value, overflow);
        }
        // What is negative counts as a huge unsigned number, as in Redis.
        let exact = match self.sign {
            Sign::Signed => i128::from(value),
            Sign::Unsigned => i128::from(value as u64),
        };
        self.fit_exact(exact, overflow)
    }

    /// The sum of what a field of this type holds and an increment; `None` as for [`Self::fit`].
    pub fn add(self, value: i64, increment: i64, overflow: Overflow) -> Option<i64> {
        self.fit_exact(i128::from(value) + i128::from(increment), overflow)
    }

    /// Redis subtracts the number from the largest one in 64 bits. Where that wraps, it takes the
    /// number for too large instead of too small.
    fn fit_below(self, value: i64, overflow: Overflow) -> Option<i64> {
        let wraps = (self.max() as i64).checked_sub(value).is_none();
        if wraps && overflow == Overflow::Saturate {
            return Some(self.max() as i64);
        }
        self.fit_exact(i128::from(value), overflow)
    }

    fn fit_exact(self, exact: i128, overflow: Overflow) -> Option<i64> {
        let (min, max) = (self.min(), self.max());
        if (min..=max).contains(&exact) {
            return Some(exact as i64);
        }
        match overflow {
            Overflow::Wrap => Some(self.wrap(exact)),
            Overflow::Saturate => Some(exact.clamp(min, max) as i64),
            Overflow::Fail => None,
        }
    }

    fn wrap(self, exact: i128) -> i64 {
        let unused = WINDOW_BITS - self.width;
        match self.sign {
            Sign::Signed => (exact << unused >> unused) as i64,
            Sign::Unsigned => ((exact as u128) << unused >> unused) as i64,
        }
    }

    fn max(self) -> i128 {
        match self.sign {
            Sign::Signed => (1 << (self.width - 1)) - 1,
            Sign::Unsigned => (1 << self.width) - 1,
        }
    }

    fn min(self) -> i128 {
        match self.sign {
            Sign::Signed => -(1 << (self.width - 1)),
            Sign::Unsigned => 0,
        }
    }
}

/// Up to nine bytes from the one that a bit is in, then zeros.
#[inline]
fn window(bytes: &[u8], offset: u64) -> [u8; 16] {
    let mut window = [0; 16];
    let rest = usize::try_from(offset / 8).ok().and_then(|at| bytes.get(at..)).unwrap_or_default();
    let len = rest.len().min(FIELD_BYTES_MAX);
    window[..len].copy_from_slice(&rest[..len]);
    window
}
