//! HOT PATH
//! ZRANGE, its older kin and ZRANGESTORE.

mod older;
mod query;

pub(super) use older::{ZRANGEBYLEX, ZRANGEBYSCORE, ZREVRANGE, ZREVRANGEBYLEX, ZREVRANGEBYSCORE};

use super::reply;
use basalt_call::entry::{Entry, Run, Traits};
use basalt_engine::{Txn, View};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandResult;
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse, Kind, around, at};
use basalt_value::item::NUMBER_CHARS_MAX;
use basalt_value::sorted_set::Direction;
use basalt_value::{Collection, Edits, SortedSet, Variant};
use query::{Query, Rules};

pub(super) const ZRANGE: Entry = Entry {
    spec: CommandSpec {
        name: "zrange",
        synopsis: "key start stop [BYSCORE | BYLEX] [REV] [LIMIT offset count] [WITHSCORES]",
        group: Group::SortedSet,
        flags: Flags::of(&[Flag::Readonly]),
        keys: &[KeyUse::READ],
        overrides: &[
            at("start").kind(Kind::String),
            at("stop").kind(Kind::String),
            around("BYSCORE").named("sortby").since("6.2.0"),
            at("REV").since("6.2.0"),
            at("LIMIT").since("6.2.0"),
        ],
        since: "1.2.0",
        complexity: "O(log N + M) with N elements in the sorted set and M returned",
        summary: "Returns the elements of a sorted set in a range of ranks, scores or members.",
        examples: &[
            "ZADD z 1 a 2 b 3 c => (integer) 3",
            r#"ZRANGE z 0 1 => ["a", "b"]"#,
            r#"ZRANGE z -1 -1 WITHSCORES => ["c", "3"]"#,
            r#"ZRANGE z (1 +inf BYSCORE LIMIT 1 5 => ["c"]"#,
            r#"ZRANGE z + - BYLEX REV => ["c", "b", "a"]"#,
            "ZRANGE z 0 1 LIMIT 0 1 => (error) ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX",
        ],
        history: &[("6.2.0", "Options REV, BYSCORE, BYLEX and LIMIT.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(zrange),
    traits: Traits::working_on(4, |args, len| Query::elements_max(args, ZRANGE_RULES, len)),
    ..Entry::DEFAULT
};

pub(super) const ZRANGESTORE: Entry = Entry {
    spec: CommandSpec {
        name: "zrangestore",
        synopsis: "dst src min max [BYSCORE | BYLEX] [REV] [LIMIT offset count]",
        group: Group::SortedSet,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom]),
        keys: &[KeyUse::OVERWRITE, KeyUse::READ],
        overrides: &[around("BYSCORE").named("sortby")],
        since: "6.2.0",
        complexity: "O(log N + M) with N elements in the sorted set and M stored",
        summary: "Stores the elements of a sorted set in a range under a key and returns their number.",
        examples: &[
            "ZADD z 1 a 2 b 3 c => (integer) 3",
            "ZRANGESTORE d z 2 +inf BYSCORE => (integer) 2",
            r#"ZRANGE d 0 -1 => ["b", "c"]"#,
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(zrangestore),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

const ZRANGE_RULES: Rules = Rules { bounds_at: 2, sort: None, direction: None, may_score: true };

fn zrange(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    run(view, args, reply, ZRANGE_RULES)
}

fn run(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>, rules: Rules) -> CommandResult {
    let query = Query::parse(args, rules)?;
    match view.collection::<SortedSet>(args.key(0))? {
        Some(set) => reply::elements(reply, query.elements(set), query.scores),
        None => reply.array(0),
    }
    Ok(())
}

fn zrangestore(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    const RULES: Rules = Rules { bounds_at: 3, sort: None, direction: None, may_score: false };
    let query = Query::parse(args, RULES)?;
    txn.notify_missing(&args.keys()[1..]);
    let limits = txn.limits();
    let mut stored = SortedSet::new();
    if let Some(source) = txn.collection::<SortedSet>(args.key(1))? {
        // In order whichever way the range was asked for: elements that come last are appended
        // fastest.
        let ranks = query.ranks(source);
        for element in source.iter(ranks, Direction::Forward) {
            let member = element.member.spell(&mut [0; NUMBER_CHARS_MAX]).to_vec();
            stored.set(&member, &limits, &mut Edits::none(), |_| Some(element.score));
        }
    }
    let len = stored.len() as i64;
    txn.put_result(args.key(0), stored.into_value(), "zrangestore")?;
    reply.integer(len);
    Ok(())
}
