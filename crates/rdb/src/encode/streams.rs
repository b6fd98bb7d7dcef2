//! Streams, as Redis 7.0 writes them. `decode/streams.rs` and `decode/streams/nodes.rs` draw the
//! bytes.

use crate::encode::options::EncodeOptions;
use crate::encode::writer::Writer;
use crate::model::{Consumer, Group, Pending, Stream, StreamEntry, StreamId};
use crate::packed::listpack::{self, ListpackWriter};
use crate::types::{self, ENTRY_SAME_FIELDS};

/// What Redis writes if a group's number of delivered entries is not known: -1.
const ENTRIES_READ_UNKNOWN: u64 = u64::MAX;
/// Length of the two counts at the beginning of a node.
const COUNTS_BYTES: usize = 4;

pub(super) fn stream(stream: &Stream<'_>, writer: &mut Writer<'_>) -> u8 {
    let nodes = nodes(&stream.entries, writer.options);
    writer.count(nodes.len());
    for (master, listpack) in nodes {
        writer.string(&raw_id(master));
        writer.string(&listpack);
    }
    writer.count(stream.entries.len());
    writer.id(stream.last_id);
    writer.id(stream.entries.first().map(|entry| entry.id).unwrap_or_default());
    writer.id(stream.max_deleted_id);
    writer.length(stream.entries_added);
    writer.count(stream.groups.len());
    stream.groups.iter().for_each(|group| self::group(group, writer));
    types::STREAM_LISTPACKS_2
}

/// Cuts the entries into nodes where Redis would, had they been added one after the other.
fn nodes(entries: &[StreamEntry<'_>], options: &EncodeOptions) -> Vec<(StreamId, Vec<u8>)> {
    let limit = |given: usize, most: usize| if given == 0 { most } else { given.min(most) };
    let bytes_max = limit(options.stream_node_bytes_max, listpack::BYTES_MAX);
    let entries_max = limit(options.stream_node_entries_max, usize::MAX);
    let mut finished = Vec::new();
    let mut open: Option<NodeWriter<'_, '_>> = None;
    for entry in entries {
        let full = |node: &mut NodeWriter<'_, '_>| {
            node.bytes() + entry_bytes(entry) >= bytes_max || node.count >= entries_max
        };
        finished.extend(open.take_if(full).map(NodeWriter::finish));
        open.get_or_insert_with(|| NodeWriter::new(entry)).push(entry);
    }
    finished.extend(open.map(NodeWriter::finish));
    finished
}

/// What Redis takes an entry's length to be when it looks whether a node is full.
fn entry_bytes(entry: &StreamEntry<'_>) -> usize {
    entry.fields.iter().map(|(name, value)| name.len() + value.len()).sum()
}

struct NodeWriter<'e, 'b> {
    /// The entry that gave the node its identity and names.
    first: &'e StreamEntry<'b>,
    count: usize,
    master: ListpackWriter,
    entries: ListpackWriter,
}

impl<'e, 'b> NodeWriter<'e, 'b> {
    fn new(first: &'e StreamEntry<'b>) -> NodeWriter<'e, 'b> {
        let mut master = ListpackWriter::new();
        master.push_integer(first.fields.len() as i64);
        first.fields.iter().for_each(|(name, _)| master.push(name));
        master.push_integer(0);
        NodeWriter { first, count: 0, master, entries: ListpackWriter::new() }
    }

    /// The node's length, with counts below 128.
    fn bytes(&self) -> usize {
        self.master.bytes() + self.entries.bytes() - listpack::EMPTY_BYTES + COUNTS_BYTES
    }

    fn push(&mut self, entry: &StreamEntry<'b>) {
        let is_same = entry.fields.len() == self.first.fields.len()
            && entry.fields.iter().zip(&self.first.fields).all(|(ours, first)| ours.0 == first.0);
        let before = self.entries.count();
        self.entries.push_integer(if is_same { ENTRY_SAME_FIELDS } else { 0 });
        let master = self.first.id;
        self.entries.push_integer(entry.id.ms.wrapping_sub(master.ms) as i64);
        self.entries.push_integer(entry.id.sequence.wrapping_sub(master.sequence) as i64);
        if !is_same {
            self.entries.push_integer(entry.fields.len() as i64);
        }
        for (name, value) in &entry.fields {
            if !is_same {
                self.entries.push(name);
            }
            self.entries.push(value);
        }
        self.entries.push_integer((self.entries.count() - before) as i64);
        self.count += 1;
    }

    fn finish(self) -> (StreamId, Vec<u8>) {
        let mut node = ListpackWriter::new();
        node.push_integer(self.count as i64);
        node.push_integer(0);
        node.append(&self.master);
        node.append(&self.entries);
        (self.first.id, node.finish())
    }
}

fn group(group: &Group<'_>, writer: &mut Writer<'_>) {
    writer.string(&group.name);
    writer.id(group.last_id);
    writer.length(group.entries_read.unwrap_or(ENTRIES_READ_UNKNOWN));
    let mut pending: Vec<&Pending> = group.consumers.iter().flat_map(|c| &c.pending).collect();
    pending.sort_unstable_by_key(|entry| entry.id);
    writer.count(pending.len());
    for entry in pending {
        writer.bytes(&raw_id(entry.id));
        writer.u64_le(entry.delivered_ms);
        writer.length(entry.deliveries);
    }
    writer.count(group.consumers.len());
    group.consumers.iter().for_each(|consumer| self::consumer(consumer, writer));
}

fn consumer(consumer: &Consumer<'_>, writer: &mut Writer<'_>) {
    writer.string(&consumer.name);
    writer.u64_le(consumer.seen_ms);
    writer.count(consumer.pending.len());
    consumer.pending.iter().for_each(|entry| writer.bytes(&raw_id(entry.id)));
}

fn raw_id(id: StreamId) -> [u8; 16] {
    (u128::from(id.ms) << 64 | u128::from(id.sequence)).to_be_bytes()
}
