//! `/v1/command`: any command as a JSON array of its words.
//!
//! ```json
//! ["HSET", "key", "field", 7, {"b64": "AP8="}]
//! ```
//! A number is taken as it is written. Bytes that are no text come as base64.

use crate::general::Spelling;
use crate::operation::Items;
use crate::problem::Problem;
use crate::words::Words;
use basalt_call::calls::Commands;
use basalt_http1::base64::{self, Alphabet};
use basalt_http1::{Field, Head, Status};
use basalt_resp::Arg;
use basalt_spec::Found;
use serde::Deserializer;
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

/// Whether the body is said to be JSON. A page of another site can send a form without being asked
/// first whether it may, but no JSON.
pub(crate) fn demand_json(head: &Head, bytes: &[u8]) -> Result<(), Problem> {
    let value = head.field(Field::ContentType).map_or(&b""[..], |range| &bytes[range]);
    let kind = value.split(|&byte| byte == b';').next().unwrap_or_default().trim_ascii();
    if kind.eq_ignore_ascii_case(b"application/json") {
        return Ok(());
    }
    let text = "send Content-Type: application/json";
    Err(Problem::new(Status::UnsupportedMediaType, "NOTJSON", text))
}

/// Whether the client wants a string as it is rather than as JSON.
pub(crate) fn wants_bytes(head: &Head, bytes: &[u8]) -> bool {
    let accept = head.field(Field::Accept).map_or(&b""[..], |range| &bytes[range]);
    let mut kinds = accept.split(|&byte| byte == b',');
    kinds.any(|kind| kind.trim_ascii().eq_ignore_ascii_case(b"application/octet-stream"))
}

/// The words of a body, one behind the other, and their lengths.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Decoded {
    bytes: Vec<u8>,
    lens: Vec<usize>,
}

impl Decoded {
    /// Reads a body.
    ///
    /// # Errors
    /// It is no array of words, or has more than `words_max`.
    pub(crate) fn of(body: &[u8], words_max: usize) -> Result<Decoded, Problem> {
        Decoded::of_items(body, Items::Words, Spelling::Plain, words_max)
    }

    /// Reads a body of this form.
    ///
    /// # Errors
    /// It is none, or has more than `words_max`.
    pub(crate) fn of_items(
        body: &[u8],
        items: Items,
        spelling: Spelling,
        words_max: usize,
    ) -> Result<Decoded, Problem> {
        let decoded = Decoded::default();
        let mut reading = Reading { items, spelling, words_max, decoded, problem: None };
        let mut source = serde_json::Deserializer::from_slice(body);
        let read = match items {
            Items::Words | Items::Commands => source.deserialize_seq(&mut reading),
            Items::Fields | Items::Scores | Items::Expiry | Items::Password => {
                source.deserialize_map(&mut reading)
            }
        };
        match (reading.problem, read.and_then(|()| source.end())) {
            (Some(problem), _) => Err(problem),
            (None, Err(error)) => {
                let form = if items == Items::Words { "array" } else { "object" };
                Err(Problem::bad_request(format!("the body is no JSON {form}: {error}")))
            }
            (None, Ok(())) => Ok(reading.decoded),
        }
    }

    fn add(&mut self, element: &str) -> Result<(), Problem> {
        let wrong = || Problem::bad_request(r#"a word is a text, a number or {"b64": …}"#);
        match element.as_bytes().first() {
            Some(b'"') => {
                let text: Text<'_> = serde_json::from_str(element).map_err(|_| wrong())?;
                self.bytes.extend_from_slice(text.0.as_bytes());
            }
            Some(b'-' | b'0'..=b'9') => self.bytes.extend_from_slice(element.as_bytes()),
            Some(b'{') => {
                let spelled: Base64<'_> = serde_json::from_str(element).map_err(|_| wrong())?;
                let mut bytes = spelled.b64.into_owned().into_bytes();
                let len = base64::decode(&mut bytes, Alphabet::Standard)?;
                self.bytes.extend_from_slice(&bytes[..len]);
            }
            _ => return Err(wrong()),
        }
        Ok(())
    }

    /// How many words there are.
    pub(crate) fn count(&self) -> usize {
        self.lens.len()
    }

    /// Adds the words of another one behind these.
    pub(crate) fn append(&mut self, other: Decoded) {
        self.bytes.extend_from_slice(&other.bytes);
        self.lens.extend_from_slice(&other.lens);
    }

    /// One word.
    pub(crate) fn word(bytes: Vec<u8>) -> Decoded {
        Decoded { lens: vec![bytes.len()], bytes }
    }

    /// Adds a name of an object.
    fn add_name(&mut self, name: &str, spelling: Spelling) -> Result<(), Problem> {
        let mut bytes = name.as_bytes().to_vec();
        if spelling == Spelling::Base64 {
            let len = base64::decode(&mut bytes, Alphabet::Url)?;
            bytes.truncate(len);
        }
        self.bytes.extend_from_slice(&bytes);
        self.lens.push(bytes.len());
        Ok(())
    }

    /// Adds a word as it is written in JSON.
    fn add_word(&mut self, element: &str) -> Result<(), Problem> {
        let before = self.bytes.len();
        self.add(element)?;
        self.lens.push(self.bytes.len() - before);
        Ok(())
    }

    /// Refuses a command that is about its connection: a request by HTTP has none of its own.
    pub(crate) fn demand_connectionless(&self, commands: &Commands) -> Result<(), Problem> {
        let mut words = self.ranges().map(|range| &self.bytes[range]);
        let (name, next) = (words.next().unwrap_or_default(), words.next());
        if let Found::Command(command) = commands.table.resolve(name, next)
            && commands.traits(command.id).is_about_connection
        {
            let name = command.spec.name.replace('|', " ").to_uppercase();
            let text = format!("{name} is about a connection, and a request by HTTP has none");
            return Err(Problem::new(Status::BadRequest, "NOTHTTP", text));
        }
        Ok(())
    }

    fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        self.lens.iter().scan(0, |at, len| {
            let start = *at;
            *at += len;
            Some(start..*at)
        })
    }

