//! HOT PATH
//! Comparing keys.

/// Whether the bytes at `at` are these: word by word, the last word overlapping the one before.
///
/// # Safety
/// As many bytes can be read at `at`.
#[inline]
pub(super) unsafe fn equal(at: *const u8, bytes: &[u8]) -> bool {
    const WORD: usize = size_of::<u64>();
    let (other, len) = (bytes.as_ptr(), bytes.len());
    // SAFETY: every read lies within the first `len` bytes of both.
    unsafe {
        if len < WORD {
            return equal_below_a_word(std::slice::from_raw_parts(at, len), bytes);
        }
        let same = |offset: usize| {
            at.add(offset).cast::<u64>().read_unaligned()
                == other.add(offset).cast::<u64>().read_unaligned()
        };
        let last = len - WORD;
        let mut offset = 0;
        while offset < last {
            if !same(offset) {
                return false;
            }
            offset += WORD;
        }
        same(last)
    }
}

/// Compares up to seven bytes: two halves of a word, which overlap if there are fewer than
/// eight.
#[inline]
fn equal_below_a_word(one: &[u8], other: &[u8]) -> bool {
    match one.first_chunk::<4>() {
        Some(first) => {
            Some(first) == other.first_chunk() && one.last_chunk::<4>() == other.last_chunk()
        }
        None => one.iter().eq(other),
    }
}
