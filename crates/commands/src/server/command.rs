//! COMMAND and what it says about commands.

use super::node;
use crate::help::help;
use basalt_call::context::Context;
use basalt_call::entry::{Entry, Run, Traits};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_service::session::{Flow, SessionResult};
use basalt_spec::{
    Categories, Category, Command, CommandSpec, CommandTable, Filter, Flag, Flags, Group,
    Subcommands, at,
};
use basalt_stdx::glob::{Case, Pattern};

pub(super) const COMMAND: Entry = Entry {
    spec: CommandSpec {
        name: "command",
        group: Group::Server,
        flags: Flags::of(&[Flag::Loading, Flag::Stale]),
        acl: Some(Categories::of(&[Category::Connection])),
        subcommands: Subcommands::Optional,
        since: "2.8.13",
        complexity: "O(N) with N commands",
        summary: "Describes all commands.",
        examples: &[
            "COMMAND => (any)",
            "COMMAND nosuch => (error) ERR unknown subcommand 'nosuch'. Try COMMAND HELP.",
        ],
        tips: &["nondeterministic_output_order"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(all),
    ..Entry::DEFAULT
};
pub(super) const COMMAND_COUNT: Entry = Entry {
    spec: CommandSpec {
        name: "command|count",
        group: Group::Server,
        flags: Flags::of(&[Flag::Loading, Flag::Stale]),
        acl: Some(Categories::of(&[Category::Connection])),
        since: "2.8.13",
        complexity: "O(1)",
        summary: "Counts the commands.",
        examples: &["COMMAND COUNT => (any)"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(count),
    traits: Traits { is_harmless: true, ..Traits::NONE },
    ..Entry::DEFAULT
};
pub(super) const COMMAND_LIST: Entry = Entry {
    spec: CommandSpec {
        name: "command|list",
        synopsis: "[FILTERBY <MODULE module-name | ACLCAT category | PATTERN pattern>]",
        group: Group::Server,
        flags: Flags::of(&[Flag::Loading, Flag::Stale]),
        acl: Some(Categories::of(&[Category::Connection])),
        overrides: &[at("FILTERBY").named("filterby")],
        since: "7.0.0",
        complexity: "O(N) with N commands",
        summary: "Returns the names of all commands, or of those in an ACL category or matching a pattern.",
        examples: &[
            "COMMAND LIST => (any)",
            r#"COMMAND LIST FILTERBY PATTERN EC*O => ["echo"]"#,
            "COMMAND LIST FILTERBY MODULE nosuch => []",
            "COMMAND LIST FILTERBY ACLCAT nosuch => []",
        ],
        tips: &["nondeterministic_output_order"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(list),
    ..Entry::DEFAULT
};
pub(super) const COMMAND_INFO: Entry = Entry {
    spec: CommandSpec {
        name: "command|info",
        synopsis: "[command-name [command-name ...]]",
        group: Group::Server,
        flags: Flags::of(&[Flag::Loading, Flag::Stale]),
        acl: Some(Categories::of(&[Category::Connection])),
        since: "2.8.13",
        complexity: "O(N) with N names",
        summary: "Describes commands: arity, flags, keys, categories and subcommands.",
        examples: &[
            "COMMAND INFO nosuch => [(nil)]",
            r#"COMMAND INFO echo => [["echo", (integer) 2, {loading, stale, fast}, (integer) 0, (integer) 0, (integer) 0, {@fast, @connection}, [], [], []]]"#,
        ],
        tips: &["nondeterministic_output_order"],
        history: &[("7.0.0", "Describes all commands when called without a name.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(info),
    ..Entry::DEFAULT
};
pub(super) const COMMAND_DOCS: Entry = Entry {
    spec: CommandSpec {
        name: "command|docs",
        synopsis: "[command-name [command-name ...]]",
        group: Group::Server,
        flags: Flags::of(&[Flag::Loading, Flag::Stale]),
        acl: Some(Categories::of(&[Category::Connection])),
        since: "7.0.0",
        complexity: "O(N) with N names",
        summary: "Documents commands: summary, arguments, history.",
        examples: &["COMMAND DOCS nosuch => []", "COMMAND DOCS get => (any)"],
        tips: &["nondeterministic_output_order"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(docs),
    ..Entry::DEFAULT
};
const HELP: &[&str] = &[
    "(no subcommand)",
    "    Describe all commands.",
    "COUNT",
    "    Count the commands.",
    "LIST",
    "    List the names of the commands.",
    "INFO [<command-name> ...]",
    "    Describe commands, all if none is named.",
    "DOCS [<command-name> ...]",
    "    Document commands, all if none is named.",
    "GETKEYS <full-command>",
    "    Return the keys in a call of a command.",
    "GETKEYSANDFLAGS <full-command>",
    "    Return the keys in a call of a command, each with what is done to it.",
];

pub(super) const COMMAND_HELP: Entry = Entry {
    spec: CommandSpec {
        name: "command|help",
        group: Group::Server,
        flags: Flags::of(&[Flag::Loading, Flag::Stale]),
        acl: Some(Categories::of(&[Category::Connection])),
        since: "5.0.0",
        complexity: "O(1)",
        summary: "Lists the subcommands of COMMAND.",
        examples: &["COMMAND HELP => (any)"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(|_, args, reply| help(args, HELP, reply)),
    ..Entry::DEFAULT
};

/// The commands that have a name, without subcommands.
fn callable(table: &CommandTable) -> impl Iterator<Item = &Command> {
    table.commands().filter(|command| table.is_callable(command))
}

fn all(ctx: &mut Context<'_>, _: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let table = &ctx.server.table;
    reply.array(callable(table).count());
    callable(table).for_each(|command| node::write(&table.info(command), reply));
    Ok(Flow::Done)
}

fn count(ctx: &mut Context<'_>, _: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    reply.integer(callable(&ctx.server.table).count() as i64);
    Ok(Flow::Done)
}

fn list(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let table = &ctx.server.table;
    let pattern = Pattern::new(args.opt(4).unwrap_or_default(), Case::Ignored);
    let matches = |name: &str| pattern.matches(name.as_bytes());
    let mut found: Vec<&Command> = if args.len() == 2 {
        table.all().iter().collect()
    } else if args.len() != 5 || !args.is(2, "filterby") {
        return Err(CommandError::SYNTAX);
    } else if args.is(3, "module") {
        Vec::new()
    } else if args.is(3, "aclcat") {
        let category = Category::from_name(args.word(4));
        category.into_iter().flat_map(|category| table.list(Filter::Category(category))).collect()
    } else if args.is(3, "pattern") {
        table.list(Filter::Pattern(&matches)).collect()
    } else {
        return Err(CommandError::SYNTAX);
    };
    found.retain(|command| table.is_callable(command));
    reply.array(found.len());
    found.iter().for_each(|command| reply.bulk(command.spec.name.as_bytes()));
    Ok(Flow::Done)
}

fn info(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    if args.len() == 2 {
        return all(ctx, args, reply);
    }
    let table = &ctx.server.table;
    reply.array(args.len() - 2);
    for name in args.from(2) {
        match table.lookup_full_name(name) {
            Some(command) => node::write(&table.info(command), reply),
            None => reply.null(),
        }
    }
    Ok(Flow::Done)
}

fn docs(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let table = &ctx.server.table;
    let found: Vec<&Command> = if args.len() == 2 {
        callable(table).collect()
    } else {
        args.from(2).filter_map(|name| table.lookup_full_name(name)).collect()
    };
    reply.map(found.len());
    for command in found {
        reply.bulk(command.spec.name.as_bytes());
        node::write(&table.docs(command), reply);
    }
    Ok(Flow::Done)
}
