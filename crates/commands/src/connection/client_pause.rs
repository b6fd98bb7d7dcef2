//! CLIENT PAUSE, UNPAUSE and UNBLOCK.

use crate::number::integer;
use basalt_call::context::Context;
use basalt_call::entry::{Entry, Run};
use basalt_call::unknown::wrong_subcommand;
use basalt_number::parse_i64;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::clients::Unblocking;
use basalt_service::error::CommandError;
use basalt_service::pauses::Paused;
use basalt_service::session::{Flow, SessionResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, Kind, around, at};
use std::time::Duration;

pub(super) const CLIENT_PAUSE: Entry = Entry {
    spec: CommandSpec {
        name: "client|pause",
        synopsis: "timeout [WRITE | ALL]",
        group: Group::Connection,
        flags: Flags::of(&[Flag::Admin, Flag::Noscript, Flag::Loading, Flag::Stale]),
        overrides: &[
            at("timeout").kind(Kind::Integer),
            around("WRITE").named("mode").since("6.2.0"),
        ],
        since: "2.9.50",
        complexity: "O(1)",
        summary: "Has the commands of all clients wait for some milliseconds, or only those that \
                  change data.",
        examples: &[
            "CLIENT PAUSE 0 => OK",
            "CLIENT PAUSE x => (error) ERR timeout is not an integer or out of range",
            "CLIENT PAUSE -1 => (error) ERR timeout is negative",
            "CLIENT PAUSE 0 READ => (error) ERR CLIENT PAUSE mode must be WRITE or ALL",
        ],
        history: &[("6.2.0", "Options WRITE and ALL.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(pause),
    ..Entry::DEFAULT
};
pub(super) const CLIENT_UNPAUSE: Entry = Entry {
    spec: CommandSpec {
        name: "client|unpause",
        group: Group::Connection,
        flags: Flags::of(&[Flag::Admin, Flag::Noscript, Flag::Loading, Flag::Stale]),
        since: "6.2.0",
        complexity: "O(N) with N paused clients",
        summary: "Ends a pause. It waits itself if all commands are paused.",
        examples: &["CLIENT UNPAUSE => OK"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(unpause),
    ..Entry::DEFAULT
};
pub(super) const CLIENT_UNBLOCK: Entry = Entry {
    spec: CommandSpec {
        name: "client|unblock",
        synopsis: "client-id [TIMEOUT | ERROR]",
        group: Group::Connection,
        flags: Flags::of(&[Flag::Admin, Flag::Noscript, Flag::Loading, Flag::Stale]),
        overrides: &[at("client-id").kind(Kind::Integer), around("TIMEOUT").named("timeout_error")],
        since: "5.0.0",
        complexity: "O(log N) with N connections",
        summary: "Has a client stop waiting for keys, as if its time had passed or with an error.",
        examples: &[
            "CLIENT UNBLOCK 999999 => (integer) 0",
            "CLIENT UNBLOCK 999999 NOW => (error) ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR",
            "CLIENT UNBLOCK x => (error) ERR value is not an integer or out of range",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(unblock),
    ..Entry::DEFAULT
};

fn pause(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let scope = match args.len() {
        3 => Paused::All,
        4 if args.is(3, "write") => Paused::Writes,
        4 if args.is(3, "all") => Paused::All,
        4 => return Err(CommandError::fixed("ERR CLIENT PAUSE mode must be WRITE or ALL")),
        _ => return Err(wrong_subcommand(args)),
    };
    let time_ms = parse_i64(args.word(2))
        .ok_or(CommandError::fixed("ERR timeout is not an integer or out of range"))?;
    let time_ms =
        u64::try_from(time_ms).map_err(|_| CommandError::fixed("ERR timeout is negative"))?;
    let left = ctx.server.pauses.begin(scope, Duration::from_millis(time_ms));
    let left_ms = left.as_millis().try_into().unwrap_or(u64::MAX);
    // Nothing changes during a pause, not even by the passing of time.
    ctx.server.engine.pause_expiry(ctx.now_ms.saturating_add(left_ms));
    reply.ok();
    Ok(Flow::Done)
}

fn unpause(ctx: &mut Context<'_>, _: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    ctx.server.engine.pause_expiry(0);
    ctx.server.pauses.end();
    reply.ok();
    Ok(Flow::Done)
}

fn unblock(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    const REASON: CommandError =
        CommandError::fixed("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR");
    let how = match args.len() {
        3 => Unblocking::AsTimedOut,
        4 if args.is(3, "timeout") => Unblocking::AsTimedOut,
        4 if args.is(3, "error") => Unblocking::WithError,
        4 => return Err(REASON),
        _ => return Err(wrong_subcommand(args)),
    };
    let id = integer(args.word(2))?;
    let client = u64::try_from(id).ok().and_then(|id| ctx.server.clients.by_id(id));
    let waited = client.is_some_and(|client| client.unblock(how));
    reply.integer(waited.into());
    Ok(Flow::Done)
}
