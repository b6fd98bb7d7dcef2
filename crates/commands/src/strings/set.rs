//! HOT PATH
//! SET with all its options.

use super::comparison::Comparison;
use super::expiry_option::ExpiryOption;
use super::reply_object;
use basalt_call::entry::{Entry, OVERWRITE_WORDS, Run, Shortcut, Traits};
use basalt_engine::{EventClass, Object, PutOptions, Txn};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyFlag, KeyFlags, KeyUse, around, at};

pub(super) const SET: Entry = Entry {
    spec: CommandSpec {
        name: "set",
        synopsis: "key value [NX | XX | IFEQ ifeq-value | IFNE ifne-value | IFDEQ ifdeq-digest | \
                   IFDNE ifdne-digest] [GET] [EX seconds | PX milliseconds | EXAT \
                   unix-time-seconds | PXAT unix-time-milliseconds | KEEPTTL]",
        group: Group::String,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom]),
        keys: &[KeyUse::MODIFY.varying()],
        key_flags: Some(key_flags),
        overrides: &[
            around("NX").named("condition").since("2.6.12"),
            at("IFEQ").since("8.4.0"),
            at("IFNE").since("8.4.0"),
            at("IFDEQ").since("8.4.0"),
            at("IFDNE").since("8.4.0"),
            at("GET").since("6.2.0"),
            at("EX").since("2.6.12"),
            at("PX").since("2.6.12"),
            at("EXAT").since("6.2.0"),
            at("PXAT").since("6.2.0"),
            at("KEEPTTL").since("6.0.0"),
            around("EX").named("expiration"),
        ],
        since: "1.0.0",
        complexity: "O(1); with IFDEQ and IFDNE O(N) with N bytes of the string that is there",
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
            "SET n w IFEQ other => (nil)",
            "SET n w IFEQ v => OK",
            r#"SET n hello IFNE v GET => "w""#,
            "SET n x IFDEQ 9555e8555c62dcfd => OK",
            "SET absent v IFEQ v => (nil)",
            "SET absent v IFNE v => OK",
            "SET n v NX IFEQ x => (error) ERR syntax error",
            "SET n v IFDEQ 123 => (error) ERR must be exactly 16 hexadecimal characters",
        ],
        history: &[
            ("2.6.12", "Options EX, PX, NX and XX."),
            ("6.0.0", "Option KEEPTTL."),
            ("6.2.0", "Options GET, EXAT and PXAT."),
            ("7.0.0", "NX and GET may be given together."),
            ("8.4.0", "Options IFEQ, IFNE, IFDEQ and IFDNE."),
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(set),
    shortcut: Some(Shortcut::Overwrite),
    traits: Traits { puts_blindly: Some(puts_blindly), ..Traits::NONE },
};

/// With GET it returns what was there, and a comparison uses it.
#[cold]
fn key_flags(call: &[&[u8]]) -> KeyFlags {
    const READING: [&[u8]; 5] = [b"GET", b"IFEQ", b"IFNE", b"IFDEQ", b"IFDNE"];
    let reads = |word: &&[u8]| READING.iter().any(|name| word.eq_ignore_ascii_case(name));
    if call.iter().skip(OVERWRITE_WORDS).any(reads) {
        KeyFlags::of(&[KeyFlag::Rw, KeyFlag::Access, KeyFlag::Update])
    } else {
        KeyFlags::of(&[KeyFlag::Ow, KeyFlag::Update])
    }
}

/// On what a SET depends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Condition<'a> {
    None,
    /// NX
    Absent,
    /// XX
    Present,
    /// IFEQ and its like.
    Compared(Comparison<'a>),
}

impl Condition<'_> {
    fn holds(self, previous: Option<Object<'_>>) -> Result<bool, CommandError> {
        match self {
            Condition::None => Ok(true),
            Condition::Absent => Ok(previous.is_none()),
            Condition::Present => Ok(previous.is_some()),
            Condition::Compared(comparison) => comparison.holds(previous),
        }
    }
}

/// What a SET replies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    Ok,
    /// GET
    Previous,
}

struct Options<'a> {
    condition: Condition<'a>,
    answer: Answer,
    expiry: ExpiryOption<'a>,
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

/// Whether what is there makes no difference to a call.
fn puts_blindly(args: &Args<'_>) -> bool {
    let has_no_option = args.len() == OVERWRITE_WORDS;
    has_no_option
        || parse(args).is_ok_and(|options| {
            options.condition == Condition::None
                && options.answer == Answer::Ok
                && options.expiry.puts_whatever_is_there()
        })
}

#[inline(never)]
fn set_with_options(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let Options { condition, answer, expiry } = parse(args)?;
    let key = args.key(0);
    if let Condition::Compared(comparison) = condition
        && comparison.must_run_apart(txn, key)
    {
        return Ok(());
    }
    let previous = txn.get(key);
    let previous_expire_ms = || previous.map_or(0, Object::expire_ms);
    let expire_ms = expiry.expire_ms(txn.now_ms(), "set", previous_expire_ms)?;
    let is_met = condition.holds(previous)?;
    if answer == Answer::Previous {
        let exists = previous.is_some();
        reply_object(previous, reply)?;
        if !exists {
            txn.notify(EventClass::Miss, "keymiss", key);
        }
    }
    if is_met {
        expiry.put(txn, key, args.word(2), expire_ms);
    }
    match (answer, is_met) {
        (Answer::Previous, _) => {}
        (Answer::Ok, true) => reply.ok(),
        (Answer::Ok, false) => reply.null(),
    }
    Ok(())
}

fn parse<'a>(args: &Args<'a>) -> Result<Options<'a>, CommandError> {
    let mut options =
        Options { condition: Condition::None, answer: Answer::Ok, expiry: ExpiryOption::None };
    let mut index = OVERWRITE_WORDS;
    while index < args.len() {
        index += match (options.condition, Comparison::option(args, index)) {
            (Condition::None, Some(comparison)) => {
                options.condition = Condition::Compared(comparison);
                2
            }
            (Condition::None | Condition::Absent, _) if args.is(index, "NX") => {
                options.condition = Condition::Absent;
                1
            }
            (Condition::None | Condition::Present, _) if args.is(index, "XX") => {
                options.condition = Condition::Present;
                1
            }
            _ if args.is(index, "GET") => {
                options.answer = Answer::Previous;
                1
            }
            _ => {
                options.expiry = options.expiry.and(args, index)?;
                options.expiry.words()
            }
        };
    }
    Ok(options)
}
