//! HINCRBY and HINCRBYFLOAT. A field that expires goes on to do so.

use super::terms;
use crate::number::integer;
use basalt_call::entry::{Entry, Run};
use basalt_engine::{Absent, EventClass, Txn};
use basalt_number::LongDouble;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse, Kind, at};
use basalt_value::Hash;
use basalt_value::hash::{EXPIRED_A_CHANGE, Field, OldExpiry};
use basalt_value::item::{Item, NUMBER_CHARS_MAX};

const WRITES: Flags = Flags::of(&[Flag::Write, Flag::Denyoom, Flag::Fast]);

pub(super) const HINCRBY: Entry = Entry {
    spec: CommandSpec {
        name: "hincrby",
        synopsis: "key field increment",
        group: Group::Hash,
        flags: WRITES,
        keys: &[KeyUse::MODIFY],
        since: "2.0.0",
        complexity: "O(1)",
        summary: "Adds to the integer in a field of a hash, which counts as 0 if absent, and returns the sum.",
        examples: &[
            "HINCRBY h a 5 => (integer) 5",
            "HINCRBY h a -7 => (integer) -2",
            "HSET h b x => (integer) 1",
            "HINCRBY h b 1 => (error) ERR hash value is not an integer",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(hincrby),
    ..Entry::DEFAULT
};

pub(super) const HINCRBYFLOAT: Entry = Entry {
    spec: CommandSpec {
        name: "hincrbyfloat",
        synopsis: "key field increment",
        group: Group::Hash,
        flags: WRITES,
        keys: &[KeyUse::MODIFY],
        overrides: &[at("increment").kind(Kind::Double)],
        since: "2.6.0",
        complexity: "O(1)",
        summary: "Adds to the number in a field of a hash, which counts as 0 if absent, and returns the sum as a string.",
        examples: &[
            "HSET h a 10.50 => (integer) 1",
            r#"HINCRBYFLOAT h a 0.1 => "10.6""#,
            r#"HINCRBYFLOAT h b -5 => "-5""#,
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(hincrbyfloat),
    ..Entry::DEFAULT
};

fn hincrby(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    const NOT_INTEGER: CommandError = CommandError::fixed("ERR hash value is not an integer");
    let increment = integer(args.word(3))?;
    let sum = change(txn, args, |old| {
        let old = match old {
            None => 0,
            Some(Item::Number(number)) => number,
            Some(Item::Bytes(_)) => return Err(NOT_INTEGER),
        };
        old.checked_add(increment)
            .map(Number::Integer)
            .ok_or(CommandError::fixed("ERR increment or decrement would overflow"))
    })?;
    if let Number::Integer(sum) = sum {
        reply.integer(sum);
    }
    Ok(())
}

fn hincrbyfloat(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    const NOT_FLOAT: CommandError = CommandError::fixed("ERR hash value is not a float");
    const NO_NUMBER: CommandError = CommandError::fixed("ERR value is NaN or Infinity");
    const NO_SUM: CommandError = CommandError::fixed("ERR increment would produce NaN or Infinity");
    let increment = LongDouble::parse(args.word(3)).ok_or(CommandError::NOT_FLOAT)?;
    if increment == LongDouble::Infinite {
        return Err(NO_NUMBER);
    }
    let sum = change(txn, args, |old| {
        let old = match old {
            None => LongDouble::ZERO,
            Some(item) => {
                LongDouble::parse(item.spell(&mut [0; NUMBER_CHARS_MAX])).ok_or(NOT_FLOAT)?
            }
        };
        old.plus(increment).text().map(Number::Float).ok_or(NO_SUM)
    })?;
    if let Number::Float(text) = sum {
        reply.bulk(text.as_bytes());
    }
    Ok(())
}

/// A sum.
enum Number {
    Integer(i64),
    Float(String),
}

/// Puts what `add` makes of a field's value, if it has one, in its place.
fn change(
    txn: &mut Txn<'_>,
    args: &Args<'_>,
    add: impl FnOnce(Option<Item<'_>>) -> Result<Number, CommandError>,
) -> Result<Number, CommandError> {
    let terms = terms(txn);
    let name = Item::of(args.word(2));
    type Sum = Result<Number, CommandError>;
    let changed: Option<Sum> =
        txn.edit::<Hash, _>(args.key(0), Absent::Create, |hash, edits| {
            hash.remove_expired(terms.now_ms, EXPIRED_A_CHANGE, edits);
            let sum = add(hash.field(name, terms.now_ms).map(|field| field.value))?;
            let value = match &sum {
                Number::Integer(sum) => Item::Number(*sum),
                Number::Float(text) => Item::of(text.as_bytes()),
            };
            hash.set(Field { name, value, expire_ms: 0 }, OldExpiry::Keep, &terms, edits);
            Ok(sum)
        })?;
    let sum = changed.expect("the key is created if it is absent")?;
    let event = match sum {
        Number::Integer(_) => "hincrby",
        Number::Float(_) => "hincrbyfloat",
    };
    // As in Redis, even by zero.
    txn.count_as_changed(args.key(0));
    txn.notify(EventClass::Hash, event, args.key(0));
    Ok(sum)
}
