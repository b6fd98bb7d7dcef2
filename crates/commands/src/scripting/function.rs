//! FUNCTION and what of it changes and shows nothing: the container, KILL, HELP.

use super::kill::kill;
use crate::help::{container, help};
use basalt_call::entry::{Entry, Run};
use basalt_service::args::Args;
use basalt_service::scripts::RunKind;
use basalt_spec::{CommandSpec, Flag, Flags, Group, Subcommands};

pub(super) const FUNCTION: Entry = Entry {
    spec: CommandSpec {
        name: "function",
        group: Group::Scripting,
        subcommands: Subcommands::Required,
        since: "7.0.0",
        complexity: "Depends on the subcommand",
        summary: "The container of commands about functions.",
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(container),
    ..Entry::DEFAULT
};
pub(super) const FUNCTION_KILL: Entry = Entry {
    spec: CommandSpec {
        name: "function|kill",
        group: Group::Scripting,
        flags: Flags::of(&[Flag::Noscript, Flag::AllowBusy]),
        since: "7.0.0",
        complexity: "O(1)",
        summary: "Ends the functions that take long and have changed nothing.",
        examples: &["FUNCTION KILL => (error) NOTBUSY No scripts in execution right now."],
        tips: &["request_policy:all_shards", "response_policy:one_succeeded"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(|ctx, _, reply| kill(ctx, RunKind::Function, reply)),
    ..Entry::DEFAULT
};

const HELP_LINES: &[&str] = &[
    "LOAD [REPLACE] <FUNCTION CODE>",
    "    Make a library of functions.",
    "DELETE <LIBRARY NAME>",
    "    Delete a library.",
    "LIST [LIBRARYNAME PATTERN] [WITHCODE]",
    "    Describe the libraries, or those whose names match PATTERN:",
    "    * name",
    "    * engine",
    "    * functions, each with its description and flags",
    "    * code, if WITHCODE is given",
    "STATS",
    "    Describe the function that runs, if one does, and the engines:",
    "    * name of the function",
    "    * the command that called it",
    "    * milliseconds for which it has run",
    "KILL",
    "    End the functions that take long and have changed nothing.",
    "FLUSH [ASYNC|SYNC]",
    "    Delete all libraries.",
    "DUMP",
    "    Return all libraries as a payload for RESTORE.",
    "RESTORE <PAYLOAD> [FLUSH|APPEND|REPLACE]",
    "    Make the libraries of a payload. What happens to those that are there:",
    "    * FLUSH: they are deleted.",
    "    * APPEND: they stay; one of the same name is an error. The default.",
    "    * REPLACE: they stay, but for those of the same name. A function that",
    "      another library has is an error all the same.",
];

pub(super) const FUNCTION_HELP: Entry = Entry {
    spec: CommandSpec {
        name: "function|help",
        since: "7.0.0",
        summary: "Lists the subcommands of FUNCTION.",
        examples: &["FUNCTION HELP => (any)"],
        ..HELP
    },
    run: Run::Session(|_, args, reply| help(args, HELP_LINES, reply)),
    ..Entry::DEFAULT
};

pub(super) const HELP: CommandSpec = CommandSpec {
    group: Group::Scripting,
    flags: Flags::of(&[Flag::Loading, Flag::Stale]),
    complexity: "O(1)",
    ..CommandSpec::DEFAULT
};

/// ASYNC, SYNC or nothing: what is flushed is little, so it goes at once.
pub(super) fn has_valid_mode(args: &Args<'_>) -> bool {
    args.len() == 2 || args.is(2, "sync") || args.is(2, "async")
}
