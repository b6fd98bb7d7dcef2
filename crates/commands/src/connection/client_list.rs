//! CLIENT LIST and CLIENT INFO.

use basalt_call::context::Context;
use basalt_call::entry::{Entry, Run, Traits};
use basalt_number::parse_i64;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::clients::{ClientHandle, ClientType};
use basalt_service::error::CommandError;
use basalt_service::session::{Flow, SessionResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, at};
use std::sync::Arc;

pub(super) const CLIENT_INFO: Entry = Entry {
    spec: CommandSpec {
        name: "client|info",
        group: Group::Connection,
        flags: Flags::of(&[Flag::Noscript, Flag::Loading, Flag::Stale]),
        since: "6.2.0",
        complexity: "O(1)",
        summary: "Describes the connection.",
        examples: &["CLIENT INFO => (any)"],
        tips: &["nondeterministic_output"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(info),
    ..Entry::DEFAULT
};
pub(super) const CLIENT_LIST: Entry = Entry {
    spec: CommandSpec {
        name: "client|list",
        synopsis: "[TYPE <NORMAL | MASTER | REPLICA | PUBSUB>] [ID (client-id [client-id \
               ...])]",
        group: Group::Connection,
        flags: Flags::of(&[Flag::Admin, Flag::Noscript, Flag::Loading, Flag::Stale]),
        overrides: &[at("TYPE").since("5.0.0"), at("ID").named("id").since("6.2.0")],
        since: "2.4.0",
        complexity: "O(N) with N connections",
        summary: "Describes all connections, or those of a type or with given numbers.",
        examples: &[
            "CLIENT LIST => (any)",
            "CLIENT LIST TYPE normal => (any)",
            "CLIENT LIST TYPE nosuch => (error) ERR Unknown client type 'nosuch'",
        ],
        tips: &["nondeterministic_output"],
        history: &[
            ("2.8.12", "The number of the connection."),
            ("5.0.0", "Option TYPE."),
            ("6.0.0", "The user."),
            ("6.2.0", "Option ID, memory, own address and redirection."),
            ("7.0.0", "The protocol and more memory."),
            ("7.0.3", "Sharded subscriptions."),
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(list),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

fn info(ctx: &mut Context<'_>, _: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let own = Arc::clone(&ctx.session.client);
    reply.verbatim(*b"txt", lines(ctx, &[own]).as_bytes());
    Ok(Flow::Done)
}

fn list(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let clients = &ctx.server.clients;
    let chosen = if args.len() == 4 && args.is(2, "type") {
        let wanted = ClientType::parse(args.word(3))?;
        clients.all().into_iter().filter(|client| client.client_type() == wanted).collect()
    } else if args.len() > 3 && args.is(2, "id") {
        let mut chosen = Vec::new();
        for word in args.from(3) {
            let id = parse_i64(word).ok_or(CommandError::fixed("ERR Invalid client ID"))?;
            chosen.extend(u64::try_from(id).ok().and_then(|id| clients.by_id(id)));
        }
        chosen
    } else if args.len() == 2 {
        clients.all()
    } else {
        return Err(CommandError::SYNTAX);
    };
    reply.verbatim(*b"txt", lines(ctx, &chosen).as_bytes());
    Ok(Flow::Done)
}

fn lines(ctx: &Context<'_>, clients: &[Arc<ClientHandle>]) -> String {
    const LINE_BYTES: usize = 360;
    let mut text = String::with_capacity(clients.len() * LINE_BYTES);
    for client in clients {
        let tracker = ctx.server.trackers.by_id(client.id);
        client.describe(tracker.as_deref(), (ctx.now_ms, &ctx.server.table), &mut text);
        text.push('\n');
    }
    text
}
