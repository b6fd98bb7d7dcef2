//! The names of a database one after the other, for verbs that say something of each.

use super::answer::Answered;
use super::rows::scanned;
use super::talk::{Command, Database};
use basalt_resp::Value;

/// Keys that a slice looks at.
const SLICE: u64 = 1024;

/// Slices, and names in them, after which it is given up.
const SLICES_MAX: u32 = 4096;
const NAMES_MAX: usize = 16_384;

/// See the head of this file.
#[derive(Debug)]
pub(super) struct Names {
    database: Database,
    /// What keys must be, in the words of SCAN: those of the first kind come first.
    filters: &'static [&'static str],
    is_wanted: fn(&[u8]) -> bool,
    /// Where the next slice begins; `None` behind the last one.
    cursor: Option<u64>,
    found: Vec<Vec<u8>>,
    slices: u32,
    names: usize,
}

impl Names {
    pub(super) fn of(
        database: Database,
        filters: &'static [&'static str],
        is_wanted: fn(&[u8]) -> bool,
    ) -> Names {
        let (cursor, found) = (Some(0), Vec::new());
        Names { database, filters, is_wanted, cursor, found, slices: 0, names: 0 }
    }

    /// The name at hand.
    pub(super) fn current(&self) -> Option<&Vec<u8>> {
        self.found.last()
    }

    /// The command that finds more; `None` if all have been found.
    pub(super) fn command(&self) -> Option<Command> {
        let words = vec!["SCAN".into(), self.cursor?.into(), "COUNT".into(), SLICE.into()];
        let filter = self.filters.first().filter(|filter| !filter.is_empty());
        Some(Command::new(self.database, words).with(filter.map(|&filter| filter.into())))
    }

    /// Goes to the next name; returns false behind the last one.
    pub(super) fn pass(&mut self) -> bool {
        self.found.pop();
        !self.found.is_empty() || self.cursor.is_some()
    }

    /// Hears what the command has found; returns false if that was nothing, and the last.
    ///
    /// # Errors
    /// There are too many names, or too many others among them.
    pub(super) fn hear(&mut self, reply: Value) -> Result<bool, Answered> {
        let (next, mut found) = match reply {
            Value::Error(text) => return Err(Answered::of_error(&text)),
            reply => scanned(reply).ok_or_else(Answered::unexpected)?,
        };
        found.retain(|name| (self.is_wanted)(name));
        self.slices += 1;
        self.names += found.len();
        if self.slices > SLICES_MAX || self.names > NAMES_MAX {
            let text = format!("ERR there are more than {NAMES_MAX} of them, or of other keys");
            return Err(Answered::wrong(text));
        }
        self.found = found;
        if next == 0 {
            self.filters = self.filters.get(1..).unwrap_or_default();
        }
        self.cursor = (next > 0 || !self.filters.is_empty()).then_some(next);
        Ok(!self.found.is_empty() || self.cursor.is_some())
    }
}
