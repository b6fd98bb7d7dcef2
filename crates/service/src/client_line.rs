//! A client as CLIENT LIST shows it.

use crate::clients::ClientHandle;
use crate::tracking::{Scope, Tracker, redirection_of};
use basalt_spec::CommandTable;
use std::fmt::Write;
use std::sync::atomic::Ordering::Relaxed;

impl ClientHandle {
    /// Appends what CLIENT LIST shows: all fields of Redis 7.2 in its order.
    pub fn describe(
        &self,
        tracker: Option<&Tracker>,
        (now_ms, table): (u64, &CommandTable),
        text: &mut String,
    ) {
        let client = self;
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
         user={} redir={} resp={} lib-name={} lib-ver={}",
            client.id,
            client.address,
            client.local_address,
            client.fd,
            name(&names.name),
            seconds_since(client.connected_ms),
            seconds_since(client.active_ms.load(Relaxed)),
            flags(client, tracker),
            client.db.load(Relaxed),
            subscriptions(0),
            subscriptions(1),
            subscriptions(2),
            last_command(client, table),
            name(&client.user()),
            redirection_of(tracker),
            client.protocol.load(Relaxed),
            name(&names.lib_name),
            name(&names.lib_version),
        );
        if let Some(front) = client.front {
            let _ = write!(text, " front={front}");
        }
    }
}

fn flags(client: &ClientHandle, tracker: Option<&Tracker>) -> String {
    let broadcasts = |it: &Tracker| matches!(it.scope, Scope::Broadcast(_));
    let facts = [
        (client.is_monitor(), 'O'),
        (client.is_subscribed(), 'P'),
        (client.queued_commands().is_some(), 'x'),
        (client.parked.load(Relaxed), 'b'),
        (tracker.is_some(), 't'),
        (tracker.is_some_and(Tracker::is_broken), 'R'),
        (tracker.is_some_and(broadcasts), 'B'),
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
