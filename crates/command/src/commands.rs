//! The command table: each family's file holds, per command, its spec and its function.

pub mod bits;
mod collection_scan;
pub mod connection;
pub mod double;
pub mod expire_time;
pub mod generic;
pub mod geo;
pub mod help;
pub mod hyperloglog;
pub mod list;
pub mod long_double;
pub mod number;
pub mod server;
pub mod set;
pub mod sorted_set;
pub mod strings;

use crate::args::Args;
use crate::dispatch::Context;
use crate::error::CommandResult;
use crate::session::SessionResult;
use basalt_engine::{Txn, View};
use basalt_resp::Reply;
use basalt_spec::{CommandId, CommandSpec, CommandTable, Flag};

/// A command: what it is and what it does.
pub struct Entry {
    /// What it is.
    pub spec: CommandSpec,
    /// What it does.
    pub run: Run,
}

/// What a command does. The signature says what it may touch.
#[derive(Clone, Copy)]
pub enum Run {
    /// Reads its keys.
    Read(fn(&View<'_>, &Args<'_>, &mut Reply<'_>) -> CommandResult),
    /// Changes its keys.
    Write(fn(&mut Txn<'_>, &Args<'_>, &mut Reply<'_>) -> CommandResult),
    /// Concerns the connection or the server.
    Session(fn(&mut Context<'_>, &Args<'_>, &mut Reply<'_>) -> SessionResult),
}

/// All families. A family is a constant slice; adding a command is adding its entry there.
const FAMILIES: &[&[Entry]] = &[
    strings::COMMANDS,
    list::COMMANDS,
    set::COMMANDS,
    sorted_set::COMMANDS,
    geo::COMMANDS,
    bits::COMMANDS,
    hyperloglog::COMMANDS,
    generic::COMMANDS,
    connection::COMMANDS,
    server::COMMANDS,
];

/// The table with its functions.
pub struct Commands {
    /// Names, arities, keys, documents.
    pub table: CommandTable,
    runs: Vec<Run>,
    shares_time: Vec<bool>,
}

impl Commands {
    /// Builds the table.
    ///
    /// # Panics
    /// If a spec is wrong: that is a mistake in this crate, and its tests find it.
    pub fn new() -> Commands {
        let entries: Vec<&'static Entry> = FAMILIES.iter().copied().flatten().collect();
        let table = CommandTable::new(entries.iter().map(|entry| &entry.spec))
            .unwrap_or_else(|error| panic!("the command table is wrong: {error}"));
        Commands {
            table,
            runs: entries.iter().map(|entry| entry.run).collect(),
            shares_time: entries.iter().map(|entry| shares_time(entry)).collect(),
        }
    }

    /// Whether a command is so short that it is not timed by itself: two clock readings cost as much
    /// as a GET. It is counted with its share of its batch's time.
    #[inline]
    pub fn shares_time(&self, id: CommandId) -> bool {
        self.shares_time[id.index()]
    }

    /// What a command does.
    #[inline]
    pub fn run(&self, id: CommandId) -> Run {
        self.runs[id.index()]
    }
}

/// Constant work on its keys. A session command may well wait or walk.
fn shares_time(entry: &Entry) -> bool {
    let spec = &entry.spec;
    let constant = spec.flags.has(Flag::Fast) || spec.complexity.starts_with("O(1)");
    constant && !matches!(entry.run, Run::Session(_))
}

impl Default for Commands {
    fn default() -> Self {
        Commands::new()
    }
}

/// What a container does when it is called with a subcommand that it does not have; without one the
/// arity has already refused it.
pub fn container(_: &mut Context<'_>, args: &Args<'_>, _: &mut Reply<'_>) -> SessionResult {
    Err(crate::unknown::unknown_subcommand(args))
}
