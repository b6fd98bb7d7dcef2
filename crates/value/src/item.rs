//! HOT PATH
//! Elements in a row of bytes: strings, and strings that spell a number as that number.
//!
//! ```text
//! item = 0x00…0xBF                  a string of so many bytes follows
//!      | 0xC0 len:varint            a longer string follows
//!      | 0xC1…0xC8                  a number of 1…8 bytes follows, little-endian, two's complement
//!      | 0xD0…0xFF                  the number 0…47
//! ```
//! A number is a string that is spelled as Redis spells that number: it comes out as it went in,
//! and every string has one encoding only, so that equal items are equal bytes. Against Redis'
//! listpack an item saves the byte of backward length: packed collections are short and are walked
//! from the front.

use crate::error::DecodeError;
use crate::set::member::Member;
use basalt_number::parse_i64;
use basalt_stdx::varint;

const SHORT_MAX: usize = 0xBF;
const LONG: u8 = 0xC0;
const NUMBER: u8 = 0xC0;
const SMALL: u8 = 0xD0;
const SMALL_MAX: i64 = 47;
/// Most characters of a number: `-9223372036854775808`.
pub const NUMBER_CHARS_MAX: usize = 20;

/// An element as it stands in packed bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Item<'a> {
    /// A string that spells no number.
    Bytes(&'a [u8]),
    /// A string that spells this number.
    Number(i64),
}

/// The first bytes of an item. They are made as one number and stored at once: what is stored byte
/// by byte and copied as a whole right after stalls the processor, for as long as a short append
/// takes.
#[derive(Clone, Copy)]
pub(crate) struct Head {
    /// Room for the longest, its first byte and a varint of ten.
    bytes: [u8; 16],
    len: usize,
}

impl Head {
    #[inline]
    fn new(word: u128, len: usize) -> Head {
        Head { bytes: word.to_le_bytes(), len }
    }

    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Its bytes as a little-endian number, and zeros behind them.
    #[inline]
    pub(crate) fn word(&self) -> u128 {
        u128::from_le_bytes(self.bytes) & ((1 << (8 * self.len)) - 1)
    }

    /// Appends it.
    #[inline]
    fn put(&self, out: &mut Vec<u8>) {
        let end = out.len() + self.len;
        out.extend_from_slice(&self.bytes);
        out.truncate(end);
    }
}

/// What stands before the bytes of a long string.
#[inline(never)]
fn long_head(bytes: usize) -> Head {
    let mut head = Head::new(LONG.into(), 1);
    head.len += varint::write(&mut head.bytes[1..], bytes as u64);
    head
}

/// Room to spell a number in.
pub type Digits = [u8; NUMBER_CHARS_MAX];

impl<'a> Item<'a> {
    /// The item that a string is.
    #[inline]
    pub fn of(bytes: &'a [u8]) -> Item<'a> {
        match parse_i64(bytes) {
            Some(number) => Item::Number(number),
            None => Item::Bytes(bytes),
        }
    }

    /// The string that it is, spelled into `digits` if it is a number.
    #[inline]
    pub fn spell<'b>(self, digits: &'b mut Digits) -> &'b [u8]
    where
        'a: 'b,
    {
        match self {
            Item::Bytes(bytes) => bytes,
            Item::Number(number) => spell_number(number, digits),
        }
    }

    /// A member of its own with these bytes.
    pub fn to_owned(self) -> Member {
        Member::of(self)
    }

    /// Length of the string that it is.
    pub fn spelled_bytes(self) -> usize {
        match self {
            Item::Bytes(bytes) => bytes.len(),
            Item::Number(number) => spell_number(number, &mut [0; NUMBER_CHARS_MAX]).len(),
        }
    }

    /// How many bytes the string has at most.
    #[inline]
    pub(crate) fn fits(self, bytes_max: usize) -> bool {
        match self {
            Item::Bytes(bytes) => bytes.len() <= bytes_max,
            Item::Number(_) => bytes_max >= NUMBER_CHARS_MAX || self.spelled_bytes() <= bytes_max,
        }
    }

    /// Appends it.
    #[inline]
    pub fn put(self, out: &mut Vec<u8>) {
        let (head, body) = (self.head(), self.body());
        out.reserve(size_of::<Head>() + body.len());
        head.put(out);
        out.extend_from_slice(body);
    }

    /// What stands in front of a string's bytes, or the whole of a number.
    #[inline]
    pub(crate) fn head(self) -> Head {
        match self {
            Item::Bytes(bytes) if bytes.len() <= SHORT_MAX => Head::new(bytes.len() as u128, 1),
            Item::Bytes(bytes) => long_head(bytes.len()),
            Item::Number(number @ 0..=SMALL_MAX) => {
                Head::new(u128::from(SMALL) + number as u128, 1)
            }
            Item::Number(number) => {
                // Bits that the number needs, its sign included.
                let bits = 65 - (number ^ (number >> 63)).leading_zeros();
                let bytes = bits.div_ceil(8);
                let first = u128::from(NUMBER) + u128::from(bytes);
                Head::new(first | u128::from(number as u64) << 8, 1 + bytes as usize)
            }
        }
    }

