//! HOT PATH
//! SADD, SREM and SMOVE.

use basalt_call::entry::{Entry, Run};
use basalt_engine::{Absent, EventClass, Txn};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandResult;
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse};
use basalt_value::Set;
use basalt_value::item::Item;

pub(super) const SADD: Entry = Entry {
    spec: CommandSpec {
        name: "sadd",
        synopsis: "key member [member ...]",
        group: Group::Set,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom, Flag::Fast]),
        keys: &[KeyUse::ADD],
        since: "1.0.0",
        complexity: "O(1) a member",
        summary: "Adds members to a set and returns how many of them are new.",
        examples: &[
            "SADD s a b a => (integer) 2",
            "SADD s b c => (integer) 1",
            r#"SMEMBERS s => {"a", "b", "c"}"#,
        ],
        history: &[("2.4.0", "Several members at once.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(sadd),
    ..Entry::DEFAULT
};

pub(super) const SREM: Entry = Entry {
    spec: CommandSpec {
        name: "srem",
        synopsis: "key member [member ...]",
        group: Group::Set,
        flags: Flags::of(&[Flag::Write, Flag::Fast]),
        keys: &[KeyUse::TRIM],
        since: "1.0.0",
        complexity: "O(1) a member",
        summary: "Removes members from a set and returns how many of them were there.",
        examples: &["SADD s a b => (integer) 2", "SREM s b c => (integer) 1"],
        history: &[("2.4.0", "Several members at once.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(srem),
    ..Entry::DEFAULT
};

pub(super) const SMOVE: Entry = Entry {
    spec: CommandSpec {
        name: "smove",
        synopsis: "source destination member",
        group: Group::Set,
        flags: Flags::of(&[Flag::Write, Flag::Fast]),
        keys: &[KeyUse::TAKE, KeyUse::ADD],
        since: "1.0.0",
        complexity: "O(1)",
        summary: "Moves a member from one set to another and tells whether it was there.",
        examples: &[
            "SADD a x => (integer) 1",
            "SMOVE a b x => (integer) 1",
            "SMOVE a b x => (integer) 0",
            "SISMEMBER b x => (integer) 1",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(smove),
    ..Entry::DEFAULT
};

fn sadd(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let limits = txn.limits();
    let added = txn.edit::<Set, _>(args.key(0), Absent::Create, |set, edits| {
        args.from(2).filter(|member| set.add(member, &limits, edits)).count()
    })?;
    if added.is_some_and(|added| added > 0) {
        txn.notify(EventClass::Set, "sadd", args.key(0));
    }
    reply.integer(added.unwrap_or(0) as i64);
    Ok(())
}

fn srem(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let removed = txn.edit::<Set, _>(args.key(0), Absent::Skip, |set, edits| {
        args.from(2).filter(|member| set.remove(member, edits)).count()
    })?;
    if removed.is_some_and(|removed| removed > 0) {
        txn.notify_taken(EventClass::Set, "srem", args.key(0));
    }
    reply.integer(removed.unwrap_or(0) as i64);
    Ok(())
}

fn smove(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let (from, to, member) = (args.key(0), args.key(1), args.word(3));
    let Some(source) = txn.collection::<Set>(from)? else {
        reply.integer(0);
        return Ok(());
    };
    let is_there = source.contains_at(Item::of(member), txn.now_ms());
    txn.collection::<Set>(to)?;
    if is_there && from.bytes != to.bytes {
        let limits = txn.limits();
        txn.edit::<Set, _>(from, Absent::Skip, |set, edits| set.remove(member, edits))?;
        txn.notify_taken(EventClass::Set, "srem", from);
        let is_new =
            txn.edit::<Set, _>(to, Absent::Create, |set, edits| set.add(member, &limits, edits))?;
        if is_new == Some(true) {
            txn.notify(EventClass::Set, "sadd", to);
        }
    }
    reply.integer(is_there.into());
    Ok(())
}
