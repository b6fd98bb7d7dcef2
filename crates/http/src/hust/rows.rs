//! Listings of items, hashes and sets: `keys`, `hkeys`, `smembers`.
//!
//! None of these has ranks, so a page is walked to, in slices:
//!
//! ```text
//! how many? ─▶ slice ─▶ slice ─▶ … the offset is passed ─▶ slice ─▶ … the page is full ─┐
//!                 each is a SCAN of its own; between two of them others are served       │
//!                  answer ◀─ … ◀─ versions, and values ◀─ versions, and values ◀─────────┘
//! ```
//! An element's place is that of its hash, which it keeps while others come and go; so without
//! changes pages are complete, and none has an element twice. To walk to the offset again for each
//! page costs more the further the page is; `cursor` goes on where the page before has ended.
//!
//! Slices bring names alone. Version and value of an element come together, so that a client that
//! writes under the condition of the one has seen the other; what has gone since the slice is left
//! out. Slices, and what is asked at once, get smaller where elements are large: a reply is held in
//! memory before it is known to be too much for the page.

use super::answer::Answered;
use super::given::Given;
use super::page::{ASKED_BYTES_MAX, Element, Elements, Page, Shown, is_too_large, needed};
use super::reply::version;
use super::talk::{Command, Database, Heard, Talk, Word};
use basalt_resp::Value;

type Started = Result<Box<dyn Talk>, Answered>;

/// Elements that a slice looks at, and whose versions are asked for at once; with values fewer.
const NAMES_MAX: u64 = 1024;
const VALUES_MAX: u64 = 64;

/// Bytes of names and values beyond which the next slice is smaller, and below which it is larger.
const SLICE_BYTES_MAX: usize = 1 << 20;
const SLICE_BYTES_MIN: usize = 64 << 10;

/// Slices in which nothing was found after which it is given up.
const EMPTY_SLICES_MAX: u32 = 4096;

/// `keys file offset size [start end noval cursor]`
pub(super) fn keys(given: &Given<'_>) -> Started {
    if needed(given, "file")? > 0 {
        return Err(Answered::wrong("ERR there is one file: file=0"));
    }
    Ok(Rows::talk(Source::Items, Page::of_walk(given)?.demand_live()?))
}

/// `hkeys tb offset size [start end noval cursor async]`
pub(super) fn hkeys(given: &Given<'_>) -> Started {
    let (table, page) = (given.name("tb")?, Page::of_walk(given)?);
    Ok(Rows::talk(Source::Hash(page.source(table)), page))
}

/// `smembers tb offset size [start end cursor async]`
pub(super) fn smembers(given: &Given<'_>) -> Started {
    let (table, page) = (given.name("tb")?, Page::of_walk(given)?);
    Ok(Rows::talk(Source::Set(page.source(table)), page))
}

/// What is listed.
#[derive(Clone, Debug)]
enum Source {
    Items,
    Hash(Vec<u8>),
    Set(Vec<u8>),
}

impl Source {
    fn count(&self) -> Command {
        match self {
            Source::Items => Command::new(Database::Kv, vec!["DBSIZE".into()]),
            Source::Hash(name) => of_table("HLEN", name),
            Source::Set(name) => of_table("SCARD", name),
        }
    }

    fn scan(&self, cursor: u64, slice: u64) -> Command {
        let command = match self {
            Source::Items => Command::new(Database::Kv, vec!["SCAN".into(), cursor.into()]),
            Source::Hash(name) => of_table("HSCAN", name).with([cursor.into()]),
            Source::Set(name) => of_table("SSCAN", name).with([cursor.into()]),
        };
        let command = command.with(["COUNT".into(), slice.into()]);
        match self {
            Source::Items => command.with(["TYPE string".into()]),
            Source::Hash(_) => command.with(["NOVALUES".into()]),
            Source::Set(_) => command,
        }
    }

