//! Listings of sorted sets: ranges by rank and by score, as JSON.

use super::answer::Answered;
use super::given::Given;
use super::page::{ASKED_BYTES_MAX, Element, Elements, Page, Shown};
use super::reply::version;
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
        stage: if page.is_async { Stage::Counts } else { Stage::Ranges },
        elements: page.elements(),
        source,
        found: Vec::new(),
        page,
    }))
}

/// What is asked next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Counts,
    Ranges,
    /// The versions of this many members.
    Versions(usize),
}

/// A range, and then the versions of what is in it. How many elements there are is asked if it is
/// empty, and before if it is one of a snapshot, which that tells of.
#[derive(Debug)]
struct Ranged {
    source: Vec<u8>,
    read: Command,
    stage: Stage,
    page: Page,
    elements: Elements,
    /// Members and scores whose versions are not known; the last comes first.
    found: Vec<(Vec<u8>, f64)>,
}

impl Talk for Ranged {
    fn command(&self) -> Command {
        let of_table = |name: &'static str| {
            Command::new(Database::Tables, vec![name.into(), self.source.clone().into()])
        };
        match self.stage {
            Stage::Counts => of_table("ZCARD"),
            Stage::Ranges => self.read.clone(),
            Stage::Versions(count) => {
                let members = self.found.iter().rev().take(count);
                of_table("CAS.ZMSCORE").with(members.map(|(name, _)| Word::Own(name.clone())))
            }
        }
    }

    fn is_last(&self) -> bool {
        false
    }

    fn lists(&self) -> bool {
        true
    }

    fn hear(&mut self, reply: Value) -> Heard {
        let heard = match (self.stage, reply) {
            (_, Value::Error(text)) => Err(Answered::of_error(&text)),
            (Stage::Counts, Value::Integer(count)) => self.hear_count(count.cast_unsigned()),
            (Stage::Ranges, Value::Array(found)) => self.hear_range(found),
            (Stage::Versions(count), Value::Array(found)) => self.hear_versions(count, &found),
            _ => Err(Answered::unexpected()),
        };
        heard.unwrap_or_else(Heard::Answer)
    }
}

impl Ranged {
    fn hear_count(&mut self, count: u64) -> Result<Heard, Answered> {
        if count == 0 {
            return Err(self.page.no_source());
        }
        if !self.page.is_async {
            return Ok(self.answer());
        }
        self.elements.total = count;
        self.stage = Stage::Ranges;
        Ok(Heard::Again)
    }

    /// Hears members and their scores.
    fn hear_range(&mut self, found: Vec<Value>) -> Result<Heard, Answered> {
        if found.is_empty() && !self.page.is_async {
            self.stage = Stage::Counts;
            return Ok(Heard::Again);
        }
        for element in found.into_iter().rev() {
            let Value::Array(pair) = element else { return Err(Answered::unexpected()) };
            let Ok([Value::Bulk(member), Value::Double(score)]) = <[Value; 2]>::try_from(pair)
            else {
                return Err(Answered::unexpected());
            };
            self.found.push((member, score));
        }
        Ok(self.read_on())
    }

    /// Goes on with the versions of what was found.
    fn read_on(&mut self) -> Heard {
        if self.found.is_empty() {
            return self.answer();
        }
        let mut bytes = 0;
        let fits = |(name, _): &&(Vec<u8>, f64)| {
            bytes += name.len();
            bytes <= ASKED_BYTES_MAX
        };
        let count = self.found.iter().rev().take_while(fits).count();
        self.stage = Stage::Versions(count.max(1));
        Heard::Again
    }

    /// Hears the versions of members; one that has gone meanwhile is left out, and one whose score
    /// is another now has no version here: a client could take what is listed for what that is of.
    fn hear_versions(&mut self, count: usize, found: &[Value]) -> Result<Heard, Answered> {
        for parts in found.iter().take(count) {
            let Some((name, score)) = self.found.pop() else { break };
            let Value::Array(parts) = parts else { continue };
            let [current, _, Value::Double(score_now)] = &parts[..] else {
                return Err(Answered::unexpected());
            };
            let current = version(current).ok_or_else(Answered::unexpected)?;
            let version = if *score_now == score { current } else { 0 };
            let shown = if self.page.has_values { Shown::Score(score) } else { Shown::Nothing };
            self.elements.push(&Element { name: &name, version, shown })?;
        }
        Ok(self.read_on())
    }

    fn answer(&mut self) -> Heard {
        let elements = std::mem::replace(&mut self.elements, self.page.elements());
        Heard::Answer(elements.answer())
    }
}
