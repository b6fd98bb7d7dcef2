//! CLIENT with its small subcommands.

use crate::help::{container, help};
use basalt_call::context::Context;
use basalt_call::entry::{Entry, Run};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::session::{Flow, SessionResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, Subcommands};

pub(super) const CLIENT: Entry = Entry {
    spec: CommandSpec {
        name: "client",
        group: Group::Connection,
        subcommands: Subcommands::Required,
        since: "2.4.0",
        complexity: "Depends on the subcommand",
        summary: "The container of commands about connections.",
        examples: &[
            "CLIENT => (error) ERR wrong number of arguments for 'client' command",
            "CLIENT nosuch => (error) ERR unknown subcommand 'nosuch'. Try CLIENT HELP.",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(container),
    ..Entry::DEFAULT
};
pub(super) const CLIENT_ID: Entry = Entry {
    spec: CommandSpec {
        name: "client|id",
        group: Group::Connection,
        flags: Flags::of(&[Flag::Noscript, Flag::Loading, Flag::Stale]),
        since: "5.0.0",
        complexity: "O(1)",
        summary: "Returns the number of the connection, which is never used again.",
        examples: &["CLIENT ID => (any)"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(id),
    ..Entry::DEFAULT
};
pub(super) const CLIENT_HELP: Entry = Entry {
    spec: CommandSpec {
        name: "client|help",
        group: Group::Connection,
        flags: Flags::of(&[Flag::Loading, Flag::Stale]),
        since: "5.0.0",
        complexity: "O(1)",
        summary: "Lists the subcommands of CLIENT.",
        examples: &["CLIENT HELP => (any)"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(help),
    ..Entry::DEFAULT
};

fn id(ctx: &mut Context<'_>, _: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    reply.integer(ctx.session.client.id as i64);
    Ok(Flow::Done)
}
