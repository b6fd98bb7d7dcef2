//! CLIENT LIST and CLIENT INFO.

use basalt_call::context::Context;
use basalt_call::entry::{Entry, Run};
use basalt_number::parse_i64;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::clients::{ClientHandle, ClientType};
use basalt_service::error::CommandError;
use basalt_service::session::{Flow, SessionResult};
use basalt_spec::{CommandSpec, CommandTable, Flag, Flags, Group, at};
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

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
        line(client, ctx.now_ms, &ctx.server.table, &mut text);
        text.push('\n');
    }
    text
}

/// All fields of Redis 7.2 in its order. What belongs to tracking is as for a connection that uses
/// none.
fn line(client: &ClientHandle, now_ms: u64, table: &CommandTable, text: &mut String) {
    let names = client.names.lock().clone();
    let name = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let seconds_since = |then_ms: u64| now_ms.saturating_sub(then_ms) / 1000;
    let subscriptions = |kind: usize| client.subscriptions[kind].load(Relaxed);
    let query_bytes = client.query_bytes.load(Relaxed);
    let output_bytes = client.output_bytes.load(Relaxed);
    let multi = client.queued_commands().map_or(-1, |count| count as i64);
    let multi_bytes = client.queued_bytes();
    let query_free = client.query_memory_bytes.load(Relaxed).saturating_sub(query_bytes);
    let output_memory = client.output_memory_bytes.load(Relaxed);
    let outputs = client.outputs.load(Relaxed);
    let total_bytes = size_of::<ClientHandle>() as u64 + client.buffer_bytes() + multi_bytes;
    let events = if output_bytes > 0 { "rw" } else { "r" };
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "id={} addr={} laddr={} fd={} name={} age={} idle={} flags={} db={} sub={} psub={} ssub={} \
         multi={multi} qbuf={query_bytes} qbuf-free={query_free} argv-mem=0 multi-mem={multi_bytes} rbs=0 rbp=0 \
         obl={output_bytes} oll={outputs} omem={output_memory} tot-mem={total_bytes} events={events} cmd={} \
         user=default redir=-1 resp={} lib-name={} lib-ver={}",
        client.id,
        client.address,
        client.local_address,
        client.fd,
        name(&names.name),
        seconds_since(client.connected_ms),
        seconds_since(client.active_ms.load(Relaxed)),
        flags(client),
        client.db.load(Relaxed),
        subscriptions(0),
        subscriptions(1),
        subscriptions(2),
        last_command(client, table),
        client.protocol.load(Relaxed),
        name(&names.lib_name),
        name(&names.lib_version),
    );
    if let Some(front) = client.front {
        let _ = write!(text, " front={front}");
    }
}

fn flags(client: &ClientHandle) -> String {
    let facts = [
        (client.is_monitor(), 'O'),
        (client.is_subscribed(), 'P'),
        (client.queued_commands().is_some(), 'x'),
        (client.parked.load(Relaxed), 'b'),
        (client.saw_change(), 'd'),
        (client.is_killed(), 'A'),
        (client.is_unix(), 'U'),
        (client.no_evict.load(Relaxed), 'e'),
        (client.no_touch.load(Relaxed), 'T'),
    ];
    let flags: String = facts.iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| flag).collect();
    if flags.is_empty() { "N".to_owned() } else { flags }
}

fn last_command(client: &ClientHandle, table: &CommandTable) -> &'static str {
    let command = client.last_command_index().and_then(|index| table.all().get(index));
    command.map_or("NULL", |command| command.spec.name)
}