    /// Writes the words over the body, which is kept as it came. They are shorter than it is.
    pub(crate) fn write(&self, bytes: &mut [u8], body: Range<usize>, words: &mut Vec<Arg>) {
        let mut words = Words::over(bytes, body, words);
        self.ranges().for_each(|range| words.put(&self.bytes[range]));
    }
}

/// Reads a body element by element, so that one of too many takes no memory.
struct Reading {
    items: Items,
    spelling: Spelling,
    words_max: usize,
    decoded: Decoded,
    /// What is wrong, beside the JSON.
    problem: Option<Problem>,
}

impl<'de> Visitor<'de> for &mut Reading {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self.items {
            Items::Words | Items::Commands => "an array of words",
            Items::Fields | Items::Scores | Items::Expiry | Items::Password => "an object",
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        let Reading { words_max, decoded, problem, .. } = self;
        while let Some(element) = elements.next_element::<&RawValue>()? {
            let added = match decoded.lens.len() < *words_max {
                true => decoded.add_word(element.get()),
                false => Err(wrong_count(*words_max)),
            };
            if let Err(wrong) = added {
                *problem = Some(wrong);
                return Err(A::Error::custom("see the problem"));
            }
        }
        if decoded.lens.is_empty() {
            *problem = Some(wrong_count(*words_max));
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let Reading { items, spelling, words_max, decoded, problem } = self;
        while let Some((Text(name), value)) = members.next_entry::<Text<'_>, &RawValue>()? {
            let added = match decoded.lens.len() + 2 <= *words_max {
                true if *items == Items::Scores => {
                    decoded.add_word(value.get()).and_then(|()| decoded.add_name(&name, *spelling))
                }
                true => {
                    decoded.add_name(&name, *spelling).and_then(|()| decoded.add_word(value.get()))
                }
                false => Err(wrong_count(*words_max)),
            };
            if let Err(wrong) = added {
                *problem = Some(wrong);
                return Err(A::Error::custom("see the problem"));
            }
        }
        if decoded.lens.is_empty() {
            *problem = Some(wrong_count(*words_max));
        }
        Ok(())
    }
}

fn wrong_count(words_max: usize) -> Problem {
    Problem::bad_request(format!("a command has from 1 to {words_max} words"))
}

/// A text that is borrowed where it has no escapes.
#[derive(serde::Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Base64<'a> {
    #[serde(borrow)]
    b64: Cow<'a, str>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_texts_numbers_and_bytes() {
        let body = br#" [ "SET", "k\u0000\n\"", 1.50, -7, {"b64":"AP8="}, "" ] "#;
        let decoded = Decoded::of(body, 10).unwrap();
        let words: Vec<&[u8]> = decoded.ranges().map(|range| &decoded.bytes[range]).collect();
        assert_eq!(words, [&b"SET"[..], b"k\0\n\"", b"1.50", b"-7", b"\0\xff", b""]);
        let mut bytes = body.to_vec();
        let mut args = Vec::new();
        let all = 0..bytes.len();
        decoded.write(&mut bytes, all, &mut args);
        let written: Vec<&[u8]> = args.iter().map(|arg| arg.of(&bytes)).collect();
        assert_eq!(written, words);
    }

    #[test]
    fn other_bodies_are_refused() {
        for body in [
            "",
            "{}",
            "[]",
            "[[]]",
            "[null]",
            "[true]",
            r#"[{"b64":"A"}]"#,
            r#"[{"b65":""}]"#,
            r#"["a"] x"#,
            r#"["\ud800"]"#,
            "[1,]",
            r#"["a","b","c","d"]"#,
            "[\"\u{1}\"]",
        ] {
            assert!(Decoded::of(body.as_bytes(), 3).is_err(), "{body}");
        }
        assert!(Decoded::of(b"[\"\xff\"]", 3).is_err());
    }
}
