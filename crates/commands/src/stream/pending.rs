//! XPENDING: what was delivered and not acknowledged.

use super::{ids, limit, no_key_or_group, reply_id};
use crate::number::integer;
use basalt_call::entry::{Entry, Run, Traits};
use basalt_engine::View;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse, Kind, around, at};
use basalt_value::stream::{EntryId, Group as StreamGroup, Pending, Stream};

pub(super) const XPENDING: Entry = Entry {
    spec: CommandSpec {
        name: "xpending",
        synopsis: "key group [[IDLE min-idle-time] start end count [consumer]]",
        group: Group::Stream,
        flags: Flags::of(&[Flag::Readonly]),
        keys: &[KeyUse::READ],
        overrides: &[
            at("IDLE").kind(Kind::Integer).since("6.2.0"),
            at("start").kind(Kind::String),
            at("end").kind(Kind::String),
            around("IDLE").named("filters"),
        ],
        since: "5.0.0",
        complexity: "O(N) with N pending entries looked at, or N consumers in the summary",
        summary: "Tells which entries of a group are pending, in total or one by one.",
        examples: &[
            r#"XADD s 1-0 f a => "1-0""#,
            "XGROUP CREATE s g 0 => OK",
            r#"XREADGROUP GROUP g c STREAMS s > => [["s", [["1-0", ["f", "a"]]]]]"#,
            r#"XPENDING s g => [(integer) 1, "1-0", "1-0", [["c", "1"]]]"#,
            r#"XPENDING s g - + 10 => [["1-0", "c", (any), (integer) 1]]"#,
            "XPENDING s h => (error) NOGROUP No such key 's' or consumer group 'h'",
        ],
        tips: &["nondeterministic_output"],
        history: &[("6.2.0", "Added the option `IDLE` and exclusive ranges.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(xpending),
    traits: Traits::working_beyond(6, |args, _| entries_asked(args)),
    ..Entry::DEFAULT
};

/// Which pending entries are asked for.
struct Wanted<'a> {
    idle_ms_min: i64,
    first: EntryId,
    last: EntryId,
    count_max: u64,
    consumer: Option<&'a [u8]>,
}

fn xpending(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let wanted = parse(args)?;
    let (key, name) = (args.key(0), args.word(2));
    let stream = view.collection::<Stream>(key)?;
    let group = stream
        .and_then(|stream| stream.group(name))
        .ok_or_else(|| no_key_or_group(key.bytes, name))?;
    match wanted {
        None => summary(group, reply),
        Some(wanted) => entries(group, &wanted, view.now_ms(), reply),
    }
    Ok(())
}

fn parse<'a>(args: &Args<'a>) -> Result<Option<Wanted<'a>>, CommandError> {
    let words = args.len();
    if words == 3 {
        return Ok(None);
    }
    if !(6..=9).contains(&words) {
        return Err(CommandError::SYNTAX);
    }
    let (mut at, mut idle_ms_min) = (3, 0);
    if args.is(3, "idle") {
        idle_ms_min = integer(args.word(4))?;
        at = 5;
        if words < 8 {
            return Err(CommandError::SYNTAX);
        }
    }
    let count_max = u64::try_from(integer(args.word(at + 2))?).unwrap_or(0);
    let first = ids::interval_start(args.word(at))?;
    let last = ids::interval_end(args.word(at + 1))?;
    Ok(Some(Wanted { idle_ms_min, first, last, count_max, consumer: args.opt(at + 3) }))
}

/// How many pending entries a call asks for.
fn entries_asked(args: &Args<'_>) -> usize {
    let wanted = parse(args).ok().flatten();
    wanted.map_or(0, |wanted| usize::try_from(wanted.count_max).unwrap_or(usize::MAX))
}

fn summary(group: &StreamGroup, reply: &mut Reply<'_>) {
    reply.array(4);
    reply.integer(group.pending_count() as i64);
    let mut all = group.pending(EntryId::MIN..=EntryId::MAX);
    let Some((first, _)) = all.next() else {
        (0..2).for_each(|_| reply.null());
        reply.null_array();
        return;
    };
    let last = all.next_back().map_or(first, |(last, _)| last);
    reply_id(first, reply);
    reply_id(last, reply);
    let with_pending = || group.consumers().filter(|consumer| consumer.pending_count() > 0);
    reply.array(with_pending().count());
    for consumer in with_pending() {
        reply.array(2);
        reply.bulk(consumer.name());
        reply.bulk(itoa::Buffer::new().format(consumer.pending_count()).as_bytes());
    }
}

fn entries(group: &StreamGroup, wanted: &Wanted<'_>, now_ms: u64, reply: &mut Reply<'_>) {
    let range = wanted.first..=wanted.last;
    let idle_ms = |pending: &Pending| (now_ms as i64).wrapping_sub(pending.delivered_ms as i64);
    let is_idle =
        |pending: &Pending| wanted.idle_ms_min <= 0 || idle_ms(pending) >= wanted.idle_ms_min;
    let place = reply.array_deferred();
    let mut count = 0;
    let mut write = |(id, pending): (EntryId, &Pending)| {
        reply.array(4);
        reply_id(id, reply);
        reply.bulk(group.owner(pending).name());
        reply.integer(idle_ms(pending).max(0));
        reply.integer(pending.deliveries as i64);
        count += 1;
    };
    let most = limit(Some(wanted.count_max));
    match wanted.consumer {
        None => group.pending(range).filter(|it| is_idle(it.1)).take(most).for_each(&mut write),
        Some(name) => {
            let of_consumer =
                group.consumer(name).into_iter().flat_map(|it| it.pending(range.clone()));
            let with_times = of_consumer.filter_map(|id| Some((id, group.pending_entry(id)?)));
            with_times.filter(|it| is_idle(it.1)).take(most).for_each(&mut write);
        }
    }
    reply.array_end(place, count);
}
