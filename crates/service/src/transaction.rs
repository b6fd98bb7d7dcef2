//! What a client has queued since MULTI.
//!
//! The words are copied out of the query buffer, which moves on, into one buffer of the queue's
//! own: running them later needs no more than running a request. Keys are hashed when they are
//! queued.

use crate::args::Args;
use crate::prepared::Prepared;
use basalt_resp::Arg;
use basalt_spec::{Command, Flag};

/// Commands that wait for EXEC.
#[derive(Debug, Default)]
pub struct Queue {
    bytes: Vec<u8>,
    words: Vec<Arg>,
    commands: Vec<Queued>,
    /// One of them may change data.
    writes: bool,
    /// One of them runs a script.
    has_scripts: bool,
    /// One of them may need memory.
    needs_memory: bool,
    /// One of them is held by a pause of writes.
    is_pausable: bool,
    /// A command could not be queued: EXEC is to fail.
    spoiled: bool,
}

/// One of them.
#[derive(Clone, Copy, Debug)]
struct Queued {
    first_word: usize,
    words: usize,
    prepared: Prepared,
}

/// What a call of a command may do.
#[derive(Clone, Copy, Debug)]
pub struct Effects {
    /// A pause of writes holds it.
    pub writes: Writes,
    /// It runs a script.
    pub runs_script: bool,
}

/// Whether a command may change data, here or at a replica.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Writes {
    /// It may.
    Yes,
    /// It cannot.
    No,
}

impl Queue {
    /// Adds a command.
    pub fn push(
        &mut self,
        command: &Command,
        args: &Args<'_>,
        prepared: Prepared,
        effects: Effects,
    ) {
        // Nothing is run in the end, so nothing needs to be kept.
        if self.spoiled {
            return;
        }
        let first_word = self.words.len();
        for word in args.from(0) {
            self.words.push(Arg { start: self.bytes.len(), len: word.len() });
            self.bytes.extend_from_slice(word);
        }
        self.commands.push(Queued { first_word, words: args.len(), prepared });
        self.writes |= command.flags.has(Flag::Write);
        self.has_scripts |= effects.runs_script;
        self.needs_memory |= command.flags.has(Flag::Denyoom);
        self.is_pausable |= effects.writes == Writes::Yes;
    }

    /// A command could not be queued: EXEC fails.
    pub fn spoil(&mut self) {
        self.spoiled = true;
        self.words = Vec::new();
        self.bytes = Vec::new();
    }

    /// A command could not be queued.
    pub fn is_spoiled(&self) -> bool {
        self.spoiled
    }

    /// One of the commands may change data.
    pub fn writes(&self) -> bool {
        self.writes
    }

    /// One of the commands runs a script.
    pub fn has_scripts(&self) -> bool {
        self.has_scripts
    }

    /// One of the commands may need memory.
    pub fn needs_memory(&self) -> bool {
        self.needs_memory
    }

    /// One of the commands is held by a pause of writes.
    pub fn is_pausable(&self) -> bool {
        self.is_pausable
    }

    /// Number of commands.
    pub fn count(&self) -> usize {
        self.commands.len()
    }

    /// Bytes of their words.
    pub fn word_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Bytes that they take.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.bytes.capacity()
            + self.words.capacity() * size_of::<Arg>()
            + self.commands.capacity() * size_of::<Queued>()
    }

    /// The commands, oldest first, with their words.
    pub fn iter(&self) -> impl Iterator<Item = (Prepared, Args<'_>)> {
        self.commands.iter().map(|queued| {
            let words = &self.words[queued.first_word..queued.first_word + queued.words];
            (queued.prepared, Args::new(&self.bytes, words))
        })
    }
}
