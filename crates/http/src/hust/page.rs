//! What a listing is asked for, and the page that becomes of it.

use super::answer::Answered;
use super::export::{no_snapshot, no_table, snapshot};
use super::given::Given;
use super::talk::Profile;
use crate::problem::Problem;
use basalt_http1::Status;
use basalt_http1::base64::{self, Alphabet};
use std::ops::Range;

const SIZE_MAX: u64 = 1000;
const OFFSET_MAX: u64 = 1_000_000;
/// In a snapshot by rank, to which no page is walked.
const SNAPSHOT_OFFSET_MAX: u64 = 100_000_000;
const SLOTS: u64 = 1024;
/// Bytes of names whose versions are asked for at once; one name at least.
pub(super) const ASKED_BYTES_MAX: usize = 64 << 10;

/// Which elements are asked for.
#[derive(Clone, Debug)]
pub(super) struct Page {
    /// How many elements are passed over, and how many are taken at most.
    pub(super) offset: u64,
    pub(super) size: u64,
    /// Where to go on instead, as the page before has said.
    pub(super) cursor: Option<u64>,
    slots: Range<u64>,
    pub(super) has_values: bool,
    /// It is read from a snapshot.
    pub(super) is_async: bool,
    /// Bytes of a page at most.
    bytes_max: usize,
}

impl Page {
    /// A page that is asked for by its offset.
    ///
    /// # Errors
    /// A parameter is missing or wrong.
    pub(super) fn of(given: &Given<'_>) -> Result<Page, Answered> {
        let is_async = given.switch("async")?;
        Page::within(given, is_async, OFFSET_MAX)
    }

    /// A page by rank, from a snapshot if that is asked for.
    ///
    /// # Errors
    /// A parameter is missing or wrong.
    pub(super) fn of_ranks(given: &Given<'_>) -> Result<Page, Answered> {
        let is_async = given.switch("async")?;
        Page::within(given, is_async, if is_async { SNAPSHOT_OFFSET_MAX } else { OFFSET_MAX })
    }

    fn within(given: &Given<'_>, is_async: bool, offset_max: u64) -> Result<Page, Answered> {
        let (offset, size) = (needed(given, "offset")?, needed(given, "size")?);
        if !(1..=SIZE_MAX).contains(&size) || offset > offset_max {
            let text = format!("ERR size must be 1 to {SIZE_MAX}, offset 0 to {offset_max}");
            return Err(Answered::wrong(text));
        }
        let end = given.number("end")?.map_or(Ok(SLOTS), |_| given.count("end"))?;
        let slots = given.count("start")?..end;
        if slots.is_empty() || slots.end > SLOTS {
            return Err(Answered::wrong(format!("ERR start < end <= {SLOTS}")));
        }
        demand_one_peer(given)?;
        let no_values = given.optional("noval")?;
        let has_values = matches!(no_values.as_deref(), Some(b"false" | b"0"));
        let bytes_max = given.json_bytes_max;
        Ok(Page { offset, size, cursor: None, slots, has_values, is_async, bytes_max })
    }

    /// A page that is asked for by its offset, or by where the page before has ended.
    ///
    /// # Errors
    /// A parameter is missing or wrong.
    pub(super) fn of_walk(given: &Given<'_>) -> Result<Page, Answered> {
        let Some(cursor) = given.optional("cursor")? else { return Page::of(given) };
        let cursor = str::from_utf8(&cursor).ok().and_then(|digits| digits.parse().ok());
        let cursor = cursor.ok_or_else(|| Answered::wrong("ERR cursor is no whole number"))?;
        if given.count("offset")? > 0 {
            return Err(Answered::wrong("ERR give offset or cursor"));
        }
        let page = Page::of(&Given { query: &with_offset(given.query), ..*given })?;
        Ok(Page { cursor: Some(cursor), ..page })
    }

    /// Whether a name is in the slots that are asked for.
    pub(super) fn has(&self, name: &[u8]) -> bool {
        self.slots.contains(&slot(name))
    }

    /// Whether what is gathered for the page is not too much already.
    ///
    /// # Errors
    /// It is.
    pub(super) fn demand_room(&self, bytes: usize) -> Result<(), Answered> {
        if bytes < self.bytes_max { Ok(()) } else { Err(too_large(self.bytes_max)) }
    }

    /// What is read for a table: itself, or its snapshot.
    pub(super) fn source(&self, table: Vec<u8>) -> Vec<u8> {
        if self.is_async { snapshot(&table) } else { table }
    }

