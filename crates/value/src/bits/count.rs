//! HOT PATH
//! How many bits are set.

use std::ops::Range;

/// Counts the set bits in a range, which must end inside the string.
pub fn count_ones(bytes: &[u8], range: Range<u64>) -> u64 {
    if range.is_empty() {
        return 0;
    }
    let (first, last) = ((range.start / 8) as usize, ((range.end - 1) / 8) as usize);
    let head_mask = 0xFF >> (range.start % 8);
    let tail_mask = 0xFF << (7 - (range.end - 1) % 8);
    if first == last {
        return u64::from((bytes[first] & head_mask & tail_mask).count_ones());
    }
    let edges = (bytes[first] & head_mask).count_ones() + (bytes[last] & tail_mask).count_ones();
    u64::from(edges) + ones(&bytes[first + 1..last])
}

/// Words of 64 bits, in blocks, which the compiler turns into vector instructions.
fn ones(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let words: u64 =
        words.iter().map(|word| u64::from(u64::from_ne_bytes(*word).count_ones())).sum();
    words + rest.iter().map(|byte| u64::from(byte.count_ones())).sum::<u64>()
}
