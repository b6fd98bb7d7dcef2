//! HOT PATH
//! Unsigned LEB128: seven bits a byte, least significant first, at most ten bytes.

/// Most bytes of a number.
pub const BYTES_MAX: usize = 10;

/// The first number of two bytes: those below are bytes as they stand.
pub const ONE_BYTE_END: u8 = 0x80;

/// Writes `value` to the front of `out`; returns how many bytes that took.
///
/// # Panics
/// If `out` is too short; [`BYTES_MAX`] always do.
#[inline]
pub fn write(out: &mut [u8], mut value: u64) -> usize {
    let mut len = 0;
    while value >= 0x80 {
        out[len] = value as u8 | 0x80;
        value >>= 7;
        len += 1;
    }
    out[len] = value as u8;
    len + 1
}

/// Appends `value` to `out`.
#[inline]
pub fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Takes one number off the front of `bytes`; `None` if it is cut short or does not fit 64 bits.
#[inline]
pub fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for (index, &byte) in bytes.iter().enumerate().take(10) {
        let part = u64::from(byte & 0x7f);
        if index == 9 && part > 1 {
            return None;
        }
        value |= part << (7 * index);
        if byte < 0x80 {
            *bytes = &bytes[index + 1..];
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trip_at_every_length() {
        for shift in 0..64 {
            for value in [1u64 << shift, (1u64 << shift) - 1, u64::MAX >> shift] {
                let mut out = Vec::new();
                put(&mut out, value);
                let mut rest = &out[..];
                assert_eq!(take(&mut rest), Some(value));
                assert!(rest.is_empty());
                let mut written = [0; BYTES_MAX];
                let len = write(&mut written, value);
                assert_eq!(written[..len], out[..]);
            }
        }
    }

    #[test]
    fn cut_or_overlong_numbers_are_refused() {
        assert_eq!(take(&mut &[0x80u8, 0x80][..]), None);
        assert_eq!(take(&mut &[0xffu8; 11][..]), None);
    }
}
