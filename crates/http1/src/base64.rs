//! Base64 (RFC 4648): bytes within text. Decoding never lengthens, so it needs no other place.
//!
//! There is one way to spell bytes: padding is where the alphabet wants it, unused bits are zero.

use crate::refusal::Refusal;

/// How 64 digits are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Alphabet {
    /// RFC 4648, section 4, padded: in credentials, handshakes and JSON.
    Standard,
    /// RFC 4648, section 5, without padding: in targets.
    Url,
}

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

impl Alphabet {
    fn digits(self) -> &'static [u8; 64] {
        match self {
            Alphabet::Standard => STANDARD,
            Alphabet::Url => URL,
        }
    }

    fn value(self, digit: u8) -> Result<u8, Refusal> {
        match digit {
            b'A'..=b'Z' => Ok(digit - b'A'),
            b'a'..=b'z' => Ok(digit - b'a' + 26),
            b'0'..=b'9' => Ok(digit - b'0' + 52),
            _ if digit == self.digits()[62] => Ok(62),
            _ if digit == self.digits()[63] => Ok(63),
            _ => Err(Refusal::Base64Malformed),
        }
    }
}

/// Appends `bytes` to `out` as text.
pub fn encode(bytes: &[u8], alphabet: Alphabet, out: &mut Vec<u8>) {
    for group in bytes.chunks(3) {
        let mut bits = 0u32;
        group.iter().enumerate().for_each(|(at, &byte)| bits |= u32::from(byte) << (16 - 8 * at));
        for at in 0..4 {
            if at <= group.len() {
                out.push(alphabet.digits()[(bits >> (18 - 6 * at) & 63) as usize]);
            } else if alphabet == Alphabet::Standard {
                out.push(b'=');
            }
        }
    }
}

/// Decodes text in place and returns how many bytes it spells: the first ones. After an error, the
/// text may have been overwritten.
pub fn decode(text: &mut [u8], alphabet: Alphabet) -> Result<usize, Refusal> {
    let digits = match alphabet {
        Alphabet::Url => text.len(),
        Alphabet::Standard if !text.len().is_multiple_of(4) => {
            return Err(Refusal::Base64Malformed);
        }
        Alphabet::Standard if text.ends_with(b"==") => text.len() - 2,
        Alphabet::Standard => text.len() - usize::from(text.ends_with(b"=")),
    };
    if digits % 4 == 1 {
        return Err(Refusal::Base64Malformed);
    }
    let mut write = 0;
    for start in (0..digits).step_by(4) {
        let count = (digits - start).min(4);
        let mut bits = 0u32;
        for at in 0..count {
            bits |= u32::from(alphabet.value(text[start + at])?) << (18 - 6 * at);
        }
        let bytes = count - 1;
        if bits & ((1 << (24 - 8 * bytes)) - 1) != 0 {
            return Err(Refusal::Base64Malformed);
        }
        text[write..write + bytes].copy_from_slice(&bits.to_be_bytes()[1..=bytes]);
        write += bytes;
    }
    Ok(write)
}
