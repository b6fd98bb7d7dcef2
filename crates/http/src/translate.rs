//! Requests become the words of a command, as the table of paths says.
//!
//! What the head spells is decoded in place, in the order in which it stands there; the words that
//! are always the same are written behind it, over what is left of the head. Then all of them are
//! named in the order of the command.

use crate::command::Decoded;
use crate::general::{General, Spelling};
use crate::operation::{Body, Items, Kind, Operation, Parameter, Part, Unit};
use crate::plan::Answer;
use crate::problem::Problem;
use crate::query::Query;
use crate::words::Words;
use basalt_config::HttpSettings;
use basalt_http1::percent::Plus;
use basalt_resp::Arg;
use std::borrow::Cow;
use std::ops::Range;

/// How many are returned where a range has no end.
const PLACES: i64 = 1000;

/// The command that a request asks for.
#[derive(Debug)]
pub(crate) struct CommandCall {
    pub(crate) general: General,
    pub(crate) answer: Answer,
    /// The form of its body if that is JSON.
    pub(crate) items: Option<Items>,
    sources: Vec<Source>,
}

/// Where a word, or several, come from.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Source {
    Word(Cow<'static, str>),
    /// A part of the head.
    Head(Spelled),
    Body,
}

/// A part of the head, as it came.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Spelled {
    pub(crate) range: Range<usize>,
    pub(crate) plus: Plus,
    pub(crate) spelling: Spelling,
}

/// What a request names, and how.
pub(crate) struct Named<'a> {
    pub(crate) general: General,
    pub(crate) key: Option<Spelled>,
    pub(crate) name: Option<Spelled>,
    pub(crate) query: Query<'a>,
    /// Where the query begins.
    pub(crate) query_start: usize,
    /// The body is called JSON.
    pub(crate) is_json: bool,
    pub(crate) now_ms: u64,
}

impl CommandCall {
    /// What a request asks for, before its body has come.
    ///
    /// # Errors
    /// A parameter is missing or wrong.
    pub(crate) fn of(
        operation: &Operation,
        (parts, answer): (&'static [Part], Answer),
        named: &Named<'_>,
        settings: &HttpSettings,
    ) -> Result<CommandCall, Problem> {
        let items = match operation.body {
            Body::Json(items) => Some(items),
            Body::BytesOrJson(items) if named.is_json => Some(items),
            _ => None,
        };
        let mut sources =
            Sources { named, settings, items, found: Vec::with_capacity(parts.len()) };
        for part in parts {
            sources.add(*part)?;
        }
        Ok(CommandCall { general: named.general, answer, items, sources: sources.found })
    }

    /// Writes the words; `start` is where the head begins, `body` are the words of the body.
    ///
    /// # Errors
    /// What the head spells is no percent-encoding or no base64.
    pub(crate) fn write(
        &self,
        words: &mut Words<'_>,
        start: usize,
        body: &[Arg],
    ) -> Result<(), Problem> {
        let spelled = self.decode(words, start)?;
        let mut placed = Vec::with_capacity(self.sources.len());
        for source in &self.sources {
            match source {
                Source::Word(text) => {
                    for word in text.split(' ') {
                        placed.push(words.place(word.as_bytes()).ok_or_else(too_short)?);
                    }
                }
                Source::Head(wanted) => {
                    let found = spelled.iter().find(|(spelled, _)| *spelled == wanted);
                    placed.extend(found.map(|(_, word)| *word));
                }
                Source::Body => placed.extend_from_slice(body),
            }
        }
        placed.into_iter().for_each(|word| words.push(word));
        Ok(())
    }

    /// Decodes what the head spells, in its order.
    fn decode(&self, words: &mut Words<'_>, start: usize) -> Result<Vec<(&Spelled, Arg)>, Problem> {
        let mut spelled: Vec<&Spelled> = self
            .sources
            .iter()
            .filter_map(|source| match source {
                Source::Head(spelled) => Some(spelled),
                _ => None,
            })
            .collect();
        spelled.sort_by_key(|spelled| spelled.range.start);
        spelled.dedup();
        let decode = |spelled: &'_ Spelled| {
            let range = start + spelled.range.start..start + spelled.range.end;
            words.decode_apart(range, spelled.plus, spelled.spelling)
        };
        let decoded: Result<Vec<Arg>, Problem> = spelled.iter().copied().map(decode).collect();
        Ok(spelled.into_iter().zip(decoded?).collect())
    }

    /// Reads the words of a body in JSON, if it is.
    ///
    /// # Errors
    /// It is none.
    pub(crate) fn items(&self, body: &[u8], words_max: usize) -> Result<Option<Decoded>, Problem> {
        let Some(items) = self.items else { return Ok(None) };
        Decoded::of_items(body, items, self.general.spelling, words_max).map(Some)
    }
}

/// No path is too short for its command, but for a mistake in the table.
fn too_short() -> Problem {
    Problem::bad_request("the head has no room for the command: send a Host")
}

struct Sources<'a> {
    named: &'a Named<'a>,
    settings: &'a HttpSettings,
    items: Option<Items>,
    found: Vec<Source>,
}

