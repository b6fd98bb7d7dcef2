//! BZPOPMIN, BZPOPMAX and BZMPOP: pops that wait for an element.

use super::pop::{MultiPop, ends, event};
use super::remove::take_ranks;
use super::reply;
use crate::timeout::seconds;
use basalt_call::entry::{Entry, Run, Traits};
use basalt_engine::{Key, Service, Txn, WaitAnswer};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse, around};
use basalt_value::SortedSet;
use basalt_value::sorted_set::Direction;
use std::time::Duration;

pub(super) const BZPOPMIN: Entry = Entry {
    spec: CommandSpec {
        name: "bzpopmin",
        synopsis: "key [key ...] timeout",
        group: Group::SortedSet,
        flags: Flags::of(&[Flag::Write, Flag::Blocking, Flag::Fast]),
        keys: &[KeyUse::TAKE],
        since: "5.0.0",
        complexity: "O(K + log N) with K keys and N elements in the sorted set",
        summary: "Removes the element with the lowest score from the first sorted set that is not empty, waiting for one if need be, and returns its key and it.",
        examples: &[
            "ZADD z 1 a 2 b => (integer) 2",
            r#"BZPOPMIN absent z 1 => ["z", "a", "1"]"#,
            "BZPOPMIN z -1 => (error) ERR timeout is negative",
        ],
        history: &[("6.0.0", "Timeouts with a fraction.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(bzpopmin),
    ..Entry::DEFAULT
};

pub(super) const BZPOPMAX: Entry = Entry {
    spec: CommandSpec {
        name: "bzpopmax",
        synopsis: "key [key ...] timeout",
        group: Group::SortedSet,
        flags: Flags::of(&[Flag::Write, Flag::Blocking, Flag::Fast]),
        keys: &[KeyUse::TAKE],
        since: "5.0.0",
        complexity: "O(K + log N) with K keys and N elements in the sorted set",
        summary: "Removes the element with the highest score from the first sorted set that is not empty, waiting for one if need be, and returns its key and it.",
        examples: &["ZADD z 1 a 2 b => (integer) 2", r#"BZPOPMAX absent z 1 => ["z", "b", "2"]"#],
        history: &[("6.0.0", "Timeouts with a fraction.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(bzpopmax),
    ..Entry::DEFAULT
};

pub(super) const BZMPOP: Entry = Entry {
    spec: CommandSpec {
        name: "bzmpop",
        synopsis: "timeout numkeys key [key ...] <MIN | MAX> [COUNT count]",
        group: Group::SortedSet,
        flags: Flags::of(&[Flag::Write, Flag::Blocking]),
        keys: &[KeyUse::TAKE],
        overrides: &[around("MIN").named("where")],
        since: "7.0.0",
        complexity: "O(K + log N + M) with K keys, N elements in the sorted set and M removed",
        summary: "Removes elements with the lowest or the highest scores from the first sorted set that is not empty, waiting for one if need be, and returns its key and them.",
        examples: &[
            "ZADD z 1 a 2 b 3 c => (integer) 3",
            r#"BZMPOP 1 2 absent z MAX COUNT 2 => ["z", [["c", "3"], ["b", "2"]]]"#,
            "BZMPOP 1 0 z MIN => (error) ERR numkeys should be greater than 0",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(bzmpop),
    traits: Traits::working_on(7, |args, len| MultiPop::elements(args, 2, len)),
    ..Entry::DEFAULT
};

fn bzpopmin(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    pop_one(txn, args, reply, Direction::Forward)
}

fn bzpopmax(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    pop_one(txn, args, reply, Direction::Backward)
}

fn pop_one(
    txn: &mut Txn<'_>,
    args: &Args<'_>,
    reply: &mut Reply<'_>,
    direction: Direction,
) -> CommandResult {
    let time = seconds(args.word(args.len() - 1))?;
    let keys = args.keys();
    let Some(key) = ready(txn, keys)? else {
        wait(txn, keys, time, reply);
        return Ok(());
    };
    let ranks = {
        let set = txn.collection::<SortedSet>(key)?.expect("a ready key has a sorted set");
        let ranks = ends(set, 1, direction);
        reply.array(3);
        reply.bulk(key.bytes);
        for element in set.iter(ranks.clone(), direction) {
            reply::member(reply, element.member);
            reply.double(element.score);
        }
        ranks
    };
    take_ranks(txn, key, ranks, event(direction))
}

fn bzmpop(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let time = seconds(args.word(1))?;
    let options = MultiPop::parse(args, 2)?;
    let keys = &args.keys()[..options.keys];
    match ready(txn, keys)? {
        Some(key) => options.pop(txn, std::slice::from_ref(key), reply).map(drop),
        None => {
            wait(txn, keys, time, reply);
            Ok(())
        }
    }
}

/// The first key that has a sorted set, at which nobody has waited longer.
fn ready<'k>(txn: &Txn<'_>, keys: &'k [Key<'k>]) -> Result<Option<&'k Key<'k>>, CommandError> {
    for key in keys {
        match txn.collection::<SortedSet>(key) {
            Ok(Some(_)) if txn.is_in_turn(key) => return Ok(Some(key)),
            Ok(_) => {}
            // A client that waits already goes on waiting.
            Err(_) if txn.has_waited() => {}
            Err(wrong_type) => return Err(wrong_type.into()),
        }
    }
    Ok(None)
}

fn wait(txn: &mut Txn<'_>, keys: &[Key<'_>], time: Option<Duration>, reply: &mut Reply<'_>) {
    if txn.wait(keys, Service::InTurn, time) == WaitAnswer::MustAnswer {
        reply.null_array();
    }
}