    /// Refuses to read from a snapshot where there is none.
    ///
    /// # Errors
    /// It is asked for.
    pub(super) fn demand_live(self) -> Result<Page, Answered> {
        if self.is_async {
            let text = "ERR there is no snapshot of this listing";
            return Err(Answered::failed(Status::NotImplemented, text));
        }
        Ok(self)
    }

    /// There is nothing to be read.
    pub(super) fn no_source(&self) -> Answered {
        if self.is_async { no_snapshot() } else { no_table() }
    }

    pub(super) fn elements(&self) -> Elements {
        Elements { body: vec![b'['], count: 0, total: 0, bytes_max: self.bytes_max }
    }
}

/// An offset need not be given beside a cursor.
fn with_offset(query: &[u8]) -> Vec<u8> {
    [query, b"&offset=0"].concat()
}

/// The front is told which of its nodes is meant; there is one.
///
/// # Errors
/// Another one is.
pub(super) fn demand_one_peer(given: &Given<'_>) -> Result<(), Answered> {
    if given.profile == Profile::Front && given.count("peer")? > 0 {
        return Err(Answered::wrong("ERR there is one node: peer=0"));
    }
    Ok(())
}

/// An element of a listing.
pub(super) struct Element<'a> {
    pub(super) name: &'a [u8],
    /// 0 is none, of which nothing is said.
    pub(super) version: u64,
    pub(super) shown: Shown<'a>,
}

/// What is under a name.
pub(super) enum Shown<'a> {
    Nothing,
    Bytes(&'a [u8]),
    Score(f64),
}

/// Elements as JSON.
#[derive(Debug)]
pub(super) struct Elements {
    body: Vec<u8>,
    count: usize,
    /// `TotalCount`: how many elements a snapshot has.
    pub(super) total: u64,
    bytes_max: usize,
}

impl Elements {
    /// Adds an element.
    ///
    /// # Errors
    /// The page has become too large.
    pub(super) fn push(&mut self, element: &Element<'_>) -> Result<(), Answered> {
        let Element { name, version, shown } = element;
        let is_first = self.count == 0;
        self.body.extend_from_slice(if is_first { b"{\"key\":\"" } else { b",{\"key\":\"" });
        base64::encode(name, Alphabet::Standard, &mut self.body);
        self.body.push(b'"');
        match shown {
            Shown::Bytes(bytes) => {
                self.body.extend_from_slice(b",\"val\":\"");
                base64::encode(bytes, Alphabet::Standard, &mut self.body);
                self.body.push(b'"');
            }
            // JSON has no infinity.
            Shown::Score(score) if score.is_finite() => {
                self.body.extend_from_slice(format!(",\"val\":{score}").as_bytes());
            }
            Shown::Score(_) | Shown::Nothing => {}
        }
        if *version > 0 {
            self.body.extend_from_slice(format!(",\"ver\":{version}").as_bytes());
        }
        self.body.push(b'}');
        self.count += 1;
        if self.body.len() < self.bytes_max { Ok(()) } else { Err(too_large(self.bytes_max)) }
    }

    pub(super) fn answer(mut self) -> Answered {
        self.body.push(b']');
        let total = ("TotalCount", self.total.to_string());
        let fields = vec![("Keys", self.count.to_string()), total];
        Answered { fields, ..Answered::body(self.body) }
    }
}

/// A page of more bytes than this.
pub(super) fn too_large(bytes_max: usize) -> Answered {
    let problem = Problem::reply_too_large(bytes_max);
    Answered::wrong(format!("{} {}", problem.code, problem.detail))
}

/// Whether a command's reply was too large to be looked at.
pub(super) fn is_too_large(error: &[u8]) -> bool {
    error.starts_with(b"REPLYTOOLARGE ")
}

/// A number that must be given.
pub(super) fn needed(given: &Given<'_>, name: &str) -> Result<u64, Answered> {
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

    #[test]
    fn a_page_has_a_largest_size() {
        let mut elements = Elements { body: vec![b'['], count: 0, total: 0, bytes_max: 40 };
        let mut push = |version, shown| elements.push(&Element { name: b"a", version, shown });
        assert_eq!(push(7, Shown::Bytes(b"b")), Ok(()));
        assert_eq!(push(0, Shown::Score(7.0)), Err(too_large(40)));
        assert_eq!(
            elements.body,
            br#"[{"key":"YQ==","val":"Yg==","ver":7},{"key":"YQ==","val":7}"#
        );
    }
}
