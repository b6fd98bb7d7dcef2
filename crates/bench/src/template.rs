//! HOT PATH (`encode`). Requests, encoded once, patched many times.
//!
//! A command such as `SET __key__ __data__` is compiled to its wire bytes with a list of places to
//! overwrite. Encoding a request is then one copy, a fixed number of decimal digits per key and one
//! copy per value; nothing is formatted or measured at run time. Only a value whose *size* is drawn
//! anew for each request needs a length of its own; it gets a segment of its own.
//!
//! Placeholders: `__key__` (a key: prefix and zero-padded number), `__rand_int__` (the number alone,
//! 12 digits, as in redis-benchmark), `__data__` (a value), `__keys__` (several `__key__` arguments),
//! `__pairs__` (several `__key__ __data__`). Each occurrence is drawn separately.

use crate::error::BenchError;
use crate::keys::KeyDraw;
use crate::random::Random;

/// Digits of `__rand_int__`.
const NUMBER_DIGITS: usize = 12;
/// Values start at a random multiple of this in the pool of random bytes.
const VALUE_ALIGN_BYTES: usize = 8;
/// Bytes of the pool over and above the largest value.
const POOL_BYTES: usize = 64 * 1024;

/// What the placeholders stand for.
#[derive(Debug, Clone)]
pub(crate) struct Vocabulary {
    pub(crate) key_prefix: String,
    pub(crate) key_bytes: usize,
    pub(crate) keyspace: u64,
    pub(crate) value_bytes_min: usize,
    pub(crate) value_bytes_max: usize,
    pub(crate) keys_per_request: usize,
}

impl Vocabulary {
    /// The text of key number `number`, as requests carry it.
    pub(crate) fn key(&self, number: u64) -> String {
        let digits = self.key_bytes - self.key_prefix.len();
        format!("{}{number:0digits$}", self.key_prefix)
    }

    fn digits_needed(&self) -> usize {
        (self.keyspace - 1).checked_ilog10().unwrap_or(0) as usize + 1
    }

    pub(crate) fn check(&self) -> Result<(), BenchError> {
        if self.keyspace == 0 {
            return Err(BenchError::Usage("the keyspace must hold at least one key".into()));
        }
        let bytes_min = self.key_prefix.len() + self.digits_needed();
        if self.key_bytes < bytes_min {
            return Err(BenchError::Usage(format!(
                "{} keys with prefix {:?} need a key size of at least {bytes_min}",
                self.keyspace, self.key_prefix
            )));
        }
        Ok(())
    }
}

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

/// A piece of one word of a command.
enum Token<'a> {
    Text(&'a str),
    Key,
    Number,
    Data,
}

impl Template {
    /// Compiles a command line. Words are separated by blanks; single or double quotes keep blanks.
    pub(crate) fn compile(command: &str, vocabulary: &Vocabulary) -> Result<Self, BenchError> {
        let words = expand(split_words(command)?, vocabulary.keys_per_request);
        let Some(name) = words.first().map(|word| word.to_uppercase()) else {
            return Err(BenchError::Usage("the command is empty".into()));
        };
        let mut compiler = Compiler { vocabulary, segments: Vec::new(), keys: 0 };
        compiler.fixed().0.extend_from_slice(format!("*{}\r\n", words.len()).as_bytes());
        for word in &words {
            compiler.word(word)?;
        }
        Ok(Self { name, keys: compiler.keys, segments: compiler.segments })
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

struct Compiler<'a> {
    vocabulary: &'a Vocabulary,
    segments: Vec<Segment>,
    keys: u64,
}

impl Compiler<'_> {
    fn fixed(&mut self) -> (&mut Vec<u8>, &mut Vec<Patch>) {
        if !matches!(self.segments.last(), Some(Segment::Fixed { .. })) {
            self.segments.push(Segment::Fixed { bytes: Vec::new(), patches: Vec::new() });
        }
        match self.segments.last_mut() {
            Some(Segment::Fixed { bytes, patches }) => (bytes, patches),
            _ => unreachable!("a fixed segment was pushed above"),
        }
    }

