//! HOT PATH
//! XREADGROUP.

use super::read::{begin_stream, end_streams};
use super::read_args::{BlockOption, ReadArgs, Reading};
use super::{edit_as, ids, limit, reply_entry, reply_id};
use basalt_call::entry::{Entry, Run, Traits};
use basalt_engine::{Key, Service, Txn, WaitAnswer};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse, at};
use basalt_value::Edits;
use basalt_value::seed::hash_member;
use basalt_value::stream::{Acknowledgement, Attempt, EntryId, Reader, Stream};

pub(super) const XREADGROUP: Entry = Entry {
    spec: CommandSpec {
        name: "xreadgroup",
        synopsis: "GROUP group consumer [COUNT count] [BLOCK milliseconds] [NOACK] \
                   STREAMS key [key ...] id [id ...]",
        group: Group::Stream,
        flags: Flags::of(&[Flag::Write, Flag::Blocking]),
        keys: &[KeyUse::READ],
        overrides: &[at("STREAMS").named("streams")],
        since: "5.0.0",
        complexity: "O(N) with N entries returned, O(log(M)) for each with M pending ones",
        summary: "Delivers entries of streams that are new to a group to one of its consumers, or returns again what is pending for it.",
        examples: &[
            r#"XADD s 1-0 f a => "1-0""#,
            "XGROUP CREATE s g 0 => OK",
            r#"XREADGROUP GROUP g c STREAMS s > => [["s", [["1-0", ["f", "a"]]]]]"#,
            "XREADGROUP GROUP g c STREAMS s > => (nil)",
            "XREADGROUP GROUP g c BLOCK 10 STREAMS s > => (nil)",
            r#"XREADGROUP GROUP g c STREAMS s 0 => [["s", [["1-0", ["f", "a"]]]]]"#,
            "XREADGROUP GROUP h c STREAMS s > => (error) NOGROUP No such key 's' or consumer group 'h' in XREADGROUP with GROUP option",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(xreadgroup),
    // Entries that were read and are pending may be more than the stream has.
    traits: Traits::working_beyond(7, |args, _| ReadArgs::entries(args, Reading::InGroup)),
    ..Entry::DEFAULT
};

/// From where a stream is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum From {
    /// What is new to the group.
    New,
    /// What is pending for the consumer behind this.
    History(EntryId),
}

fn xreadgroup(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let read = ReadArgs::parse(args, Reading::InGroup)?;
    let (group, consumer) = read.group.unwrap_or_default();
    let mut froms = Vec::with_capacity(read.streams);
    for (key, word) in args.keys().iter().zip(args.from(read.first_id)) {
        if let Err(error) = check_group(txn, key, group) {
            txn.notify_missing(std::slice::from_ref(key));
            return Err(error);
        }
        froms.push(parse_from(word)?);
    }
    let reader = Reader { group, consumer, now_ms: txn.now_ms() };
    let mut place = None;
    let mut streams = 0;
    let service = Service::InLine(hash_member(group));
    for (key, &from) in args.keys().iter().zip(&froms) {
        let has_waited = txn.has_waited();
        // Of a group's consumers that wait, the one that has waited longest gets what comes.
        let is_in_turn = txn.is_first(key, service);
        let has_some = edit_as(txn, key, reader, |stream, edits| {
            if from == From::New && !(is_in_turn && has_new(stream, group)) {
                // A client that waits is seen once, not at every change that has nothing for it.
                if !has_waited {
                    stream.see(reader, Attempt::Fruitless, edits);
                }
                return false;
            }
            place.get_or_insert_with(|| reply.array_deferred());
            begin_stream(key.bytes, reply);
            match from {
                From::New => deliver(stream, reader, &read, edits, reply),
                From::History(after) => {
                    repeat(stream, reader, (after, read.count_max), edits, reply);
                }
            }
            true
        })?;
        streams += usize::from(has_some.unwrap_or(false));
    }
    match (place, read.block) {
        (Some(place), _) => end_streams(place, streams, reply),
        (None, BlockOption::None) => reply.null_array(),
        (None, BlockOption::Some(time)) => {
            let answer = txn.wait(args.keys(), service, time);
            if answer == WaitAnswer::MustAnswer {
                reply.null_array();
            }
        }
    }
    Ok(())
}

/// Whether the stream at a key has this group. A client that has waited for one that goes is told
/// so in the same words.
fn check_group(txn: &Txn<'_>, key: &Key<'_>, group: &[u8]) -> CommandResult {
    match txn.collection::<Stream>(key)? {
        Some(stream) if stream.group(group).is_some() => Ok(()),
        _ => Err(no_group_to_read(key.bytes, group)),
    }
}

fn parse_from(word: &[u8]) -> Result<From, CommandError> {
    match word {
        b">" => Ok(From::New),
        b"$" => Err(CommandError::fixed(
            "ERR The $ ID is meaningless in the context of XREADGROUP: you want to read the history of this consumer by specifying a proper ID, or use the > ID to get new messages. The $ ID would just return an empty result set.",
        )),
        // The greatest identity is what `>` means in Redis.
        word => Ok(ids::id(word)?.next().map_or(From::New, From::History)),
    }
}

fn has_new(stream: &Stream, group: &[u8]) -> bool {
    stream.group(group).is_some_and(|group| group.last_id() < stream.last_entry_id())
}

/// Writes entries that are new to the group, which has them delivered.
fn deliver(
    stream: &mut Stream,
    reader: Reader<'_>,
    read: &ReadArgs<'_>,
    edits: &mut Edits<'_>,
    reply: &mut Reply<'_>,
) {
    let last = stream.group(reader.group).map_or(EntryId::MAX, |group| group.last_id());
    let mut ids = Vec::new();
    if let Some(first) = last.next() {
        let place = reply.array_deferred();
        for entry in stream.entries(first, EntryId::MAX).take(limit(read.count_max)) {
            reply_entry(&entry, reply);
            ids.push(entry.id);
        }
        reply.array_end(place, ids.len());
    }
    let acknowledgement =
        if read.is_acknowledged { Acknowledgement::Waived } else { Acknowledgement::Expected };
    stream.deliver(reader, &ids, acknowledgement, edits);
}

/// Writes what is pending for the consumer, which has it delivered once more.
fn repeat(
    stream: &mut Stream,
    reader: Reader<'_>,
    (first, count_max): (EntryId, Option<u64>),
    edits: &mut Edits<'_>,
    reply: &mut Reply<'_>,
) {
    let mut claims = Vec::new();
    let mut count = 0;
    let place = reply.array_deferred();
    let group = stream.group(reader.group);
    let consumer = group.and_then(|group| group.consumer(reader.consumer));
    if let (Some(group), Some(consumer)) = (group, consumer) {
        for id in consumer.pending(first..=EntryId::MAX).take(limit(count_max)) {
            count += 1;
            match (stream.entry(id), group.pending_entry(id)) {
                (Some(entry), Some(pending)) => {
                    reply_entry(&entry, reply);
                    claims.push((id, pending.deliveries.saturating_add(1)));
                }
                // It was deleted, and that is told.
                _ => {
                    reply.array(2);
                    reply_id(id, reply);
                    reply.null_array();
                }
            }
        }
    }
    reply.array_end(place, count);
    stream.claim(reader, Attempt::Fruitless, reader.now_ms, &claims, edits);
}

#[cold]
fn no_group_to_read(key: &[u8], group: &[u8]) -> CommandError {
    let (key, group) = (String::from_utf8_lossy(key), String::from_utf8_lossy(group));
    CommandError::new(format!(
        "NOGROUP No such key '{key}' or consumer group '{group}' in XREADGROUP with GROUP option"
    ))
}
