//! HOT PATH
//! SET with all its options.

use super::reply_object;
use crate::expire_time::{ExpireTime, Range, is_past};
use basalt_call::entry::{Entry, OVERWRITE_WORDS, Run, Shortcut};
use basalt_engine::{EventClass, Key, Object, PutOptions, Txn};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyFlag, KeyFlags, KeyUse, around, at};

pub(super) const SET: Entry = Entry {
    spec: CommandSpec {
        name: "set",
        synopsis: "key value [NX | XX] [GET] [EX seconds | PX milliseconds | EXAT \
                   unix-time-seconds | PXAT unix-time-milliseconds | KEEPTTL]",
        group: Group::String,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom]),
        keys: &[KeyUse::MODIFY.varying()],
        key_flags: Some(key_flags),
        overrides: &[
            around("NX").named("condition").since("2.6.12"),
            at("GET").since("6.2.0"),
            at("EX").since("2.6.12"),
            at("PX").since("2.6.12"),
            at("EXAT").since("6.2.0"),
            at("PXAT").since("6.2.0"),
            at("KEEPTTL").since("6.0.0"),
            around("EX").named("expiration"),
        ],
        since: "1.0.0",
        complexity: "O(1)",
        summary: "Stores a string, whatever was at the key before, and with it when it expires.",
        examples: &[
            "SET k v => OK",
            r#"SET k w XX GET => "v""#,
            "SET k x NX => (nil)",
            r#"GET k => "w""#,
            "SET k y EX 100 => OK",
            "TTL k => (integer) 100",
            "SET k z KEEPTTL => OK",
            "TTL k => (integer) 100",
            "SET k z => OK",
            "TTL k => (integer) -1",
            "SET k v NX XX => (error) ERR syntax error",
            "SET k v EX 0 => (error) ERR invalid expire time in 'set' command",
            "SET n v NX GET => (nil)",
            r#"GET n => "v""#,
        ],
        history: &[
            ("2.6.12", "Options EX, PX, NX and XX."),
            ("6.0.0", "Option KEEPTTL."),
            ("6.2.0", "Options GET, EXAT and PXAT."),
            ("7.0.0", "NX and GET may be given together."),
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(set),
    shortcut: Some(Shortcut::Overwrite),
    ..Entry::DEFAULT
};

/// With GET it returns what was there.
#[cold]
fn key_flags(call: &[&[u8]]) -> KeyFlags {
    let returns = call.iter().skip(3).any(|word| word.eq_ignore_ascii_case(b"GET"));
    if returns {
        KeyFlags::of(&[KeyFlag::Rw, KeyFlag::Access, KeyFlag::Update])
    } else {
        KeyFlags::of(&[KeyFlag::Ow, KeyFlag::Update])
    }
}

/// On what a SET depends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Condition {
    None,
    /// NX
    Absent,
    /// XX
    Present,
}

/// What a SET says about the expiry.
#[derive(Clone, Copy)]
enum Expiry<'a> {
    None,
    Keep,
    At(ExpireTime, &'a [u8]),
}

/// What a SET replies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    Ok,
    /// GET
    Previous,
}

struct Options<'a> {
    condition: Condition,
    answer: Answer,
    expiry: Expiry<'a>,
}

fn set(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    if args.len() == OVERWRITE_WORDS {
        txn.put(args.key(0), args.word(2), PutOptions::whole(0));
        txn.notify(EventClass::String, "set", args.key(0));
        reply.ok();
        return Ok(());
    }
    set_with_options(txn, args, reply)
}

#[inline(never)]
fn set_with_options(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let Options { condition, answer, expiry } = parse(args)?;
    let (key, now_ms) = (args.key(0), txn.now_ms());
    let mut expire_ms = match expiry {
        Expiry::At(time, word) => time.parse(word, now_ms, Range::Positive, "set")?,
        Expiry::None | Expiry::Keep => 0,
    };
    let previous = txn.get(key);
    let (exists, previous_expire_ms) = (previous.is_some(), previous.map_or(0, Object::expire_ms));
    if answer == Answer::Previous {
        reply_object(previous, reply)?;
        if !exists {
            txn.notify(EventClass::Miss, "keymiss", key);
        }
    }
    let met = match condition {
        Condition::None => true,
        Condition::Absent => !exists,
        Condition::Present => exists,
    };
    if met {
        if let Expiry::Keep = expiry {
            expire_ms = previous_expire_ms;
        }
        put(txn, key, args.word(2), expire_ms);
        if let Expiry::At(..) = expiry {
            notify_expiry(txn, key, expire_ms);
        }
    }
    match (answer, met) {
        (Answer::Previous, _) => {}
        (Answer::Ok, true) => reply.ok(),
        (Answer::Ok, false) => reply.null(),
    }
    Ok(())
}

/// Stores a string with this expiry, 0 for none. Redis keeps one that has expired already until
/// someone looks at it; here nothing is kept, which looks the same.
fn put(txn: &mut Txn<'_>, key: &Key<'_>, value: &[u8], expire_ms: u64) {
    if expire_ms != 0 && is_past(expire_ms, txn.now_ms()) {
        let is_new = !txn.delete(key);
        if is_new {
            txn.notify(EventClass::New, "new", key);
        }
    } else {
        txn.put(key, value, PutOptions::whole(expire_ms));
    }
    txn.notify(EventClass::String, "set", key);
}

/// Says that a key has got an expiry, and that it has expired if that was in the past.
fn notify_expiry(txn: &mut Txn<'_>, key: &Key<'_>, expire_ms: u64) {
    txn.notify(EventClass::Generic, "expire", key);
    if is_past(expire_ms, txn.now_ms()) {
        txn.notify(EventClass::Expired, "expired", key);
    }
}

fn parse<'a>(args: &Args<'a>) -> Result<Options<'a>, CommandError> {
    let mut options =
        Options { condition: Condition::None, answer: Answer::Ok, expiry: Expiry::None };
    let mut index = OVERWRITE_WORDS;
    while index < args.len() {
        if args.is(index, "NX") && options.condition != Condition::Present {
            options.condition = Condition::Absent;
        } else if args.is(index, "XX") && options.condition != Condition::Absent {
            options.condition = Condition::Present;
        } else if args.is(index, "GET") {
            options.answer = Answer::Previous;
        } else {
            options.expiry = expiry(options.expiry, args, index)?;
            index += usize::from(matches!(options.expiry, Expiry::At(..)));
        }
        index += 1;
    }
    Ok(options)
}

/// The option of the expiry at `index`. Redis lets one replace an earlier one of the same name.
fn expiry<'a>(
    before: Expiry<'a>,
    args: &Args<'a>,
    index: usize,
) -> Result<Expiry<'a>, CommandError> {
    match (before, ExpireTime::option(args, index)) {
        (Expiry::None | Expiry::Keep, None) if args.is(index, "KEEPTTL") => Ok(Expiry::Keep),
        (Expiry::None, Some(time)) => at_time(time, args, index),
        (Expiry::At(earlier, _), Some(time)) if earlier == time => at_time(time, args, index),
        _ => Err(CommandError::SYNTAX),
    }
}

fn at_time<'a>(
    time: ExpireTime,
    args: &Args<'a>,
    index: usize,
) -> Result<Expiry<'a>, CommandError> {
    args.opt(index + 1).map(|word| Expiry::At(time, word)).ok_or(CommandError::SYNTAX)
}
