//! CLIENT REPLY, NO-EVICT and NO-TOUCH.

use basalt_call::context::Context;
use basalt_call::entry::{Entry, Run, Traits};
use basalt_engine::Touch;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_service::session::{Flow, Replies, SessionResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, around};
use std::sync::atomic::Ordering;

pub(super) const CLIENT_REPLY: Entry = Entry {
    spec: CommandSpec {
        name: "client|reply",
        synopsis: "<ON | OFF | SKIP>",
        group: Group::Connection,
        flags: Flags::of(&[Flag::Noscript, Flag::Loading, Flag::Stale]),
        since: "3.2.0",
        complexity: "O(1)",
        summary: "Switches the replies to this connection off and on.",
        examples: &["CLIENT REPLY ON => OK", "CLIENT REPLY MAYBE => (error) ERR syntax error"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(reply_mode),
    traits: Traits { is_about_connection: true, ..Traits::NONE },
    ..Entry::DEFAULT
};
pub(super) const CLIENT_NO_EVICT: Entry = Entry {
    spec: CommandSpec {
        name: "client|no-evict",
        synopsis: "<ON | OFF>",
        group: Group::Connection,
        flags: Flags::of(&[Flag::Admin, Flag::Noscript, Flag::Loading, Flag::Stale]),
        overrides: &[around("ON").named("enabled")],
        since: "7.0.0",
        complexity: "O(1)",
        summary: "Protects the connection from being closed when clients use too much memory.",
        examples: &[
            "CLIENT NO-EVICT ON => OK",
            "CLIENT NO-EVICT MAYBE => (error) ERR syntax error",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(no_evict),
    traits: Traits { is_about_connection: true, ..Traits::NONE },
    ..Entry::DEFAULT
};
pub(super) const CLIENT_NO_TOUCH: Entry = Entry {
    spec: CommandSpec {
        name: "client|no-touch",
        synopsis: "<ON | OFF>",
        group: Group::Connection,
        flags: Flags::of(&[Flag::Noscript, Flag::Loading, Flag::Stale]),
        overrides: &[around("ON").named("enabled")],
        since: "7.2.0",
        complexity: "O(1)",
        summary: "Makes the connection's commands leave no trace in when and how often keys were used.",
        examples: &[
            "CLIENT NO-TOUCH ON => OK",
            "CLIENT NO-TOUCH MAYBE => (error) ERR syntax error",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(no_touch),
    traits: Traits { is_about_connection: true, ..Traits::NONE },
    ..Entry::DEFAULT
};

/// OFF and SKIP are not answered, and what OFF switched off, SKIP leaves off.
fn reply_mode(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let replies = &mut ctx.session.replies;
    if args.is(2, "on") {
        *replies = Replies::On;
        reply.ok();
    } else if args.is(2, "off") {
        *replies = Replies::Off;
    } else if !args.is(2, "skip") {
        return Err(CommandError::SYNTAX);
    } else if *replies != Replies::Off {
        *replies = Replies::SkipNext;
    }
    Ok(Flow::Done)
}

fn no_evict(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    ctx.session.client.no_evict.store(on_or_off(args)?, Ordering::Relaxed);
    reply.ok();
    Ok(Flow::Done)
}

fn no_touch(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let is_on = on_or_off(args)?;
    ctx.session.touch = if is_on { Touch::No } else { Touch::Yes };
    ctx.session.client.no_touch.store(is_on, Ordering::Relaxed);
    reply.ok();
    Ok(Flow::Done)
}

fn on_or_off(args: &Args<'_>) -> Result<bool, CommandError> {
    if args.is(2, "on") {
        Ok(true)
    } else if args.is(2, "off") {
        Ok(false)
    } else {
        Err(CommandError::SYNTAX)
    }
}
