//! HOT PATH
//! XREAD.

use super::read_args::{BlockOption, ReadArgs, Reading};
use super::{ids, reply_entries};
use basalt_call::entry::{Entry, Run, Traits};
use basalt_engine::{Key, View, WaitAnswer, WrongType};
use basalt_resp::{Deferred, Protocol, Reply};
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse, at};
use basalt_value::stream::{EntryId, Stream};

pub(super) const XREAD: Entry = Entry {
    spec: CommandSpec {
        name: "xread",
        synopsis: "[COUNT count] [BLOCK milliseconds] STREAMS key [key ...] id [id ...]",
        group: Group::Stream,
        flags: Flags::of(&[Flag::Readonly, Flag::Blocking]),
        keys: &[KeyUse::READ],
        overrides: &[at("STREAMS").named("streams")],
        since: "5.0.0",
        complexity: "O(N) with N entries returned, O(log(M)) for each stream of M nodes",
        summary: "Returns the entries of streams behind the given IDs.",
        examples: &[
            r#"XADD s 1-0 f a => "1-0""#,
            r#"XADD s 2-0 f b => "2-0""#,
            r#"XREAD COUNT 1 STREAMS s absent 1-0 0 => [["s", [["2-0", ["f", "b"]]]]]"#,
            "XREAD STREAMS s $ => (nil)",
            "XREAD BLOCK 10 STREAMS s $ => (nil)",
            "XREAD STREAMS s => (error) ERR wrong number of arguments for 'xread' command",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(xread),
    traits: Traits::working_on(4, |args, len| ReadArgs::entries(args, Reading::Alone).min(len)),
    ..Entry::DEFAULT
};

fn xread(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let read = ReadArgs::parse(args, Reading::Alone)?;
    let after = match view.behind() {
        Some(after) => after.to_vec(),
        None => read_ids(view, args, &read)?,
    };
    let mut place = None;
    let mut streams = 0;
    for (key, &after) in args.keys().iter().zip(&after) {
        let Some(stream) = stream_at(view, key)? else { continue };
        let Some(first) = after.next().filter(|&first| first <= stream.last_entry_id()) else {
            continue;
        };
        place.get_or_insert_with(|| reply.array_deferred());
        streams += 1;
        begin_stream(key.bytes, reply);
        reply_entries(stream.entries(first, EntryId::MAX), read.count_max, reply);
    }
    match (place, read.block) {
        (Some(place), _) => end_streams(place, streams, reply),
        (None, BlockOption::None) => reply.null_array(),
        (None, BlockOption::Some(time)) => {
            if view.wait_behind(args.keys(), &after, time) == WaitAnswer::MustAnswer {
                reply.null_array();
            }
        }
    }
    Ok(())
}

/// The identities behind which the streams are read.
fn read_ids(
    view: &View<'_>,
    args: &Args<'_>,
    read: &ReadArgs<'_>,
) -> Result<Vec<EntryId>, CommandError> {
    let mut after = Vec::with_capacity(read.streams);
    for (key, word) in args.keys().iter().zip(args.from(read.first_id)) {
        let stream = stream_at(view, key)?;
        after.push(match word {
            b"$" => stream.map_or(EntryId::MIN, Stream::last_id),
            b">" => return Err(NOT_IN_GROUP),
            word => ids::id(word)?,
        });
    }
    Ok(after)
}

/// The stream at a key. A client that has waited passes over a key that has got a value of another
/// kind.
#[inline]
fn stream_at<'a>(view: &'a View<'_>, key: &Key<'_>) -> Result<Option<&'a Stream>, WrongType> {
    match view.collection::<Stream>(key) {
        Err(_) if view.has_waited() => Ok(None),
        found => found,
    }
}

const NOT_IN_GROUP: CommandError = CommandError::fixed(
    "ERR The > ID can be specified only when calling XREADGROUP using the GROUP <group> <consumer> option.",
);

/// Before the entries of a stream: its key.
#[inline]
pub(super) fn begin_stream(key: &[u8], reply: &mut Reply<'_>) {
    if reply.protocol() == Protocol::Resp2 {
        reply.array(2);
    }
    reply.bulk(key);
}

/// After the streams: in RESP3 a map from their keys to their entries.
#[inline]
pub(super) fn end_streams(place: Deferred, streams: usize, reply: &mut Reply<'_>) {
    match reply.protocol() {
        Protocol::Resp2 => reply.array_end(place, streams),
        Protocol::Resp3 => reply.map_end(place, streams),
    }
}