    /// Asks for the versions of elements, and for their values.
    fn read(&self, has_values: bool) -> Command {
        match (self, has_values) {
            (Source::Items, true) => Command::new(Database::Kv, vec!["CAS.MGET".into()]),
            (Source::Items, false) => Command::new(Database::Kv, vec!["CAS.EXISTS".into()]),
            (Source::Hash(name), true) => of_table("CAS.HMGET", name),
            (Source::Hash(name), false) => of_table("CAS.HEXISTS", name),
            (Source::Set(name), _) => of_table("CAS.SMISMEMBER", name),
        }
    }
}

fn of_table(name: &'static str, table: &[u8]) -> Command {
    Command::new(Database::Tables, vec![name.into(), Word::Own(table.to_vec())])
}

/// What is asked next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Counts,
    Walks,
    /// The versions of this many elements, whose names are known.
    Reads(usize),
}

/// See the head of this file.
#[derive(Debug)]
struct Rows {
    source: Source,
    page: Page,
    stage: Stage,
    /// Where the next slice begins, how many of its elements come before the page, and how many
    /// are taken at most.
    cursor: u64,
    skip: u64,
    left: u64,
    slice: u64,
    empty_slices: u32,
    elements: Elements,
    /// Names whose versions are still to be read; the last comes first.
    names: Vec<Vec<u8>>,
    names_bytes: usize,
}

impl Rows {
    fn talk(source: Source, page: Page) -> Box<dyn Talk> {
        Box::new(Rows {
            source,
            stage: Stage::Counts,
            cursor: page.cursor.unwrap_or(0),
            skip: page.offset,
            left: page.size,
            slice: VALUES_MAX,
            empty_slices: 0,
            elements: page.elements(),
            names: Vec::new(),
            names_bytes: 0,
            page,
        })
    }

    /// Whether elements come with their values. Members of sets have none.
    fn is_with_values(&self) -> bool {
        self.page.has_values && !matches!(self.source, Source::Set(_))
    }

    fn slice(&self) -> u64 {
        // By its cursor a page ends with a slice, so the last one must not be too long.
        let wanted = self.skip.saturating_add(self.left).max(1);
        self.slice.min(NAMES_MAX).min(wanted)
    }

    fn hear_count(&mut self, reply: &Value) -> Heard {
        let Value::Integer(count) = *reply else {
            return Heard::Answer(Answered::unexpected());
        };
        if count == 0 && !matches!(self.source, Source::Items) {
            return Heard::Answer(self.page.no_source());
        }
        if self.page.is_async {
            self.elements.total = count.cast_unsigned();
        }
        if self.page.cursor.is_none() && self.skip >= count.cast_unsigned() {
            return self.answer();
        }
        self.stage = Stage::Walks;
        Heard::Again
    }

    /// Hears a slice.
    ///
    /// # Errors
    /// The page has become too large, or the reply is none of a scan.
    fn hear_slice(&mut self, reply: Value) -> Result<Heard, Answered> {
        let (next, rows) = scanned(reply).ok_or_else(Answered::unexpected)?;
        let bytes = rows.iter().map(Vec::len).sum();
        let count = rows.len();
        for row in rows {
            if self.skip > 0 {
                self.skip -= 1;
            } else if self.left > 0 || self.page.cursor.is_some() {
                self.left = self.left.saturating_sub(1);
                self.take(row)?;
            }
        }
        self.empty_slices = if count > 0 { 0 } else { self.empty_slices + 1 };
        self.fit(bytes);
        self.cursor = next;
        let has_enough = self.left == 0 || next == 0;
        if !has_enough && self.empty_slices < EMPTY_SLICES_MAX {
            return Ok(Heard::Again);
        }
        if !has_enough && self.page.cursor.is_none() {
            return Err(Answered::wrong("ERR too many keys of other types: page by cursor"));
        }
        Ok(self.read_on())
    }

    /// Makes the next slice as large as this one suggests.
    fn fit(&mut self, bytes: usize) {
        if bytes > SLICE_BYTES_MAX {
            self.slice = (self.slice / 4).max(1);
        } else if bytes < SLICE_BYTES_MIN {
            self.slice = (self.slice * 2).min(NAMES_MAX);
        }
    }