    fn word(&mut self, word: &str) -> Result<(), BenchError> {
        let tokens = tokens(word);
        let vocabulary = self.vocabulary;
        let has_data = tokens.iter().any(|token| matches!(token, Token::Data));
        if has_data && vocabulary.value_bytes_min != vocabulary.value_bytes_max {
            if tokens.len() > 1 {
                return Err(BenchError::Usage(format!(
                    "with a range of value sizes, __data__ must be a whole argument, not {word:?}"
                )));
            }
            self.segments.push(Segment::Value);
            return Ok(());
        }
        let len: usize = tokens
            .iter()
            .map(|token| match token {
                Token::Text(text) => text.len(),
                Token::Key => vocabulary.key_bytes,
                Token::Number => NUMBER_DIGITS,
                Token::Data => vocabulary.value_bytes_max,
            })
            .sum();
        self.fixed().0.extend_from_slice(format!("${len}\r\n").as_bytes());
        for token in &tokens {
            self.token(token);
        }
        self.fixed().0.extend_from_slice(b"\r\n");
        Ok(())
    }

    fn token(&mut self, token: &Token<'_>) {
        let vocabulary = self.vocabulary;
        let (text, slot) = match token {
            Token::Text(text) => (text.as_bytes().to_vec(), None),
            Token::Data => {
                let bytes = vocabulary.value_bytes_max;
                (vec![b'x'; bytes], Some(Slot::Value { bytes }))
            }
            Token::Key => (vocabulary.key(0).into_bytes(), Some(self.number())),
            Token::Number => (vec![b'0'; NUMBER_DIGITS], Some(self.number())),
        };
        let (bytes, patches) = self.fixed();
        bytes.extend_from_slice(&text);
        if let Some(slot) = slot {
            let width = match slot {
                Slot::Number { digits } => digits,
                Slot::Value { bytes } => bytes,
            };
            patches.push(Patch { offset: bytes.len() - width, slot });
        }
    }

    /// The zeros in front of the largest key number never change, so they are not patched.
    fn number(&mut self) -> Slot {
        self.keys += 1;
        Slot::Number { digits: self.vocabulary.digits_needed().min(NUMBER_DIGITS) }
    }
}

fn expand(words: Vec<String>, keys_per_request: usize) -> Vec<String> {
    let mut expanded = Vec::with_capacity(words.len());
    for word in words {
        let unit: &[&str] = match word.as_str() {
            "__keys__" => &["__key__"],
            "__pairs__" => &["__key__", "__data__"],
            _ => {
                expanded.push(word);
                continue;
            }
        };
        for _ in 0..keys_per_request {
            expanded.extend(unit.iter().map(ToString::to_string));
        }
    }
    expanded
}

fn tokens(word: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = word;
    let places = [("__key__", 0), ("__rand_int__", 1), ("__data__", 2)];
    while let Some((at, text, which)) =
        places.iter().filter_map(|&(text, which)| rest.find(text).map(|at| (at, text, which))).min()
    {
        if at > 0 {
            tokens.push(Token::Text(&rest[..at]));
        }
        tokens.push(match which {
            0 => Token::Key,
            1 => Token::Number,
            _ => Token::Data,
        });
        rest = &rest[at + text.len()..];
    }
    if !rest.is_empty() {
        tokens.push(Token::Text(rest));
    }
    tokens
}

/// Splits at blanks outside quotes. Quotes do not nest and there are no escapes.
pub(crate) fn split_words(line: &str) -> Result<Vec<String>, BenchError> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for character in line.chars() {
        match quote {
            Some(open) if character == open => quote = None,
            Some(_) => word.get_or_insert_default().push(character),
            None if character == '"' || character == '\'' => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            None if character.is_whitespace() => words.extend(word.take()),
            None => word.get_or_insert_default().push(character),
        }
    }
    if quote.is_some() {
        return Err(BenchError::Usage(format!("unbalanced quotes in {line:?}")));
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
#[path = "template_tests.rs"]
mod tests;
