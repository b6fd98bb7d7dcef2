//! Streams: nodes of entries, then the counters, then the groups.
//!
//! ```text
//! nodes:length { master:string (16 bytes: ms:u64be sequence:u64be) listpack:string }*
//! entries:length last:id
//! [from version 2 on: first:id max_deleted:id entries_added:length]
//! groups:length { group }*                                   id = ms:length sequence:length
//!
//! group    = name:string last:id [from version 2 on: entries_read:length]
//!            pending:length { raw_id delivered_ms:u64le deliveries:length }*
//!            consumers:length { consumer }*
//! consumer = name:string seen_ms:u64le [from version 3 on: active_ms:u64le]
//!            pending:length { raw_id }*                      raw_id = ms:u64be sequence:u64be
//! ```
//!
//! Every pending entry of a group belongs to exactly one of its consumers; the model keeps it there
//! only.

mod nodes;

use crate::decode::refuse_duplicates;
use crate::error::DecodeError;
use crate::model::{Consumer, Group, Pending, Stream, StreamId};
use crate::reader::Reader;
use crate::types;

/// Lengths of the shortest possible items.
const NODE_BYTES_MIN: usize = 18;
const GROUP_BYTES_MIN: usize = 5;
const PENDING_BYTES_MIN: usize = 25;
const CONSUMER_BYTES_MIN: usize = 10;
const RAW_ID_BYTES: usize = 16;

/// What Redis writes if a group's number of delivered entries is not known: -1.
const ENTRIES_READ_UNKNOWN: u64 = u64::MAX;
/// Redis's way to say that a consumer never got anything: -1.
const NEVER: u64 = u64::MAX;

pub(super) fn stream<'a>(kind: u8, reader: &mut Reader<'a>) -> Result<Stream<'a>, DecodeError> {
    let mut stream = Stream::default();
    let nodes = reader.count::<()>(NODE_BYTES_MIN)?;
    let mut last_id = None;
    for _ in 0..nodes {
        nodes::node(reader, &mut last_id, &mut stream.entries)?;
    }
    counters(kind, reader, &mut stream)?;
    if last_id.is_some_and(|last_id| last_id > stream.last_id) {
        return Err(DecodeError::Corrupt("stream: last identity is below an entry's"));
    }
    let groups = reader.count::<Group<'_>>(GROUP_BYTES_MIN)?;
    for _ in 0..groups {
        let group = group(kind, reader, &stream)?;
        stream.groups.push(group);
    }
    let names = stream.groups.iter().map(|group| &group.name);
    refuse_duplicates(names, "stream: group stands twice")?;
    Ok(stream)
}

fn counters(kind: u8, reader: &mut Reader<'_>, stream: &mut Stream<'_>) -> Result<(), DecodeError> {
    let entries = reader.length()?;
    if entries != stream.entries.len() as u64 {
        return Err(DecodeError::Corrupt("stream: number of entries"));
    }
    stream.last_id = reader.id()?;
    stream.entries_added = entries;
    if kind != types::STREAM_LISTPACKS {
        // The first identity is that of the first entry, whatever is said.
        reader.id()?;
        stream.max_deleted_id = reader.id()?;
        stream.entries_added = reader.length()?;
    }
    Ok(())
}

fn group<'a>(
    kind: u8,
    reader: &mut Reader<'a>,
    stream: &Stream<'_>,
) -> Result<Group<'a>, DecodeError> {
    let name = reader.string()?;
    let last_id = reader.id()?;
    let entries_read = match kind {
        types::STREAM_LISTPACKS => estimated_entries_read(stream, last_id),
        _ => entries_read(reader.length()?)?,
    };
    let pending = pending(reader)?;
    let mut owned_entries = vec![false; pending.len()];
    let count = reader.count::<Consumer<'_>>(CONSUMER_BYTES_MIN)?;
    let mut consumers = Vec::with_capacity(count);
    for _ in 0..count {
        consumers.push(consumer(kind, reader, &pending, &mut owned_entries)?);
    }
    if owned_entries.contains(&false) {
        return Err(DecodeError::Corrupt("stream: pending entry without consumer"));
    }
    let names = consumers.iter().map(|consumer| &consumer.name);
    refuse_duplicates(names, "stream: consumer stands twice")?;
    Ok(Group { name, last_id, entries_read, consumers })
}

fn entries_read(said: u64) -> Result<Option<u64>, DecodeError> {
    match said {
        ENTRIES_READ_UNKNOWN => Ok(None),
        _ => signed(said).map(Some),
    }
}

/// Redis counts with signed numbers; what is negative there is damage.
fn signed(said: u64) -> Result<u64, DecodeError> {
    if i64::try_from(said).is_err() {
        return Err(DecodeError::Corrupt("stream: negative number"));
    }
    Ok(said)
}

/// What the first version does not say follows from where the group stands, if nothing but the
/// first entries was ever deleted, which that version does not say either. As Redis 7.0 estimates.
fn estimated_entries_read(stream: &Stream<'_>, group: StreamId) -> Option<u64> {
    let added = stream.entries_added;
    if added == 0 {
        return Some(0);
    }
    let first = stream.entries.first()?.id;
    if group == stream.last_id {
        Some(added)
    } else if group < first {
        Some(0)
    } else {
        (group == first).then_some(1)
    }
}

fn pending(reader: &mut Reader<'_>) -> Result<Vec<Pending>, DecodeError> {
    // Charged twice: the consumers get copies.
    let count = reader.count::<[Pending; 2]>(PENDING_BYTES_MIN)?;
    let mut pending = Vec::with_capacity(count);
    for _ in 0..count {
        let id = reader.raw_id()?;
        let delivered_ms = signed(reader.u64_le()?)?;
        pending.push(Pending { id, delivered_ms, deliveries: reader.length()? });
    }
    if !pending.is_sorted_by(|a, b| a.id < b.id) {
        return Err(DecodeError::Corrupt("stream: order of pending entries"));
    }
    Ok(pending)
}

fn consumer<'a>(
    kind: u8,
    reader: &mut Reader<'a>,
    group: &[Pending],
    owned_entries: &mut [bool],
) -> Result<Consumer<'a>, DecodeError> {
    let name = reader.string()?;
    let seen_ms = signed(reader.u64_le()?)?;
    let active_ms = match kind {
        types::STREAM_LISTPACKS_3 => match reader.u64_le()? {
            NEVER => None,
            active_ms => Some(signed(active_ms)?),
        },
        _ => Some(seen_ms),
    };
    let count = reader.count::<()>(RAW_ID_BYTES)?;
    let mut pending = Vec::with_capacity(count);
    for _ in 0..count {
        let id = reader.raw_id()?;
        let index = group.binary_search_by_key(&id, |entry| entry.id);
        let index = index.map_err(|_| DecodeError::Corrupt("stream: entry is not pending"))?;
        if std::mem::replace(&mut owned_entries[index], true) {
            return Err(DecodeError::Corrupt("stream: entry is pending twice"));
        }
        pending.push(group[index]);
    }
    if !pending.is_sorted_by(|a, b| a.id < b.id) {
        return Err(DecodeError::Corrupt("stream: order of pending entries"));
    }
    Ok(Consumer { name, seen_ms, active_ms, pending })
}
