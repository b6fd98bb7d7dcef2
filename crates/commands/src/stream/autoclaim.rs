//! XAUTOCLAIM.

use super::claim::Form;
use super::{edit_as, ids, no_key_or_group, reply_entry, reply_id};
use basalt_call::entry::{Entry, Run, Traits};
use basalt_engine::Txn;
use basalt_number::parse_i64;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse, Kind, at};
use basalt_value::Edits;
use basalt_value::stream::{Attempt, Entry as StreamEntry, EntryId, Reader, Stream};

pub(super) const XAUTOCLAIM: Entry = Entry {
    spec: CommandSpec {
        name: "xautoclaim",
        synopsis: "key group consumer min-idle-time start [COUNT count] [JUSTID]",
        group: Group::Stream,
        flags: Flags::of(&[Flag::Write, Flag::Fast]),
        keys: &[KeyUse::TRIM],
        overrides: &[at("start").kind(Kind::String)],
        since: "6.2.0",
        complexity: "O(1) if COUNT is small",
        summary: "Claims pending entries that have been idle for long enough, whichever they are, and returns where to go on, the entries, and IDs of deleted ones.",
        examples: &[
            r#"XADD s 1-0 f a => "1-0""#,
            r#"XADD s 2-0 f b => "2-0""#,
            "XGROUP CREATE s g 0 => OK",
            r#"XREADGROUP GROUP g c STREAMS s > => [["s", [["1-0", ["f", "a"]], ["2-0", ["f", "b"]]]]]"#,
            r#"XAUTOCLAIM s g d 0 - COUNT 1 => ["2-0", [["1-0", ["f", "a"]]], []]"#,
            r#"XAUTOCLAIM s g d 0 2-0 JUSTID => ["0-0", ["2-0"], []]"#,
        ],
        tips: &["nondeterministic_output"],
        history: &[(
            "7.0.0",
            "Added an element to the reply: the IDs of deleted entries, which are pending no longer.",
        )],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(xautoclaim),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

/// What is claimed, and how.
struct Wanted {
    idle_ms_min: i64,
    first: EntryId,
    count_max: u64,
    form: Form,
}

fn xautoclaim(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let (key, group) = (args.key(0), args.word(2));
    let wanted = parse(args)?;
    let stream = txn.collection::<Stream>(key)?;
    if stream.and_then(|stream| stream.group(group)).is_none() {
        txn.notify_missing(args.keys());
        return Err(no_key_or_group(key.bytes, group));
    }
    let reader = Reader { group, consumer: args.word(3), now_ms: txn.now_ms() };
    edit_as(txn, key, reader, |stream, edits| {
        claim(stream, reader, &wanted, edits, reply);
    })?;
    Ok(())
}

fn parse(args: &Args<'_>) -> Result<Wanted, CommandError> {
    const COUNT: u64 = 100;
    /// The largest count for which Redis could still allocate.
    const COUNT_MAX: i64 = i64::MAX / 16;
    let idle_ms_min = parse_i64(args.word(4))
        .ok_or(CommandError::fixed("ERR Invalid min-idle-time argument for XAUTOCLAIM"))?;
    let first = ids::interval_start(args.word(5))?;
    let mut wanted =
        Wanted { idle_ms_min: idle_ms_min.max(0), first, count_max: COUNT, form: Form::Entries };
    let mut index = 6;
    while index < args.len() {
        if args.is(index, "count") && index + 1 < args.len() {
            let count = parse_i64(args.word(index + 1));
            wanted.count_max = count
                .filter(|count| (1..=COUNT_MAX).contains(count))
                .ok_or(CommandError::fixed("ERR COUNT must be > 0"))?
                as u64;
            index += 2;
        } else if args.is(index, "justid") {
            wanted.form = Form::Ids;
            index += 1;
        } else {
            return Err(CommandError::SYNTAX);
        }
    }
    Ok(wanted)
}

/// How many pending entries are looked at for one that is claimed.
const LOOKS: u64 = 10;

fn claim(
    stream: &mut Stream,
    reader: Reader<'_>,
    wanted: &Wanted,
    edits: &mut Edits<'_>,
    reply: &mut Reply<'_>,
) {
    let (mut entries, mut deleted) = (Vec::new(), Vec::new());
    let (mut next, mut looks) = (EntryId::MIN, wanted.count_max.saturating_mul(LOOKS));
    let group = stream.group(reader.group);
    for (id, pending) in group.into_iter().flat_map(|it| it.pending(wanted.first..=EntryId::MAX)) {
        if looks == 0 || (entries.len() + deleted.len()) as u64 == wanted.count_max {
            next = id;
            break;
        }
        looks -= 1;
        let idle_ms = (reader.now_ms as i64).wrapping_sub(pending.delivered_ms as i64);
        match stream.entry(id) {
            None => deleted.push(id),
            Some(_) if wanted.idle_ms_min > 0 && idle_ms < wanted.idle_ms_min => {}
            Some(entry) => entries.push((entry, pending.deliveries)),
        }
    }
    reply.array(3);
    reply_id(next, reply);
    reply.array(entries.len());
    for (entry, _) in &entries {
        match wanted.form {
            Form::Entries => reply_entry(entry, reply),
            Form::Ids => reply_id(entry.id, reply),
        }
    }
    reply.array(deleted.len());
    deleted.iter().for_each(|&id| reply_id(id, reply));
    let more = u64::from(wanted.form == Form::Entries);
    let claimed = |&(entry, count): &(StreamEntry<'_>, u64)| (entry.id, count.saturating_add(more));
    let claims: Vec<_> = entries.iter().map(claimed).collect();
    stream.acknowledge(reader.group, &mut deleted, edits);
    let attempt = if claims.is_empty() { Attempt::Fruitless } else { Attempt::Fruitful };
    stream.claim(reader, attempt, reader.now_ms, &claims, edits);
}
