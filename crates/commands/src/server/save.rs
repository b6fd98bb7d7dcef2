//! SAVE, BGSAVE and LASTSAVE, which here are checkpoints: the data is durable without them, in the
//! log, and afterwards it is also in the cold tier and the log is short.

use basalt_call::context::Context;
use basalt_call::entry::{Entry, Run, Traits};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_service::session::{Flow, SessionResult};
use basalt_service::wait::Wait;
use basalt_spec::{Categories, Category, CommandSpec, Flag, Flags, Group, at};

pub(super) const SAVE: Entry = Entry {
    spec: CommandSpec {
        name: "save",
        group: Group::Server,
        flags: Flags::of(&[Flag::Admin, Flag::Noscript, Flag::NoAsyncLoading, Flag::NoMulti]),
        since: "1.0.0",
        complexity: "O(N) with N keys",
        summary: "Makes everything durable before it answers.",
        examples: &["SAVE => OK"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(save),
    ..Entry::DEFAULT
};
pub(super) const BGSAVE: Entry = Entry {
    spec: CommandSpec {
        name: "bgsave",
        synopsis: "[SCHEDULE]",
        group: Group::Server,
        flags: Flags::of(&[Flag::Admin, Flag::Noscript, Flag::NoAsyncLoading]),
        overrides: &[at("SCHEDULE").since("3.2.2")],
        since: "1.0.0",
        complexity: "O(1)",
        summary: "Starts to make everything durable in the background.",
        examples: &[
            "BGSAVE => Background saving started",
            "BGSAVE MAYBE => (error) ERR syntax error",
        ],
        history: &[("3.2.2", "Option SCHEDULE.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(background_save),
    ..Entry::DEFAULT
};
pub(super) const LASTSAVE: Entry = Entry {
    spec: CommandSpec {
        name: "lastsave",
        group: Group::Server,
        flags: Flags::of(&[Flag::Loading, Flag::Stale, Flag::Fast]),
        acl: Some(Categories::of(&[Category::Admin, Category::Dangerous])),
        since: "1.0.0",
        complexity: "O(1)",
        summary: "Tells at which second since 1970 everything was last saved.",
        examples: &["LASTSAVE => (any)"],
        tips: &["nondeterministic_output"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(last_save),
    traits: Traits { is_harmless: true, ..Traits::NONE },
    ..Entry::DEFAULT
};

pub(super) const BGREWRITEAOF: Entry = Entry {
    spec: CommandSpec {
        name: "bgrewriteaof",
        group: Group::Server,
        flags: Flags::of(&[Flag::Admin, Flag::Noscript, Flag::NoAsyncLoading]),
        since: "1.0.0",
        complexity: "O(1)",
        summary: "Starts a checkpoint, which makes the journal short.",
        examples: &["BGREWRITEAOF => Background append only file rewriting started"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(rewrite_log),
    ..Entry::DEFAULT
};

fn save(_: &mut Context<'_>, _: &Args<'_>, _: &mut Reply<'_>) -> SessionResult {
    Ok(Flow::Wait(Wait::Checkpoint))
}

/// A checkpoint that is asked for while one runs is the next one: unlike a fork of Redis, it never
/// has to be refused.
fn background_save(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let is_scheduled = match args.len() {
        1 => false,
        2 if args.is(1, "schedule") => true,
        _ => return Err(CommandError::SYNTAX),
    };
    let engine = &ctx.server.engine;
    let is_running = engine.checkpoint_stats().running;
    // Why it failed, if it does, INFO tells.
    engine.request_checkpoint(Box::new(|_| ()));
    reply.simple(if is_running && is_scheduled {
        "Background saving scheduled"
    } else {
        "Background saving started"
    });
    Ok(Flow::Done)
}

fn last_save(ctx: &mut Context<'_>, _: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    reply.integer(ctx.server.last_save_s() as i64);
    Ok(Flow::Done)
}

fn rewrite_log(ctx: &mut Context<'_>, _: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    // Why it failed, if it does, INFO tells.
    ctx.server.engine.request_checkpoint(Box::new(|_| ()));
    reply.simple("Background append only file rewriting started");
    Ok(Flow::Done)
}
