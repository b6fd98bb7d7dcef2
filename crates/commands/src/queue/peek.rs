//! Q.PEEK and Q.LEN.

use super::options::{state, value};
use super::{message_id, queue_at, reply_message, reply_number};
use crate::number::count;
use basalt_call::entry::{Entry, Run};
use basalt_engine::View;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse};
use basalt_value::queue::{MESSAGES_MAX, Peek, State};

/// Messages that are shown if nobody says how many.
const COUNT: usize = 10;

pub(super) const Q_PEEK: Entry = Entry {
    spec: CommandSpec {
        name: "q.peek",
        synopsis: "key [STATE <ready | delayed | leased | dead>] [FROM id] [COUNT count]",
        group: Group::Stream,
        flags: Flags::of(&[Flag::Readonly]),
        keys: &[KeyUse::READ],
        since: "0.1.0",
        complexity: "O(N) with N messages that are passed over or shown",
        summary: "Shows messages of a state, from one on: by priority, in the order in which they were put.",
        examples: &[
            "Q.PEEK q => []",
            r#"Q.PUT q a => "0-1""#,
            "Q.PEEK q STATE ready COUNT 1 => (any)",
            "Q.PEEK q STATE dead FROM 0-1 => []",
            "Q.PEEK q STATE gone => (error) ERR state must be ready, delayed, leased or dead",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(peek),
    ..Entry::DEFAULT
};

pub(super) const Q_LEN: Entry = Entry {
    spec: CommandSpec {
        name: "q.len",
        synopsis: "key",
        group: Group::Stream,
        flags: Flags::of(&[Flag::Readonly, Flag::Fast]),
        keys: &[KeyUse::READ],
        since: "0.1.0",
        complexity: "O(1)",
        summary: "Returns how many messages of all states a queue has.",
        examples: &["Q.LEN q => (integer) 0", r#"Q.PUT q a => "0-1""#, "Q.LEN q => (integer) 1"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(len),
    ..Entry::DEFAULT
};

fn peek(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let mut peek = Peek { state: State::Ready, from: None, count: COUNT };
    let mut index = 2;
    while index < args.len() {
        let value = value(args, index)?;
        if args.is(index, "state") {
            peek.state = state(value)?;
        } else if args.is(index, "from") {
            peek.from = Some(message_id(value)?);
        } else if args.is(index, "count") {
            peek.count = count(value)?.min(MESSAGES_MAX);
        } else {
            return Err(CommandError::SYNTAX);
        }
        index += 2;
    }
    let queue = queue_at(view, args.key(0))?;
    let (place, mut count) = (reply.array_deferred(), 0);
    if let Some(queue) = queue {
        queue.peek(&peek, view.now_ms(), &mut |message| {
            reply_message(&message, reply);
            count += 1;
        });
    }
    reply.array_end(place, count);
    Ok(())
}

fn len(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let queue = queue_at(view, args.key(0))?;
    reply_number(queue.map_or(0, |queue| queue.counts(view.now_ms()).all()), reply);
    Ok(())
}
