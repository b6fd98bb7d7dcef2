//! From the line to items as they are written.

use super::{NESTING_MAX, SynopsisError};

/// What stands in the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// A literal.
    Token(&'static str),
    /// An argument.
    Name(&'static str),
    /// `[…]`
    Optional(Vec<Vec<Item>>),
    /// `<…>`
    OneOf(Vec<Vec<Item>>),
    /// `(…)`
    Group(Vec<Item>),
    /// Items that are followed by `[them ...]`.
    Repeat(Vec<Item>),
}

/// Parses a whole line.
pub(super) fn parse(line: &'static str) -> Result<Vec<Item>, SynopsisError> {
    let words = words(line);
    let mut cursor = Cursor { words: &words, next: 0, depth: 0 };
    let items = cursor.sequence()?;
    match cursor.peek() {
        None => Ok(items),
        Some(found) => Err(SynopsisError::Unbalanced { expected: "end", found: found.to_owned() }),
    }
}

/// Splits at white space and around brackets and bars.
fn words(line: &'static str) -> Vec<&'static str> {
    let mut words = Vec::new();
    for chunk in line.split_whitespace() {
        let mut rest = chunk;
        while let Some(at) = rest.find(is_punctuation) {
            let (before, from) = rest.split_at(at);
            let (mark, after) = from.split_at(1);
            words.extend([before, mark].into_iter().filter(|word| !word.is_empty()));
            rest = after;
        }
        words.extend(Some(rest).filter(|word| !word.is_empty()));
    }
    words
}

fn is_punctuation(character: char) -> bool {
    matches!(character, '[' | ']' | '<' | '>' | '(' | ')' | '|')
}

struct Cursor<'a> {
    words: &'a [&'static str],
    next: usize,
    depth: usize,
}

impl Cursor<'_> {
    fn peek(&self) -> Option<&'static str> {
        self.words.get(self.next).copied()
    }

    /// Items up to a closing bracket, a bar, dots or the end.
    fn sequence(&mut self) -> Result<Vec<Item>, SynopsisError> {
        let mut items = Vec::new();
        while let Some(word) = self.peek() {
            match word {
                "]" | ">" | ")" | "|" | "..." => break,
                "[" => self.optional_or_repeat(&mut items)?,
                "<" => {
                    let alternatives = self.bracketed(">", Cursor::alternatives)?;
                    items.push(Item::OneOf(alternatives));
                }
                "(" => {
                    let group = self.bracketed(")", Cursor::filled_sequence)?;
                    items.push(Item::Group(group));
                }
                _ => {
                    self.next += 1;
                    let is_name = word.contains(|c: char| c.is_ascii_lowercase());
                    items.push(if is_name { Item::Name(word) } else { Item::Token(word) });
                }
            }
        }
        Ok(items)
    }

    fn filled_sequence(&mut self) -> Result<Vec<Item>, SynopsisError> {
        let items = self.sequence()?;
        if items.is_empty() { Err(SynopsisError::Empty) } else { Ok(items) }
    }

    fn alternatives(&mut self) -> Result<Vec<Vec<Item>>, SynopsisError> {
        let mut alternatives = vec![self.filled_sequence()?];
        while self.peek() == Some("|") {
            self.next += 1;
            alternatives.push(self.filled_sequence()?);
        }
        Ok(alternatives)
    }

    fn bracketed<T>(
        &mut self,
        close: &'static str,
        inner: impl FnOnce(&mut Self) -> Result<T, SynopsisError>,
    ) -> Result<T, SynopsisError> {
        self.next += 1;
        self.depth += 1;
        if self.depth > NESTING_MAX {
            return Err(SynopsisError::TooDeep);
        }
        let value = inner(self)?;
        self.depth -= 1;
        match self.peek() {
            Some(word) if word == close => {
                self.next += 1;
                Ok(value)
            }
            other => Err(SynopsisError::Unbalanced {
                expected: close,
                found: other.unwrap_or("end").to_owned(),
            }),
        }
    }

    /// `[x | y]` is an item of its own; `[x ...]` folds the `x` before it into a repetition.
    fn optional_or_repeat(&mut self, items: &mut Vec<Item>) -> Result<(), SynopsisError> {
        let (alternatives, again) = self.bracketed("]", |cursor| {
            if cursor.peek() == Some("...") {
                cursor.next += 1;
                return Ok((Vec::new(), true));
            }
            let alternatives = cursor.alternatives()?;
            let again = cursor.peek() == Some("...");
            cursor.next += usize::from(again);
            Ok((alternatives, again))
        })?;
        if !again {
            items.push(Item::Optional(alternatives));
            return Ok(());
        }
        let count = alternatives.first().map_or(1, Vec::len);
        let start = items.len().checked_sub(count).ok_or(SynopsisError::Repetition)?;
        let repeated = items.split_off(start);
        let matches = alternatives.is_empty() || alternatives == [repeated.clone()];
        if !matches {
            return Err(SynopsisError::Repetition);
        }
        items.push(Item::Repeat(repeated));
        Ok(())
    }
}
