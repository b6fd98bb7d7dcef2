//! Q.CALL and Q.REPLY: a message whose producer waits for what its consumer answers.

use super::options::lease_ms;
use super::put::{check_body, refused};
use super::{edit, reply_count, token};
use basalt_call::entry::{Entry, Run};
use basalt_engine::{Absent, Txn, WaitAnswer};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse};
use basalt_value::Queue;
use basalt_value::queue::{LaneNumber, NewMessage, Put, Refused};
use std::time::Duration;

pub(super) const Q_CALL: Entry = Entry {
    spec: CommandSpec {
        name: "q.call",
        synopsis: "key body [TIMEOUT milliseconds]",
        group: Group::Stream,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom, Flag::Blocking]),
        keys: &[KeyUse::ADD],
        since: "0.1.0",
        complexity: "O(log(N)) with N messages",
        summary: "Puts a message into a queue and waits for the answer to it: returns that, or nil when the time is over. A message that nobody holds then is taken back.",
        examples: &[
            "Q.CALL q question TIMEOUT 10 => (nil)",
            "Q.LEN q => (integer) 0",
            "Q.CALL q question TIMEOUT 0 => (error) ERR timeout is out of range: from 1 millisecond to 12 hours",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(call),
    ..Entry::DEFAULT
};

pub(super) const Q_REPLY: Entry = Entry {
    spec: CommandSpec {
        name: "q.reply",
        synopsis: "key token body",
        group: Group::Stream,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom, Flag::Fast]),
        keys: &[KeyUse::UPDATE],
        since: "0.1.0",
        complexity: "O(log(N)) with N messages",
        summary: "Acknowledges a delivery and answers the client that waits in Q.CALL. Returns 1 if one waits, 0 if none does or the token is no longer good.",
        examples: &[
            r#"Q.PUT q a => "0-1""#,
            "Q.GET QUEUES q => (any)",
            "Q.REPLY q 0-1-5 answer => (integer) 0",
            "Q.REPLY q nonsense answer => (error) ERR invalid token",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(answer),
    ..Entry::DEFAULT
};

/// How long a client waits that does not say.
const TIMEOUT_MS: u64 = 30_000;

fn timeout_ms(args: &Args<'_>) -> Result<u64, CommandError> {
    const OUTSIDE: CommandError =
        CommandError::fixed("ERR timeout is out of range: from 1 millisecond to 12 hours");
    match args.len() {
        3 => Ok(TIMEOUT_MS),
        5 if args.is(3, "timeout") => lease_ms(args.word(4)).map_err(|_| OUTSIDE),
        _ => Err(CommandError::SYNTAX),
    }
}

fn call(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let time = Duration::from_millis(timeout_ms(args)?);
    check_body(args.word(2), txn)?;
    if txn.has_waited() {
        return go_on(txn, args, time, reply);
    }
    let key = args.key(0);
    if !txn.may_wait() {
        // Nobody would be there for the answer, so nothing is asked.
        txn.collection::<Queue>(key)?;
        reply.null();
        return Ok(());
    }
    let message = NewMessage {
        lane: LaneNumber::default(),
        body: args.word(2),
        delay_ms: 0,
        ttl_ms: time.as_millis() as u64,
        dedup: None,
    };
    let put = edit(txn, key, Absent::Create, "q.call", |queue, now_ms, edits| {
        queue.put(&message, now_ms, edits)
    })?;
    let (Put::New(id) | Put::Known(id)) = put.unwrap_or(Err(Refused::Full)).map_err(refused)?;
    if txn.wait_for_answer(key, id, time) == WaitAnswer::MustAnswer {
        reply.null();
    }
    Ok(())
}

/// The command has waited: there is an answer, or its message is gone, or its time is over.
fn go_on(
    txn: &mut Txn<'_>,
    args: &Args<'_>,
    time: Duration,
    reply: &mut Reply<'_>,
) -> CommandResult {
    let key = args.key(0);
    if let Some(answer) = txn.take_answer(key) {
        reply.bulk(&answer);
        return Ok(());
    }
    let now_ms = txn.now_ms();
    let waiting = txn.called_message(key).filter(|&id| {
        // Something else under the key has no such message.
        txn.collection::<Queue>(key).ok().flatten().is_some_and(|queue| queue.has(id, now_ms))
    });
    if let Some(id) = waiting {
        if txn.wait_for_answer(key, id, time) == WaitAnswer::Waits {
            return Ok(());
        }
        edit(txn, key, Absent::Skip, "q.call", |queue, now_ms, edits| {
            queue.withdraw(id, now_ms, edits)
        })?;
    }
    reply.null();
    Ok(())
}

fn answer(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let token = token(args.word(2))?;
    check_body(args.word(3), txn)?;
    let done = edit(txn, args.key(0), Absent::Skip, "q.reply", |queue, now_ms, edits| {
        queue.acknowledge(&[token], now_ms, edits)
    })?;
    txn.release(args.key(0), [token.id].into_iter());
    let is_done = done.unwrap_or(0) > 0;
    let is_answered = is_done && txn.answer(args.key(0), token.id, args.word(3));
    reply_count(usize::from(is_answered), reply)
}
