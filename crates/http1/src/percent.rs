//! HOT PATH
//! Percent-encoding (RFC 3986, section 2.1): any bytes within a target.
//!
//! What came encoded is decoded exactly once. Decoding never lengthens, so it needs no other place.

use crate::refusal::Refusal;
use memchr::{memchr, memchr2};
use std::ops::Range;

/// What a plus sign stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Plus {
    /// A plus sign: in paths.
    Itself,
    /// A space: in queries, as forms write them (URL Standard, section 5.1).
    Space,
}

/// Decodes the bytes in `from` and puts them at `to`; returns their number there. After an error,
/// what is between `to` and the end of `from` may have been overwritten.
///
/// # Panics
/// If `to` is behind the start of `from`, or `from` is not within `bytes`.
#[inline]
pub fn decode(
    bytes: &mut [u8],
    from: Range<usize>,
    to: usize,
    plus: Plus,
) -> Result<usize, Refusal> {
    assert!(to <= from.start, "decoded over what is not yet decoded");
    let encoded = &bytes[from.clone()];
    let found = match plus {
        Plus::Itself => memchr(b'%', encoded),
        Plus::Space => memchr2(b'%', b'+', encoded),
    };
    let plain = found.unwrap_or(encoded.len());
    bytes.copy_within(from.start..from.start + plain, to);
    if found.is_none() {
        return Ok(plain);
    }
    decode_rest(bytes, from.start + plain..from.end, to + plain, plus).map(|rest| plain + rest)
}

/// Decodes byte by byte.
fn decode_rest(
    bytes: &mut [u8],
    from: Range<usize>,
    to: usize,
    plus: Plus,
) -> Result<usize, Refusal> {
    let (mut read, mut write) = (from.start, to);
    while read < from.end {
        let (byte, len) = match bytes[read] {
            b'%' => {
                let [high, low] = match &bytes[read + 1..from.end] {
                    [high, low, ..] => [digit(*high)?, digit(*low)?],
                    _ => return Err(Refusal::PercentMalformed),
                };
                (high << 4 | low, 3)
            }
            b'+' if plus == Plus::Space => (b' ', 1),
            byte => (byte, 1),
        };
        bytes[write] = byte;
        read += len;
        write += 1;
    }
    Ok(write - to)
}

fn digit(byte: u8) -> Result<u8, Refusal> {
    char::from(byte).to_digit(16).map(|digit| digit as u8).ok_or(Refusal::PercentMalformed)
}

/// Appends `bytes` to `out` so that they are one segment of a path, or one value of a query: all
/// but unreserved characters (RFC 3986, section 2.3) are encoded.
pub fn encode(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for &byte in bytes {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(byte);
        } else {
            let (high, low) = (DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]);
            out.extend([b'%', high, low]);
        }
    }
}
