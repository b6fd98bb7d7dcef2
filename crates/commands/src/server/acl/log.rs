//! ACL LOG.

use super::facts::OF_OPERATORS;
use basalt_acl::LogEntry;
use basalt_call::context::Context;
use basalt_call::entry::{Entry, Run};
use basalt_number::parse_i64;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_service::session::{Flow, SessionResult};
use basalt_spec::{CommandSpec, Group, around};

pub(in super::super) const ACL_LOG: Entry = Entry {
    spec: CommandSpec {
        name: "acl|log",
        synopsis: "[count | RESET]",
        group: Group::Server,
        flags: OF_OPERATORS,
        overrides: &[around("RESET").named("operation")],
        since: "6.0.0",
        complexity: "O(N) with N entries returned",
        summary: "Returns the latest denials, or forgets them.",
        examples: &["ACL LOG RESET => OK", "ACL LOG => []", "ACL LOG 5 => []"],
        history: &[("7.2.0", "The number of an entry and the times of its first and last event.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(log),
    ..Entry::DEFAULT
};

/// Entries that are shown if no number is given.
const ENTRIES: i64 = 10;

fn log(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let count = match args.len() {
        2 => ENTRIES,
        3 if args.is(2, "reset") => {
            ctx.server.access.clear_log();
            reply.ok();
            return Ok(Flow::Done);
        }
        3 => parse_i64(args.word(2)).ok_or(CommandError::NOT_INTEGER)?,
        _ => return Err(basalt_call::unknown::wrong_subcommand(args)),
    };
    let entries = ctx.server.access.log_entries(usize::try_from(count).unwrap_or(0));
    reply.array(entries.len());
    entries.iter().for_each(|entry| show(entry, ctx.now_ms, reply));
    Ok(Flow::Done)
}

fn show(entry: &LogEntry, now_ms: u64, reply: &mut Reply<'_>) {
    let latest = &entry.latest;
    reply.map(10);
    reply.bulk(b"count");
    reply.integer(entry.count as i64);
    for (name, text) in [
        (&b"reason"[..], latest.reason.word().as_bytes()),
        (b"context", latest.context.word().as_bytes()),
        (b"object", &latest.object),
        (b"username", &latest.username),
    ] {
        reply.bulk(name);
        reply.bulk(text);
    }
    reply.bulk(b"age-seconds");
    reply.double(now_ms.saturating_sub(latest.now_ms) as f64 / 1000.0);
    reply.bulk(b"client-info");
    reply.bulk(latest.client.as_bytes());
    for (name, number) in [
        (&b"entry-id"[..], entry.id),
        (b"timestamp-created", entry.created_ms),
        (b"timestamp-last-updated", latest.now_ms),
    ] {
        reply.bulk(name);
        reply.integer(number as i64);
    }
}
