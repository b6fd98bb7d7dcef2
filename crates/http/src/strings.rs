//! `/v1/strings/{key}`: values as bodies.
//!
//! | method | command |
//! |---|---|
//! | GET, HEAD | CAS.GET |
//! | PUT | SET; EX `?ttl=`, PX `?ttl_ms=`, PXAT `?expire_at=`, KEEPTTL `?keep_ttl=1` |
//! | PUT `?versioned=1` | CAS.SET |
//! | PUT `If-None-Match: *`, `If-Match: *` | CAS.SET with NX, XX |
//! | PUT `If-Match: "v7"`, `"d9555e8555c62dcfd"` | CAS.SET with IF, IFDEQ |
//! | DELETE | GETDEL |
//! | DELETE `If-Match:` a tag | CAS.DEL with IF, IFDEQ |
//! | PATCH `?offset=` | SETRANGE |
//! | POST `?op=append`, `?op=increment&by=` | APPEND, INCRBY, INCRBYFLOAT |

use crate::conditions::{Condition, Conditions, condition, unmet};
use crate::general::{General, Spelling};
use crate::plan::Answer;
use crate::problem::Problem;
use crate::query::Query;
use crate::translate::is_whole;
use crate::words::Words;
use basalt_http1::percent::Plus;
use basalt_http1::{ByteRange, ETag, Field, Head, Method};
use std::ops::Range;

/// What is to be done with a string.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct StringCall {
    pub(crate) general: General,
    /// What a read demands of the value's tag.
    pub(crate) conditions: Option<Box<Conditions>>,
    key: KeyAt,
    action: Action,
}

