//! From a command line to a template.

use super::{Patch, Segment, Slot, Template, Vocabulary, Wire};
use crate::error::BenchError;

/// Digits of `__rand_int__`.
const NUMBER_DIGITS: usize = 12;
/// How `__rand:N__` begins.
const BELOW: &str = "__rand:";

/// A piece of one word of a command.
enum Token<'a> {
    Text(&'a str),
    Key,
    Number,
    /// A number below this one.
    Below(u64),
    Data,
}

pub(super) fn compile(command: &str, vocabulary: &Vocabulary) -> Result<Template, BenchError> {
    let words = expand(split_words(command)?, vocabulary.keys_per_request);
    let Some(name) = words.first().map(|word| word.to_uppercase()) else {
        return Err(BenchError::Usage("the command is empty".into()));
    };
    let mut compiler = Compiler { vocabulary, segments: Vec::new(), keys: 0 };
    match vocabulary.wire {
        Wire::Resp => compiler.resp(&words)?,
        Wire::Http => compiler.http(&name, &words[1..])?,
    }
    Ok(Template { name, keys: compiler.keys, segments: compiler.segments })
}

/// The template under construction.
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

    fn resp(&mut self, words: &[String]) -> Result<(), BenchError> {
        self.fixed().0.extend_from_slice(format!("*{}\r\n", words.len()).as_bytes());
        words.iter().try_for_each(|word| self.word(word))
    }

    /// GET and SET of a string, as HTTP has them.
    fn http(&mut self, name: &str, words: &[String]) -> Result<(), BenchError> {
        let (method, key, value) = match (name, words) {
            ("GET", [key]) => ("GET", key, None),
            ("SET", [key, value]) => ("PUT", key, Some(value)),
            _ => return Err(BenchError::Usage(format!("--http takes GET and SET, not {name}"))),
        };
        let vocabulary = self.vocabulary;
        let has_range = vocabulary.value_bytes_min != vocabulary.value_bytes_max;
        if has_range && value.is_some() {
            return Err(BenchError::Usage("--http takes one size of values".into()));
        }
        self.text(&format!("{method} /v1/strings/"));
        self.tokens(key)?;
        self.text(" HTTP/1.1\r\nHost: localhost\r\n");
        if let Some(value) = value {
            self.text(&format!("Content-Length: {}\r\n", self.len(&tokens(value)?)));
        }
        self.text("\r\n");
        value.map_or(Ok(()), |value| self.tokens(value))
    }

    fn text(&mut self, text: &str) {
        self.fixed().0.extend_from_slice(text.as_bytes());
    }

    fn tokens(&mut self, word: &str) -> Result<(), BenchError> {
        tokens(word)?.iter().for_each(|token| self.token(token));
        Ok(())
    }

    /// Bytes of a word of these pieces.
    fn len(&self, tokens: &[Token<'_>]) -> usize {
        let vocabulary = self.vocabulary;
        let len = |token: &Token<'_>| match token {
            Token::Text(text) => text.len(),
            Token::Key => vocabulary.key_bytes,
            Token::Number => NUMBER_DIGITS,
            Token::Below(bound) => digits_below(*bound),
            Token::Data => vocabulary.value_bytes_max,
        };
        tokens.iter().map(len).sum()
    }

    fn word(&mut self, word: &str) -> Result<(), BenchError> {
        let tokens = tokens(word)?;
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
        let len = self.len(&tokens);
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
            Token::Below(bound) => {
                let digits = digits_below(*bound);
                (vec![b'0'; digits], Some(Slot::Below { digits, bound: *bound }))
            }
        };
        let (bytes, patches) = self.fixed();
        bytes.extend_from_slice(&text);
        if let Some(slot) = slot {
            let width = match slot {
                Slot::Number { digits } | Slot::Below { digits, .. } => digits,
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

fn tokens(word: &str) -> Result<Vec<Token<'_>>, BenchError> {
    let mut tokens = Vec::new();
    let mut rest = word;
    let places = [("__key__", 0), ("__rand_int__", 1), ("__data__", 2), (BELOW, 3)];
    while let Some((at, text, which)) =
        places.iter().filter_map(|&(text, which)| rest.find(text).map(|at| (at, text, which))).min()
    {
        if at > 0 {
            tokens.push(Token::Text(&rest[..at]));
        }
        rest = &rest[at + text.len()..];
        tokens.push(match which {
            0 => Token::Key,
            1 => Token::Number,
            2 => Token::Data,
            _ => Token::Below(bound(&mut rest, word)?),
        });
    }
    if !rest.is_empty() {
        tokens.push(Token::Text(rest));
    }
    Ok(tokens)
}

/// Takes the rest of `__rand:N__` off the front of `rest`.
fn bound(rest: &mut &str, word: &str) -> Result<u64, BenchError> {
    let found =
        rest.split_once("__").and_then(|(digits, after)| Some((digits.parse().ok()?, after)));
    match found {
        Some((bound, after)) if bound > 0 => {
            *rest = after;
            Ok(bound)
        }
        _ => Err(BenchError::Usage(format!("__rand:N__ needs a number above 0 in {word:?}"))),
    }
}

/// Digits of the largest number below `bound`.
fn digits_below(bound: u64) -> usize {
    (bound - 1).checked_ilog10().unwrap_or(0) as usize + 1
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
