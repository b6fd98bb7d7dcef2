//! Q.PUT and Q.MPUT.

use super::config::changed;
use super::options::{lane, name, time_ms, value};
use super::{edit, reply_id};
use crate::number::count;
use basalt_call::entry::{Entry, Run};
use basalt_engine::{Absent, Txn};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse};
use basalt_value::queue::{Dedup, LaneNumber, MESSAGES_MAX, NewMessage, Put, Refused, Settings};
use basalt_value::{Edits, Queue};

pub(super) const Q_PUT: Entry = Entry {
    spec: CommandSpec {
        name: "q.put",
        synopsis: "key body [PRIORITY priority] [DELAY milliseconds] [TTL milliseconds] [DEDUP name [WINDOW milliseconds]] [INIT setting value [setting value ...]]",
        group: Group::Stream,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom, Flag::Fast]),
        keys: &[KeyUse::ADD],
        since: "0.1.0",
        complexity: "O(log(N)) with N messages, O(M) if M give way",
        summary: "Puts a message into a queue, which is made if it is not there; INIT says with which settings, as Q.CONFIG SET does.",
        examples: &[
            r#"Q.PUT q hello => "0-1""#,
            r#"Q.PUT q urgent PRIORITY 9 => "9-1""#,
            r#"Q.PUT q once DEDUP order-17 => "0-2""#,
            r#"Q.PUT q again DEDUP order-17 => "0-2""#,
            r#"Q.PUT q later DELAY 60000 TTL 3600000 => "0-3""#,
            "Q.PUT q x PRIORITY 10 => (error) ERR priority is out of range: from 0 to 9",
            "Q.CONFIG SET q max 4 => OK",
            "Q.PUT q x => (error) QFULL the queue is full",
            "Q.CONFIG SET q paused put => OK",
            "Q.PUT q x => (error) QLOCKED the queue takes no messages",
            r#"Q.PUT new x INIT max 1 => "0-1""#,
            "Q.PUT new y INIT max 2 => (error) QFULL the queue is full",
            "Q.PUT no x INIT colour blue => (error) ERR a queue has no setting 'colour'",
            "Q.PUT no long INIT max-bytes 3 => (error) QFULL the queue is full",
            "EXISTS no => (integer) 0",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(put),
    ..Entry::DEFAULT
};

pub(super) const Q_MPUT: Entry = Entry {
    spec: CommandSpec {
        name: "q.mput",
        synopsis: "key count body [body ...] [PRIORITY priority] [DELAY milliseconds] [TTL milliseconds]",
        group: Group::Stream,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom]),
        keys: &[KeyUse::ADD],
        since: "0.1.0",
        complexity: "O(N*log(M)) with N bodies and M messages",
        summary: "Puts several messages into a queue: all, or, if there is no room for all, none.",
        examples: &[
            r#"Q.MPUT q 2 a b => ["0-1", "0-2"]"#,
            r#"Q.MPUT q 1 c PRIORITY 5 => ["5-1"]"#,
            "Q.CONFIG SET q max 4 => OK",
            "Q.MPUT q 2 d e => (error) QFULL the queue is full",
            "Q.LEN q => (integer) 3",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(put_many),
    ..Entry::DEFAULT
};

/// What stands behind the bodies.
struct Options<'a> {
    lane: LaneNumber,
    delay_ms: u64,
    ttl_ms: u64,
    dedup: Option<Dedup<'a>>,
    /// Those of a queue that is made.
    settings: Option<Settings>,
}

/// Whether the bodies may have a name, and the queue settings.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Names {
    Allowed,
    No,
}