/// Where the key is in the head, as it came.
#[derive(Clone, PartialEq, Eq, Debug)]
enum KeyAt {
    Path(Range<usize>),
    Query(Range<usize>),
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Action {
    Get(Answer),
    Put { demand: Demand, expiry: Expiry },
    Delete { tag: Option<ETag> },
    SetRange { offset: i64 },
    Append,
    Increment { command: &'static str, by: String },
}

/// What a write demands, and whether the key has a version from it on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Demand {
    Nothing,
    /// A version.
    Version,
    Condition(Condition),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Expiry {
    Never,
    Kept,
    /// The word before a number, and the number.
    At(&'static str, i64),
}

/// A call without options: its words are the name of the command, the key, and of SET the body and
/// GET.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PlainCall {
    name: &'static str,
    puts: bool,
}

impl PlainCall {
    /// Bytes that its words need before the key.
    pub(crate) fn bytes_before_key(self) -> usize {
        self.name.len() + if self.puts { "GET".len() } else { 0 }
    }

    /// Writes the words; the key stays where it is, and so does the body.
    #[inline]
    pub(crate) fn write(self, words: &mut Words<'_>, key: Range<usize>, body: Range<usize>) {
        words.put(self.name.as_bytes());
        words.refer(key);
        if self.puts {
            words.refer(body);
            words.put(b"GET");
        }
    }
}

/// The names of the parameters that set an expiry, and the words of SET for them.
const EXPIRIES: [(&str, &str); 3] = [("ttl", "EX"), ("ttl_ms", "PX"), ("expire_at", "PXAT")];

impl StringCall {
    /// What a request asks for, before its body has come. `key` is where its key is in the path.
    ///
    /// # Errors
    /// It asks for nothing that there is.
    pub(crate) fn of(
        head: &Head,
        bytes: &[u8],
        key: Option<Range<usize>>,
        general: General,
    ) -> Result<StringCall, Problem> {
        let query = Query::new(&bytes[head.query()]);
        let key = match key {
            Some(key) => KeyAt::Path(key.start + head.path().start..key.end + head.path().start),
            None => {
                let start = head.query().start;
                let missing = || Problem::bad_request("name a key: ?key=");
                let key = query.find("key").ok_or_else(missing)?;
                KeyAt::Query(key.start + start..key.end + start)
            }
        };
        let mut conditions = None;
        let action = match head.method {
            Method::Get | Method::Head => {
                conditions = Conditions::of(head, bytes)?;
                Action::Get(tagged_answer(head, bytes)?)
            }
            Method::Put => {
                let is_versioned = query.flag("versioned")?;
                let demand = match condition(head, bytes)? {
                    Some(condition) => Demand::Condition(condition),
                    None if is_versioned => Demand::Version,
                    None => Demand::Nothing,
                };
                Action::Put { demand, expiry: expiry(&query)? }
            }
            Method::Delete => match condition(head, bytes)? {
                None | Some(Condition::There) => Action::Delete { tag: None },
                Some(Condition::Tag(tag)) => Action::Delete { tag: Some(tag) },
                Some(Condition::Missing) => return Err(unmet()),
            },
            // A condition that cannot be kept is not passed over.
            Method::Patch | Method::Post if condition(head, bytes)?.is_some() => {
                return Err(unmet());
            }
            Method::Patch => {
                let offset = query.number("offset", 0)?;
                let missing = || Problem::bad_request("say where: ?offset=");
                Action::SetRange { offset: offset.ok_or_else(missing)? }
            }
            Method::Post => operation(&query)?,
            Method::Options => return Err(Problem::bad_request("nothing to be done")),
        };
        Ok(StringCall { general, conditions, key, action })
    }

    /// What becomes of the reply.
    pub(crate) fn answer(&self) -> Answer {
        match &self.action {
            Action::Get(answer) => *answer,
            Action::Put { demand: Demand::Nothing, .. } => Answer::Put,
            Action::Put { .. } | Action::Delete { tag: Some(_) } => Answer::Outcome,
            Action::Delete { tag: None } => Answer::Removed,
            Action::SetRange { .. } | Action::Append => Answer::Member("length"),
            Action::Increment { .. } => Answer::Number,
        }
    }

    /// The call, and where its key is in the head, if it has no options and its key is in the path.
    pub(crate) fn plain(&self) -> Option<(PlainCall, Range<usize>)> {
        let KeyAt::Path(key) = &self.key else { return None };
        let is_plain = match &self.action {
            Action::Get(_) => self.conditions.is_none(),
            Action::Put { demand, expiry } => {
                *demand == Demand::Nothing && *expiry == Expiry::Never
            }
            Action::Delete { tag } => tag.is_none(),
            _ => false,
        };
        if !is_plain || self.general.spelling != Spelling::Plain {
            return None;
        }
        let puts = matches!(self.action, Action::Put { .. });
        Some((PlainCall { name: self.command(), puts }, key.clone()))
    }

    fn command(&self) -> &'static str {
        match &self.action {
            Action::Get(_) => "CAS.GET",
            Action::Put { demand: Demand::Nothing, .. } => "SET",
            Action::Put { .. } => "CAS.SET",
            Action::Delete { tag: None } => "GETDEL",
            Action::Delete { tag: Some(_) } => "CAS.DEL",
            Action::SetRange { .. } => "SETRANGE",
            Action::Append => "APPEND",
            Action::Increment { command, .. } => command,
        }
    }

    /// Writes the words; `start` is where the head begins, and `body` where the body is.
    ///
    /// # Errors
    /// The key is no percent-encoding.
    pub(crate) fn write(
        &self,
        words: &mut Words<'_>,
        start: usize,
        body: Range<usize>,
    ) -> Result<(), Problem> {
        words.put(self.command().as_bytes());
        let (key, plus) = match &self.key {
            KeyAt::Path(key) => (key, Plus::Itself),
            KeyAt::Query(key) => (key, Plus::Space),
        };
        words.decode(start + key.start..start + key.end, plus, self.general.spelling)?;
        match &self.action {
            Action::Get(_) | Action::Delete { tag: None } => {}
            Action::Delete { tag: Some(tag) } => put_condition(words, Condition::Tag(*tag)),
            Action::Put { demand, expiry } => {
                words.refer(body);
                // The reply tells whether there was one before: 201 or 204.
                words.put(b"GET");
                match demand {
                    Demand::Nothing | Demand::Version => {}
                    Demand::Condition(condition) => put_condition(words, *condition),
                }
                match expiry {
                    Expiry::Never => {}
                    Expiry::Kept => words.put(b"KEEPTTL"),
                    Expiry::At(option, number) => {
                        words.put(option.as_bytes());
                        words.put(number.to_string().as_bytes());
                    }
                }
            }
            Action::SetRange { offset } => {
                words.put(offset.to_string().as_bytes());
                words.refer(body);
            }
            Action::Append => words.refer(body),
            Action::Increment { by, .. } => words.put(by.as_bytes()),
        }
        Ok(())
    }
}

fn put_condition(words: &mut Words<'_>, condition: Condition) {
    condition.words().split(' ').for_each(|word| words.put(word.as_bytes()));
}

/// How a value is answered that may have a tag.
pub(crate) fn tagged_answer(head: &Head, bytes: &[u8]) -> Result<Answer, Problem> {
    let (range, is_document) = (range(head, bytes)?, is_document(head, bytes));
    Ok(Answer::Tagged { range, is_document })
}

/// How a value is answered that has no tag.
pub(crate) fn answer_of_get(head: &Head, bytes: &[u8]) -> Result<Answer, Problem> {
    if condition(head, bytes)? == Some(Condition::Missing) {
        return Ok(Answer::NotModified);
    }
    // Without tags nobody can know that its parts belong together.
    let range = if head.field(Field::IfRange).is_some() { None } else { range(head, bytes)? };
    Ok(Answer::Value { range, is_document: is_document(head, bytes) })
}

fn range(head: &Head, bytes: &[u8]) -> Result<Option<ByteRange>, Problem> {
    Ok(match head.field(Field::Range) {
        Some(range) => ByteRange::parse(&bytes[range])?,
        None => None,
    })
}

/// A browser would show the value as a page.
fn is_document(head: &Head, bytes: &[u8]) -> bool {
    let dest = head.field(Field::SecFetchDest).map(|range| &bytes[range]);
    matches!(dest, Some(b"document" | b"iframe" | b"frame" | b"embed" | b"object"))
}

fn expiry(query: &Query<'_>) -> Result<Expiry, Problem> {
    let mut found = Expiry::Never;
    let mut add = |expiry| match found {
        Expiry::Never => {
            found = expiry;
            Ok(())
        }
        _ => Err(Problem::bad_request("give one of ttl, ttl_ms, expire_at and keep_ttl")),
    };
    for (name, option) in EXPIRIES {
        if let Some(number) = query.number(name, 1)? {
            add(Expiry::At(option, number))?;
        }
    }
    if query.flag("keep_ttl")? {
        add(Expiry::Kept)?;
    }
    Ok(found)
}

fn operation(query: &Query<'_>) -> Result<Action, Problem> {
    let by = query.text("by")?;
    match (query.text("op")?.as_deref(), by) {
        (Some("append"), _) => Ok(Action::Append),
        (Some("increment"), by) => {
            let by = by.unwrap_or_else(|| "1".to_owned());
            let command = if is_whole(&by) { "INCRBY" } else { "INCRBYFLOAT" };
            Ok(Action::Increment { command, by })
        }
        _ => Err(Problem::bad_request("say what is to be done: ?op=append or ?op=increment")),
    }
}
