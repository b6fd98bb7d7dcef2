//! What would make this server a replica, or another one its replica.

use crate::number::integer;
use basalt_call::context::Context;
use basalt_call::entry::{Entry, Run};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_service::session::{Flow, SessionResult};
use basalt_spec::{Audience, CommandSpec, Deprecated, Flag, Flags, Group, around};

pub(super) const REPLICAOF: Entry = Entry {
    spec: CommandSpec {
        name: "replicaof",
        synopsis: "<host port | NO ONE>",
        group: Group::Server,
        flags: Flags::of(&[Flag::Admin, Flag::Noscript, Flag::Stale, Flag::NoAsyncLoading]),
        overrides: &[
            around("host").named("host-port"),
            around("NO").named("no-one"),
            around("host-port").named("args"),
        ],
        since: "5.0.0",
        complexity: "O(1)",
        summary: "Makes the server a replica of another, which this one does not offer; NO ONE makes it a primary, which it is.",
        examples: &[
            "REPLICAOF NO ONE => OK",
            "REPLICAOF 127.0.0.1 6379 => (error) ERR replication is not supported by this server",
            "REPLICAOF 127.0.0.1 x => (error) ERR Invalid master port",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(replica_of),
    ..Entry::DEFAULT
};
pub(super) const SLAVEOF: Entry = Entry {
    spec: CommandSpec {
        name: "slaveof",
        synopsis: "<host port | NO ONE>",
        group: Group::Server,
        flags: Flags::of(&[Flag::Admin, Flag::Noscript, Flag::Stale, Flag::NoAsyncLoading]),
        overrides: &[
            around("host").named("host-port"),
            around("NO").named("no-one"),
            around("host-port").named("args"),
        ],
        since: "1.0.0",
        complexity: "O(1)",
        summary: "Does as REPLICAOF.",
        examples: &[
            "SLAVEOF NO ONE => OK",
            "SLAVEOF 127.0.0.1 6379 => (error) ERR replication is not supported by this server",
        ],
        deprecated: Some(Deprecated { since: "5.0.0", replaced_by: "REPLICAOF" }),
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(replica_of),
    ..Entry::DEFAULT
};
pub(super) const FAILOVER: Entry = Entry {
    spec: CommandSpec {
        name: "failover",
        synopsis: "[TO host port [FORCE]] [ABORT] [TIMEOUT milliseconds]",
        group: Group::Server,
        flags: Flags::of(&[Flag::Admin, Flag::Noscript, Flag::Stale]),
        since: "6.2.0",
        complexity: "O(1)",
        summary: "Hands over to a replica, of which there is none.",
        examples: &[
            "FAILOVER => (error) ERR FAILOVER requires connected replicas.",
            "FAILOVER ABORT => (error) ERR No failover in progress.",
            "FAILOVER TIMEOUT 0 => (error) ERR FAILOVER timeout must be greater than 0",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(failover),
    ..Entry::DEFAULT
};
pub(super) const REPLCONF: Entry = Entry {
    spec: CommandSpec {
        name: "replconf",
        group: Group::Server,
        flags: Flags::of(&[
            Flag::Admin,
            Flag::Noscript,
            Flag::Loading,
            Flag::Stale,
            Flag::AllowBusy,
        ]),
        arity: Some(-1),
        since: "3.0.0",
        complexity: "O(1)",
        summary: "Configures replication, which this server does not offer.",
        examples: &["REPLCONF capa eof => (error) ERR replication is not supported by this server"],
        audience: Audience::System,
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(refused),
    ..Entry::DEFAULT
};
pub(super) const PSYNC: Entry = Entry {
    spec: CommandSpec {
        name: "psync",
        synopsis: "replicationid offset",
        group: Group::Server,
        flags: Flags::of(&[Flag::Admin, Flag::Noscript, Flag::NoAsyncLoading, Flag::NoMulti]),
        arity: Some(-3),
        since: "2.8.0",
        complexity: "O(1)",
        summary: "Begins to replicate from an offset, which this server does not offer.",
        examples: &["PSYNC ? -1 => (error) ERR replication is not supported by this server"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(refused),
    ..Entry::DEFAULT
};
pub(super) const SYNC: Entry = Entry {
    spec: CommandSpec {
        name: "sync",
        group: Group::Server,
        flags: Flags::of(&[Flag::Admin, Flag::Noscript, Flag::NoAsyncLoading, Flag::NoMulti]),
        since: "1.0.0",
        complexity: "O(1)",
        summary: "Begins to replicate, which this server does not offer.",
        examples: &["SYNC => (error) ERR replication is not supported by this server"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(refused),
    ..Entry::DEFAULT
};

const REFUSED: CommandError =
    CommandError::fixed("ERR replication is not supported by this server");

fn refused(_: &mut Context<'_>, _: &Args<'_>, _: &mut Reply<'_>) -> SessionResult {
    Err(REFUSED)
}

fn replica_of(_: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    if args.is(1, "no") && args.is(2, "one") {
        reply.ok();
        return Ok(Flow::Done);
    }
    let port = integer(args.word(2)).ok().filter(|port| (0..=65_535).contains(port));
    Err(port.map_or(CommandError::fixed("ERR Invalid master port"), |_| REFUSED))
}

/// Reads its options as Redis does, and then finds no replica.
fn failover(_: &mut Context<'_>, args: &Args<'_>, _: &mut Reply<'_>) -> SessionResult {
    const TIMEOUT: CommandError =
        CommandError::fixed("ERR FAILOVER timeout must be greater than 0");
    let (mut at, mut has_timeout, mut has_target, mut is_forced) = (1, false, false, false);
    while at < args.len() {
        if args.is(at, "timeout") && at + 1 < args.len() && !has_timeout {
            if integer(args.word(at + 1))? <= 0 {
                return Err(TIMEOUT);
            }
            has_timeout = true;
            at += 1;
        } else if args.is(at, "abort") && args.len() == 2 {
            return Err(CommandError::fixed("ERR No failover in progress."));
        } else if args.is(at, "to") && at + 2 < args.len() && !has_target {
            integer(args.word(at + 2))?;
            has_target = true;
            at += 2;
        } else if args.is(at, "force") && !is_forced {
            is_forced = true;
        } else {
            return Err(CommandError::SYNTAX);
        }
        at += 1;
    }
    Err(CommandError::fixed("ERR FAILOVER requires connected replicas."))
}
