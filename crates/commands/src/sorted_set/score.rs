//! HOT PATH
//! ZSCORE, ZMSCORE and ZCARD.

use basalt_call::entry::{Entry, Run};
use basalt_engine::Point;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandResult;
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse};
use basalt_value::{Collection, SortedSet};

pub(super) const ZSCORE: Entry = Entry {
    spec: CommandSpec {
        name: "zscore",
        synopsis: "key member",
        group: Group::SortedSet,
        flags: Flags::of(&[Flag::Readonly, Flag::Fast]),
        keys: &[KeyUse::READ],
        since: "1.2.0",
        complexity: "O(1)",
        summary: "Returns the score of a member of a sorted set, nil if it is not there.",
        examples: &[
            "ZADD z 1.5 a => (integer) 1",
            r#"ZSCORE z a => "1.5""#,
            "ZSCORE z b => (nil)",
            "ZSCORE absent a => (nil)",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Point(zscore),
    ..Entry::DEFAULT
};

pub(super) const ZMSCORE: Entry = Entry {
    spec: CommandSpec {
        name: "zmscore",
        synopsis: "key member [member ...]",
        group: Group::SortedSet,
        flags: Flags::of(&[Flag::Readonly, Flag::Fast]),
        keys: &[KeyUse::READ],
        since: "6.2.0",
        complexity: "O(N) with N members asked for",
        summary: "Returns the scores of members of a sorted set, nil for each that is not there.",
        examples: &["ZADD z 1 a 2 b => (integer) 2", r#"ZMSCORE z a x b => ["1", (nil), "2"]"#],
        ..CommandSpec::DEFAULT
    },
    run: Run::Point(zmscore),
    ..Entry::DEFAULT
};

pub(super) const ZCARD: Entry = Entry {
    spec: CommandSpec {
        name: "zcard",
        synopsis: "key",
        group: Group::SortedSet,
        flags: Flags::of(&[Flag::Readonly, Flag::Fast]),
        keys: &[KeyUse::INSPECT],
        since: "1.2.0",
        complexity: "O(1)",
        summary: "Returns how many elements a sorted set has.",
        examples: &["ZADD z 1 a 2 b => (integer) 2", "ZCARD z => (integer) 2"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Point(zcard),
    ..Entry::DEFAULT
};

fn reply_score(reply: &mut Reply<'_>, score: Option<f64>) {
    match score {
        Some(score) => reply.double(score),
        None => reply.null(),
    }
}

fn zscore(point: &Point<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let set = point.collection::<SortedSet>()?;
    reply_score(reply, set.and_then(|set| set.score(args.word(2))));
    Ok(())
}

fn zmscore(point: &Point<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let set = point.collection::<SortedSet>()?;
    let members = args.from(2);
    reply.array(members.len());
    for member in members {
        reply_score(reply, set.and_then(|set| set.score(member)));
    }
    Ok(())
}

fn zcard(point: &Point<'_>, _: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let set = point.collection::<SortedSet>()?;
    reply.integer(set.map_or(0, SortedSet::len) as i64);
    Ok(())
}
