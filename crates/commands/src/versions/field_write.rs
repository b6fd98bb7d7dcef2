//! CAS.HSET and CAS.HINCRBY.

use super::element::{Outcome, Write, Written, version_of};
use super::field::field_of;
use super::options::{Accepted, OPTION_NAMES, Options};
use crate::number::integer;
use basalt_call::entry::{Entry, Run};
use basalt_engine::{Absent, EventClass, Txn, Version};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse};
use basalt_value::hash::{EXPIRED_A_CHANGE, Field, Terms};
use basalt_value::item::{Digits, Item};
use basalt_value::{Edits, Hash};

pub(super) const CAS_HSET: Entry = Entry {
    spec: CommandSpec {
        name: "cas.hset",
        synopsis: "key field value [IF version | IFDEQ digest | NX | XX] [EX seconds | PX \
                   milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds | KEEPTTL] \
                   [COUNTED | FORCE forced-version]",
        group: Group::Hash,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom]),
        keys: &[KeyUse::MODIFY],
        overrides: OPTION_NAMES,
        since: "0.1.0",
        complexity: "O(1); with IFDEQ O(N) with N bytes of the value that is there",
        summary: "Sets a field of a hash, if it has a given version. From then on every change of the \
                  field gives it a new version. Returns 1 and the new one, or 0 and the one that it \
                  has.",
        examples: &[
            "CAS.HSET h f v NX FORCE 7 => [(integer) 1, \"7\"]",
            "CAS.HSET h f w NX => [(integer) 0, \"7\"]",
            "CAS.HSET h f w IF 6 => [(integer) 0, \"7\"]",
            "CAS.HSET h f w IF 7 EX 100 COUNTED => [(integer) 1, \"8\"]",
            "HTTL h FIELDS 1 f => [(integer) 100]",
            "CAS.HSET h f x KEEPTTL COUNTED => [(integer) 1, \"9\"]",
            r#"CAS.HGET h f => ["9", (integer) 100000, "x"]"#,
            "CAS.HSET h absent v XX => [(integer) 0, \"0\"]",
            "CAS.HSET h f hello COUNTED => [(integer) 1, \"10\"]",
            "CAS.HSET h f y IFDEQ 9555e8555c62dcfd COUNTED => [(integer) 1, \"11\"]",
            "CAS.HSET h f y IF 0 => (error) ERR a version is an integer above 0 ...",
            "CAS.HSET h f y NX XX => (error) ERR syntax error",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(set),
    ..Entry::DEFAULT
};

pub(super) const CAS_HINCRBY: Entry = Entry {
    spec: CommandSpec {
        name: "cas.hincrby",
        synopsis: "key field delta [IF version | NX | XX] [EX seconds | PX milliseconds | EXAT \
                   unix-time-seconds | PXAT unix-time-milliseconds | KEEPTTL] [COUNTED | FORCE \
                   forced-version]",
        group: Group::Hash,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom, Flag::Fast]),
        keys: &[KeyUse::MODIFY],
        overrides: OPTION_NAMES,
        since: "0.1.0",
        complexity: "O(1)",
        summary: "Adds to the number in a field of a hash, 0 if it is not there, if the field has a given \
                  version. Returns 1, the new version and the sum, or 0 and the version that it has.",
        examples: &[
            "CAS.HINCRBY h n 5 COUNTED => [(integer) 1, \"1\", (integer) 5]",
            "CAS.HINCRBY h n 2 IF 1 COUNTED => [(integer) 1, \"2\", (integer) 7]",
            "CAS.HINCRBY h n 2 IF 1 => [(integer) 0, \"2\"]",
            "HSET h t text => (integer) 1",
            "CAS.HINCRBY h t 1 => (error) ERR hash value is not an integer",
            "CAS.HINCRBY h n 9223372036854775807 => (error) ERR increment or decrement would overflow",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(increment),
    ..Entry::DEFAULT
};

/// Words before the options.
const WORDS: usize = 4;

