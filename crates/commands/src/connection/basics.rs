//! PING, ECHO, SELECT, QUIT, RESET.

use super::ALWAYS_ALLOWED;
use crate::number::integer;
use basalt_call::context::Context;
use basalt_call::entry::{Entry, Run, Traits};
use basalt_engine::Touch;
use basalt_resp::{Protocol, Reply};
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_service::session::{Flow, Replies, SessionResult};
use basalt_service::tracking::Partitions;
use basalt_spec::{CommandSpec, Flag, Flags, Group};
use std::sync::atomic::Ordering;

pub(super) const PING: Entry = Entry {
    spec: CommandSpec {
        name: "ping",
        synopsis: "[message]",
        group: Group::Connection,
        flags: Flags::of(&[Flag::Fast]),
        since: "1.0.0",
        complexity: "O(1)",
        summary: "Answers PONG, or with the message.",
        examples: &["PING => PONG", r#"PING hello => "hello""#],
        tips: &["request_policy:all_shards", "response_policy:all_succeeded"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(ping),
    traits: Traits { is_for_subscribers: true, ..Traits::NONE },
    ..Entry::DEFAULT
};
pub(super) const ECHO: Entry = Entry {
    spec: CommandSpec {
        name: "echo",
        synopsis: "message",
        group: Group::Connection,
        flags: Flags::of(&[Flag::Loading, Flag::Stale, Flag::Fast]),
        since: "1.0.0",
        complexity: "O(1)",
        summary: "Answers with the message.",
        examples: &[r#"ECHO "hello world" => "hello world""#],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(echo),
    ..Entry::DEFAULT
};
pub(super) const SELECT: Entry = Entry {
    spec: CommandSpec {
        name: "select",
        synopsis: "index",
        group: Group::Connection,
        flags: Flags::of(&[Flag::Loading, Flag::Stale, Flag::Fast]),
        since: "1.0.0",
        complexity: "O(1)",
        summary: "Selects the database that the connection works with.",
        examples: &[
            "SELECT 1 => OK",
            "SELECT 999999 => (error) ERR DB index is out of range",
            "SELECT x => (error) ERR value is not an integer or out of range",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(select),
    traits: Traits { is_about_connection: true, names_databases: true, ..Traits::NONE },
    ..Entry::DEFAULT
};
pub(super) const QUIT: Entry = Entry {
    spec: CommandSpec {
        name: "quit",
        group: Group::Connection,
        flags: ALWAYS_ALLOWED,
        arity: Some(-1),
        since: "1.0.0",
        complexity: "O(1)",
        summary: "Closes the connection after everything asked before has been answered.",
        examples: &["QUIT => OK"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(quit),
    traits: Traits {
        is_about_connection: true,
        runs_in_multi: true,
        is_for_subscribers: true,
        ..Traits::NONE
    },
    ..Entry::DEFAULT
};
pub(super) const RESET: Entry = Entry {
    spec: CommandSpec {
        name: "reset",
        group: Group::Connection,
        flags: ALWAYS_ALLOWED,
        since: "6.2.0",
        complexity: "O(1)",
        summary: "Makes the connection as it was when it was opened.",
        examples: &[
            "SELECT 1 => OK",
            "CLIENT SETNAME me => OK",
            "RESET => RESET",
            "CLIENT GETNAME => (nil)",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(reset),
    traits: Traits {
        is_about_connection: true,
        runs_in_multi: true,
        is_for_subscribers: true,
        works_on_held: Some(|session, _| session.subscriptions.as_ref().map_or(0, |it| it.len())),
        ..Traits::NONE
    },
    ..Entry::DEFAULT
};

fn ping(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    match args.len() {
        // A subscriber that speaks RESP2 has to tell it from a message.
        1 | 2 if ctx.session.has_channels() && reply.protocol() == Protocol::Resp2 => {
            reply.array(2);
            reply.bulk(b"pong");
            reply.bulk(args.opt(1).unwrap_or_default());
        }
        1 => reply.simple("PONG"),
        2 => reply.bulk(args.word(1)),
        _ => return Err(CommandError::wrong_arity("ping")),
    }
    Ok(Flow::Done)
}

fn echo(_: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    reply.bulk(args.word(1));
    Ok(Flow::Done)
}

fn select(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let number = i32::try_from(integer(args.word(1))?).map_err(|_| BEYOND_32_BITS)?;
    let db = u8::try_from(number).ok().filter(|db| *db < ctx.server.engine.databases());
    ctx.session.select(db.ok_or(CommandError::DB_OUT_OF_RANGE)?);
    reply.ok();
    Ok(Flow::Done)
}

const BEYOND_32_BITS: CommandError =
    CommandError::fixed("ERR value is out of range, value must between -2147483648 and 2147483647");

fn quit(_: &mut Context<'_>, _: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    reply.ok();
    Ok(Flow::Close)
}

fn reset(ctx: &mut Context<'_>, _: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let session = &mut *ctx.session;
    session.discard_transaction(&ctx.server.engine, ctx.lock_wait);
    session.monitoring = None;
    if let Some(held) = session.subscriptions.take() {
        let _ = held.leave().go_on(&ctx.server.pubsub, usize::MAX);
        session.subscriptions_changed();
    }
    ctx.server.trackers.stop(&ctx.server.engine, session, Partitions::Free(ctx.lock_wait));
    session.select(0);
    session.speak(Protocol::Resp2);
    session.log_in(ctx.server.access.rights_of_new_client(false));
    session.touch = Touch::Yes;
    if session.replies == Replies::Off {
        session.replies = Replies::On;
    }
    let client = &session.client;
    client.names.lock().name.clear();
    client.no_evict.store(false, Ordering::Relaxed);
    client.no_touch.store(false, Ordering::Relaxed);
    reply.set_protocol(Protocol::Resp2);
    reply.simple("RESET");
    Ok(Flow::Done)
}
