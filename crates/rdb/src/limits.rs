//! What decoding may cost.

use crate::error::DecodeError;

/// How large a decoded value may become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecodeLimits {
    /// Bytes of one string, before and after decompression. Listpacks and their like count as
    /// strings.
    pub string_bytes_max: usize,
    /// Bytes that the decoded value may occupy, payload excluded: what was decompressed, and the
    /// fixed size of every element. A few bytes a value, such as groups of streams, are not counted
    /// exactly.
    pub memory_bytes_max: usize,
}

/// What is left of the limits while one value is decoded.
#[derive(Debug)]
pub(crate) struct Budget {
    string_bytes_max: usize,
    memory_bytes_left: usize,
}

impl Budget {
    pub fn new(limits: &DecodeLimits) -> Budget {
        Budget {
            string_bytes_max: limits.string_bytes_max,
            memory_bytes_left: limits.memory_bytes_max,
        }
    }

    /// Takes `bytes` from what may still be allocated.
    pub fn charge(&mut self, bytes: usize) -> Result<(), DecodeError> {
        let left = self.memory_bytes_left.checked_sub(bytes).ok_or(DecodeError::TooLarge)?;
        self.memory_bytes_left = left;
        Ok(())
    }

    /// Checks the length of one string, which need not be a length that fits memory.
    pub fn string_length(&self, length: u64) -> Result<usize, DecodeError> {
        let length = usize::try_from(length).map_err(|_| DecodeError::TooLarge)?;
        if length > self.string_bytes_max {
            return Err(DecodeError::TooLarge);
        }
        Ok(length)
    }
}
