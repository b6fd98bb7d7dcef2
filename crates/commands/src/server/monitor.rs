//! MONITOR: a client sees what all clients do.

use basalt_call::context::Context;
use basalt_call::entry::{Entry, Run, Traits};
use basalt_pubsub::{Kind, Subscriptions};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_service::session::{Flow, SessionResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group};

pub(super) const MONITOR: Entry = Entry {
    spec: CommandSpec {
        name: "monitor",
        group: Group::Server,
        flags: Flags::of(&[Flag::Admin, Flag::Noscript, Flag::Loading, Flag::Stale]),
        since: "1.0.0",
        complexity: "O(N) with N clients that monitor, for each command",
        summary: "Has the connection get a line for each command that any client runs, until RESET.",
        examples: &["MONITOR => OK"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(monitor),
    traits: Traits { is_about_connection: true, ..Traits::NONE },
    ..Entry::DEFAULT
};

/// A client that monitors is a subscriber of everything that is done: what it is owed is bounded as
/// what subscribers are owed (`client-output-buffer-limit`).
fn monitor(ctx: &mut Context<'_>, _: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    if !ctx.runs_alone {
        return Err(CommandError::fixed("ERR MONITOR isn't allowed for DENY BLOCKING client"));
    }
    let server = ctx.server;
    let session = &mut *ctx.session;
    let address = session.address;
    let held = session.subscriptions.get_or_insert_with(|| Box::new(Subscriptions::new(address)));
    held.subscribe(&server.pubsub, Kind::Monitor, b"");
    session.monitoring.get_or_insert_with(|| server.unusual.raise_told());
    session.subscriptions_changed();
    reply.ok();
    Ok(Flow::Done)
}
