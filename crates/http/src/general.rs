//! What all data paths take beside what is their own: which database, how names are spelled, and
//! until when a response waits.

use crate::problem::Problem;
use crate::query::Query;
use basalt_dispatch::Durability;
use basalt_http1::{Field, Head};

/// Their names.
pub(crate) const GENERAL: [&str; 2] = ["db", "b64"];

/// Which database a request runs in, how it spells keys, fields and members, and how long the
/// response waits for what it changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct General {
    pub(crate) db: u8,
    pub(crate) spelling: Spelling,
    pub(crate) durability: Durability,
}

/// How a target spells the names in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Spelling {
    /// As they are, percent-encoded where they must be.
    Plain,
    /// In base64 with the alphabet for URLs.
    Base64,
}

impl General {
    /// A database, and nothing special.
    pub(crate) const fn plain(db: u8) -> General {
        General { db, spelling: Spelling::Plain, durability: Durability::ByPolicy }
    }

    /// What a request says of them, where there are this many databases.
    ///
    /// # Errors
    /// There is no such database, or a value is none.
    #[inline]
    pub(crate) fn of(
        (head, bytes): (&Head, &[u8]),
        query: &Query<'_>,
        databases: u32,
    ) -> Result<General, Problem> {
        let durability = durability(head.field(Field::Durable).map(|range| &bytes[range]))?;
        Ok(General { durability, ..General::of_query(query, databases)? })
    }

    #[inline]
    fn of_query(query: &Query<'_>, databases: u32) -> Result<General, Problem> {
        if query.is_empty() {
            return Ok(General::plain(0));
        }
        let db = query.number("db", 0)?.unwrap_or(0);
        let db = u8::try_from(db).ok().filter(|&db| u32::from(db) < databases);
        let db = db.ok_or_else(|| Problem::of_error(b"ERR DB index is out of range"))?;
        let spelling = if query.flag("b64")? { Spelling::Base64 } else { Spelling::Plain };
        Ok(General { spelling, ..General::plain(db) })
    }

    /// Where an entry is that was added under this path: a target of its own.
    pub(crate) fn location(self, path: &str, id: &[u8]) -> String {
        let id = String::from_utf8_lossy(id);
        match self {
            General { db: 0, spelling: Spelling::Plain, .. } => format!("{path}{id}"),
            General { db, spelling: Spelling::Plain, .. } => format!("{path}{id}?db={db}"),
            General { db, spelling: Spelling::Base64, .. } => format!("{path}{id}?db={db}&b64=1"),
        }
    }
}

/// What the field `Durable` says. Another value than the one that there is may be meant as less or
/// as more: it is not passed over.
#[inline]
fn durability(value: Option<&[u8]>) -> Result<Durability, Problem> {
    match value {
        None => Ok(Durability::ByPolicy),
        Some(value) if value.eq_ignore_ascii_case(b"yes") => Ok(Durability::OnDisk),
        Some(_) => Err(Problem::bad_request("Durable is yes, or is left out")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn databases_are_those_that_there_are() {
        let of = |query: &str| General::of_query(&Query::new(query.as_bytes()), 16);
        assert_eq!(of(""), Ok(General::plain(0)));
        let spelled = General { spelling: Spelling::Base64, ..General::plain(15) };
        assert_eq!(of("b64=1&db=15"), Ok(spelled));
        for wrong in ["db=16", "db=-1", "db=", "db=x", "db=272", "b64=yes"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }
}
