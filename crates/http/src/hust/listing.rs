//! Listings of sorted sets: ranges by rank and by score, as JSON.

use super::answer::Answered;
use super::given::Given;
use super::page::{Page, Shown};
use super::talk::{Command, Database, Heard, Talk, Word};
use basalt_http1::Status;
use basalt_resp::Value;

type Started = Result<Box<dyn Talk>, Answered>;

/// `zrangebyrank tb offset size [start end noval async]`
pub(super) fn zrangebyrank(given: &Given<'_>) -> Started {
    let page = Page::of_ranks(given)?;
    let last = page.offset + page.size - 1;
    let range = vec![page.offset.into(), last.into(), "WITHSCORES".into()];
    talk(given, page, range)
}

/// `zrangebyscore tb min max offset size [start end noval]`
pub(super) fn zrangebyscore(given: &Given<'_>) -> Started {
    let page = Page::of(given)?.demand_live()?;
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
    let source = page.source(table);
    let mut words = vec!["ZRANGE".into(), Word::Own(source.clone())];
    words.extend(range);
    Ok(Box::new(Ranged {
        read: Command::new(Database::Tables, words),
        count: Command::new(Database::Tables, vec!["ZCARD".into(), source.into()]),
        is_asking: page.is_async,
        total: None,
        page,
    }))
}

/// A range. How many elements there are is asked if it is empty, and before if it is one of a
/// snapshot, which that tells of.
#[derive(Debug)]
struct Ranged {
    read: Command,
    count: Command,
    is_asking: bool,
    total: Option<u64>,
    page: Page,
}

impl Talk for Ranged {
    fn command(&self) -> Command {
        if self.is_asking { self.count.clone() } else { self.read.clone() }
    }

    fn is_last(&self) -> bool {
        false
    }

    fn lists(&self) -> bool {
        true
    }

    fn hear(&mut self, reply: Value) -> Heard {
        Heard::Answer(match reply {
            Value::Error(text) => Answered::of_error(&text),
            Value::Integer(0) if self.is_asking => self.page.no_source(),
            Value::Integer(count) if self.is_asking && self.page.is_async => {
                (self.total, self.is_asking) = (Some(count.cast_unsigned()), false);
                return Heard::Again;
            }
            Value::Integer(_) if self.is_asking => self.page.elements().answer(),
            Value::Array(elements) if elements.is_empty() && self.total.is_none() => {
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
        let mut elements = self.page.elements();
        elements.total = self.total.unwrap_or(0);
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