fn set(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let options = Options::parse(args, WORDS, Accepted { digest: true, get: false })?;
    let target = Target::of(txn, args, options, "cas.hset")?;
    let value = Item::of(args.word(3));
    let outcome = target.write(txn, args, "hset", |_| Ok(value))?;
    reply.array(2);
    outcome.reply(reply);
    Ok(())
}

fn increment(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let options = Options::parse(args, WORDS, Accepted { digest: false, get: false })?;
    let delta = integer(args.word(3))?;
    let target = Target::of(txn, args, options, "cas.hincrby")?;
    let mut sum = 0;
    let outcome = target.write(txn, args, "hincrby", |before| {
        sum = added(before, delta)?;
        Ok(Item::Number(sum))
    })?;
    reply.array(if outcome.is_done() { 3 } else { 2 });
    outcome.reply(reply);
    if outcome.is_done() {
        reply.integer(sum);
    }
    Ok(())
}

fn added(before: Option<Item<'_>>, delta: i64) -> Result<i64, CommandError> {
    let before = match before {
        None => 0,
        Some(Item::Number(number)) => number,
        Some(Item::Bytes(_)) => {
            return Err(CommandError::fixed("ERR hash value is not an integer"));
        }
    };
    let sum = before.checked_add(delta);
    sum.ok_or(CommandError::fixed("ERR increment or decrement would overflow"))
}

/// A field that is to be written.
struct Target<'a> {
    name: Item<'a>,
    write: Write<'a>,
    terms: Terms,
}

impl<'a> Target<'a> {
    fn of(
        txn: &Txn<'_>,
        args: &Args<'a>,
        options: Options<'a>,
        command: &str,
    ) -> Result<Target<'a>, CommandError> {
        let terms = Terms { now_ms: txn.now_ms(), limits: txn.limits() };
        let write = Write::new(options, terms.now_ms, command)?;
        Ok(Target { name: Item::of(args.word(2)), write, terms })
    }

    /// Writes what `value` makes of the present value, and tells of it.
    fn write<'v>(
        &self,
        txn: &mut Txn<'_>,
        args: &Args<'_>,
        event: &'static str,
        value: impl FnOnce(Option<Item<'_>>) -> Result<Item<'v>, CommandError>,
    ) -> Result<Outcome, CommandError> {
        let key = args.key(0);
        let outcome = txn.edit_versioned::<Hash, _>(key, Absent::Create, |hash, edits| {
            self.change(hash, edits, value)
        })?;
        let outcome = outcome.expect("the key is created if it is absent")?;
        if outcome.is_done() {
            txn.notify(EventClass::Hash, event, key);
            if outcome == Outcome::Done(Version::NONE) {
                txn.notify_taken(EventClass::Hash, "hdel", key);
            } else if self.write.expires() {
                txn.notify(EventClass::Hash, "hexpire", key);
            }
        }
        Ok(outcome)
    }

    fn change<'v>(
        &self,
        hash: &mut Hash,
        edits: &mut Edits<'_>,
        value: impl FnOnce(Option<Item<'_>>) -> Result<Item<'v>, CommandError>,
    ) -> Result<Outcome, CommandError> {
        let Target { name, write, terms } = self;
        hash.remove_expired(terms.now_ms, EXPIRED_A_CHANGE, edits);
        let found = field_of(hash, *name, terms.now_ms);
        let present = found.map(|(_, present)| present);
        let mut digits = Digits::default();
        let before = found.map(|(field, _)| field.value);
        if !write.is_met(present, before.map(|it| it.spell(&mut digits)))? {
            return Ok(Outcome::Refused(version_of(present)));
        }
        let value = value(before)?;
        Ok(Outcome::Done(match write.over(present) {
            Written::Stays { expire_ms, version } => {
                let field = Field { name: *name, value, expire_ms };
                Version::new(hash.set_versioned(field, version, terms, edits))
            }
            Written::Goes => {
                hash.remove(*name, terms.now_ms, edits);
                Version::NONE
            }
        }))
    }
}
