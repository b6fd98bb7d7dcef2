//! SUBSCRIBE, PSUBSCRIBE and SSUBSCRIBE.

use super::{SUBSCRIBING, Verb, confirmation, count_told};
use basalt_call::context::Context;
use basalt_call::entry::{Entry, Run, Traits};
use basalt_pubsub::{Kind, Subscriptions};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::session::{Flow, SessionResult};
use basalt_spec::{ChannelUse, CommandSpec, Group, KeyUse};

pub(super) const SUBSCRIBE: Entry = Entry {
    spec: CommandSpec {
        name: "subscribe",
        synopsis: "channel [channel ...]",
        group: Group::Pubsub,
        channels: ChannelUse::All,
        flags: SUBSCRIBING,
        since: "2.0.0",
        complexity: "O(N) with N channels",
        summary: "Has the connection get what is published to channels.",
        examples: &[r#"SUBSCRIBE news => ["subscribe", "news", (integer) 1]"#],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(subscribe),
    traits: Traits { is_about_connection: true, is_for_subscribers: true, ..Traits::NONE },
    ..Entry::DEFAULT
};

pub(super) const PSUBSCRIBE: Entry = Entry {
    spec: CommandSpec {
        name: "psubscribe",
        synopsis: "(pattern) [...]",
        group: Group::Pubsub,
        channels: ChannelUse::AllPatterns,
        flags: SUBSCRIBING,
        since: "2.0.0",
        complexity: "O(N) with N patterns; each pattern makes each PUBLISH dearer",
        summary: "Has the connection get what is published to channels that fit patterns.",
        examples: &[r#"PSUBSCRIBE news.* => ["psubscribe", "news.*", (integer) 1]"#],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(psubscribe),
    traits: Traits { is_about_connection: true, is_for_subscribers: true, ..Traits::NONE },
    ..Entry::DEFAULT
};

pub(super) const SSUBSCRIBE: Entry = Entry {
    spec: CommandSpec {
        name: "ssubscribe",
        synopsis: "shardchannel [shardchannel ...]",
        group: Group::Pubsub,
        channels: ChannelUse::All,
        flags: SUBSCRIBING,
        keys: &[KeyUse::CHANNEL],
        since: "7.0.0",
        complexity: "O(N) with N channels",
        summary: "Has the connection get what is published to sharded channels.",
        examples: &[r#"SSUBSCRIBE news => ["ssubscribe", "news", (integer) 1]"#],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(ssubscribe),
    traits: Traits { is_about_connection: true, is_for_subscribers: true, ..Traits::NONE },
    ..Entry::DEFAULT
};

fn subscribe(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    subscribe_to(ctx, args, reply, Kind::Channel)
}

fn psubscribe(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    subscribe_to(ctx, args, reply, Kind::Pattern)
}

fn ssubscribe(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    subscribe_to(ctx, args, reply, Kind::ShardChannel)
}

fn subscribe_to(
    ctx: &mut Context<'_>,
    args: &Args<'_>,
    reply: &mut Reply<'_>,
    kind: Kind,
) -> SessionResult {
    let session = &mut *ctx.session;
    let address = session.address;
    let held = session.subscriptions.get_or_insert_with(|| Box::new(Subscriptions::new(address)));
    for name in args.from(1) {
        held.subscribe(&ctx.server.pubsub, kind, name);
        reply.push(3);
        reply.bulk(confirmation(kind, Verb::Subscribe));
        reply.bulk(name);
        reply.integer(count_told(Some(held), kind));
    }
    session.subscriptions_changed();
    session.insists = true;
    Ok(Flow::Done)
}
