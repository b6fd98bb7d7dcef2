//! Listings: pages of what a table has, as JSON.

use super::answer::Answered;
use super::given::Given;
use super::talk::{Command, Database, Heard, Talk, Word};
use basalt_http1::Status;
use basalt_http1::base64::{self, Alphabet};
use basalt_resp::Value;
use std::ops::Range;

type Started = Result<Box<dyn Talk>, Answered>;

const SIZE_MAX: u64 = 1000;
const OFFSET_MAX: u64 = 1_000_000;
const SLOTS: u64 = 1024;

/// `zrangebyrank tb offset size [start end noval]`
pub(super) fn zrangebyrank(given: &Given<'_>) -> Started {
    let page = Page::of(given)?;
    let last = page.offset + page.size - 1;
    page.talk(given, vec![page.offset.into(), last.into(), "WITHSCORES".into()])
}

/// `zrangebyscore tb min max offset size [start end noval]`
pub(super) fn zrangebyscore(given: &Given<'_>) -> Started {
    let page = Page::of(given)?;
    let (min, max) = (given.number("min")?.unwrap_or(0), given.number("max")?.unwrap_or(0));
    if min > max {
        return Err(Answered::wrong("ERR min is above max"));
    }
    let bound = |score: i64| Word::Own(score.to_string().into_bytes());
    let (offset, size) = (page.offset.into(), page.size.into());
    let words = vec![bound(min), bound(max), "BYSCORE LIMIT".into(), offset, size];
    page.talk(given, words.into_iter().chain(["WITHSCORES".into()]).collect())
}

/// Which elements are asked for.
#[derive(Debug)]
struct Page {
    offset: u64,
    size: u64,
    slots: Range<u64>,
    has_values: bool,
}

impl Page {
    fn of(given: &Given<'_>) -> Result<Page, Answered> {
        let (offset, size) = (needed(given, "offset")?, needed(given, "size")?);
        if !(1..=SIZE_MAX).contains(&size) || offset > OFFSET_MAX {
            let text = format!("ERR size must be 1 to {SIZE_MAX}, offset 0 to {OFFSET_MAX}");
            return Err(Answered::wrong(text));
        }
        let end = given.number("end")?.map_or(Ok(SLOTS), |_| given.count("end"))?;
        let slots = given.count("start")?..end;
        if slots.is_empty() || slots.end > SLOTS {
            return Err(Answered::wrong(format!("ERR start < end <= {SLOTS}")));
        }
        if given.switch("async")? {
            let text = "ERR there are no snapshots to read from";
            return Err(Answered::failed(Status::NotImplemented, text));
        }
        let no_values = given.optional("noval")?;
        let has_values = matches!(no_values.as_deref(), Some(b"false" | b"0"));
        Ok(Page { offset, size, slots, has_values })
    }

    /// Reads a range of a sorted set, which is in one slot as a whole.
    fn talk(&self, given: &Given<'_>, range: Vec<Word>) -> Started {
        let table = given.name("tb")?;
        if !self.slots.contains(&slot(&table)) {
            return Err(Answered::failed(Status::PreconditionFailed, "ERR the table is elsewhere"));
        }
        let mut words = vec!["ZRANGE".into(), Word::Own(table.clone())];
        words.extend(range);
        Ok(Box::new(Ranged {
            read: Command::new(Database::Tables, words),
            exists: Command::new(Database::Tables, vec!["EXISTS".into(), table.into()]),
            is_asking: false,
            has_values: self.has_values,
        }))
    }
}

/// A range. If it is empty, whether its table is there decides.
#[derive(Debug)]
struct Ranged {
    read: Command,
    exists: Command,
    is_asking: bool,
    has_values: bool,
}

impl Talk for Ranged {
    fn command(&self) -> Command {
        if self.is_asking { self.exists.clone() } else { self.read.clone() }
    }

    fn is_last(&self) -> bool {
        self.is_asking
    }

    fn lists(&self) -> bool {
        true
    }

    fn hear(&mut self, reply: Value) -> Heard {
        Heard::Answer(match reply {
            Value::Error(text) => Answered::of_error(&text),
            Value::Integer(0) if self.is_asking => {
                Answered::failed(Status::PreconditionFailed, "ERR there is no such table")
            }
            Value::Integer(_) if self.is_asking => listed(&[], false),
            Value::Array(elements) if elements.is_empty() && !self.is_asking => {
                self.is_asking = true;
                return Heard::Again;
            }
            Value::Array(elements) => listed(&elements, self.has_values),
            _ => Answered::unexpected(),
        })
    }
}

/// Members and their scores, as JSON.
fn listed(elements: &[Value], has_values: bool) -> Answered {
    let mut body = vec![b'['];
    for (at, element) in elements.iter().enumerate() {
        let Value::Array(pair) = element else { return Answered::unexpected() };
        let [Value::Bulk(member), Value::Double(score)] = &pair[..] else {
            return Answered::unexpected();
        };
        body.extend_from_slice(if at == 0 { b"{\"key\":\"" } else { b",{\"key\":\"" });
        base64::encode(member, Alphabet::Standard, &mut body);
        body.push(b'"');
        // JSON has no infinity.
        if has_values && score.is_finite() {
            body.extend_from_slice(format!(",\"val\":{score}").as_bytes());
        }
        body.push(b'}');
    }
    body.push(b']');
    let fields = vec![("Keys", elements.len().to_string()), ("TotalCount", "0".to_owned())];
    Answered { fields, ..Answered::body(body) }
}

/// A number that must be given.
fn needed(given: &Given<'_>, name: &str) -> Result<u64, Answered> {
    given.value(name)?;
    given.count(name)
}

/// huststore's hash of a name.
fn slot(name: &[u8]) -> u64 {
    let hash =
        name.iter().fold(0_u32, |hash, &byte| hash.wrapping_mul(31).wrapping_add(u32::from(byte)));
    u64::from(hash) % SLOTS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_those_of_huststore() {
        assert_eq!([slot(b""), slot(b"a"), slot(b"ab"), slot(b"zzzz")], [0, 97, 33, 640]);
    }
}