impl<'a> Options<'a> {
    fn parse(args: &Args<'a>, first: usize, names: Names) -> Result<Options<'a>, CommandError> {
        let mut options = Options {
            lane: LaneNumber::default(),
            delay_ms: 0,
            ttl_ms: u64::MAX,
            dedup: None,
            settings: None,
        };
        let mut index = first;
        while index < args.len() {
            if args.is(index, "priority") {
                options.lane = lane(value(args, index)?)?;
            } else if args.is(index, "delay") {
                options.delay_ms = time_ms(value(args, index)?, 0)?;
            } else if args.is(index, "ttl") {
                options.ttl_ms = time_ms(value(args, index)?, 1)?;
            } else if args.is(index, "dedup") && names == Names::Allowed {
                options.dedup = Some(Dedup { name: name(value(args, index)?)?, window_ms: None });
            } else if args.is(index, "window")
                && let Some(dedup) = &mut options.dedup
            {
                dedup.window_ms = Some(time_ms(value(args, index)?, 1)?);
            } else if args.is(index, "init") && names == Names::Allowed {
                options.settings = Some(changed(Settings::DEFAULT, args, index + 1)?);
                break;
            } else {
                return Err(CommandError::SYNTAX);
            }
            index += 2;
        }
        Ok(options)
    }

    fn message<'b>(&self, body: &'b [u8]) -> NewMessage<'b>
    where
        'a: 'b,
    {
        let Options { lane, delay_ms, ttl_ms, dedup, .. } = *self;
        NewMessage { lane, body, delay_ms, ttl_ms, dedup }
    }
}

fn put(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let options = Options::parse(args, 3, Names::Allowed)?;
    check_body(args.word(2), txn)?;
    let message = options.message(args.word(2));
    let settings = match options.settings {
        Some(settings) if txn.collection::<Queue>(args.key(0))?.is_none() => Some(settings),
        _ => None,
    };
    if let Some(settings) = &settings {
        // A message that is refused leaves no queue behind.
        let mut trial = Queue::default();
        trial.set_settings(settings, txn.now_ms(), &mut Edits::none());
        trial.put(&message, txn.now_ms(), &mut Edits::none()).map_err(refused)?;
    }
    let put = edit(txn, args.key(0), Absent::Create, "q.put", |queue, now_ms, edits| {
        if let Some(settings) = &settings {
            queue.set_settings(settings, now_ms, edits);
        }
        queue.put(&message, now_ms, edits)
    })?;
    let (Put::New(id) | Put::Known(id)) = put.unwrap_or(Err(Refused::Full)).map_err(refused)?;
    reply_id(id, reply);
    Ok(())
}

fn put_many(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    const OUTSIDE: CommandError = CommandError::fixed(
        "ERR count is out of range: from 1 to 1000, and as many as there are bodies",
    );
    let bodies = count(args.word(2))?;
    if !(1..=MESSAGES_MAX).contains(&bodies) || 3 + bodies > args.len() {
        return Err(OUTSIDE);
    }
    let options = Options::parse(args, 3 + bodies, Names::No)?;
    args.from(3).take(bodies).try_for_each(|body| check_body(body, txn))?;
    let put = edit(txn, args.key(0), Absent::Create, "q.put", |queue, now_ms, edits| {
        let messages = args.from(3).take(bodies).map(|body| options.message(body));
        queue.put_all(messages, now_ms, edits)
    })?;
    let ids = put.unwrap_or(Err(Refused::Full)).map_err(refused)?;
    reply.array(ids.len());
    ids.iter().for_each(|&id| reply_id(id, reply));
    Ok(())
}

/// A script can make a body that no request could have brought.
pub(super) fn check_body(body: &[u8], txn: &Txn<'_>) -> CommandResult {
    const TOO_LONG: CommandError =
        CommandError::fixed("ERR string exceeds maximum allowed size (proto-max-bulk-len)");
    if body.len() <= txn.value_bytes_max() { Ok(()) } else { Err(TOO_LONG) }
}

#[cold]
pub(super) fn refused(refused: Refused) -> CommandError {
    match refused {
        Refused::Full => CommandError::fixed("QFULL the queue is full"),
        Refused::Locked => CommandError::fixed("QLOCKED the queue takes no messages"),
    }
}
