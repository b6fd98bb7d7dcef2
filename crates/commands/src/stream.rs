//! Commands on streams.

mod acknowledge;
mod add;
mod autoclaim;
mod claim;
mod delete;
mod group;
mod ids;
mod info;
mod info_full;
mod pending;
mod range;
mod read;
mod read_args;
mod read_group;
mod set_id;
mod trim;

use super::item::reply_item;
use basalt_call::entry::Entry;
use basalt_engine::{Absent, EventClass, Key, Txn, WrongType};
use basalt_resp::Reply;
use basalt_service::error::CommandError;
use basalt_value::Edits;
use basalt_value::stream::{Entry as StreamEntry, EntryId, ID_CHARS_MAX, Reader, Stream};

/// The family.
pub const COMMANDS: &[Entry] = &[
    add::XADD,
    trim::XTRIM,
    delete::XDEL,
    delete::XLEN,
    set_id::XSETID,
    range::XRANGE,
    range::XREVRANGE,
    read::XREAD,
    read_group::XREADGROUP,
    acknowledge::XACK,
    pending::XPENDING,
    claim::XCLAIM,
    autoclaim::XAUTOCLAIM,
    group::XGROUP,
    group::XGROUP_CREATE,
    group::XGROUP_CREATECONSUMER,
    group::XGROUP_DELCONSUMER,
    group::XGROUP_DESTROY,
    group::XGROUP_HELP,
    group::XGROUP_SETID,
    info::XINFO,
    info::XINFO_CONSUMERS,
    info::XINFO_GROUPS,
    info::XINFO_HELP,
    info::XINFO_STREAM,
];

/// Says what was done to a stream.
#[inline]
fn notify(txn: &mut Txn<'_>, event: &'static str, key: &Key<'_>) {
    txn.notify(EventClass::Stream, event, key);
}

/// Changes a stream for a consumer of one of its groups, and says so if that makes the consumer.
fn edit_as<R>(
    txn: &mut Txn<'_>,
    key: &Key<'_>,
    reader: Reader<'_>,
    change: impl FnOnce(&mut Stream, &mut Edits<'_>) -> R,
) -> Result<Option<R>, WrongType> {
    let is_there = |stream: &Stream| {
        stream.group(reader.group).is_some_and(|group| group.consumer(reader.consumer).is_some())
    };
    let edited = txn.edit_aside::<Stream, _>(key, Absent::Skip, |stream, edits| {
        let was_there = is_there(stream);
        let result = change(stream, edits);
        (result, !was_there && is_there(stream))
    })?;
    Ok(edited.map(|(result, is_made)| {
        if is_made {
            notify(txn, "xgroup-createconsumer", key);
        }
        result
    }))
}

/// Replies with an identity.
#[inline]
fn reply_id(id: EntryId, reply: &mut Reply<'_>) {
    reply.bulk(id.spell(&mut [0; ID_CHARS_MAX]));
}

/// Replies with an entry: its identity, and its names and values in turn.
#[inline]
fn reply_entry(entry: &StreamEntry<'_>, reply: &mut Reply<'_>) {
    reply.array(2);
    reply_id(entry.id, reply);
    reply.array(2 * entry.field_count);
    for (name, value) in entry.pairs() {
        reply_item(name, reply);
        reply_item(value, reply);
    }
}

/// Replies with entries, at most as many as the number, if one is given.
#[inline]
fn reply_entries<'a>(
    entries: impl Iterator<Item = StreamEntry<'a>>,
    count_max: Option<u64>,
    reply: &mut Reply<'_>,
) {
    let place = reply.array_deferred();
    let mut count = 0;
    for entry in entries.take(limit(count_max)) {
        reply_entry(&entry, reply);
        count += 1;
    }
    reply.array_end(place, count);
}

/// How many to take at most.
#[inline]
fn limit(count_max: Option<u64>) -> usize {
    count_max.map_or(usize::MAX, |count| usize::try_from(count).unwrap_or(usize::MAX))
}

/// There is no such key, or it has no such group.
#[cold]
fn no_key_or_group(key: &[u8], group: &[u8]) -> CommandError {
    let (key, group) = (String::from_utf8_lossy(key), String::from_utf8_lossy(group));
    CommandError::new(format!("NOGROUP No such key '{key}' or consumer group '{group}'"))
}

/// The key has no such group.
#[cold]
fn no_group(key: &[u8], group: &[u8]) -> CommandError {
    let (key, group) = (String::from_utf8_lossy(key), String::from_utf8_lossy(group));
    CommandError::new(format!("NOGROUP No such consumer group '{group}' for key name '{key}'"))
}
