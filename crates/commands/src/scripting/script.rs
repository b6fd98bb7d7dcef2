//! SCRIPT: the scripts that are known, and those that take long.

use super::function::has_valid_mode;
use super::kill::kill;
use crate::help::{container, help};
use basalt_call::context::Context;
use basalt_call::entry::{Entry, Run};
use basalt_resp::Reply;
use basalt_script::{Evaluated, Sha1};
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_service::scripts::RunKind;
use basalt_service::session::{Flow, SessionResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, Subcommands, around};

pub(super) const SCRIPT: Entry = Entry {
    spec: CommandSpec {
        name: "script",
        group: Group::Scripting,
        subcommands: Subcommands::Required,
        since: "2.6.0",
        complexity: "Depends on the subcommand",
        summary: "The container of commands about scripts.",
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(container),
    ..Entry::DEFAULT
};
pub(super) const SCRIPT_FLUSH: Entry = Entry {
    spec: CommandSpec {
        name: "script|flush",
        synopsis: "[ASYNC | SYNC]",
        group: Group::Scripting,
        flags: Flags::of(&[Flag::Noscript]),
        overrides: &[around("ASYNC").named("async").since("6.2.0")],
        since: "2.6.0",
        complexity: "O(N) with N scripts",
        summary: "Forgets all scripts.",
        examples: &[
            "EVAL \"return 1\" 0 => (integer) 1",
            "SCRIPT FLUSH => OK",
            "EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0 => (error) NOSCRIPT ...",
            "SCRIPT FLUSH SYNC => OK",
            "SCRIPT FLUSH NOW => (error) ERR ...",
        ],
        tips: &["request_policy:all_nodes", "response_policy:all_succeeded"],
        history: &[("6.2.0", "Options ASYNC and SYNC.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(flush),
    ..Entry::DEFAULT
};

pub(super) const SCRIPT_EXISTS: Entry = Entry {
    spec: CommandSpec {
        name: "script|exists",
        synopsis: "sha1 [sha1 ...]",
        group: Group::Scripting,
        flags: Flags::of(&[Flag::Noscript]),
        since: "2.6.0",
        complexity: "O(N) with N digests",
        summary: "Tells of each digest whether the server knows a script of that name.",
        examples: &[
            "EVAL \"return 1\" 0 => (integer) 1",
            "SCRIPT EXISTS e0e1f9fabfc9d4800c877a703b823ac0578ff8db 00 => [(integer) 1, (integer) 0]",
        ],
        tips: &["request_policy:all_shards", "response_policy:agg_logical_and"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(exists),
    ..Entry::DEFAULT
};

pub(super) const SCRIPT_KILL: Entry = Entry {
    spec: CommandSpec {
        name: "script|kill",
        group: Group::Scripting,
        flags: Flags::of(&[Flag::Noscript, Flag::AllowBusy]),
        since: "2.6.0",
        complexity: "O(1)",
        summary: "Ends the scripts that take long and have changed nothing.",
        examples: &["SCRIPT KILL => (error) NOTBUSY No scripts in execution right now."],
        tips: &["request_policy:all_shards", "response_policy:one_succeeded"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(|ctx, _, reply| kill(ctx, RunKind::Script, reply)),
    ..Entry::DEFAULT
};

pub(super) const SCRIPT_LOAD: Entry = Entry {
    spec: CommandSpec {
        name: "script|load",
        synopsis: "script",
        group: Group::Scripting,
        flags: Flags::of(&[Flag::Noscript, Flag::Stale]),
        since: "2.6.0",
        complexity: "O(N) with N bytes of the script",
        summary: "Makes a script known to the server without running it, and gives its name.",
        examples: &[
            "SCRIPT LOAD \"return 1\" => \"e0e1f9fabfc9d4800c877a703b823ac0578ff8db\"",
            "SCRIPT LOAD return( => (error) ERR ...",
        ],
        tips: &["request_policy:all_nodes", "response_policy:all_succeeded"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(load),
    ..Entry::DEFAULT
};

const HELP: &[&str] = &[
    "DEBUG (YES|SYNC|NO)",
    "    There is no debugger: NO is taken, the others are refused.",
    "EXISTS <sha1> [<sha1> ...]",
    "    Tell of each digest whether there is a script of that name.",
    "FLUSH [ASYNC|SYNC]",
    "    Forget all scripts.",
    "KILL",
    "    End the scripts that take long and have changed nothing.",
    "LOAD <script>",
    "    Keep a script without running it, and return its name.",
];

pub(super) const SCRIPT_HELP: Entry = Entry {
    spec: CommandSpec {
        name: "script|help",
        since: "5.0.0",
        summary: "Lists the subcommands of SCRIPT.",
        examples: &["SCRIPT HELP => (any)"],
        ..super::function::HELP
    },
    run: Run::Session(|_, args, reply| help(args, HELP, reply)),
    ..Entry::DEFAULT
};

fn exists(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let known = &ctx.server.scripts.known;
    reply.array(args.len() - 2);
    for name in args.from(2) {
        let is_known = Sha1::parse(name).is_some_and(|sha| known.find(&sha).is_some());
        reply.integer(i64::from(is_known));
    }
    Ok(Flow::Done)
}

fn flush(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    if args.len() > 3 || !has_valid_mode(args) {
        return Err(CommandError::fixed("ERR SCRIPT FLUSH only support SYNC|ASYNC option"));
    }
    ctx.server.scripts.known.flush();
    reply.ok();
    Ok(Flow::Done)
}

fn load(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let script = ctx.server.scripts.load(args.word(2), Evaluated::Loaded)?;
    reply.bulk(script.sha.to_string().as_bytes());
    Ok(Flow::Done)
}
