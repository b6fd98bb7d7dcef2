//! What a command of a transaction or a script needs beyond its keys, and when it may run.

use basalt_call::calls::Commands;
use basalt_call::entry::Run;
use basalt_service::args::Args;
use basalt_spec::{BeginSearch, Command, Flag, Group, KeyFlag, KeySpec};

/// When a command of a transaction runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    /// In its turn, while all partitions of the transaction are held.
    InTurn,
    /// After the others, when no partition is held any more: it concerns the server, may take locks
    /// that rank below partitions, call the system, or walk the keyspace by itself.
    Late,
}

/// What a command needs beyond its keys.
pub(super) struct Wants {
    /// Every partition is held.
    pub(super) everything: bool,
    /// Every key is in memory.
    pub(super) reads_everything: bool,
}

/// What a call needs beyond its keys.
pub(super) fn wants(commands: &Commands, command: &Command, args: Args<'_>) -> Wants {
    if !commands.call(command.id).may_want_more {
        return Wants { everything: false, reads_everything: false };
    }
    let walks = matches!(commands.call(command.id).run, Run::Session(_));
    let reads = command.flags.has(Flag::Readonly);
    let concerns_connection = command.spec.group == Group::Connection;
    let is_noted = concerns_connection && commands.traits(command.id).locks_partitions;
    let guesses = makes_names(command, args)
        || command.key_specs.iter().any(|spec| spec.flags.has(KeyFlag::Incomplete));
    Wants {
        everything: guesses || is_noted || walks && (reads || command.flags.has(Flag::Write)),
        // What is fast does not look at keys: DBSIZE counts.
        reads_everything: guesses || walks && reads && !command.flags.has(Flag::Fast),
    }
}

/// Whether a call makes names of keys of what it reads, as SORT does with BY and GET.
fn makes_names(command: &Command, args: Args<'_>) -> bool {
    let is_unfindable = |spec: &KeySpec| spec.begin == BeginSearch::Unknown;
    let is_pattern =
        |word: &[u8]| word.eq_ignore_ascii_case(b"BY") || word.eq_ignore_ascii_case(b"GET");
    command.key_specs.iter().any(is_unfindable) && args.from(2).any(is_pattern)
}

/// Commands on keys and on whole databases run in their turn, and so does what concerns the
/// connection alone, which the next command may depend on. Changes of libraries run late, although
/// they write: they take the lock of a partition that the transaction would hold.
pub(super) fn when(commands: &Commands, command: &Command) -> When {
    let flags = command.flags;
    let concerns_data = flags.has(Flag::Readonly) || flags.has(Flag::Write);
    let concerns_connection = command.spec.group == Group::Connection;
    let concerns_libraries = command.spec.group == Group::Scripting;
    match commands.call(command.id).run {
        Run::Session(_) if concerns_libraries => When::Late,
        Run::Session(_) if concerns_data || concerns_connection => When::InTurn,
        Run::Session(_) | Run::Exec => When::Late,
        _ => When::InTurn,
    }
}
