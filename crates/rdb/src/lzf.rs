//! LZF, the compression of strings in RDB.
//!
//! ```text
//! 000nnnnn                       n + 1 bytes follow as they are
//! nnnddddd dddddddd              n + 2 bytes again, from d + 1 bytes before; n is 1 to 6
//! 111ddddd nnnnnnnn dddddddd     n + 9 bytes again, from d + 1 bytes before
//! ```
//!
//! A repetition may reach into what it writes itself. The compressor is greedy: a table remembers
//! where a hash of three bytes was last seen. Written here and not taken from a crate: the format
//! is three lines, and the decompressor must bound its output by the caller's limit.

/// Most bytes that follow one control byte as they are.
const LITERALS_MAX: usize = 32;
/// Shortest repetition.
const REPEAT_MIN: usize = 3;
/// Longest repetition.
const REPEAT_MAX: usize = 264;
/// How far back a repetition can reach.
const DISTANCE_MAX: usize = 8192;
/// Three bytes give at most 264: no compressed string can expand by more.
const EXPANSION_MAX: usize = REPEAT_MAX / 3;
/// What must be saved for a string to be written compressed, as in Redis.
const SAVED_BYTES_MIN: usize = 4;
const TABLE_BITS: u32 = 13;

/// Decompresses to exactly `length` bytes, or says `None`. A length that `packed` cannot have is
/// refused before anything is allocated.
pub(crate) fn decompress(packed: &[u8], length: usize) -> Option<Vec<u8>> {
    if length > packed.len().saturating_mul(EXPANSION_MAX) {
        return None;
    }
    let mut out = Vec::with_capacity(length);
    let mut rest = packed;
    while let Some((control, after)) = rest.split_first() {
        let control = usize::from(*control);
        rest = after;
        if control < LITERALS_MAX {
            let (literals, after) = rest.split_at_checked(control + 1)?;
            if literals.len() > length - out.len() {
                return None;
            }
            out.extend_from_slice(literals);
            rest = after;
        } else {
            let mut repeat = (control >> 5) + 2;
            if repeat == 9 {
                repeat += usize::from(*rest.split_off_first()?);
            }
            let distance = ((control & 0x1f) << 8 | usize::from(*rest.split_off_first()?)) + 1;
            if repeat > length - out.len() {
                return None;
            }
            copy_back(&mut out, distance, repeat)?;
        }
    }
    (out.len() == length).then_some(out)
}

/// Appends `count` bytes from `distance` bytes before the end on; what is appended counts.
fn copy_back(out: &mut Vec<u8>, distance: usize, count: usize) -> Option<()> {
    let start = out.len().checked_sub(distance)?;
    let mut left = count;
    while left > 0 {
        // From `start` on the bytes have the period `distance`, so any stretch from there continues
        // them.
        let stretch = left.min(out.len() - start);
        out.extend_from_within(start..start + stretch);
        left -= stretch;
    }
    Some(())
}

/// The compressor and the table that it uses again for every string.
#[derive(Debug, Default)]
pub(crate) struct Compressor {
    /// By hash: `base` + position. Made when first needed.
    table: Vec<u32>,
    /// Entries below it are of strings before this one, so the table need not be cleared.
    base: u32,
}

impl Compressor {
    /// Appends `input` compressed and says true; or, if that would not save enough, leaves `out` as
    /// it is.
    pub fn compress(&mut self, input: &[u8], out: &mut Vec<u8>) -> bool {
        let start = out.len();
        let saves = input.len() > SAVED_BYTES_MIN
            && self.prepare(input.len())
            && self.append(input, start + input.len() - SAVED_BYTES_MIN, out).is_some();
        if !saves {
            out.truncate(start);
        }
        saves
    }

    /// Makes the table fit for a string of this length; false if positions in it would not fit.
    fn prepare(&mut self, length: usize) -> bool {
        let Ok(length) = u32::try_from(length) else { return false };
        if self.table.is_empty() || self.base.checked_add(length).is_none() {
            self.table.clear();
            self.table.resize(1 << TABLE_BITS, 0);
            self.base = 1;
        }
        self.base.checked_add(length).is_some()
    }

    fn append(&mut self, input: &[u8], end_max: usize, out: &mut Vec<u8>) -> Option<()> {
        let base = self.base;
        // Positions fit, as `prepare` has checked.
        self.base += input.len() as u32;
        let mut literals = 0;
        let mut at = 0;
        while at + REPEAT_MIN <= input.len() {
            let slot = &mut self.table[hash(&input[at..at + REPEAT_MIN])];
            let before = slot.checked_sub(base).map(|position| position as usize);
            *slot = base + at as u32;
            let found = before.and_then(|before| repetition(input, before, at));
            let Some(repeat) = found else {
                at += 1;
                continue;
            };
            append_literals(&input[literals..at], out);
            append_repeat(&repeat, out);
            if out.len() > end_max {
                return None;
            }
            at += repeat.count;
            literals = at;
        }
        append_literals(&input[literals..], out);
        (out.len() <= end_max).then_some(())
    }
}

