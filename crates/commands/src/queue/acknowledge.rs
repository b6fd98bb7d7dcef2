//! Q.ACK, Q.NACK and Q.EXTEND: what a consumer says of what it got.

use super::options::{lease_ms, time_ms, value};
use super::{edit, reply_count, token};
use basalt_call::entry::{Entry, Run};
use basalt_engine::{Absent, Txn};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse};
use basalt_value::queue::{Return, Token};

pub(super) const Q_ACK: Entry = Entry {
    spec: CommandSpec {
        name: "q.ack",
        synopsis: "key token [token ...]",
        group: Group::Stream,
        flags: Flags::of(&[Flag::Write, Flag::Fast]),
        keys: &[KeyUse::UPDATE],
        since: "0.1.0",
        complexity: "O(log(N)) for each token with N messages",
        summary: "Acknowledges deliveries: their messages are done. Returns how many tokens stood for the last delivery of a message.",
        examples: &[
            r#"Q.PUT q a => "0-1""#,
            "Q.GET QUEUES q => (any)",
            "Q.ACK q 0-1-5 => (integer) 0",
            "Q.ACK q nonsense => (error) ERR invalid token",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(acknowledge),
    ..Entry::DEFAULT
};

pub(super) const Q_NACK: Entry = Entry {
    spec: CommandSpec {
        name: "q.nack",
        synopsis: "key token [DELAY milliseconds | DEAD]",
        group: Group::Stream,
        flags: Flags::of(&[Flag::Write, Flag::Fast]),
        keys: &[KeyUse::UPDATE],
        since: "0.1.0",
        complexity: "O(log(N)) with N messages",
        summary: "Hands a message back: it is ready again in its place, or after a delay, or dead. Returns 1 if the token stood for its last delivery.",
        examples: &[
            r#"Q.PUT q a => "0-1""#,
            "Q.GET QUEUES q => (any)",
            "Q.NACK q 0-1-5 => (integer) 0",
            "Q.NACK q 0-1-5 DELAY 1000 => (integer) 0",
            "Q.NACK q 0-1-5 DEAD => (integer) 0",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(hand_back),
    ..Entry::DEFAULT
};

pub(super) const Q_EXTEND: Entry = Entry {
    spec: CommandSpec {
        name: "q.extend",
        synopsis: "key token milliseconds",
        group: Group::Stream,
        flags: Flags::of(&[Flag::Write, Flag::Fast]),
        keys: &[KeyUse::UPDATE],
        since: "0.1.0",
        complexity: "O(log(N)) with N messages",
        summary: "Has the lease of a message end so long from now. Returns 1 if the token stood for its last delivery.",
        examples: &[
            r#"Q.PUT q a => "0-1""#,
            "Q.GET QUEUES q => (any)",
            "Q.EXTEND q 0-1-5 60000 => (integer) 0",
            "Q.EXTEND q 0-1-5 0 => (error) ERR lease is out of range: from 1 millisecond to 12 hours",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(extend),
    ..Entry::DEFAULT
};

fn acknowledge(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let (one, many);
    let tokens: &[Token] = if args.len() == 3 {
        one = token(args.word(2))?;
        std::slice::from_ref(&one)
    } else {
        many = args.from(2).map(token).collect::<Result<Vec<Token>, _>>()?;
        &many
    };
    let count = edit(txn, args.key(0), Absent::Skip, "q.ack", |queue, now_ms, edits| {
        queue.acknowledge(tokens, now_ms, edits)
    })?;
    txn.release(args.key(0), tokens.iter().map(|token| token.id));
    reply_count(count.unwrap_or(0), reply)
}

fn hand_back(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let token = token(args.word(2))?;
    let to = match args.len() {
        3 => Return::Ready,
        4 if args.is(3, "dead") => Return::Dead,
        5 if args.is(3, "delay") => Return::Delayed(time_ms(value(args, 3)?, 0)?),
        _ => return Err(CommandError::SYNTAX),
    };
    let done = edit(txn, args.key(0), Absent::Skip, "q.nack", |queue, now_ms, edits| {
        queue.give_back(token, to, now_ms, edits)
    })?;
    txn.release(args.key(0), [token.id].into_iter());
    reply_count(usize::from(done.unwrap_or(false)), reply)
}

fn extend(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let (token, lease_ms) = (token(args.word(2))?, lease_ms(args.word(3))?);
    let done = edit(txn, args.key(0), Absent::Skip, "q.extend", |queue, now_ms, edits| {
        queue.extend(token, lease_ms, now_ms, edits)
    })?;
    reply_count(usize::from(done.unwrap_or(false)), reply)
}
