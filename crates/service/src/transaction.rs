//! What a client has queued since MULTI.
//!
//! The words are copied out of the query buffer, which moves on, into one buffer of the queue's
//! own: running them later needs no more than running a request. Keys are hashed when they are
//! queued.
//!
//! A client can queue millions of commands, so little is kept of each: 16 bytes, 16 more a word,
//! and the words; `INCR counter` takes 59 bytes.

use crate::args::Args;
use crate::prepared::Prepared;
use basalt_change::place::PartitionId;
use basalt_resp::Arg;
use basalt_spec::{Command, CommandId, Flag};

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

/// What is kept of one of them beside its words.
#[derive(Clone, Copy, Debug)]
struct Queued {
    /// Of its first key, if it has a partition.
    hash: u64,
    words: u32,
    command: CommandId,
    /// That of its first key, or [`NO_PARTITION`].
    partition: u16,
}

const _: () = assert!(size_of::<Queued>() == 16, "as the head of this file says");

/// No partition has this number.
const NO_PARTITION: u16 = u16::MAX;

/// One of them, to be run.
#[derive(Clone, Copy)]
pub struct QueuedCommand<'q> {
    /// The command.
    pub command: CommandId,
    /// Its words.
    pub args: Args<'q>,
    /// The hash of its first key.
    pub hash: u64,
    /// The partition of its first key, if that was known when it was queued.
    pub partition: Option<PartitionId>,
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
        for word in args.from(0) {
            self.words.push(Arg { start: self.bytes.len(), len: word.len() });
            self.bytes.extend_from_slice(word);
        }
        self.commands.push(Queued {
            hash: prepared.hash,
            words: u32::try_from(args.len()).expect("a request has a million words at most"),
            command: command.id,
            partition: prepared.partition.map_or(NO_PARTITION, PartitionId::number),
        });
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

    /// Bytes that they take. Room that is still free is no memory: nothing has been written there.
    /// (Growing by a quarter instead of by double kept less room, and left four times the queue in
    /// buffers that the allocator had not given back yet.)
    pub fn memory_bytes(&self) -> usize {
        self.bytes.len()
            + self.words.len() * size_of::<Arg>()
            + self.commands.len() * size_of::<Queued>()
    }

    /// The commands, oldest first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = QueuedCommand<'_>> {
        let mut rest = &self.words[..];
        self.commands.iter().map(move |queued| {
            let (words, behind) = rest.split_at(queued.words as usize);
            rest = behind;
            let Queued { hash, command, partition, .. } = *queued;
            let args = Args::new(&self.bytes, words);
            QueuedCommand { command, args, hash, partition: PartitionId::new(partition) }
        })
    }
}
