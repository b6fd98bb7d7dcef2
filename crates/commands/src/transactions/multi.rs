//! MULTI, EXEC and DISCARD. What EXEC does is in `dispatch/exec.rs`.

use super::ALWAYS_ALLOWED;
use basalt_call::context::Context;
use basalt_call::entry::{Entry, Run, Traits};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_service::session::{Flow, SessionResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group};

pub(super) const MULTI: Entry = Entry {
    spec: CommandSpec {
        name: "multi",
        group: Group::Transactions,
        flags: ALWAYS_ALLOWED,
        since: "1.2.0",
        complexity: "O(1)",
        summary: "Begins a transaction: the commands that follow are queued until EXEC.",
        examples: &[
            "MULTI => OK",
            "SET k v => QUEUED",
            "MULTI => (error) ERR MULTI calls can not be nested",
            "EXEC => [OK]",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(multi),
    traits: Traits { is_about_connection: true, runs_in_multi: true, ..Traits::NONE },
    ..Entry::DEFAULT
};

pub(super) const EXEC: Entry = Entry {
    spec: CommandSpec {
        name: "exec",
        group: Group::Transactions,
        flags: Flags::of(&[Flag::Noscript, Flag::Loading, Flag::Stale, Flag::SkipSlowlog]),
        since: "1.2.0",
        complexity: "Depends on the commands of the transaction",
        summary: "Runs the queued commands as one, or none of them if a watched key has changed.",
        examples: &[
            "EXEC => (error) ERR EXEC without MULTI",
            "MULTI => OK",
            "INCR n => QUEUED",
            "INCRBY n 4 => QUEUED",
            "EXEC => [(integer) 1, (integer) 5]",
            "MULTI => OK",
            "INCR => (error) ERR wrong number of arguments for 'incr' command",
            "EXEC => (error) EXECABORT Transaction discarded because of previous errors.",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Exec,
    traits: Traits { is_about_connection: true, runs_in_multi: true, ..Traits::NONE },
    ..Entry::DEFAULT
};

pub(super) const DISCARD: Entry = Entry {
    spec: CommandSpec {
        name: "discard",
        group: Group::Transactions,
        flags: ALWAYS_ALLOWED,
        since: "2.0.0",
        complexity: "O(N) with N queued commands and watched keys",
        summary: "Forgets the queued commands and the watched keys.",
        examples: &[
            "DISCARD => (error) ERR DISCARD without MULTI",
            "MULTI => OK",
            "SET k v => QUEUED",
            "DISCARD => OK",
            "EXISTS k => (integer) 0",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(discard),
    traits: Traits { is_about_connection: true, runs_in_multi: true, ..Traits::NONE },
    ..Entry::DEFAULT
};

fn multi(ctx: &mut Context<'_>, _: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    if ctx.session.is_queueing() {
        return Err(CommandError::fixed("ERR MULTI calls can not be nested"));
    }
    ctx.session.begin_transaction();
    reply.ok();
    Ok(Flow::Done)
}

fn discard(ctx: &mut Context<'_>, _: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    if !ctx.session.is_queueing() {
        return Err(CommandError::fixed("ERR DISCARD without MULTI"));
    }
    ctx.session.discard_transaction(&ctx.server.engine, ctx.lock_wait);
    reply.ok();
    Ok(Flow::Done)
}
