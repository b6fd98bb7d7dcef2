//! SLOWLOG.

use crate::help::container;
use crate::help::help;
use basalt_call::context::Context;
use basalt_call::entry::{Entry, Run, Traits};
use basalt_call::unknown::wrong_subcommand;
use basalt_number::parse_i64;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_service::session::{Flow, SessionResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, Subcommands};

pub(super) const SLOWLOG: Entry = Entry {
    spec: CommandSpec {
        name: "slowlog",
        group: Group::Server,
        subcommands: Subcommands::Required,
        since: "2.2.12",
        complexity: "Depends on the subcommand",
        summary: "The container of commands about the log of slow commands.",
        examples: &["SLOWLOG nosuch => (error) ERR unknown subcommand 'nosuch'. Try SLOWLOG HELP."],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(container),
    ..Entry::DEFAULT
};
pub(super) const SLOWLOG_GET: Entry = Entry {
    spec: CommandSpec {
        name: "slowlog|get",
        synopsis: "[count]",
        group: Group::Server,
        flags: Flags::of(&[Flag::Admin, Flag::Loading, Flag::Stale]),
        since: "2.2.12",
        complexity: "O(N) with N entries returned",
        summary: "Returns the latest entries of the slow log.",
        examples: &[
            "SLOWLOG RESET => OK",
            "SLOWLOG GET => []",
            "SLOWLOG GET 5 => []",
            "SLOWLOG GET -2 => (error) ERR count should be greater than or equal to -1",
        ],
        tips: &["request_policy:all_nodes", "nondeterministic_output"],
        history: &[("4.0.0", "The address and name of the client.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(get),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};
pub(super) const SLOWLOG_LEN: Entry = Entry {
    spec: CommandSpec {
        name: "slowlog|len",
        group: Group::Server,
        flags: Flags::of(&[Flag::Admin, Flag::Loading, Flag::Stale]),
        since: "2.2.12",
        complexity: "O(1)",
        summary: "Counts the entries of the slow log.",
        examples: &["SLOWLOG RESET => OK", "SLOWLOG LEN => (integer) 0"],
        tips: &["request_policy:all_nodes", "response_policy:agg_sum", "nondeterministic_output"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(len),
    ..Entry::DEFAULT
};
pub(super) const SLOWLOG_RESET: Entry = Entry {
    spec: CommandSpec {
        name: "slowlog|reset",
        group: Group::Server,
        flags: Flags::of(&[Flag::Admin, Flag::Loading, Flag::Stale]),
        since: "2.2.12",
        complexity: "O(N) with N entries",
        summary: "Empties the slow log.",
        examples: &["SLOWLOG RESET => OK"],
        tips: &["request_policy:all_nodes", "response_policy:all_succeeded"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(reset),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};
const HELP: &[&str] = &[
    "GET [<count>]",
    "    Return the latest <count> entries (default: 10, all: -1), each with its",
    "    number, time, microseconds, words, address of the client and its name.",
    "LEN",
    "    Count the entries.",
    "RESET",
    "    Forget all entries.",
];

pub(super) const SLOWLOG_HELP: Entry = Entry {
    spec: CommandSpec {
        name: "slowlog|help",
        group: Group::Server,
        flags: Flags::of(&[Flag::Loading, Flag::Stale]),
        since: "6.2.0",
        complexity: "O(1)",
        summary: "Lists the subcommands of SLOWLOG.",
        examples: &["SLOWLOG HELP => (any)"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(|_, args, reply| help(args, HELP, reply)),
    ..Entry::DEFAULT
};

/// Entries that are returned when none are asked for in particular.
const COUNT_DEFAULT: usize = 10;

fn get(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let count = match args.len() {
        2 => COUNT_DEFAULT,
        3 => count(args.word(2))?,
        _ => return Err(wrong_subcommand(args)),
    };
    let entries = ctx.server.slow_log.latest(count);
    reply.array(entries.len());
    for entry in entries {
        reply.array(6);
        reply.integer(entry.id as i64);
        reply.integer(entry.unix_s as i64);
        reply.integer(entry.duration_us as i64);
        reply.array(entry.arguments.len());
        entry.arguments.iter().for_each(|argument| reply.bulk(argument));
        reply.bulk(entry.client_address.as_bytes());
        reply.bulk(&entry.client_name);
    }
    Ok(Flow::Done)
}

fn count(word: &[u8]) -> Result<usize, CommandError> {
    match parse_i64(word) {
        Some(-1) => Ok(usize::MAX),
        Some(count @ 0..) => Ok(usize::try_from(count).unwrap_or(usize::MAX)),
        _ => Err(CommandError::fixed("ERR count should be greater than or equal to -1")),
    }
}

fn len(ctx: &mut Context<'_>, _: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    reply.integer(ctx.server.slow_log.len() as i64);
    Ok(Flow::Done)
}

fn reset(ctx: &mut Context<'_>, _: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    ctx.server.slow_log.reset();
    reply.ok();
    Ok(Flow::Done)
}
