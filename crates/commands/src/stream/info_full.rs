//! XINFO STREAM with FULL: everything about a stream, or the beginning of everything.

use super::info::{about, field, known};
use super::{limit, reply_entries, reply_id};
use crate::number::integer;
use basalt_call::unknown::wrong_subcommand;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_value::stream::{Consumer, EntryId, Group, Stream};

/// How many entries are shown if nothing else is said.
const COUNT: u64 = 10;

/// How many entries are to be shown, inner `None` for all, if FULL is asked for.
pub(super) fn parse(args: &Args<'_>) -> Result<Option<Option<u64>>, CommandError> {
    if args.len() == 3 {
        return Ok(None);
    }
    if !args.is(3, "full") {
        return Err(wrong_subcommand(args));
    }
    let count = match args.len() {
        4 => COUNT,
        6 if args.is(4, "count") => u64::try_from(integer(args.word(5))?).unwrap_or(COUNT),
        _ => return Err(wrong_subcommand(args)),
    };
    Ok(Some((count > 0).then_some(count)))
}

/// Replies with all that there is.
pub(super) fn full(stream: &Stream, count_max: Option<u64>, reply: &mut Reply<'_>) {
    reply.map(9);
    about(stream, reply);
    field("entries", reply);
    reply_entries(stream.entries(EntryId::MIN, EntryId::MAX), count_max, reply);
    field("groups", reply);
    reply.array(stream.group_count());
    for (name, group) in stream.groups() {
        reply.map(7);
        field("name", reply);
        reply.bulk(name);
        field("last-delivered-id", reply);
        reply_id(group.last_id(), reply);
        field("entries-read", reply);
        known(group.entries_read(), reply);
        field("lag", reply);
        known(stream.lag(group), reply);
        field("pel-count", reply);
        reply.integer(group.pending_count() as i64);
        pending(group, count_max, reply);
        field("consumers", reply);
        reply.array(group.consumer_count());
        for consumer in group.consumers() {
            about_consumer(group, consumer, count_max, reply);
        }
    }
}

fn pending(group: &Group, count_max: Option<u64>, reply: &mut Reply<'_>) {
    field("pending", reply);
    reply.array(group.pending_count().min(limit(count_max)));
    for (id, pending) in group.pending(EntryId::MIN..=EntryId::MAX).take(limit(count_max)) {
        reply.array(4);
        reply_id(id, reply);
        reply.bulk(group.owner(pending).name());
        reply.integer(pending.delivered_ms as i64);
        reply.integer(pending.deliveries as i64);
    }
}

fn about_consumer(
    group: &Group,
    consumer: &Consumer,
    count_max: Option<u64>,
    reply: &mut Reply<'_>,
) {
    reply.map(5);
    field("name", reply);
    reply.bulk(consumer.name());
    field("seen-time", reply);
    reply.integer(consumer.seen_ms() as i64);
    field("active-time", reply);
    reply.integer(consumer.active_ms().map_or(-1, |ms| ms as i64));
    field("pel-count", reply);
    reply.integer(consumer.pending_count() as i64);
    field("pending", reply);
    reply.array(consumer.pending_count().min(limit(count_max)));
    let all = EntryId::MIN..=EntryId::MAX;
    for id in consumer.pending(all).take(limit(count_max)) {
        let Some(pending) = group.pending_entry(id) else { continue };
        reply.array(3);
        reply_id(id, reply);
        reply.integer(pending.delivered_ms as i64);
        reply.integer(pending.deliveries as i64);
    }
}
