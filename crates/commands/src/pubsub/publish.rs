//! HOT PATH
//! PUBLISH and SPUBLISH.

use basalt_call::context::Context;
use basalt_call::entry::{Entry, Run, Traits};
use basalt_pubsub::{Congested, Kind, WhenFull};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::push::Push;
use basalt_service::session::{Flow, SessionResult};
use basalt_service::wait::Wait;
use basalt_spec::{ChannelUse, CommandSpec, Flag, Flags, Group, KeyUse};

const PUBLISHES: Flags =
    Flags::of(&[Flag::Pubsub, Flag::Loading, Flag::Stale, Flag::Fast, Flag::MayReplicate]);

pub(super) const PUBLISH: Entry = Entry {
    spec: CommandSpec {
        name: "publish",
        synopsis: "channel message",
        group: Group::Pubsub,
        channels: ChannelUse::First,
        flags: PUBLISHES,
        since: "2.0.0",
        complexity: "O(N+M) with N subscribers of the channel and M patterns",
        summary: "Sends a message to the subscribers of a channel and tells how many there are.",
        examples: &["PUBLISH news hello => (integer) 0"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(publish),
    traits: Traits { publishes: Some(Kind::Channel), ..Traits::NONE },
    ..Entry::DEFAULT
};

pub(super) const SPUBLISH: Entry = Entry {
    spec: CommandSpec {
        name: "spublish",
        synopsis: "shardchannel message",
        group: Group::Pubsub,
        channels: ChannelUse::First,
        flags: PUBLISHES,
        keys: &[KeyUse::CHANNEL],
        since: "7.0.0",
        complexity: "O(N) with N subscribers of the channel",
        summary: "Sends a message to the subscribers of a sharded channel and tells how many there are.",
        examples: &["SPUBLISH news hello => (integer) 0"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(spublish),
    traits: Traits { publishes: Some(Kind::ShardChannel), ..Traits::NONE },
    ..Entry::DEFAULT
};

fn publish(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    publish_to(ctx, args, reply, Kind::Channel)
}

fn spublish(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    publish_to(ctx, args, reply, Kind::ShardChannel)
}

fn publish_to(
    ctx: &mut Context<'_>,
    args: &Args<'_>,
    reply: &mut Reply<'_>,
    kind: Kind,
) -> SessionResult {
    let (channel, payload) = (args.word(1), args.word(2));
    let Context { server, session, outbox, .. } = ctx;
    let sent = server.pubsub.publish(outbox, kind, channel, WhenFull::Refuse, &mut |matched| {
        Push::new(kind, channel, payload, matched, session.gate_of_messages())
    });
    match sent {
        Ok(receivers) => reply.integer(receivers as i64),
        Err(Congested) => return Ok(Flow::Wait(Wait::Subscribers)),
    }
    Ok(Flow::Done)
}
