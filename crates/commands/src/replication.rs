//! Replication's questions, answered as a primary without replicas answers them, and what would
//! make this server a replica or give it one, which is refused.

mod replica;
mod wait;

use basalt_call::context::Context;
use basalt_call::entry::{Entry, Run};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::session::{Flow, SessionResult};
use basalt_spec::{Categories, Category, CommandSpec, Flag, Flags, Group};

/// The family.
pub const COMMANDS: &[Entry] = &[
    ROLE,
    replica::FAILOVER,
    replica::PSYNC,
    replica::REPLCONF,
    replica::REPLICAOF,
    replica::SLAVEOF,
    replica::SYNC,
    wait::WAIT,
    wait::WAITAOF,
];

const ROLE: Entry = Entry {
    spec: CommandSpec {
        name: "role",
        group: Group::Server,
        flags: Flags::of(&[Flag::Noscript, Flag::Loading, Flag::Stale, Flag::Fast]),
        acl: Some(Categories::of(&[Category::Admin, Category::Dangerous])),
        since: "2.8.12",
        complexity: "O(1)",
        summary: "Tells whether this server is a primary or a replica, and of which servers.",
        examples: &["ROLE => [\"master\", (integer) 0, []]"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(role),
    ..Entry::DEFAULT
};

fn role(_: &mut Context<'_>, _: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    reply.array(3);
    reply.bulk(b"master");
    // Nothing is replicated: there is no offset to count.
    reply.integer(0);
    reply.array(0);
    Ok(Flow::Done)
}
