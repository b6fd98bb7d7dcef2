//! HSETEX.

use super::{fields_option, terms};
use crate::expire_time::{ExpireTime, is_past};
use basalt_call::entry::{Entry, Run};
use basalt_engine::{Absent, EventClass, Txn};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse, around};
use basalt_value::Hash;
use basalt_value::hash::{EXPIRED_A_CHANGE, Field, OldExpiry};
use basalt_value::item::Item;

const COMMAND: &str = "hsetex";

pub(super) const HSETEX: Entry = Entry {
    spec: CommandSpec {
        name: COMMAND,
        synopsis: "key [FNX | FXX] [EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT \
                   unix-time-milliseconds | KEEPTTL] FIELDS (numfields field value \
                   [field value ...])",
        group: Group::Hash,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom, Flag::Fast]),
        keys: &[KeyUse::UPDATE],
        overrides: &[
            around("FNX").named("condition"),
            around("EX").named("expiration"),
            around("numfields").named("fields"),
        ],
        since: "8.0.0",
        complexity: "O(1) a field",
        summary: "Sets fields of a hash and when they expire, all of them or none, and tells whether it did.",
        examples: &[
            "HSETEX h EX 100 FIELDS 2 a 1 b 2 => (integer) 1",
            "HTTL h FIELDS 2 a b => [(integer) 100, (integer) 100]",
            "HSETEX h FNX FIELDS 2 b 3 c 4 => (integer) 0",
            "HSETEX h FXX KEEPTTL FIELDS 1 b 3 => (integer) 1",
            "HTTL h FIELDS 1 b => [(integer) 100]",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(hsetex),
    ..Entry::DEFAULT
};

/// When the fields are set.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Condition {
    Always,
    NoneIsThere,
    AllAreThere,
}

/// What becomes of the fields' expiries.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expiry {
    Forget,
    Keep,
    At(u64),
}

struct Options {
    condition: Condition,
    expiry: Expiry,
    /// Where FIELDS stands.
    fields_at: usize,
}

fn hsetex(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let terms = terms(txn);
    let Options { condition, expiry, fields_at } = Options::parse(args, terms.now_ms)?;
    let first = fields_option::parse_ex(args, fields_at, 2, COMMAND)?;
    let absent = match condition {
        Condition::AllAreThere => Absent::Skip,
        _ => Absent::Create,
    };
    let (expire_ms, old) = match expiry {
        Expiry::Forget => (0, OldExpiry::Forget),
        Expiry::Keep => (0, OldExpiry::Keep),
        Expiry::At(expire_ms) => (expire_ms, OldExpiry::Forget),
    };
    let is_set = txn.edit::<Hash, _>(args.key(0), absent, |hash, edits| {
        hash.remove_expired(terms.now_ms, EXPIRED_A_CHANGE, edits);
        let is_there = |name| hash.field(Item::of(name), terms.now_ms).is_some();
        let mut names = args.from(first).step_by(2);
        let may_set = match condition {
            Condition::Always => true,
            Condition::NoneIsThere => !names.any(is_there),
            Condition::AllAreThere => names.all(is_there),
        };
        if !may_set {
            return false;
        }
        let mut words = args.from(first).map(Item::of);
        while let (Some(name), Some(value)) = (words.next(), words.next()) {
            if expire_ms != 0 && is_past(expire_ms, terms.now_ms) {
                hash.remove(name, terms.now_ms, edits);
            } else {
                hash.set(Field { name, value, expire_ms }, old, &terms, edits);
            }
        }
        true
    })?;
    if is_set == Some(true) {
        txn.notify(EventClass::Hash, "hset", args.key(0));
        if expire_ms != 0 && is_past(expire_ms, terms.now_ms) {
            txn.notify_taken(EventClass::Hash, "hdel", args.key(0));
        } else if expire_ms != 0 {
            txn.notify(EventClass::Hash, "hexpire", args.key(0));
        }
    }
    reply.integer(is_set.unwrap_or(false).into());
    Ok(())
}

impl Options {
    /// Reads the words between the key and FIELDS.
    fn parse(args: &Args<'_>, now_ms: u64) -> Result<Options, CommandError> {
        const ONE_CONDITION: CommandError =
            CommandError::fixed("ERR Only one of FXX or FNX arguments can be specified");
        const ONE_EXPIRY: CommandError = CommandError::fixed(
            "ERR Only one of EX, PX, EXAT, PXAT or KEEPTTL arguments can be specified",
        );
        const NO_TIME: CommandError = CommandError::fixed("ERR missing expire time");
        let mut options =
            Options { condition: Condition::Always, expiry: Expiry::Forget, fields_at: 2 };
        while options.fields_at < args.len() {
            let at = options.fields_at;
            let time = ExpireTime::option(args, at);
            if args.is(at, "FIELDS") {
                return Ok(options);
            } else if args.is(at, "FNX") || args.is(at, "FXX") {
                if options.condition != Condition::Always {
                    return Err(ONE_CONDITION);
                }
                let is_fnx = args.is(at, "FNX");
                options.condition =
                    if is_fnx { Condition::NoneIsThere } else { Condition::AllAreThere };
            } else if time.is_some() || args.is(at, "KEEPTTL") {
                if options.expiry != Expiry::Forget {
                    return Err(ONE_EXPIRY);
                }
                options.expiry = match time {
                    None => Expiry::Keep,
                    Some(time) => {
                        options.fields_at += 1;
                        let word = args.opt(at + 1).ok_or(NO_TIME)?;
                        Expiry::At(fields_option::expire_ms(time, word, now_ms, COMMAND)?)
                    }
                };
            } else {
                let word = String::from_utf8_lossy(args.word(at));
                return Err(CommandError::new(format!("ERR unknown argument: {word}")));
            }
            options.fields_at += 1;
        }
        Err(CommandError::fixed("ERR missing FIELDS argument"))
    }
}
