//! FLUSHDB, FLUSHALL and SWAPDB: whole databases at once.

use super::database;
use basalt_call::context::Context;
use basalt_call::entry::{Entry, Run, Traits};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_service::session::{Flow, SessionResult};
use basalt_service::wait::Wait;
use basalt_spec::{Categories, Category, CommandSpec, Flag, Flags, Group, around, at};
use std::ops::Range;

pub(super) const FLUSHDB: Entry = Entry {
    spec: CommandSpec {
        name: "flushdb",
        synopsis: "[ASYNC | SYNC]",
        group: Group::Server,
        flags: Flags::of(&[Flag::Write]),
        acl: Some(Categories::of(&[Category::Dangerous, Category::Keyspace])),
        overrides: &[
            at("ASYNC").since("4.0.0"),
            at("SYNC").since("6.2.0"),
            around("ASYNC").named("async"),
        ],
        since: "1.0.0",
        complexity: "O(N) with N keys",
        summary: "Deletes all keys of the selected database.",
        examples: &[
            "SET k v => OK",
            "FLUSHDB => OK",
            "DBSIZE => (integer) 0",
            "FLUSHDB ASYNC => OK",
            "FLUSHDB NOW => (error) ERR syntax error",
        ],
        tips: &["request_policy:all_shards", "response_policy:all_succeeded"],
        history: &[("4.0.0", "Option ASYNC."), ("6.2.0", "Option SYNC.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(flushdb),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

pub(super) const FLUSHALL: Entry = Entry {
    spec: CommandSpec {
        name: "flushall",
        synopsis: "[ASYNC | SYNC]",
        group: Group::Server,
        flags: Flags::of(&[Flag::Write]),
        acl: Some(Categories::of(&[Category::Dangerous, Category::Keyspace])),
        overrides: &[
            at("ASYNC").since("4.0.0"),
            at("SYNC").since("6.2.0"),
            around("ASYNC").named("async"),
        ],
        since: "1.0.0",
        complexity: "O(N) with N keys",
        summary: "Deletes all keys of all databases.",
        examples: &[
            "SET k v => OK",
            "SELECT 1 => OK",
            "FLUSHALL SYNC => OK",
            "SELECT 0 => OK",
            "DBSIZE => (integer) 0",
        ],
        tips: &["request_policy:all_shards", "response_policy:all_succeeded"],
        history: &[("4.0.0", "Option ASYNC."), ("6.2.0", "Option SYNC.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(flushall),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

pub(super) const SWAPDB: Entry = Entry {
    spec: CommandSpec {
        name: "swapdb",
        synopsis: "index1 index2",
        group: Group::Server,
        flags: Flags::of(&[Flag::Write, Flag::Fast]),
        acl: Some(Categories::of(&[Category::Dangerous, Category::Keyspace])),
        since: "4.0.0",
        complexity: "O(N) with N clients that watch or wait for keys of either",
        summary: "Exchanges the contents of two databases.",
        examples: &[
            "SET k v => OK",
            "SWAPDB 0 1 => OK",
            "EXISTS k => (integer) 0",
            "SELECT 1 => OK",
            r#"GET k => "v""#,
            "SWAPDB x 1 => (error) ERR invalid first DB index",
            "SWAPDB 0 999999 => (error) ERR DB index is out of range",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(swapdb),
    traits: Traits { names_databases: true, ..Traits::NONE },
    ..Entry::DEFAULT
};

fn flushdb(context: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let db = context.session.db;
    flush(context, args, reply, db..db + 1)
}

fn flushall(context: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let databases = context.server.engine.databases();
    flush(context, args, reply, 0..databases)
}

/// ASYNC and SYNC make no difference: a flush takes the same short time whatever is flushed.
fn flush(
    context: &mut Context<'_>,
    args: &Args<'_>,
    reply: &mut Reply<'_>,
    databases: Range<u8>,
) -> SessionResult {
    let known = args.len() == 1 || args.len() == 2 && (args.is(1, "ASYNC") || args.is(1, "SYNC"));
    if !known {
        return Err(CommandError::SYNTAX);
    }
    if let Some(wait) = context.admit_change()? {
        return Ok(Flow::Wait(wait));
    }
    if let Err(held) = context.flush(databases) {
        return Ok(Flow::Wait(Wait::from(held)));
    }
    reply.ok();
    Ok(Flow::Done)
}

fn swapdb(context: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    const FIRST: CommandError = CommandError::fixed("ERR invalid first DB index");
    const SECOND: CommandError = CommandError::fixed("ERR invalid second DB index");
    let engine = &*context.server.engine;
    let number =
        |word| basalt_number::parse_i64(word).and_then(|number| i32::try_from(number).ok());
    // Both are numbers before either is looked for.
    let first = number(args.word(1)).ok_or(FIRST)?;
    let second = number(args.word(2)).ok_or(SECOND)?;
    let (db, other) = (database::numbered(first, engine)?, database::numbered(second, engine)?);
    if let Some(wait) = context.admit_change()? {
        return Ok(Flow::Wait(wait));
    }
    if db != other
        && let Err(held) = context.swap(db, other)
    {
        return Ok(Flow::Wait(Wait::from(held)));
    }
    reply.ok();
    Ok(Flow::Done)
}
