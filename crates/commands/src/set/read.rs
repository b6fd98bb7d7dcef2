//! HOT PATH
//! SCARD, SISMEMBER, SMISMEMBER and SMEMBERS.

use super::reply_item;
use basalt_call::entry::{Entry, Run, Traits};
use basalt_engine::{Point, View};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandResult;
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse};
use basalt_value::item::Item;
use basalt_value::{Collection, Set};

pub(super) const SCARD: Entry = Entry {
    spec: CommandSpec {
        name: "scard",
        synopsis: "key",
        group: Group::Set,
        flags: Flags::of(&[Flag::Readonly, Flag::Fast]),
        keys: &[KeyUse::INSPECT],
        since: "1.0.0",
        complexity: "O(1)",
        summary: "Returns the number of members of a set.",
        examples: &[
            "SCARD s => (integer) 0",
            "SADD s a b => (integer) 2",
            "SCARD s => (integer) 2",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Point(scard),
    ..Entry::DEFAULT
};

pub(super) const SISMEMBER: Entry = Entry {
    spec: CommandSpec {
        name: "sismember",
        synopsis: "key member",
        group: Group::Set,
        flags: Flags::of(&[Flag::Readonly, Flag::Fast]),
        keys: &[KeyUse::INSPECT],
        since: "1.0.0",
        complexity: "O(1)",
        summary: "Tells whether a set has a member.",
        examples: &[
            "SADD s a => (integer) 1",
            "SISMEMBER s a => (integer) 1",
            "SISMEMBER s b => (integer) 0",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Point(sismember),
    ..Entry::DEFAULT
};

pub(super) const SMISMEMBER: Entry = Entry {
    spec: CommandSpec {
        name: "smismember",
        synopsis: "key member [member ...]",
        group: Group::Set,
        flags: Flags::of(&[Flag::Readonly, Flag::Fast]),
        keys: &[KeyUse::READ],
        since: "6.2.0",
        complexity: "O(1) a member",
        summary: "Tells of several members whether a set has them.",
        examples: &["SADD s a => (integer) 1", "SMISMEMBER s a b => [(integer) 1, (integer) 0]"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Point(smismember),
    ..Entry::DEFAULT
};

pub(super) const SMEMBERS: Entry = Entry {
    spec: CommandSpec {
        name: "smembers",
        synopsis: "key",
        group: Group::Set,
        flags: Flags::of(&[Flag::Readonly]),
        keys: &[KeyUse::READ],
        since: "1.0.0",
        complexity: "O(N) with N members",
        summary: "Returns all members of a set.",
        examples: &[
            "SADD s a b => (integer) 2",
            r#"SMEMBERS s => {"a", "b"}"#,
            "SMEMBERS none => []",
        ],
        tips: &["nondeterministic_output_order"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(smembers),
    traits: Traits::WHOLE,
    ..Entry::DEFAULT
};

fn scard(point: &Point<'_>, _: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let set = point.collection::<Set>()?;
    reply.integer(set.map_or(0, Collection::len) as i64);
    Ok(())
}

fn sismember(point: &Point<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let set = point.collection::<Set>()?;
    reply.integer(set.is_some_and(|set| set.contains(Item::of(args.word(2)))).into());
    Ok(())
}

fn smismember(point: &Point<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let set = point.collection::<Set>()?;
    reply.array(args.len() - 2);
    for member in args.from(2) {
        reply.integer(set.is_some_and(|set| set.contains(Item::of(member))).into());
    }
    Ok(())
}

fn smembers(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let Some(set) = view.collection::<Set>(args.key(0))? else {
        reply.set(0);
        return Ok(());
    };
    reply.set(set.len());
    set.iter().for_each(|item| reply_item(item, reply));
    Ok(())
}