impl Sources<'_> {
    fn add(&mut self, part: Part) -> Result<(), Problem> {
        match part {
            Part::Word(word) => self.word(word),
            Part::Key => self.found.extend(self.named.key.clone().map(Source::Head)),
            Part::Name => self.found.extend(self.named.name.clone().map(Source::Head)),
            Part::Or(parameter, default) => {
                let value = self.value(parameter)?;
                self.found.push(value.unwrap_or(Source::Word(Cow::Borrowed(default))));
            }
            Part::Bound(parameter, forwards, backwards) => {
                let is_reverse = self.named.query.flag("reverse")?;
                return self
                    .add(Part::Or(parameter, if is_reverse { backwards } else { forwards }));
            }
            Part::Stop(start, stop) => self.stop(start, stop)?,
            Part::Option(words, parameter) => {
                if let Some(value) = self.value(parameter)? {
                    self.word(words);
                    self.found.push(value);
                }
            }
            Part::Switch(parameter, word) => {
                if self.named.query.flag(parameter.name)? {
                    self.word(word);
                }
            }
            Part::Either(parameter, yes, no) => {
                self.word(if self.named.query.flag(parameter.name)? { yes } else { no });
            }
            Part::Value(parameter) => {
                let missing = || Problem::bad_request(format!("{} is missing", parameter.name));
                let value = self.value(parameter)?.ok_or_else(missing)?;
                self.found.push(value);
            }
            Part::Choice(parameter) => {
                let value = self.value(parameter)?;
                self.found.extend(value.filter(|word| *word != Source::Word(Cow::Borrowed(""))));
            }
            Part::Wait(parameter, words, unit) => self.wait(parameter, words, unit)?,
            Part::Whole(parameter, whole, other) => {
                let value = self.named.query.text(parameter.name)?;
                let is_whole = value.is_none_or(|value| is_whole(&value));
                self.word(if is_whole { whole } else { other });
            }
            Part::Age(parameter) => self.age(parameter)?,
            Part::Body => self.found.push(Source::Body),
            Part::BodyAs(name) => {
                if self.items.is_none() {
                    self.word(name);
                }
                self.found.push(Source::Body);
            }
        }
        Ok(())
    }

    fn word(&mut self, word: &'static str) {
        if !word.is_empty() {
            self.found.push(Source::Word(Cow::Borrowed(word)));
        }
    }

    /// The value of a parameter, if it is given.
    fn value(&self, parameter: &Parameter) -> Result<Option<Source>, Problem> {
        let Named { query, query_start, general, .. } = self.named;
        let name = parameter.name;
        let spelling = match parameter.kind {
            Kind::Name => general.spelling,
            Kind::Bytes | Kind::Seconds | Kind::Flag => Spelling::Plain,
            Kind::Number { min, max } => {
                let number = query.number(name, min)?;
                if number.is_some_and(|number| number > max) {
                    return Err(Problem::bad_request(format!("{name} must be {max} at most")));
                }
                Spelling::Plain
            }
            Kind::Choice(choices) => {
                let value = query.text(name)?;
                let wanted = value.as_deref().or(choices.first().map(|(value, _)| *value));
                let found = choices.iter().find(|(value, _)| Some(*value) == wanted);
                let (_, word) = found.ok_or_else(|| {
                    let values: Vec<&str> = choices.iter().map(|(value, _)| *value).collect();
                    Problem::bad_request(format!("{name} must be one of: {}", values.join(", ")))
                })?;
                return Ok(Some(Source::Word(Cow::Borrowed(word))));
            }
        };
        Ok(query.find(name).map(|range| {
            let range = range.start + query_start..range.end + query_start;
            Source::Head(Spelled { range, plus: Plus::Space, spelling })
        }))
    }

    fn stop(&mut self, start: &'static Parameter, stop: &'static Parameter) -> Result<(), Problem> {
        let start = self.named.query.number(start.name, i64::MIN)?.unwrap_or(0);
        let end = if (-PLACES..0).contains(&start) { -1 } else { start.saturating_add(PLACES - 1) };
        let value = self.value(stop)?;
        self.found.push(value.unwrap_or(Source::Word(Cow::Owned(end.to_string()))));
        Ok(())
    }

    fn wait(
        &mut self,
        parameter: &Parameter,
        (given, absent): (&'static str, &'static str),
        unit: Unit,
    ) -> Result<(), Problem> {
        let wrong = || Problem::bad_request(format!("{} must be seconds", parameter.name));
        let seconds = match self.named.query.text(parameter.name)? {
            None => 0.0,
            Some(text) => {
                text.parse().ok().filter(|seconds: &f64| *seconds >= 0.0).ok_or_else(wrong)?
            }
        };
        let most = self.settings.key_wait_max.as_secs_f64();
        let milliseconds = (seconds.min(most) * 1000.0).ceil() as u64;
        if milliseconds == 0 {
            // Which a command would take for ever.
            self.word(absent);
            return Ok(());
        }
        self.word(given);
        let time = match unit {
            Unit::Milliseconds => milliseconds.to_string(),
            Unit::Seconds => format!("{}.{:03}", milliseconds / 1000, milliseconds % 1000),
        };
        self.found.push(Source::Word(Cow::Owned(time)));
        Ok(())
    }

    fn age(&mut self, parameter: &Parameter) -> Result<(), Problem> {
        let Some(seconds) = self.named.query.number(parameter.name, 1)? else { return Ok(()) };
        if self.named.query.find("max").is_some() {
            return Err(Problem::bad_request("give one of max and ttl"));
        }
        let oldest = self.named.now_ms.saturating_sub((seconds as u64).saturating_mul(1000));
        self.found.push(Source::Word(Cow::Owned(format!("MINID ~ {oldest}"))));
        Ok(())
    }
}

/// Whether a number to be added has no fraction.
pub(crate) fn is_whole(by: &str) -> bool {
    by.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
}