    fn take(&mut self, name: Vec<u8>) -> Result<(), Answered> {
        if !self.page.has(&name) {
            return Ok(());
        }
        self.names_bytes += name.len();
        self.names.push(name);
        self.page.demand_room(self.names_bytes)
    }

    /// Goes on with the versions of what was found.
    fn read_on(&mut self) -> Heard {
        if self.names.is_empty() {
            return self.answer();
        }
        let is_with_values = self.is_with_values();
        if !matches!(self.stage, Stage::Reads(_)) {
            self.names.reverse();
            self.slice = if is_with_values { 1 } else { NAMES_MAX };
        }
        let mut bytes = 0;
        let fits = |name: &&Vec<u8>| {
            bytes += name.len();
            bytes <= ASKED_BYTES_MAX
        };
        let most = self.slice.min(if is_with_values { VALUES_MAX } else { NAMES_MAX }) as usize;
        let count = self.names.iter().rev().take(most).take_while(fits).count();
        self.stage = Stage::Reads(count.max(1));
        Heard::Again
    }

    /// Hears the versions of elements; one that has gone meanwhile is left out.
    fn hear_versions(&mut self, count: usize, reply: Value) -> Result<Heard, Answered> {
        let Value::Array(found) = reply else { return Err(Answered::unexpected()) };
        let mut bytes = 0;
        for parts in found.iter().take(count) {
            let Some(name) = self.names.pop() else { break };
            let Value::Array(parts) = parts else { continue };
            let version = parts.first().and_then(version).ok_or_else(Answered::unexpected)?;
            let shown = match parts.get(2) {
                Some(Value::Bulk(value)) => {
                    bytes += value.len();
                    Shown::Bytes(value)
                }
                _ => Shown::Nothing,
            };
            self.elements.push(&Element { name: &name, version, shown })?;
        }
        self.fit(bytes);
        Ok(self.read_on())
    }

    fn answer(&mut self) -> Heard {
        let elements = std::mem::replace(&mut self.elements, self.page.elements());
        let mut answered = elements.answer();
        if self.page.cursor.is_some() {
            answered.fields.push(("Cursor", self.cursor.to_string()));
        }
        Heard::Answer(answered)
    }

    /// Asks for less after a reply that was too large; returns false if it cannot be less.
    fn shrink(&mut self) -> bool {
        let count = match self.stage {
            Stage::Reads(count) => count as u64,
            _ => self.slice(),
        };
        self.slice = (count / 8).max(1);
        if matches!(self.stage, Stage::Reads(_)) {
            self.stage = Stage::Reads(self.slice as usize);
        }
        count > 1
    }
}

impl Talk for Rows {
    fn command(&self) -> Command {
        match self.stage {
            Stage::Counts => self.source.count(),
            Stage::Walks => self.source.scan(self.cursor, self.slice()),
            Stage::Reads(count) => {
                let names = self.names.iter().rev().take(count).cloned().map(Word::Own);
                self.source.read(self.is_with_values()).with(names)
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
        if let Value::Error(text) = &reply {
            if is_too_large(text) && self.shrink() {
                return Heard::Again;
            }
            return Heard::Answer(Answered::of_error(text));
        }
        let heard = match self.stage {
            Stage::Counts => Ok(self.hear_count(&reply)),
            Stage::Walks => self.hear_slice(reply),
            Stage::Reads(count) => self.hear_versions(count, reply),
        };
        heard.unwrap_or_else(Heard::Answer)
    }
}

/// The cursor and the rows of a scan's reply.
pub(super) fn scanned(reply: Value) -> Option<(u64, Vec<Vec<u8>>)> {
    let Value::Array(parts) = reply else { return None };
    let mut parts = parts.into_iter();
    let (Value::Bulk(cursor), Value::Array(rows)) = (parts.next()?, parts.next()?) else {
        return None;
    };
    let cursor = str::from_utf8(&cursor).ok()?.parse().ok()?;
    let bytes = |row| match row {
        Value::Bulk(bytes) => Some(bytes),
        _ => None,
    };
    Some((cursor, rows.into_iter().map(bytes).collect::<Option<_>>()?))
}
