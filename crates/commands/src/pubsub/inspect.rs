//! PUBSUB: the subscribers of channels and patterns.

use crate::help::{container, help};
use basalt_call::context::Context;
use basalt_call::entry::{Entry, Run, Traits};
use basalt_call::unknown::wrong_subcommand;
use basalt_pubsub::Kind;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::session::{Flow, SessionResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, Subcommands};

pub(super) const PUBSUB: Entry = Entry {
    spec: CommandSpec {
        name: "pubsub",
        group: Group::Pubsub,
        subcommands: Subcommands::Required,
        since: "2.8.0",
        complexity: "Depends on the subcommand",
        summary: "The container of commands about subscriptions.",
        examples: &["PUBSUB nosuch => (error) ERR unknown subcommand 'nosuch'. Try PUBSUB HELP."],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(container),
    ..Entry::DEFAULT
};

const SUBCOMMAND: CommandSpec = CommandSpec {
    group: Group::Pubsub,
    flags: Flags::of(&[Flag::Pubsub, Flag::Loading, Flag::Stale]),
    since: "2.8.0",
    ..CommandSpec::DEFAULT
};

pub(super) const PUBSUB_CHANNELS: Entry = Entry {
    spec: CommandSpec {
        name: "pubsub|channels",
        synopsis: "[pattern]",
        complexity: "O(N) with N channels that have subscribers",
        summary: "Lists the channels that have subscribers, or those that fit a pattern.",
        examples: &["PUBSUB CHANNELS => []", "PUBSUB CHANNELS n* => []"],
        ..SUBCOMMAND
    },
    run: Run::Session(channels),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

pub(super) const PUBSUB_NUMPAT: Entry = Entry {
    spec: CommandSpec {
        name: "pubsub|numpat",
        complexity: "O(1)",
        summary: "Counts the patterns that have subscribers.",
        examples: &["PUBSUB NUMPAT => (integer) 0"],
        ..SUBCOMMAND
    },
    run: Run::Session(numpat),
    ..Entry::DEFAULT
};

pub(super) const PUBSUB_NUMSUB: Entry = Entry {
    spec: CommandSpec {
        name: "pubsub|numsub",
        synopsis: "[channel [channel ...]]",
        complexity: "O(N) with N channels",
        summary: "Counts the subscribers of channels, those through patterns not included.",
        examples: &[r#"PUBSUB NUMSUB news => ["news", (integer) 0]"#, "PUBSUB NUMSUB => []"],
        ..SUBCOMMAND
    },
    run: Run::Session(numsub),
    ..Entry::DEFAULT
};

pub(super) const PUBSUB_SHARDCHANNELS: Entry = Entry {
    spec: CommandSpec {
        name: "pubsub|shardchannels",
        synopsis: "[pattern]",
        since: "7.0.0",
        complexity: "O(N) with N sharded channels that have subscribers",
        summary: "Lists the sharded channels that have subscribers, or those that fit a pattern.",
        examples: &["PUBSUB SHARDCHANNELS => []"],
        ..SUBCOMMAND
    },
    run: Run::Session(shardchannels),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

pub(super) const PUBSUB_SHARDNUMSUB: Entry = Entry {
    spec: CommandSpec {
        name: "pubsub|shardnumsub",
        synopsis: "[shardchannel [shardchannel ...]]",
        since: "7.0.0",
        complexity: "O(N) with N channels",
        summary: "Counts the subscribers of sharded channels.",
        examples: &[r#"PUBSUB SHARDNUMSUB news => ["news", (integer) 0]"#],
        ..SUBCOMMAND
    },
    run: Run::Session(shardnumsub),
    ..Entry::DEFAULT
};

const HELP: &[&str] = &[
    "CHANNELS [<pattern>]",
    "    List the channels that have subscribers, or those that match <pattern>.",
    "NUMPAT",
    "    Count the patterns that have subscribers.",
    "NUMSUB [<channel> ...]",
    "    Count the subscribers of channels, without those by patterns.",
    "SHARDCHANNELS [<pattern>]",
    "    List the sharded channels that have subscribers, or those that match",
    "    <pattern>.",
    "SHARDNUMSUB [<shardchannel> ...]",
    "    Count the subscribers of sharded channels.",
];

pub(super) const PUBSUB_HELP: Entry = Entry {
    spec: CommandSpec {
        name: "pubsub|help",
        group: Group::Pubsub,
        flags: Flags::of(&[Flag::Loading, Flag::Stale]),
        since: "6.2.0",
        complexity: "O(1)",
        summary: "Lists the subcommands of PUBSUB.",
        examples: &["PUBSUB HELP => (any)"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(|_, args, reply| help(args, HELP, reply)),
    ..Entry::DEFAULT
};

fn channels(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    list(ctx, args, reply, Kind::Channel)
}

fn shardchannels(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    list(ctx, args, reply, Kind::ShardChannel)
}

fn list(
    ctx: &mut Context<'_>,
    args: &Args<'_>,
    reply: &mut Reply<'_>,
    kind: Kind,
) -> SessionResult {
    if args.len() > 3 {
        return Err(wrong_subcommand(args));
    }
    let names = ctx.server.pubsub.names(kind, args.opt(2));
    reply.array(names.len());
    names.iter().for_each(|name| reply.bulk(name));
    Ok(Flow::Done)
}

fn numpat(ctx: &mut Context<'_>, _: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    reply.integer(ctx.server.pubsub.count(Kind::Pattern) as i64);
    Ok(Flow::Done)
}

fn numsub(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    count(ctx, args, reply, Kind::Channel)
}

fn shardnumsub(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    count(ctx, args, reply, Kind::ShardChannel)
}

fn count(
    ctx: &mut Context<'_>,
    args: &Args<'_>,
    reply: &mut Reply<'_>,
    kind: Kind,
) -> SessionResult {
    // An array in both versions of the protocol.
    reply.array(args.from(2).len() * 2);
    for name in args.from(2) {
        reply.bulk(name);
        reply.integer(ctx.server.pubsub.subscribers(kind, name) as i64);
    }
    Ok(Flow::Done)
}
