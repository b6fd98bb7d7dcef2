//! UNSUBSCRIBE, PUNSUBSCRIBE and SUNSUBSCRIBE.

use super::{SUBSCRIBING, Verb, confirmation, count_told};
use basalt_call::context::Context;
use basalt_call::entry::{Entry, HeldFn, Run, Traits};
use basalt_pubsub::Kind;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::session::{Flow, Session, SessionResult};
use basalt_spec::{CommandSpec, Group, KeyUse};

pub(super) const UNSUBSCRIBE: Entry = Entry {
    spec: CommandSpec {
        name: "unsubscribe",
        synopsis: "[channel [channel ...]]",
        group: Group::Pubsub,
        flags: SUBSCRIBING,
        since: "2.0.0",
        complexity: "O(N) with N channels, or all of the connection's",
        summary: "Ends subscriptions to channels, or to all of them.",
        examples: &[
            "UNSUBSCRIBE => [\"unsubscribe\", (nil), (integer) 0]",
            r#"UNSUBSCRIBE news => ["unsubscribe", "news", (integer) 0]"#,
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(unsubscribe),
    traits: ending(|session, words| held(session, words, Kind::Channel)),
    ..Entry::DEFAULT
};

pub(super) const PUNSUBSCRIBE: Entry = Entry {
    spec: CommandSpec {
        name: "punsubscribe",
        synopsis: "[pattern [pattern ...]]",
        group: Group::Pubsub,
        flags: SUBSCRIBING,
        since: "2.0.0",
        complexity: "O(N) with N patterns, or all of the connection's",
        summary: "Ends subscriptions to patterns, or to all of them.",
        examples: &["PUNSUBSCRIBE => [\"punsubscribe\", (nil), (integer) 0]"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(punsubscribe),
    traits: ending(|session, words| held(session, words, Kind::Pattern)),
    ..Entry::DEFAULT
};

pub(super) const SUNSUBSCRIBE: Entry = Entry {
    spec: CommandSpec {
        name: "sunsubscribe",
        synopsis: "[shardchannel [shardchannel ...]]",
        group: Group::Pubsub,
        flags: SUBSCRIBING,
        keys: &[KeyUse::CHANNEL],
        since: "7.0.0",
        complexity: "O(N) with N channels, or all of the connection's",
        summary: "Ends subscriptions to sharded channels, or to all of them.",
        examples: &["SUNSUBSCRIBE => [\"sunsubscribe\", (nil), (integer) 0]"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(sunsubscribe),
    traits: ending(|session, words| held(session, words, Kind::ShardChannel)),
    ..Entry::DEFAULT
};

/// Facts about a command that ends subscriptions; `held` tells how many a call ends.
const fn ending(held: HeldFn) -> Traits {
    Traits {
        is_about_connection: true,
        is_for_subscribers: true,
        works_on_held: Some(held),
        ..Traits::NONE
    }
}

/// How many subscriptions of this kind a call of `words` words ends that names none.
fn held(session: &Session, words: usize, kind: Kind) -> usize {
    let all = session.subscriptions.as_ref().map_or(0, |held| held.count(kind));
    if words > 1 { 0 } else { all }
}

fn unsubscribe(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    unsubscribe_from(ctx, args, reply, Kind::Channel)
}

fn punsubscribe(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    unsubscribe_from(ctx, args, reply, Kind::Pattern)
}

fn sunsubscribe(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    unsubscribe_from(ctx, args, reply, Kind::ShardChannel)
}

fn unsubscribe_from(
    ctx: &mut Context<'_>,
    args: &Args<'_>,
    reply: &mut Reply<'_>,
    kind: Kind,
) -> SessionResult {
    if args.len() > 1 {
        for name in args.from(1) {
            end(ctx, Some(name), reply, kind);
        }
    } else {
        let held = ctx.session.subscriptions.as_ref();
        let names = held.map(|held| held.names(kind)).unwrap_or_default();
        if names.is_empty() {
            end(ctx, None, reply, kind);
        }
        for name in &names {
            end(ctx, Some(name), reply, kind);
        }
    }
    ctx.session.subscriptions_changed();
    ctx.session.insists = true;
    Ok(Flow::Done)
}

/// Ends one subscription, if there is one, and confirms it in any case.
fn end(ctx: &mut Context<'_>, name: Option<&[u8]>, reply: &mut Reply<'_>, kind: Kind) {
    let mut held = ctx.session.subscriptions.as_mut();
    if let (Some(held), Some(name)) = (&mut held, name) {
        held.unsubscribe(&ctx.server.pubsub, kind, name);
    }
    reply.push(3);
    reply.bulk(confirmation(kind, Verb::Unsubscribe));
    match name {
        Some(name) => reply.bulk(name),
        None => reply.null(),
    }
    reply.integer(count_told(ctx.session.subscriptions.as_deref(), kind));
}
