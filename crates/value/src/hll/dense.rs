//! HOT PATH
//! Registers of six bits, side by side.

use super::layout::{HEADER_BYTES, REGISTERS};
use super::patch::Patch;

/// Bytes of a dense HyperLogLog.
pub const DENSE_BYTES: usize = HEADER_BYTES + REGISTERS * REGISTER_BITS / 8;

const REGISTER_BITS: usize = 6;
const REGISTER_MASK: u16 = (1 << REGISTER_BITS) - 1;
/// Four registers fill three bytes.
const GROUP: usize = 4;
const GROUP_BYTES: usize = GROUP * REGISTER_BITS / 8;

/// A register's value. `string` is a dense HyperLogLog, header included.
#[inline]
pub(super) fn register(string: &[u8], index: usize) -> u8 {
    let (at, shift) = place(index);
    (two_bytes(string, at) >> shift & REGISTER_MASK) as u8
}

/// What to write so that a register has a value.
#[inline]
pub(super) fn set_register(string: &[u8], index: usize, value: u8) -> Patch {
    let (at, shift) = place(index);
    let cleared = two_bytes(string, at) & !(REGISTER_MASK << shift);
    let bytes = (cleared | u16::from(value) << shift).to_le_bytes();
    let len = if shift + REGISTER_BITS > 8 { 2 } else { 1 };
    Patch::between(at, &string[at..at + len], &bytes[..len])
}

/// Calls `visit` with every register in order.
pub(super) fn for_each(string: &[u8], mut visit: impl FnMut(usize, u8)) {
    let (groups, _) = string[HEADER_BYTES..].as_chunks::<GROUP_BYTES>();
    for (number, &[a, b, c]) in groups.iter().enumerate() {
        let group = u32::from_le_bytes([a, b, c, 0]);
        for place in 0..GROUP {
            let value = group >> (place * REGISTER_BITS) & u32::from(REGISTER_MASK);
            visit(number * GROUP + place, value as u8);
        }
    }
}

/// Appends registers to the header in `string`.
pub(super) fn append(string: &mut Vec<u8>, registers: &[u8; REGISTERS]) {
    let (groups, _) = registers.as_chunks::<GROUP>();
    for group in groups {
        let packed = group
            .iter()
            .rev()
            .fold(0u32, |packed, &value| packed << REGISTER_BITS | u32::from(value));
        string.extend_from_slice(&packed.to_le_bytes()[..GROUP_BYTES]);
    }
}

/// In which byte a register begins, and at which bit of it.
#[inline]
fn place(index: usize) -> (usize, usize) {
    let bit = index * REGISTER_BITS;
    (HEADER_BYTES + bit / 8, bit % 8)
}

/// The last register ends with its byte, so that there may be no second one.
#[inline]
fn two_bytes(string: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([string[at], string.get(at + 1).copied().unwrap_or(0)])
}
