//! Integers of any width at any bit: BITFIELD and BITFIELD_RO.

use super::bytes_or_none;
use super::field_operation::{Action, Operation, parse};
use crate::strings::{check_zeros, make_raw};
use basalt_call::entry::{Entry, Run};
use basalt_engine::{EventClass, Key, Txn, View};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyFlag, KeyFlags, KeyUse, Kind, around, at};

pub(super) const BITFIELD: Entry = Entry {
    spec: CommandSpec {
        name: "bitfield",
        synopsis: "key [<GET encoding offset | [OVERFLOW <WRAP | SAT | FAIL>] <SET \
                   encoding offset value | INCRBY encoding offset increment>> [...]]",
        group: Group::Bitmap,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom]),
        keys: &[KeyUse::MODIFY.varying()],
        key_flags: Some(key_flags),
        overrides: &[
            at("value").kind(Kind::Integer),
            around("SET").named("write_operation"),
            around("OVERFLOW").named("write"),
            around("GET").named("operation"),
        ],
        since: "3.2.0",
        complexity: "O(1) for each operation",
        summary: "Reads and changes integers of any width at any bit of a string, and returns an array with what \
                  each operation gave: the value read, the value before SET, the sum, or nil for one that did not fit.",
        examples: &[
            "BITFIELD k SET u8 0 200 => [(integer) 0]",
            "BITFIELD k GET u4 0 GET u4 #1 => [(integer) 12, (integer) 8]",
            "BITFIELD k INCRBY u8 0 100 => [(integer) 44]",
            "BITFIELD k OVERFLOW SAT INCRBY u8 0 300 => [(integer) 255]",
            "BITFIELD k OVERFLOW FAIL INCRBY u8 0 1 => [(nil)]",
            "BITFIELD k GET i8 0 => [(integer) -1]",
            "BITFIELD k GET u64 0 => (error) ERR Invalid bitfield type. ...",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(bitfield),
    ..Entry::DEFAULT
};

/// With GET alone it only reads. What is no operation counts as one that writes.
fn key_flags(call: &[&[u8]]) -> KeyFlags {
    let (mut words, mut reads) = (&call[2..], true);
    while let [operation, arguments @ ..] = words {
        let is = |name: &[u8]| operation.eq_ignore_ascii_case(name);
        let count = if is(b"GET") { 2 } else { 1 };
        reads = (is(b"GET") || is(b"OVERFLOW")) && arguments.len() >= count;
        if !reads {
            break;
        }
        words = &arguments[count..];
    }
    if reads {
        KeyFlags::of(&[KeyFlag::Ro, KeyFlag::Access])
    } else {
        KeyFlags::of(&[KeyFlag::Rw, KeyFlag::Access, KeyFlag::Update])
    }
}

pub(super) const BITFIELD_RO: Entry = Entry {
    spec: CommandSpec {
        name: "bitfield_ro",
        synopsis: "key [GET encoding offset [GET encoding offset ...]]",
        group: Group::Bitmap,
        flags: Flags::of(&[Flag::Readonly, Flag::Fast]),
        keys: &[KeyUse::READ],
        since: "6.0.0",
        complexity: "O(1) for each operation",
        summary: "Reads integers of any width at any bit of a string; never changes it.",
        examples: &[
            "SET k ab => OK",
            "BITFIELD_RO k GET u8 8 GET i3 1 => [(integer) 98, (integer) -2]",
            "BITFIELD_RO k SET u8 0 1 => (error) ERR BITFIELD_RO only supports the GET subcommand",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(bitfield_ro),
    ..Entry::DEFAULT
};

fn bitfield(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let operations = parse(args, txn.value_bytes_max())?;
    let key = args.key(0);
    let len = bytes_or_none(txn.get(key))?.len();
    let mut is_changed = false;
    let written_to = operations.iter().filter_map(Operation::bytes_written_to).max();
    if let Some(end) = written_to {
        check_zeros(txn, len, end - 1)?;
    }
    if written_to.is_some_and(|end| txn.must_copy_first(key, len, end - 1..end)) {
        return Ok(());
    }
    match written_to {
        // Even if none of them fits: Redis makes room first.
        Some(written_to) if written_to > len => {
            txn.splice(key, written_to - 1, &[0]);
            is_changed = true;
        }
        Some(_) => make_raw(txn, key),
        None => txn.notify_missing(args.keys()),
    }
    reply.array(operations.len());
    for operation in &operations {
        let Outcome { answer, wrote } = run(txn, key, operation)?;
        is_changed |= wrote;
        match answer {
            Some(value) => reply.integer(value),
            None => reply.null(),
        }
    }
    if is_changed {
        txn.notify(EventClass::String, "setbit", key);
    }
    Ok(())
}

/// What came of one operation.
struct Outcome {
    /// What it answers: `None` if the new value did not fit and is not stored.
    answer: Option<i64>,
    /// It has changed the field.
    wrote: bool,
}

fn run(txn: &mut Txn<'_>, key: &Key<'_>, operation: &Operation) -> Result<Outcome, CommandError> {
    let Operation { field, offset, action } = *operation;
    let bytes = bytes_or_none(txn.get(key))?;
    let old = field.read(bytes, offset);
    let new = match action {
        Action::Get => return Ok(Outcome { answer: Some(old), wrote: false }),
        Action::Set(value, overflow) => field.fit(value, overflow),
        Action::Add(increment, overflow) => field.add(old, increment, overflow),
    };
    let Some(new) = new else { return Ok(Outcome { answer: None, wrote: false }) };
    if new != old {
        let patch = field.write(bytes, offset, new);
        txn.splice(key, patch.at(), patch.bytes());
    }
    let answer = Some(if matches!(action, Action::Set(..)) { old } else { new });
    Ok(Outcome { answer, wrote: new != old })
}

fn bitfield_ro(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let operations = parse(args, view.value_bytes_max())?;
    if operations.iter().any(|operation| operation.bytes_written_to().is_some()) {
        return Err(CommandError::fixed("ERR BITFIELD_RO only supports the GET subcommand"));
    }
    let bytes = bytes_or_none(view.get(args.key(0)))?;
    reply.array(operations.len());
    for Operation { field, offset, .. } in operations {
        reply.integer(field.read(bytes, offset));
    }
    Ok(())
}
