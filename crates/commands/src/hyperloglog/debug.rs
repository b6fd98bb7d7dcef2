//! PFDEBUG: what a HyperLogLog is made of.

use super::{hll, store};
use crate::strings::make_raw;
use basalt_call::entry::{Entry, Run};
use basalt_engine::Txn;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{Audience, CommandSpec, Flag, Flags, Group, KeyFlag, KeyUse};
use basalt_value::hll::{Encoding, HllBuf};

pub(super) const PFDEBUG: Entry = Entry {
    spec: CommandSpec {
        name: "pfdebug",
        synopsis: "subcommand key",
        group: Group::Hyperloglog,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom, Flag::Admin]),
        keys: &[KeyUse::new(&[KeyFlag::Rw, KeyFlag::Access])],
        since: "2.8.9",
        complexity: "O(1)",
        summary: "Shows the registers of a HyperLogLog (GETREG), its encoding (ENCODING) or its runs (DECODE), \
                  or makes it dense (TODENSE), which GETREG does, too.",
        examples: &[
            "PFADD k a => (integer) 1",
            "PFDEBUG ENCODING k => sparse",
            r#"PFDEBUG DECODE k => "Z:12711 v:2,1 Z:3672""#,
            "PFDEBUG TODENSE k => (integer) 1",
            "PFDEBUG TODENSE k => (integer) 0",
            "PFDEBUG DECODE k => (error) ERR HLL encoding is not sparse",
            "PFDEBUG ENCODING absent => (error) ERR The specified key does not exist",
        ],
        audience: Audience::System,
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(pfdebug),
    ..Entry::DEFAULT
};

fn pfdebug(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let key = args.key(0);
    let Some(object) = txn.get(key) else {
        return Err(CommandError::fixed("ERR The specified key does not exist"));
    };
    let encoding = hll(object)?.encoding();
    make_raw(txn, key);
    if args.is(1, "GETREG") {
        make_dense(txn, args)?;
        reply_registers(txn, args, reply)?;
    } else if args.is(1, "DECODE") {
        reply_runs(txn, args, reply)?;
    } else if args.is(1, "ENCODING") {
        reply.simple(if encoding == Encoding::Dense { "dense" } else { "sparse" });
    } else if args.is(1, "TODENSE") {
        make_dense(txn, args)?;
        reply.integer(i64::from(encoding == Encoding::Sparse));
    } else {
        let name = String::from_utf8_lossy(args.word(1));
        return Err(CommandError::new(format!("ERR Unknown PFDEBUG subcommand '{name}'")));
    }
    Ok(())
}

fn reply_runs(txn: &Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let Some(object) = txn.get(args.key(0)) else { return Ok(()) };
    let text = hll(object)?.runs_as_text();
    let text = text.ok_or(CommandError::fixed("ERR HLL encoding is not sparse"))?;
    reply.bulk(text.as_bytes());
    Ok(())
}

fn make_dense(txn: &mut Txn<'_>, args: &Args<'_>) -> CommandResult {
    let key = args.key(0);
    let Some(object) = txn.get(key) else { return Ok(()) };
    let mut dense = HllBuf::from(hll(object)?);
    if dense.make_dense()? {
        store(txn, key, dense.bytes())?;
    }
    Ok(())
}

fn reply_registers(txn: &Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let Some(object) = txn.get(args.key(0)) else { return Ok(()) };
    let registers = hll(object)?.registers()?;
    reply.array(registers.values().len());
    registers.values().iter().for_each(|&value| reply.integer(i64::from(value)));
    Ok(())
}
