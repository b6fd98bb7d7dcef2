//! The command table: each family's file holds, per command, its spec and its function.

pub mod bits;
mod collection_scan;
pub mod connection;
pub mod double;
pub mod expire_time;
pub mod generic;
pub mod geo;
pub mod hash;
pub mod help;
pub mod hyperloglog;
mod item;
pub mod list;
pub mod long_double;
pub mod number;
pub mod pubsub;
pub mod scripting;
pub mod server;
pub mod set;
pub mod sorted_set;
pub mod stream;
pub mod strings;
pub mod timeout;
pub mod transactions;

use crate::args::Args;
use crate::dispatch::{Ahead, Context};
use crate::error::CommandResult;
use crate::session::SessionResult;
use basalt_engine::{Point, Txn, View};
use basalt_resp::Reply;
use basalt_spec::{Command, CommandId, CommandSpec, CommandTable, Flag, Group};
use basalt_value::sorted_set::Direction;

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
    Read(ReadFn),
    /// Reads its key, which is its first word, and asks nothing else of the keyspace.
    Point(PointFn),
    /// Changes its keys.
    Write(WriteFn),
    /// The same; called with a key and a value alone, it puts the value under the key as a string
    /// ([`PUT_WORDS`]).
    Put(WriteFn),
    /// Looks at its key, which is its first word, and changes something only if it has to.
    Attempt(AttemptFn, WriteFn),
    /// Concerns the connection or the server.
    Session(SessionFn),
    /// Runs other commands: what EXEC does is part of the dispatch.
    Exec,
    /// The same for scripts.
    Script(ScriptCall),
}

impl Run {
    /// Reads the keys of a command that does that.
    #[inline(always)]
    pub(crate) fn read(
        self,
        view: &View<'_>,
        args: &Args<'_>,
        reply: &mut Reply<'_>,
    ) -> CommandResult {
        match self {
            Run::Read(run) => run(view, args, reply),
            Run::Point(run) => run(&view.point(args.key(0)), args, reply),
            _ => unreachable!("it does not read"),
        }
    }
}

/// Words of a [`Run::Put`] without options: name, key and value.
pub(crate) const PUT_WORDS: usize = 3;

/// How a script is called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ScriptCall {
    /// What its first argument is.
    pub named: Named,
    /// What it may do.
    pub permit: Permit,
}

/// How a call names its script.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Named {
    /// By its text.
    ByText,
    /// By the SHA-1 of its text.
    BySha,
}

/// What a script may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Permit {
    /// Change data.
    Writes,
    /// Read data.
    Reads,
}