    /// What follows [`Item::head`]: the bytes of a string.
    #[inline]
    pub(crate) fn body(self) -> &'a [u8] {
        match self {
            Item::Bytes(bytes) => bytes,
            Item::Number(_) => &[],
        }
    }

    /// Takes one off the front of `bytes`; `None` if there is none whole.
    #[inline]
    pub fn take(bytes: &mut &'a [u8]) -> Option<Item<'a>> {
        let (&head, rest) = bytes.split_first()?;
        let (item, rest) = match head {
            0..=0xBF => {
                let (string, rest) = rest.split_at_checked(usize::from(head))?;
                (Item::Bytes(string), rest)
            }
            LONG => {
                let mut rest = rest;
                let len = usize::try_from(varint::take(&mut rest)?).ok()?;
                let (string, rest) = rest.split_at_checked(len)?;
                (Item::Bytes(string), rest)
            }
            0xC1..=0xC8 => {
                let count = usize::from(head - NUMBER);
                let (digits, rest) = rest.split_at_checked(count)?;
                let sign = if digits[count - 1] & 0x80 != 0 { 0xFF } else { 0 };
                let mut number = [sign; 8];
                number[..count].copy_from_slice(digits);
                (Item::Number(i64::from_le_bytes(number)), rest)
            }
            SMALL.. => (Item::Number(i64::from(head - SMALL)), rest),
            _ => return None,
        };
        *bytes = rest;
        Some(item)
    }

    /// Takes one off the front that is written as [`Item::put`] writes its string. What is found by
    /// comparing items must be: in another spelling nobody would find it, or it would be there
    /// twice.
    ///
    /// # Errors
    /// If there is none whole, or one that is longer than it need be.
    pub(crate) fn take_shortest(bytes: &mut &'a [u8]) -> Result<Item<'a>, DecodeError> {
        let before = bytes.len();
        let item = Item::take(bytes).ok_or(DecodeError::Truncated)?;
        if before - bytes.len() != item.shortest_bytes() {
            return Err(DecodeError::Corrupt("an item that is longer than it need be"));
        }
        Ok(item)
    }

    /// Bytes that its string takes as [`Item::put`] writes it.
    pub(crate) fn shortest_bytes(self) -> usize {
        let item = self.respelled();
        item.head().bytes().len() + item.body().len()
    }

    /// The item that its string is: a number also if it stands there as a string.
    #[inline]
    pub(crate) fn respelled(self) -> Item<'a> {
        match self {
            Item::Bytes(bytes) => Item::of(bytes),
            number => number,
        }
    }
}

/// The items in a row of bytes. Ends at the first that is not whole.
#[derive(Clone, Debug)]
pub struct Items<'a>(pub &'a [u8]);

impl<'a> Iterator for Items<'a> {
    type Item = Item<'a>;

    #[inline]
    fn next(&mut self) -> Option<Item<'a>> {
        Item::take(&mut self.0)
    }
}

/// Spells a number.
#[inline]
pub fn spell_number(number: i64, digits: &mut Digits) -> &[u8] {
    let mut at = NUMBER_CHARS_MAX;
    let mut rest = number.unsigned_abs();
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if number < 0 {
        at -= 1;
        digits[at] = b'-';
    }
    &digits[at..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn round_trip(bytes: &[u8]) -> usize {
        let mut out = Vec::new();
        Item::of(bytes).put(&mut out);
        let mut rest = &out[..];
        let item = Item::take(&mut rest).unwrap();
        assert!(rest.is_empty());
        assert_eq!(item.spell(&mut [0; NUMBER_CHARS_MAX]), bytes);
        assert_eq!(item.spelled_bytes(), bytes.len());
        for cut in 0..out.len() {
            assert_eq!(Item::take(&mut &out[..cut]), None);
        }
        out.len()
    }

    #[test]
    fn numbers_take_the_bytes_that_they_need() {
        for (text, bytes) in [
            ("0", 1),
            ("47", 1),
            ("48", 2),
            ("-1", 2),
            ("127", 2),
            ("128", 3),
            ("-128", 2),
            ("-129", 3),
            ("32767", 3),
            ("32768", 4),
            ("9223372036854775807", 9),
            ("-9223372036854775808", 9),
        ] {
            assert_eq!(round_trip(text.as_bytes()), bytes, "{text}");
        }
    }

    #[test]
    fn what_only_looks_like_a_number_stays_a_string() {
        for text in ["", "-", "-0", "00", "01", "+1", "1 ", "9223372036854775808", "1e3"] {
            assert!(matches!(Item::of(text.as_bytes()), Item::Bytes(_)), "{text}");
            round_trip(text.as_bytes());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 256 }))]
        #[test]
        fn strings_round_trip(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            round_trip(&bytes);
        }

        #[test]
        fn all_numbers_round_trip(number in any::<i64>(), shift in 0..64u32) {
            round_trip(i64::to_string(&(number >> shift)).as_bytes());
        }

        #[test]
        fn foreign_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            let _ = Items(&bytes).count();
        }
    }
}