struct Repetition {
    distance: usize,
    count: usize,
}

/// What at `at` repeats what stands at `before`, if that is worth saying and within reach.
fn repetition(input: &[u8], before: usize, at: usize) -> Option<Repetition> {
    let distance = at - before;
    if distance > DISTANCE_MAX {
        return None;
    }
    let pairs = input[before..].iter().zip(&input[at..]).take(REPEAT_MAX);
    let count = pairs.take_while(|(a, b)| a == b).count();
    (count >= REPEAT_MIN).then_some(Repetition { distance, count })
}

fn hash(three: &[u8]) -> usize {
    let number = u32::from_le_bytes([three[0], three[1], three[2], 0]);
    (number.wrapping_mul(0x9e37_79b1) >> (u32::BITS - TABLE_BITS)) as usize
}

fn append_literals(literals: &[u8], out: &mut Vec<u8>) {
    for run in literals.chunks(LITERALS_MAX) {
        out.push((run.len() - 1) as u8);
        out.extend_from_slice(run);
    }
}

fn append_repeat(repeat: &Repetition, out: &mut Vec<u8>) {
    let [low, high, ..] = (repeat.distance - 1).to_le_bytes();
    let count = repeat.count - 2;
    if count < 7 {
        out.push((count as u8) << 5 | high);
    } else {
        out.extend_from_slice(&[7 << 5 | high, (count - 7) as u8]);
    }
    out.push(low);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(compressor: &mut Compressor, input: &[u8]) -> Option<usize> {
        let mut packed = vec![1, 2, 3];
        let saved = compressor.compress(input, &mut packed);
        assert_eq!(packed[..3], [1, 2, 3]);
        if !saved {
            assert_eq!(packed.len(), 3);
            return None;
        }
        assert_eq!(decompress(&packed[3..], input.len()).as_deref(), Some(input));
        assert_eq!(decompress(&packed[3..], input.len() + 1), None);
        assert_eq!(decompress(&packed[3..], input.len() - 1), None);
        Some(packed.len() - 3)
    }

    #[test]
    fn what_repeats_becomes_short_and_comes_back() {
        let mut compressor = Compressor::default();
        assert_eq!(round_trip(&mut compressor, &[b'a'; 10_000]), Some(2 + 38 * 3));
        let text = b"the quick brown fox jumps over the lazy dog, the quick brown fox".repeat(40);
        assert!(round_trip(&mut compressor, &text).is_some_and(|length| length < 200));
        // Repeats at 8,192 bytes, the farthest that can be said, and one byte farther.
        let mut state = 1u32;
        let noise: Vec<u8> = std::iter::repeat_with(|| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .take(DISTANCE_MAX + 1)
        .collect();
        assert!(round_trip(&mut compressor, &noise[..DISTANCE_MAX].repeat(2)).is_some());
        assert_eq!(round_trip(&mut compressor, &noise), None);
        assert_eq!(round_trip(&mut compressor, b"abcd"), None);
        assert_eq!(round_trip(&mut compressor, b""), None);
    }

    #[test]
    fn a_worn_table_is_begun_anew() {
        let mut compressor = Compressor::default();
        assert!(round_trip(&mut compressor, &[b'x'; 100]).is_some());
        compressor.base = u32::MAX - 150;
        assert!(round_trip(&mut compressor, &[b'x'; 100]).is_some());
        assert!(round_trip(&mut compressor, &[b'y'; 100]).is_some());
        assert!(compressor.base < 1_000);
    }

    #[test]
    fn broken_streams_are_refused() {
        assert_eq!(decompress(&[0x20, 0x00], 3), None, "nothing to repeat");
        assert_eq!(decompress(&[5, b'a'], 6), None, "literals are missing");
        assert_eq!(decompress(&[0, b'a', 0xe0], 10), None, "the count is missing");
        assert_eq!(decompress(&[0, b'a', 0x20], 10), None, "the distance is missing");
        assert_eq!(decompress(&[0, b'a', 0x20, 1], 4), None, "before the beginning");
        assert_eq!(decompress(&[0, b'a', 0x20, 0], 4), Some(b"aaaa".to_vec()));
        assert_eq!(decompress(&[0; 20], 1 << 40), None, "a bomb is not even begun");
        assert_eq!(decompress(&[], 0), Some(Vec::new()));
    }
}
