//! FUNCTION FLUSH. There are no functions in this version, so there is nothing to flush; test
//! suites and client libraries ask for it before anything else.

use crate::help::{container, help};
use basalt_call::context::Context;
use basalt_call::entry::{Entry, Run};
use basalt_call::unknown::wrong_subcommand;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_service::session::{Flow, SessionResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, Subcommands, around};

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
pub(super) const FUNCTION_FLUSH: Entry = Entry {
    spec: CommandSpec {
        name: "function|flush",
        synopsis: "[ASYNC | SYNC]",
        group: Group::Scripting,
        flags: Flags::of(&[Flag::Write, Flag::Noscript]),
        overrides: &[around("ASYNC").named("async")],
        since: "7.0.0",
        complexity: "O(N) with N functions",
        summary: "Deletes all functions.",
        examples: &[
            "FUNCTION FLUSH => OK",
            "FUNCTION FLUSH ASYNC => OK",
            "FUNCTION FLUSH NOW => (error) ERR ...",
        ],
        tips: &["request_policy:all_shards", "response_policy:all_succeeded"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(flush_functions),
    ..Entry::DEFAULT
};
pub(super) const FUNCTION_HELP: Entry = Entry {
    spec: CommandSpec {
        name: "function|help",
        since: "7.0.0",
        summary: "Lists the subcommands of FUNCTION.",
        examples: &["FUNCTION HELP => (any)"],
        ..HELP
    },
    run: Run::Session(help),
    ..Entry::DEFAULT
};

pub(super) const HELP: CommandSpec = CommandSpec {
    group: Group::Scripting,
    flags: Flags::of(&[Flag::Loading, Flag::Stale]),
    complexity: "O(1)",
    ..CommandSpec::DEFAULT
};

fn flush_functions(_: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    if args.len() > 3 {
        return Err(wrong_subcommand(args));
    }
    if !has_valid_mode(args) {
        return Err(CommandError::fixed("ERR FUNCTION FLUSH only supports SYNC|ASYNC option"));
    }
    reply.ok();
    Ok(Flow::Done)
}

/// ASYNC, SYNC or nothing: what is flushed is little, so it goes at once.
pub(super) fn has_valid_mode(args: &Args<'_>) -> bool {
    args.len() == 2 || args.is(2, "sync") || args.is(2, "async")
}