/// Reads one key.
pub type PointFn = fn(&Point<'_>, &Args<'_>, &mut Reply<'_>) -> CommandResult;
/// Does what it can by looking at one key; `None`, and no reply, if that is not enough.
pub type AttemptFn = fn(&Point<'_>, &Args<'_>, &mut Reply<'_>) -> Option<CommandResult>;
/// Reads its keys.
pub type ReadFn = fn(&View<'_>, &Args<'_>, &mut Reply<'_>) -> CommandResult;
/// Changes its keys.
pub type WriteFn = fn(&mut Txn<'_>, &Args<'_>, &mut Reply<'_>) -> CommandResult;
/// Concerns the connection or the server.
pub type SessionFn = fn(&mut Context<'_>, &Args<'_>, &mut Reply<'_>) -> SessionResult;

/// All families. A family is a constant slice; adding a command is adding its entry there.
const FAMILIES: &[&[Entry]] = &[
    strings::COMMANDS,
    list::COMMANDS,
    set::COMMANDS,
    stream::COMMANDS,
    hash::COMMANDS,
    sorted_set::COMMANDS,
    geo::COMMANDS,
    bits::COMMANDS,
    hyperloglog::COMMANDS,
    generic::COMMANDS,
    connection::COMMANDS,
    transactions::COMMANDS,
    pubsub::COMMANDS,
    scripting::COMMANDS,
    server::COMMANDS,
];

/// The table with its functions.
pub struct Commands {
    /// Names, arities, keys, documents.
    pub table: CommandTable,
    calls: Vec<Call>,
}

/// What every call of a command needs of it: one small entry in one dense array. The rest is in the
/// table, whose entries take several cache lines.
#[derive(Clone, Copy)]
pub(crate) struct Call {
    /// What it does.
    pub(crate) run: Run,
    arity: i16,
    /// The word that is its first key, 0 if it has none.
    pub(crate) first_key: u16,
    /// The word that is its only key, whatever the call; 0 if it has none or may have several.
    pub(crate) only_key: u16,
    /// With so many words a command that may have several keys has one; 0 for those that cannot tell so.
    pub(crate) words_of_one_key: u16,
    /// It runs before a client has said who it is.
    pub(crate) for_anybody: bool,
    /// It is refused when memory is full.
    pub(crate) takes_memory: bool,
    /// It is not timed by itself: two clock readings cost as much as a GET. It is counted with its
    /// share of its batch's time.
    pub(crate) shares_time: bool,
    /// What of a collection is fetched ahead.
    pub(crate) ahead: Ahead,
}

impl Call {
    fn new(entry: &Entry, command: &Command) -> Call {
        let range = command.key_range;
        let is_alone = range.first == range.last && !command.flags.has(Flag::Movablekeys);
        let first_key = range.first.max(0) as u16;
        let may_have_several = first_key > 0 && range.last < 0;
        let has_plain_range = may_have_several && !command.flags.has(Flag::Movablekeys);
        Call {
            run: entry.run,
            arity: command.arity,
            first_key,
            only_key: if is_alone { first_key } else { 0 },
            words_of_one_key: match has_plain_range {
                true => (range.first + range.step - 1 - range.last) as u16,
                false => 0,
            },
            for_anybody: command.flags.has(Flag::NoAuth),
            takes_memory: command.flags.has(Flag::Denyoom),
            shares_time: shares_time(entry),
            ahead: ahead(&entry.spec, first_key),
        }
    }

    /// Whether a call of `words` words (name included) has as many as the command takes.
    #[inline]
    pub(crate) fn accepts_words(&self, words: usize) -> bool {
        let required = usize::from(self.arity.unsigned_abs());
        words == required || self.arity < 0 && words > required
    }
}

impl Commands {
    /// Builds the table.
    ///
    /// # Panics
    /// If a spec is wrong: that is a mistake in this crate, and its tests find it.
    pub fn new() -> Commands {
        Commands::with(&[])
    }

    /// Builds the table with more commands: for tests of what no command uses yet.
    ///
    /// # Panics
    /// As [`Commands::new`].
    pub fn with(more: &'static [Entry]) -> Commands {
        let entries: Vec<&'static Entry> = FAMILIES.iter().copied().flatten().chain(more).collect();
        let table = CommandTable::new(entries.iter().map(|entry| &entry.spec))
            .unwrap_or_else(|error| panic!("the command table is wrong: {error}"));
        let calls =
            entries.iter().zip(table.all()).map(|(entry, command)| Call::new(entry, command));
        Commands { calls: calls.collect(), table }
    }

    /// What every call of a command needs of it.
    #[inline]
    pub(crate) fn call(&self, id: CommandId) -> &Call {
        &self.calls[id.index()]
    }
}

/// Constant work on its keys. A session command may well wait or walk.
fn shares_time(entry: &Entry) -> bool {
    let spec = &entry.spec;
    let constant = spec.flags.has(Flag::Fast) || spec.complexity.starts_with("O(1)");
    constant && !matches!(entry.run, Run::Session(_) | Run::Exec | Run::Script(_))
}

/// What of a collection a command will touch, by its synopsis: the word behind its first key, options
/// left out, that is called a member or a field.
fn ahead(spec: &CommandSpec, first_key: u16) -> Ahead {
    let is_collection = matches!(
        spec.group,
        Group::List | Group::Set | Group::SortedSet | Group::Hash | Group::Stream | Group::Geo
    );
    let (true, Ok(key @ 1..)) = (is_collection, u8::try_from(first_key)) else {
        return Ahead::Nothing;
    };
    match spec.name {
        "spop" | "srandmember" => return Ahead::Random { key },
        "zpopmin" => return Ahead::End { key, direction: Direction::Forward },
        "zpopmax" => return Ahead::End { key, direction: Direction::Backward },
        _ => {}
    }
    let mut depth = 0;
    let mut words = 1;
    for word in spec.synopsis.split(' ') {
        let outside = depth == 0 && !word.starts_with(['[', '<']);
        depth += word.matches(['[', '<']).count();
        depth -= word.matches([']', '>']).count();
        if outside && matches!(word, "member" | "field") {
            return Ahead::Element { key, element: words };
        }
        words += u8::from(outside);
    }
    Ahead::Collection { key }
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

#[cfg(test)]
mod tests {
    use super::*;
    use basalt_spec::Found;

    #[test]
    fn what_looks_at_one_key_has_it_in_its_first_word() {
        let commands = Commands::new();
        for command in commands.table.all() {
            let call = commands.call(command.id);
            let name = command.spec.name;
            match call.run {
                Run::Point(_) => assert_eq!(call.only_key, 1, "{name}"),
                Run::Attempt(..) => assert_eq!(call.first_key, 1, "{name}"),
                Run::Put(_) => {
                    // It is let through without being timed.
                    assert!(call.only_key == 1 && call.shares_time, "{name}");
                    continue;
                }
                _ => continue,
            }
            // It is let through without being timed, asked for memory, or written to the log.
            assert!(call.shares_time && !call.takes_memory, "{name}");
            assert!(command.flags.has(Flag::Readonly), "{name}");
        }
    }

    #[test]
    fn elements_are_found_by_the_synopsis() {
        let commands = Commands::new();
        let element = |element| Ahead::Element { key: 1, element };
        for (name, ahead) in [
            ("get", Ahead::Nothing),
            ("lpush", Ahead::Collection { key: 1 }),
            ("spop", Ahead::Random { key: 1 }),
            ("zpopmax", Ahead::End { key: 1, direction: Direction::Backward }),
            ("hgetall", Ahead::Collection { key: 1 }),
            ("zrange", Ahead::Collection { key: 1 }),
            ("hget", element(2)),
            ("hset", element(2)),
            ("hincrby", element(2)),
            ("sadd", element(2)),
            ("sismember", element(2)),
            ("smove", element(3)),
            ("zadd", element(3)),
            ("zincrby", element(3)),
            ("zscore", element(2)),
        ] {
            let Found::Command(command) = commands.table.resolve(name.as_bytes(), None) else {
                panic!("{name} is a command")
            };
            assert_eq!(commands.call(command.id).ahead, ahead, "{name}");
        }
    }
}
