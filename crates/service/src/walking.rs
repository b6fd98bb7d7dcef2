//! What a command that walks over keys remembers while it waits for rows of them: it begins again
//! then, and goes on.

use crate::args::Args;
use crate::read_rows::ReadRows;
use crate::wait::Wait;
use basalt_engine::{Cursor, WalkEnd, WalkLimits, WalkedRows};
use std::sync::Arc;

/// A walk between two runs of its command.
#[derive(Debug)]
pub struct Walking {
    /// The words of the command, by which it is known again.
    words: Vec<Vec<u8>>,
    /// Where the walk stands.
    pub at: Cursor,
    /// What is left of its limits.
    pub left: WalkLimits,
    /// It has come to the end and begun again at the start.
    pub has_wrapped: bool,
    /// The names that it has gathered.
    pub names: Names,
    read: Arc<ReadRows>,
    /// The rows that were read last.
    pub rows: WalkedRows,
}

/// Names of keys in one buffer.
#[derive(Debug, Default)]
pub struct Names {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Walking {
    /// Goes on with the walk that a command of these words has left, or begins one at `from` within
    /// `limits`.
    pub fn resume(
        left: Option<Box<Walking>>,
        args: &Args<'_>,
        from: Cursor,
        limits: WalkLimits,
    ) -> Box<Walking> {
        let is_its = |walking: &Walking| {
            walking.words.len() == args.len()
                && walking.words.iter().enumerate().all(|(at, word)| **word == *args.word(at))
        };
        match left {
            Some(mut walking) if is_its(&walking) => {
                walking.rows = walking.read.take();
                walking
            }
            _ => Box::new(Walking {
                words: args.from(0).map(<[u8]>::to_vec).collect(),
                at: from,
                left: limits,
                has_wrapped: false,
                names: Names::default(),
                read: Arc::default(),
                rows: WalkedRows::default(),
            }),
        }
    }

    /// What it waits for before it goes on.
    pub fn wait(&self, end: WalkEnd) -> Wait {
        match end {
            WalkEnd::Unread(wanted) => Wait::Rows(wanted, Arc::clone(&self.read)),
            WalkEnd::Held => Wait::Held,
        }
    }
}

impl Names {
    /// Adds one.
    pub fn push(&mut self, name: &[u8]) {
        self.bytes.extend_from_slice(name);
        self.ends.push(self.bytes.len());
    }

    /// How many there are.
    #[expect(clippy::len_without_is_empty, reason = "nobody asks")]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// All of them.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        let start = |at: usize| if at == 0 { 0 } else { self.ends[at - 1] };
        (0..self.ends.len()).map(move |at| &self.bytes[start(at)..self.ends[at]])
    }
}
