//! WATCH and UNWATCH.

use super::ALWAYS_ALLOWED;
use basalt_call::context::Context;
use basalt_call::entry::{Entry, Run, Traits};
use basalt_engine::Key;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_service::session::{Flow, SessionResult};
use basalt_service::wait::Wait;
use basalt_spec::{CommandSpec, Group, KeyUse};

pub(super) const WATCH: Entry = Entry {
    spec: CommandSpec {
        name: "watch",
        synopsis: "key [key ...]",
        group: Group::Transactions,
        flags: ALWAYS_ALLOWED,
        keys: &[KeyUse::INSPECT],
        since: "2.2.0",
        complexity: "O(N log N) with N keys",
        summary: "Has the next EXEC do nothing if one of the keys changes or expires before it.",
        examples: &[
            "WATCH k => OK",
            "SET k 1 => OK",
            "MULTI => OK",
            "SET k 2 => QUEUED",
            "WATCH k => (error) ERR WATCH inside MULTI is not allowed",
            "EXEC => (nil)",
            r#"GET k => "1""#,
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(watch),
    traits: Traits { is_about_connection: true, runs_in_multi: true, ..Traits::NONE },
    ..Entry::DEFAULT
};

pub(super) const UNWATCH: Entry = Entry {
    spec: CommandSpec {
        name: "unwatch",
        group: Group::Transactions,
        flags: ALWAYS_ALLOWED,
        since: "2.2.0",
        complexity: "O(N) with N watched keys",
        summary: "Watches no key any more.",
        examples: &["WATCH k => OK", "SET k 1 => OK", "UNWATCH => OK", "MULTI => OK", "EXEC => []"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(unwatch),
    traits: Traits { is_about_connection: true, ..Traits::NONE },
    ..Entry::DEFAULT
};

fn watch(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    if ctx.session.is_queueing() {
        return Err(CommandError::fixed("ERR WATCH inside MULTI is not allowed"));
    }
    let engine = &*ctx.server.engine;
    let db = ctx.session.db;
    let keys: Vec<Key<'_>> = args.from(1).map(|word| engine.key(word)).collect();
    engine.help_unwatch(2 * keys.len());
    let Some(mut locked) = engine.lock_within(&keys, ctx.lock_wait) else {
        return Ok(Flow::Wait(Wait::Held));
    };
    // Whether a key exists, and when it expires, must be known from the start.
    if let Some(missing) = engine.missing(&mut locked, db, &keys) {
        return Ok(Flow::Wait(Wait::Keys(missing)));
    }
    let watching = ctx.session.watching.get_or_insert_default();
    for key in &keys {
        engine.watch(&mut locked, watching, key, db, ctx.now_ms);
    }
    drop(locked);
    ctx.session.show_watching();
    reply.ok();
    Ok(Flow::Done)
}

fn unwatch(ctx: &mut Context<'_>, _: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    // In a transaction nothing is watched any more, and partitions are held.
    ctx.session.unwatch(&ctx.server.engine, ctx.lock_wait);
    reply.ok();
    Ok(Flow::Done)
}
