//! XCLAIM.

use super::{edit_as, ids, no_key_or_group, reply_entry, reply_id};
use basalt_call::entry::{Entry, Run};
use basalt_engine::Txn;
use basalt_number::parse_i64;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse};
use basalt_value::Edits;
use basalt_value::stream::{Attempt, EntryId, Group as StreamGroup, GroupPlace, Reader, Stream};

pub(super) const XCLAIM: Entry = Entry {
    spec: CommandSpec {
        name: "xclaim",
        synopsis: "key group consumer min-idle-time id [id ...] [IDLE ms] [TIME \
                   unix-time-milliseconds] [RETRYCOUNT count] [FORCE] [JUSTID] [LASTID \
                   id]",
        group: Group::Stream,
        flags: Flags::of(&[Flag::Write, Flag::Fast]),
        keys: &[KeyUse::UPDATE],
        since: "5.0.0",
        complexity: "O(log(N)) for each ID with N pending entries",
        summary: "Makes a consumer the owner of pending entries that have been idle for long enough, and returns them.",
        examples: &[
            r#"XADD s 1-0 f a => "1-0""#,
            "XGROUP CREATE s g 0 => OK",
            r#"XREADGROUP GROUP g c STREAMS s > => [["s", [["1-0", ["f", "a"]]]]]"#,
            r#"XCLAIM s g d 0 1-0 => [["1-0", ["f", "a"]]]"#,
            "XCLAIM s g c 60000 1-0 => []",
            r#"XCLAIM s g c 0 1-0 JUSTID => ["1-0"]"#,
        ],
        tips: &["nondeterministic_output"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(xclaim),
    ..Entry::DEFAULT
};

/// What is claimed, and how.
struct Wanted {
    idle_ms_min: i64,
    ids: Vec<EntryId>,
    delivered_ms: u64,
    deliveries: Option<u64>,
    force: Force,
    form: Form,
    last_id: EntryId,
}

/// Whether entries that are not pending are claimed, too.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Force {
    No,
    Yes,
}

/// What is told of claimed entries.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// All of them, which counts as a delivery.
    Entries,
    /// Their identities, which does not.
    Ids,
}

fn xclaim(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let (key, group) = (args.key(0), args.word(2));
    let now_ms = txn.now_ms();
    let stream = txn.collection::<Stream>(key)?;
    if stream.and_then(|stream| stream.group(group)).is_none() {
        txn.notify_missing(args.keys());
        return Err(no_key_or_group(key.bytes, group));
    }
    let wanted = parse(args, now_ms)?;
    let reader = Reader { group, consumer: args.word(3), now_ms };
    edit_as(txn, key, reader, |stream, edits| {
        claim(stream, reader, &wanted, edits, reply);
    })?;
    Ok(())
}

fn parse(args: &Args<'_>, now_ms: u64) -> Result<Wanted, CommandError> {
    const INVALID_IDLE: CommandError =
        CommandError::fixed("ERR Invalid min-idle-time argument for XCLAIM");
    let mut wanted = Wanted {
        idle_ms_min: parse_i64(args.word(4)).ok_or(INVALID_IDLE)?.max(0),
        ids: Vec::new(),
        delivered_ms: now_ms,
        deliveries: None,
        force: Force::No,
        form: Form::Entries,
        last_id: EntryId::MIN,
    };
    wanted.ids.extend(args.from(5).map_while(|word| ids::id(word).ok()));
    let mut index = 5 + wanted.ids.len();
    while index < args.len() {
        index += option(args, index, now_ms, &mut wanted)?;
    }
    Ok(wanted)
}

