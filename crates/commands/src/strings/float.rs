//! Floating point numbers: INCRBYFLOAT.

use super::bytes;
use basalt_call::entry::{Entry, Run};
use basalt_engine::{EventClass, PutOptions, Txn};
use basalt_number::LongDouble;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse, Kind, at};

pub(super) const INCRBYFLOAT: Entry = Entry {
    spec: CommandSpec {
        name: "incrbyfloat",
        synopsis: "key increment",
        group: Group::String,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom, Flag::Fast]),
        keys: &[KeyUse::MODIFY],
        overrides: &[at("increment").kind(Kind::Double)],
        since: "2.6.0",
        complexity: "O(1)",
        summary: "Adds to the number at a key, which counts as 0 if absent, and returns the sum as a string.",
        examples: &[
            "SET k 10.50 => OK",
            r#"INCRBYFLOAT k 0.1 => "10.6""#,
            r#"INCRBYFLOAT k -5 => "5.6""#,
            "SET k 5.0e3 => OK",
            r#"INCRBYFLOAT k 2.0e2 => "5200""#,
            "SET k x => OK",
            "INCRBYFLOAT k 1 => (error) ERR value is not a valid float",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(incrbyfloat),
    ..Entry::DEFAULT
};

fn incrbyfloat(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let key = args.key(0);
    let spot = txn.spot(key);
    let (value, expire_ms) = match spot.object() {
        Some(object) => (parse(bytes(object)?)?, object.expire_ms()),
        None => (LongDouble::ZERO, 0),
    };
    let increment = parse(args.word(2))?;
    let text = value
        .plus(increment)
        .text()
        .ok_or(CommandError::fixed("ERR increment would produce NaN or Infinity"))?;
    spot.put(text.as_bytes(), PutOptions::whole(expire_ms));
    txn.notify(EventClass::String, "incrbyfloat", key);
    reply.bulk(text.as_bytes());
    Ok(())
}

fn parse(text: &[u8]) -> Result<LongDouble, CommandError> {
    LongDouble::parse(text).ok_or(CommandError::NOT_FLOAT)
}
