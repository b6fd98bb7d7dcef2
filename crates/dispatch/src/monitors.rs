//! What clients that have said MONITOR are told: each command that runs, one line each.
//!
//! While somebody monitors, that is [unusual](basalt_service::unusual): no command takes a short
//! way, and every command comes by here before it runs. While nobody does, nothing is asked.
//! Commands of transactions and scripts are told with what these publish, when that is known to
//! happen.

use super::dispatcher::Dispatcher;
use super::publication::Publication;
use super::redact::redact;
use super::request::Request;
use super::worker::Worker;
use basalt_call::entry::Run;
use basalt_pubsub::{Kind, WhenFull};
use basalt_service::args::Args;
use basalt_service::push::Push;
use basalt_service::session::Session;
use basalt_spec::{CommandId, Flag};
use std::io::Write;

/// What a line has room for before its words, and for each word besides its bytes.
const HEAD_BYTES: usize = 64;
const WORD_BYTES: usize = 3;

/// The sender of a command.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sender {
    /// The client.
    Client,
    /// A script that it has called.
    Script,
}

/// Tells of a command that is about to run, unless it has been told of: it may run again.
#[cold]
pub(super) fn tell(request: &Request<'_>, worker: &mut Worker, session: &mut Session) {
    let is_queued = session.is_queueing() && !request.traits().runs_in_multi;
    let is_last = matches!(request.call.run, Run::Exec);
    if !has_any(request.server) || session.has_told_monitors || is_queued || is_last {
        return;
    }
    session.has_told_monitors = true;
    let (server, args) = (request.server, request.args(&[]));
    if is_shown(server, request.id) {
        send(server, worker, line(server, session, (request.id, &args), Sender::Client));
    }
}

/// A command has run, or will not: the next one is told of. A transaction comes after its commands.
#[cold]
pub(super) fn end(
    server: &Dispatcher,
    (id, args): (CommandId, &Args<'_>),
    worker: &mut Worker,
    session: &mut Session,
) {
    session.has_told_monitors = false;
    if matches!(server.commands.call(id).run, Run::Exec) && has_any(server) {
        send(server, worker, line(server, session, (id, args), Sender::Client));
    }
}

/// A command of a transaction or a script, as something to be published with the rest.
#[cold]
pub(super) fn publication(
    server: &Dispatcher,
    session: &Session,
    (id, args): (CommandId, &Args<'_>),
    sender: Sender,
) -> Option<Publication> {
    let is_told = has_any(server) && is_shown(server, id);
    is_told.then(|| Publication {
        kind: Kind::Monitor,
        channel: Vec::new(),
        payload: line(server, session, (id, args), sender),
    })
}

/// Whether somebody monitors.
pub(super) fn has_any(server: &Dispatcher) -> bool {
    server.pubsub.count(Kind::Monitor) > 0
}

/// Whether a command is shown: not those for operators. Scripts and transactions are, though their
/// flags say otherwise: that is about the order.
fn is_shown(server: &Dispatcher, id: CommandId) -> bool {
    let flags = server.commands.table.command(id).flags;
    let is_several = matches!(server.commands.call(id).run, Run::Script(_));
    !flags.has(Flag::Admin) && (is_several || !flags.has(Flag::SkipMonitor))
}

fn send(server: &Dispatcher, worker: &mut Worker, line: Vec<u8>) {
    // What has happened cannot wait for a reader; one that is slow has its limit.
    let _ = server.pubsub.publish(
        &mut worker.outbox,
        Kind::Monitor,
        b"",
        WhenFull::Exceed,
        &mut |_| Push::line(&line),
    );
}

/// `1700000000.123456 [0 127.0.0.1:50000] "set" "k" "v"`
fn line(
    server: &Dispatcher,
    session: &Session,
    (id, args): (CommandId, &Args<'_>),
    sender: Sender,
) -> Vec<u8> {
    let now_us = server.engine.clock().unix_us();
    let (seconds, micros) = (now_us / 1_000_000, now_us % 1_000_000);
    let bytes: usize = args.from(0).map(|word| word.len() + WORD_BYTES).sum();
    let mut line = Vec::with_capacity(HEAD_BYTES + bytes);
    // A vector takes what it is given.
    let _ = write!(line, "{seconds}.{micros:06} [{} ", session.db);
    let client = &session.client;
    match (sender, client.is_unix()) {
        (Sender::Script, _) => line.extend_from_slice(b"lua"),
        (Sender::Client, true) => {
            line.extend_from_slice(b"unix:");
            line.extend_from_slice(client.address.trim_end_matches(":0").as_bytes());
        }
        (Sender::Client, false) => line.extend_from_slice(client.address.as_bytes()),
    }
    line.push(b']');
    for word in redact(server.commands.traits(id).secrets, args.from(0)) {
        line.push(b' ');
        quote(word, &mut line);
    }
    line
}

/// As Redis quotes words: what is not printable by its number.
fn quote(word: &[u8], line: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let is_special = |byte: &u8| !matches!(byte, b' '..=b'~') || matches!(byte, b'\\' | b'"');
    line.push(b'"');
    let mut rest = word;
    while let Some(place) = rest.iter().position(is_special) {
        line.extend_from_slice(&rest[..place]);
        match rest[place] {
            byte @ (b'\\' | b'"') => line.extend([b'\\', byte]),
            b'\n' => line.extend(b"\\n"),
            b'\r' => line.extend(b"\\r"),
            b'\t' => line.extend(b"\\t"),
            0x07 => line.extend(b"\\a"),
            0x08 => line.extend(b"\\b"),
            byte => {
                let [high, low] = [byte >> 4, byte & 15].map(|digit| DIGITS[usize::from(digit)]);
                line.extend([b'\\', b'x', high, low]);
            }
        }
        rest = &rest[place + 1..];
    }
    line.extend_from_slice(rest);
    line.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::quote;

    #[test]
    fn words_are_quoted_as_redis_quotes_them() {
        let mut line = Vec::new();
        quote(b"a \"b\"\\\n\r\t\x07\x08\x00\xff~", &mut line);
        assert_eq!(line, br#""a \"b\"\\\n\r\t\a\b\x00\xff~""#);
    }
}
