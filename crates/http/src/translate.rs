//! Requests become the words of a command, as the table of paths says.
//!
//! The name of the command is written where the head began. What the head spells is decoded in
//! place behind it, in the order in which it stands there; the words that are always the same
//! follow, over what is left of the head. Then all of them are named in the order of the command.
//! No name is longer than the method and the path before the first key.
//!
//! That a request begins with its command matters: the dispatch remembers what bytes stand before
//! the name of a command (`basalt_resp::Front`), and a key that is decoded there must not be taken
//! for the beginning of a request in Redis' protocol.

use crate::command::Decoded;
use crate::conditions::{Condition, unmet};
use crate::general::{General, Spelling};
use crate::operation::{Body, Digests, Items, Kind, Operation, Parameter, Part, Unit};
use crate::plan::Answer;
use crate::problem::Problem;
use crate::query::Query;
use crate::words::Words;
use basalt_config::HttpSettings;
use basalt_http1::ETag;
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

/// How many words each command of a request has.
pub(crate) type Counts = Vec<usize>;

/// Where a word, or several, come from.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Source {
    Word(Cow<'static, str>),
    /// A part of the head.
    Head(Spelled),
    Body,
    /// Here the next command begins.
    Next,
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
    pub(crate) within: Option<Spelled>,
    pub(crate) query: Query<'a>,
    /// Where the query begins.
    pub(crate) query_start: usize,
    /// The body is called JSON.
    pub(crate) is_json: bool,
    pub(crate) now_ms: u64,
    /// What the request demands, if it writes.
    pub(crate) condition: Option<Condition>,
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
    /// Returns how many each command has.
    ///
    /// # Errors
    /// What the head spells is no percent-encoding or no base64.
    pub(crate) fn write(
        &self,
        words: &mut Words<'_>,
        start: usize,
        body: &[Arg],
    ) -> Result<Counts, Problem> {
        let Some((Source::Word(name), sources)) = self.sources.split_first() else {
            return Err(too_short());
        };
        let (name, rest) = name.split_once(' ').unwrap_or((name, ""));
        let mut placed = vec![words.place(name.as_bytes()).ok_or_else(too_short)?];
        let spelled = self.decode(words, start)?;
        for word in rest.split_terminator(' ') {
            placed.push(words.place(word.as_bytes()).ok_or_else(too_short)?);
        }
        let mut ends = Vec::new();
        for source in sources {
            match source {
                Source::Next => ends.push(placed.len()),
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
        ends.push(placed.len());
        placed.into_iter().for_each(|word| words.push(word));
        let mut before = 0;
        Ok(ends.into_iter().map(|end| end - std::mem::replace(&mut before, end)).collect())
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
            Part::Within => self.found.extend(self.named.within.clone().map(Source::Head)),
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
            Part::Condition(digests) => self.condition(digests)?,
            Part::Body => self.found.push(Source::Body),
            Part::Next => self.found.push(Source::Next),
            Part::BodyAs(name) => {
                if self.items.is_none() {
                    self.word(name);
                }
                self.found.push(Source::Body);
            }
        }
        Ok(())
    }

    fn condition(&mut self, digests: Digests) -> Result<(), Problem> {
        let Some(condition) = self.named.condition else { return Ok(()) };
        let is_digest = matches!(condition, Condition::Tag(ETag::Digest(_)));
        if is_digest && digests == Digests::NotHad {
            return Err(unmet());
        }
        self.found.push(Source::Word(condition.words()));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::{Run, Segment};
    use crate::plan::Purpose;
    use crate::table::ROUTES;
    use basalt_config::Config;
    use basalt_http1::{HeadLimits, HeadReader};

    /// The shortest value that a parameter can have.
    fn shortest(parameter: &Parameter) -> String {
        let value = match parameter.kind {
            Kind::Choice(choices) => choices[0].0,
            _ => "1",
        };
        format!("{}={value}", parameter.name)
    }

    /// The shortest head of a request with these parameters, and what it names: the key, the name,
    /// and the name within that.
    fn request(path: &[Segment], query: &str) -> (Vec<u8>, [Option<Spelled>; 3]) {
        let mut head = b"GET ".to_vec();
        let (mut key, mut name, mut within) = (None, None, None);
        for segment in path {
            head.push(b'/');
            let at = head.len();
            let range = at..at + 1;
            let spelled = Spelled { range, plus: Plus::Itself, spelling: Spelling::Plain };
            match segment {
                Segment::Text(text) => head.extend_from_slice(text.as_bytes()),
                Segment::Key => key = Some(spelled),
                Segment::Name(_) => name = Some(spelled),
                Segment::Within(_) => within = Some(spelled),
            }
            if !matches!(segment, Segment::Text(_)) {
                head.push(b'*');
            }
        }
        head.extend(format!("?{query} HTTP/1.0\r\n\r\n").into_bytes());
        (head, [key, name, within])
    }

    fn written(operation: &Operation, path: &[Segment], parts: &'static [Part], query: &str) {
        let (mut bytes, [key, name, within]) = request(path, query);
        let limits = HeadLimits { head_bytes_max: 1000, target_bytes_max: 1000 };
        let head = HeadReader::new().read(&bytes, &limits).unwrap().unwrap();
        let (settings, of_query) = (Config::default().settings(), bytes.clone());
        let named = Named {
            general: General::plain(0),
            key,
            name,
            within,
            query: Query::new(&of_query[head.query()]),
            query_start: head.query().start,
            is_json: matches!(operation.body, Body::Json(_)),
            now_ms: u64::MAX / 2,
            condition: None,
        };
        let call =
            CommandCall::of(operation, (parts, Answer::Json), &named, &settings.http).unwrap();
        let (end, mut words) = (bytes.len(), Vec::new());
        let counts = call.write(&mut Words::over(&mut bytes, 0..end, &mut words), 0, &[]).unwrap();
        let text = String::from_utf8_lossy(&of_query);
        assert_eq!(words[0].start, 0, "{text}: the name of the command comes first");
        assert_eq!(counts.iter().sum::<usize>(), words.len(), "{text}");
        assert!(words.iter().all(|word| word.len > 0), "{text}");
    }

    /// Whatever is asked for, in the shortest way: a head is longer than the words of its command.
    #[test]
    fn every_head_has_room_for_its_words() {
        for route in ROUTES {
            for operation in route.operations {
                let all = match operation.run {
                    Run::Command(parts, _) | Run::Several(parts, Purpose::Copy) => vec![parts],
                    Run::Expiry { cleared, set: (set, _), .. } => vec![cleared, set],
                    Run::Tagged(parts, _) => vec![parts],
                    Run::Conditional { plain: (plain, _), expiring, under } => {
                        let expiring = expiring.map(|(parts, _)| parts);
                        [plain, under].into_iter().chain(expiring).collect()
                    }
                    _ => continue,
                };
                for parts in all {
                    let is_needed = |parameter: &&&Parameter| {
                        parts.iter().any(|part| match part {
                            Part::Value(needed) => needed.name == parameter.name,
                            _ => false,
                        })
                    };
                    let verb = operation.when.map(|(name, value)| format!("{name}={value}"));
                    let verb: Vec<String> = verb.into_iter().collect();
                    let needed = operation.parameters.iter().filter(is_needed);
                    let least: Vec<String> =
                        verb.iter().cloned().chain(needed.map(|one| shortest(one))).collect();
                    written(operation, route.path, parts, &least.join("&"));
                    for parameter in operation.parameters {
                        let one = shortest(parameter);
                        let with: Vec<String> = least.iter().cloned().chain([one]).collect();
                        written(operation, route.path, parts, &with.join("&"));
                    }
                }
            }
        }
    }
}