/// Reads an option; returns how many words it has.
fn option(
    args: &Args<'_>,
    index: usize,
    now_ms: u64,
    wanted: &mut Wanted,
) -> Result<usize, CommandError> {
    if args.is(index, "force") {
        wanted.force = Force::Yes;
        return Ok(1);
    }
    if args.is(index, "justid") {
        wanted.form = Form::Ids;
        return Ok(1);
    }
    let unrecognized = || {
        let option = String::from_utf8_lossy(args.word(index));
        CommandError::new(format!("ERR Unrecognized XCLAIM option '{option}'"))
    };
    let value = args.opt(index + 1).ok_or_else(unrecognized)?;
    let number = |error| parse_i64(value).ok_or(CommandError::fixed(error));
    // A time before 1970 or after now is now.
    let time = |ms: i64| u64::try_from(ms).ok().filter(|&ms| ms <= now_ms).unwrap_or(now_ms);
    if args.is(index, "idle") {
        let idle_ms = number("ERR Invalid IDLE option argument for XCLAIM")?;
        wanted.delivered_ms = time((now_ms as i64).wrapping_sub(idle_ms));
    } else if args.is(index, "time") {
        wanted.delivered_ms = time(number("ERR Invalid TIME option argument for XCLAIM")?);
    } else if args.is(index, "retrycount") {
        let count = number("ERR Invalid RETRYCOUNT option argument for XCLAIM")?;
        wanted.deliveries = u64::try_from(count).ok();
    } else if args.is(index, "lastid") {
        wanted.last_id = ids::id(value)?;
    } else {
        return Err(unrecognized());
    }
    Ok(2)
}

fn claim(
    stream: &mut Stream,
    reader: Reader<'_>,
    wanted: &Wanted,
    edits: &mut Edits<'_>,
    reply: &mut Reply<'_>,
) {
    advance(stream, reader.group, wanted.last_id, edits);
    let mut claims = Vec::new();
    let mut deleted = Vec::new();
    let place = reply.array_deferred();
    for &id in &wanted.ids {
        // One that is named twice is claimed twice.
        let again = claims.iter().rposition(|&(claimed, _)| claimed == id);
        let group = stream.group(reader.group);
        let before = match again {
            Some(at) => Some((wanted.delivered_ms, claims[at].1)),
            None => group.and_then(|group| times(group, id)).filter(|_| !deleted.contains(&id)),
        };
        let Some(entry) = stream.entry(id) else {
            // Nobody can get it any more: it is not pending either.
            if before.is_some() {
                deleted.push(id);
            }
            continue;
        };
        let deliveries = match before {
            Some((delivered_ms, deliveries)) => {
                let idle_ms = (reader.now_ms as i64).wrapping_sub(delivered_ms as i64);
                if wanted.idle_ms_min > 0 && idle_ms < wanted.idle_ms_min {
                    continue;
                }
                deliveries
            }
            // As if it had been delivered before.
            None if wanted.force == Force::Yes => 1,
            None => continue,
        };
        let more = u64::from(wanted.form == Form::Entries);
        let deliveries = wanted.deliveries.unwrap_or(deliveries.saturating_add(more));
        claims.push((id, deliveries));
        match wanted.form {
            Form::Entries => reply_entry(&entry, reply),
            Form::Ids => reply_id(id, reply),
        }
    }
    reply.array_end(place, claims.len());
    stream.acknowledge(reader.group, &mut deleted, edits);
    let attempt = if claims.is_empty() { Attempt::Fruitless } else { Attempt::Fruitful };
    stream.claim(reader, attempt, wanted.delivered_ms, &claims, edits);
}

/// When and how often an entry was delivered, if it is pending.
fn times(group: &StreamGroup, id: EntryId) -> Option<(u64, u64)> {
    group.pending_entry(id).map(|pending| (pending.delivered_ms, pending.deliveries))
}

/// Moves the group forward to an identity, not backward.
fn advance(stream: &mut Stream, name: &[u8], last_id: EntryId, edits: &mut Edits<'_>) {
    let Some(at) = stream.group(name).map(StreamGroup::place) else { return };
    if last_id > at.last_id {
        stream.set_group(name, GroupPlace { last_id, ..at }, edits);
    }
}
