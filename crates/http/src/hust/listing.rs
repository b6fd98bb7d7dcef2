//! Listings of sorted sets: ranges by rank and by score, as JSON.

use super::answer::Answered;
use super::given::Given;
use super::page::{Elements, Page, Shown};
use super::talk::{Command, Database, Heard, Talk, Word};
use basalt_http1::Status;
use basalt_resp::Value;

type Started = Result<Box<dyn Talk>, Answered>;

/// `zrangebyrank tb offset size [start end noval]`
pub(super) fn zrangebyrank(given: &Given<'_>) -> Started {
    let page = Page::of(given)?;
    let last = page.offset + page.size - 1;
    let range = vec![page.offset.into(), last.into(), "WITHSCORES".into()];
    talk(given, page, range)
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
    talk(given, page, words.into_iter().chain(["WITHSCORES".into()]).collect())
}

/// Reads a range of a sorted set, which is in one slot as a whole.
fn talk(given: &Given<'_>, page: Page, range: Vec<Word>) -> Started {
    let table = given.name("tb")?;
    if !page.has(&table) {
        return Err(Answered::failed(Status::PreconditionFailed, "ERR the table is elsewhere"));
    }
    let mut words = vec!["ZRANGE".into(), Word::Own(table.clone())];
    words.extend(range);
    Ok(Box::new(Ranged {
        read: Command::new(Database::Tables, words),
        exists: Command::new(Database::Tables, vec!["EXISTS".into(), table.into()]),
        is_asking: false,
        page,
    }))
}

/// A range. If it is empty, whether its table is there decides.
#[derive(Debug)]
struct Ranged {
    read: Command,
    exists: Command,
    is_asking: bool,
    page: Page,
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
            Value::Integer(0) if self.is_asking => no_table(),
            Value::Integer(_) if self.is_asking => self.page.elements().answer(),
            Value::Array(elements) if elements.is_empty() && !self.is_asking => {
                self.is_asking = true;
                return Heard::Again;
            }
            Value::Array(elements) => self.listed(&elements),
            _ => Answered::unexpected(),
        })
    }
}

impl Ranged {
    /// Members and their scores, as JSON.
    fn listed(&self, found: &[Value]) -> Answered {
        let mut elements: Elements = self.page.elements();
        for element in found {
            let Value::Array(pair) = element else { return Answered::unexpected() };
            let [Value::Bulk(member), Value::Double(score)] = &pair[..] else {
                return Answered::unexpected();
            };
            let shown = if self.page.has_values { Shown::Score(*score) } else { Shown::Nothing };
            if let Err(refused) = elements.push(member, &shown) {
                return refused;
            }
        }
        elements.answer()
    }
}

/// There is nothing under the name of a table.
pub(super) fn no_table() -> Answered {
    Answered::failed(Status::PreconditionFailed, "ERR there is no such table")
}
