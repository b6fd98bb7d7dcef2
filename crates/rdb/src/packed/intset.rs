//! The intset: a set of numbers, ascending.
//!
//! ```text
//! width:u32le count:u32le number*          width: 2, 4 or 8, bytes of each number, little-endian
//! ```

use crate::error::DecodeError;
use crate::limits::Budget;
use crate::packed::ELEMENT_BYTES;

const HEADER_BYTES: usize = 8;

/// The numbers of an intset.
pub(crate) fn numbers(bytes: &[u8], budget: &mut Budget) -> Result<Vec<i64>, DecodeError> {
    let corrupt = DecodeError::Corrupt;
    let (header, rest) = bytes.split_at_checked(HEADER_BYTES).ok_or(corrupt("intset: header"))?;
    let width = u32::from_le_bytes([header[0], header[1], header[2], header[3]]) as usize;
    let count = u32::from_le_bytes([header[4], header[5], header[6], header[7]]) as usize;
    if !matches!(width, 2 | 4 | 8) {
        return Err(corrupt("intset: width"));
    }
    if count.checked_mul(width) != Some(rest.len()) {
        return Err(corrupt("intset: length"));
    }
    budget.charge(count.saturating_mul(ELEMENT_BYTES))?;
    let numbers: Vec<i64> = rest.chunks_exact(width).map(number).collect();
    if !numbers.is_sorted_by(|a, b| a < b) {
        return Err(corrupt("intset: order"));
    }
    Ok(numbers)
}

/// A number of two, four or eight bytes.
fn number(bytes: &[u8]) -> i64 {
    let is_negative = bytes.last().is_some_and(|byte| *byte >= 0x80);
    let mut wide = if is_negative { [0xff; 8] } else { [0; 8] };
    wide[..bytes.len()].copy_from_slice(bytes);
    i64::from_le_bytes(wide)
}

/// The intset of ascending numbers.
pub(crate) fn intset(numbers: &[i64]) -> Vec<u8> {
    let fits = |low: i64, high: i64| numbers.iter().all(|number| (low..=high).contains(number));
    let width = if fits(i16::MIN.into(), i16::MAX.into()) {
        2
    } else if fits(i32::MIN.into(), i32::MAX.into()) {
        4
    } else {
        8
    };
    let mut bytes = Vec::with_capacity(HEADER_BYTES + numbers.len() * width);
    bytes.extend_from_slice(&(width as u32).to_le_bytes());
    bytes.extend_from_slice(&(numbers.len() as u32).to_le_bytes());
    for number in numbers {
        bytes.extend_from_slice(&number.to_le_bytes()[..width]);
    }
    bytes
}
