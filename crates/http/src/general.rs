//! The parameters that all data paths have: which database, and how names are spelled.

use crate::problem::Problem;
use crate::query::Query;

/// Their names.
pub(crate) const GENERAL: [&str; 2] = ["db", "b64"];

/// Which database a request runs in, and how it spells keys, fields and members.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct General {
    pub(crate) db: u8,
    pub(crate) spelling: Spelling,
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
    /// What a query says of them, where there are this many databases.
    ///
    /// # Errors
    /// There is no such database, or a value is none.
    #[inline]
    pub(crate) fn of(query: &Query<'_>, databases: u32) -> Result<General, Problem> {
        if query.is_empty() {
            return Ok(General { db: 0, spelling: Spelling::Plain });
        }
        let db = query.number("db", 0)?.unwrap_or(0);
        let db = u8::try_from(db).ok().filter(|&db| u32::from(db) < databases);
        let db = db.ok_or_else(|| Problem::of_error(b"ERR DB index is out of range"))?;
        let spelling = if query.flag("b64")? { Spelling::Base64 } else { Spelling::Plain };
        Ok(General { db, spelling })
    }

    /// Where an entry is that was added under this path: a target of its own.
    pub(crate) fn location(self, path: &str, id: &[u8]) -> String {
        let id = String::from_utf8_lossy(id);
        match self {
            General { db: 0, spelling: Spelling::Plain } => format!("{path}{id}"),
            General { db, spelling: Spelling::Plain } => format!("{path}{id}?db={db}"),
            General { db, spelling: Spelling::Base64 } => format!("{path}{id}?db={db}&b64=1"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn databases_are_those_that_there_are() {
        let of = |query: &str| General::of(&Query::new(query.as_bytes()), 16);
        assert_eq!(of(""), Ok(General { db: 0, spelling: Spelling::Plain }));
        assert_eq!(of("b64=1&db=15"), Ok(General { db: 15, spelling: Spelling::Base64 }));
        for wrong in ["db=16", "db=-1", "db=", "db=x", "db=272", "b64=yes"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }
}
