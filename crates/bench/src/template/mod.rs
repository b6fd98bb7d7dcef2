//! HOT PATH (`encode`). Requests, encoded once, patched many times.
//!
//! A command such as `SET __key__ __data__` is compiled to its wire bytes with a list of places to
//! overwrite. Encoding a request is then one copy, a fixed number of decimal digits per key and one
//! copy per value; nothing is formatted or measured at run time. Only a value whose *size* is drawn
//! again for each request needs a length of its own; it gets a segment of its own.
//!
//! Placeholders: `__key__` (a key: prefix and zero-padded number), `__rand_int__` (the number
//! alone, 12 digits, as in redis-benchmark), `__data__` (a value), `__keys__` (several `__key__`
//! arguments), `__pairs__` (several `__key__ __data__`), `__rand:N__` (a number below N,
//! zero-padded, uniform whatever the distribution of the keys). Each occurrence is drawn
//! separately.

use crate::error::BenchError;
use crate::keys::KeyDraw;
use crate::random::Random;

mod compile;
mod vocabulary;

pub(crate) use compile::split_words;
pub(crate) use vocabulary::{Vocabulary, Wire};

/// Values start at a random multiple of this in the pool of random bytes.
const VALUE_ALIGN_BYTES: usize = 8;
/// Bytes of the pool over and above the largest value.
const POOL_BYTES: usize = 64 * 1024;

/// The random material of one worker.
#[derive(Debug, Clone)]
pub(crate) struct Draws {
    pub(crate) random: Random,
    /// Number of the next key draw, for sequential keys.
    pub(crate) sequence: u64,
    keys: KeyDraw,
    pool: Vec<u8>,
    value_bytes_min: usize,
    value_bytes_max: usize,
}

impl Draws {
    pub(crate) fn new(vocabulary: &Vocabulary, keys: KeyDraw, mut random: Random) -> Self {
        let mut pool = vec![0; vocabulary.value_bytes_max + POOL_BYTES];
        random.fill(&mut pool);
        Self {
            random,
            sequence: 0,
            keys,
            pool,
            value_bytes_min: vocabulary.value_bytes_min,
            value_bytes_max: vocabulary.value_bytes_max,
        }
    }

    #[inline]
    fn key(&mut self) -> u64 {
        let key = self.keys.next(&mut self.random, self.sequence);
        self.sequence += 1;
        key
    }

    #[inline]
    fn value_start(&mut self) -> usize {
        self.random.below((POOL_BYTES / VALUE_ALIGN_BYTES) as u64) as usize * VALUE_ALIGN_BYTES
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Slot {
    Number { digits: usize },
    Below { digits: usize, bound: u64 },
    Value { bytes: usize },
}

#[derive(Debug, Clone)]
struct Patch {
    offset: usize,
    slot: Slot,
}

#[derive(Debug, Clone)]
enum Segment {
    Fixed {
        bytes: Vec<u8>,
        patches: Vec<Patch>,
    },
    /// A whole bulk string whose size is drawn per request.
    Value,
}

/// One command, ready to be encoded.
#[derive(Debug, Clone)]
pub(crate) struct Template {
    /// The command's first word in upper case, for reports.
    pub(crate) name: String,
    /// Key draws that one request makes.
    pub(crate) keys: u64,
    segments: Vec<Segment>,
}

impl Template {
    /// Compiles a command line. Words are separated by blanks; single or double quotes keep blanks.
    pub(crate) fn compile(command: &str, vocabulary: &Vocabulary) -> Result<Self, BenchError> {
        compile::compile(command, vocabulary)
    }

    /// Appends one request to `out`.
    #[inline]
    pub(crate) fn encode(&self, draws: &mut Draws, out: &mut Vec<u8>) {
        for segment in &self.segments {
            match segment {
                Segment::Fixed { bytes, patches } => {
                    let start = out.len();
                    out.extend_from_slice(bytes);
                    let written = &mut out[start..];
                    for patch in patches {
                        apply(patch, draws, written);
                    }
                }
                Segment::Value => encode_value(draws, out),
            }
        }
    }
}

#[inline]
fn apply(patch: &Patch, draws: &mut Draws, written: &mut [u8]) {
    match patch.slot {
        Slot::Number { digits } => {
            write_digits(draws.key(), &mut written[patch.offset..patch.offset + digits]);
        }
        Slot::Below { digits, bound } => {
            let number = draws.random.below(bound);
            write_digits(number, &mut written[patch.offset..patch.offset + digits]);
        }
        Slot::Value { bytes } => {
            let start = draws.value_start();
            written[patch.offset..patch.offset + bytes]
                .copy_from_slice(&draws.pool[start..start + bytes]);
        }
    }
}

fn encode_value(draws: &mut Draws, out: &mut Vec<u8>) {
    let spread = draws.value_bytes_max - draws.value_bytes_min;
    let bytes = draws.value_bytes_min + draws.random.below(spread as u64 + 1) as usize;
    let start = draws.value_start();
    out.push(b'$');
    let digits = bytes.checked_ilog10().unwrap_or(0) as usize + 1;
    let at = out.len();
    out.resize(at + digits, b'0');
    write_digits(bytes as u64, &mut out[at..]);
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(&draws.pool[start..start + bytes]);
    out.extend_from_slice(b"\r\n");
}

/// Writes the low decimal digits of `number` over the whole of `place`.
#[inline]
fn write_digits(mut number: u64, place: &mut [u8]) {
    for digit in place.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

#[cfg(test)]
mod tests;
