//! Streams on their way into and out of payloads.

use super::bytes;
use basalt_rdb::{Consumer, Group, Pending, Stream as Parts, StreamEntry, StreamId};
use basalt_value::stream::{
    Builder, ConsumerPart, Delivery, EntryId, Group as ValueGroup, GroupPlace, Marks,
};
use basalt_value::{DecodeError, FormLimits, Stream};

fn out(id: EntryId) -> StreamId {
    StreamId { ms: id.ms, sequence: id.sequence }
}

fn back(id: StreamId) -> EntryId {
    EntryId { ms: id.ms, sequence: id.sequence }
}

/// All of a stream.
pub(super) fn dump(stream: &Stream) -> Parts<'_> {
    let entries = stream.entries(EntryId::MIN, EntryId::MAX).map(|entry| StreamEntry {
        id: out(entry.id),
        fields: entry.pairs().map(|(name, value)| (bytes(name), bytes(value))).collect(),
    });
    Parts {
        entries: entries.collect(),
        last_id: out(stream.last_id()),
        max_deleted_id: out(stream.max_deleted_id()),
        entries_added: stream.entries_added(),
        groups: stream.groups().map(|(name, group)| dump_group(name, group)).collect(),
    }
}

fn dump_group<'a>(name: &'a [u8], group: &'a ValueGroup) -> Group<'a> {
    let consumers = group.consumers().map(|consumer| {
        let ids = consumer.pending(EntryId::MIN..=EntryId::MAX);
        let pending = ids.filter_map(|id| {
            let pending = group.pending_entry(id)?;
            let (delivered_ms, deliveries) = (pending.delivered_ms, pending.deliveries);
            Some(Pending { id: out(id), delivered_ms, deliveries })
        });
        Consumer {
            name: consumer.name().into(),
            seen_ms: consumer.seen_ms(),
            active_ms: consumer.active_ms(),
            pending: pending.collect(),
        }
    });
    Group {
        name: name.into(),
        last_id: out(group.last_id()),
        entries_read: group.entries_read(),
        consumers: consumers.collect(),
    }
}

/// A stream of its parts.
pub(super) fn restore(parts: &Parts<'_>, limits: &FormLimits) -> Result<Stream, DecodeError> {
    let mut builder = Builder::new(*limits);
    for entry in &parts.entries {
        let words = entry.fields.iter().flat_map(|(name, value)| [&**name, &**value]);
        builder.entry(back(entry.id), words)?;
    }
    for group in &parts.groups {
        let at = GroupPlace { last_id: back(group.last_id), entries_read: group.entries_read };
        builder.group(&group.name, at)?;
        for consumer in &group.consumers {
            let (seen_ms, active_ms) = (consumer.seen_ms, consumer.active_ms);
            let part = ConsumerPart { name: &consumer.name, seen_ms, active_ms };
            builder.consumer(&group.name, part)?;
            for pending in &consumer.pending {
                let (delivered_ms, deliveries) = (pending.delivered_ms, pending.deliveries);
                let delivery = Delivery { delivered_ms, deliveries };
                builder.pending(&group.name, &consumer.name, back(pending.id), delivery)?;
            }
        }
    }
    builder.finish(Marks {
        last_id: back(parts.last_id),
        max_deleted_id: back(parts.max_deleted_id),
        entries_added: parts.entries_added,
    })
}
