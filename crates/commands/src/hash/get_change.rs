//! Commands that return fields and then change them: HGETDEL and HGETEX.

use super::fields_option::{self, NOT_POSITIVE};
use super::reply_value;
use crate::expire_time::{ExpireTime, is_past};
use basalt_call::entry::{Entry, Run};
use basalt_engine::{Absent, EventClass, Txn};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse, around};
use basalt_value::hash::EXPIRED_A_CHANGE;
use basalt_value::item::Item;
use basalt_value::{Edits, Hash};

const WRITES: Flags = Flags::of(&[Flag::Write, Flag::Fast]);

pub(super) const HGETDEL: Entry = Entry {
    spec: CommandSpec {
        name: "hgetdel",
        synopsis: "key FIELDS (numfields field [field ...])",
        group: Group::Hash,
        flags: WRITES,
        keys: &[KeyUse::TAKE],
        overrides: &[around("numfields").named("fields")],
        since: "8.0.0",
        complexity: "O(1) a field",
        summary: "Returns the values of fields of a hash and removes the fields.",
        examples: &[
            "HSET h a 1 b 2 => (integer) 2",
            r#"HGETDEL h FIELDS 2 a c => ["1", (nil)]"#,
            "HLEN h => (integer) 1",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(hgetdel),
    ..Entry::DEFAULT
};

pub(super) const HGETEX: Entry = Entry {
    spec: CommandSpec {
        name: "hgetex",
        synopsis: "key [EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT \
                   unix-time-milliseconds | PERSIST] FIELDS (numfields field [field ...])",
        group: Group::Hash,
        flags: WRITES,
        keys: &[KeyUse::MODIFY],
        overrides: &[around("EX").named("expiration"), around("numfields").named("fields")],
        since: "8.0.0",
        complexity: "O(1) a field",
        summary: "Returns the values of fields of a hash and sets or removes when they expire.",
        examples: &[
            "HSET h a 1 => (integer) 1",
            r#"HGETEX h EX 100 FIELDS 2 a b => ["1", (nil)]"#,
            "HTTL h FIELDS 1 a => [(integer) 100]",
            r#"HGETEX h PERSIST FIELDS 1 a => ["1"]"#,
            "HTTL h FIELDS 1 a => [(integer) -1]",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(hgetex),
    ..Entry::DEFAULT
};

fn hgetdel(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    txn.collection::<Hash>(args.key(0))?;
    let now_ms = txn.now_ms();
    let first = fields_option::parse(args, 2, NOT_POSITIVE)?;
    reply_and_change(txn, args, first, Some("hdel"), reply, |hash, name, edits| {
        hash.remove(name, now_ms, edits);
    })
}

fn hgetex(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    txn.collection::<Hash>(args.key(0))?;
    let now_ms = txn.now_ms();
    let (expiry, at) = expiry_option(args, now_ms)?;
    let first = fields_option::parse_ex(args, at, 1, "hgetex")?;
    let event = match expiry {
        Some(0) => Some("hpersist"),
        Some(ms) if is_past(ms, now_ms) => Some("hdel"),
        Some(_) => Some("hexpire"),
        None => None,
    };
    reply_and_change(txn, args, first, event, reply, |hash, name, edits| match expiry {
        Some(ms) if ms != 0 && is_past(ms, now_ms) => {
            hash.remove(name, now_ms, edits);
        }
        Some(ms) => hash.set_expiry(name, ms, edits),
        None => {}
    })
}

/// The expiry that fields get, 0 for none, if they get one, and where FIELDS stands.
fn expiry_option(args: &Args<'_>, now_ms: u64) -> Result<(Option<u64>, usize), CommandError> {
    const ONE_ONLY: CommandError = CommandError::fixed(
        "ERR Only one of EX, PX, EXAT, PXAT or PERSIST arguments can be specified",
    );
    const NO_TIME: CommandError = CommandError::fixed("ERR missing expire time");
    let mut expiry = None;
    let mut at = 2;
    while at < args.len() {
        let time = ExpireTime::option(args, at);
        if args.is(at, "FIELDS") {
            return Ok((expiry, at));
        } else if time.is_none() && !args.is(at, "PERSIST") {
            let word = String::from_utf8_lossy(args.word(at));
            return Err(CommandError::new(format!("ERR unknown argument: {word}")));
        } else if expiry.is_some() {
            return Err(ONE_ONLY);
        }
        match time {
            Some(time) => {
                let word = args.opt(at + 1).ok_or(NO_TIME)?;
                expiry = Some(fields_option::expire_ms(time, word, now_ms, "hgetex")?);
                at += 2;
            }
            None => {
                expiry = Some(0);
                at += 1;
            }
        }
    }
    Err(CommandError::fixed("ERR missing FIELDS argument"))
}

/// Replies with field after field and then changes it.
fn reply_and_change(
    txn: &mut Txn<'_>,
    args: &Args<'_>,
    first: usize,
    event: Option<&'static str>,
    reply: &mut Reply<'_>,
    mut change: impl FnMut(&mut Hash, Item<'_>, &mut Edits<'_>),
) -> CommandResult {
    let now_ms = txn.now_ms();
    reply.array(args.len() - first);
    let mut found = false;
    let changed = txn.edit::<Hash, _>(args.key(0), Absent::Skip, |hash, edits| {
        hash.remove_expired(now_ms, EXPIRED_A_CHANGE, edits);
        for name in args.from(first).map(Item::of) {
            let field = hash.field(name, now_ms);
            reply_value(field, reply);
            if field.is_some() {
                found = true;
                change(hash, name, edits);
            }
        }
    })?;
    if changed.is_none() {
        args.from(first).for_each(|_| reply.null());
    }
    if let Some(event) = event
        && found
    {
        txn.notify_taken(EventClass::Hash, event, args.key(0));
    }
    Ok(())
}
