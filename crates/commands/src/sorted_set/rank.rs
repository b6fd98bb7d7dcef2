//! HOT PATH
//! ZRANK, ZREVRANK, ZCOUNT and ZLEXCOUNT: places and numbers of elements.

use super::bounds::{lex_bounds, score_bounds};
use basalt_call::entry::{Entry, Run};
use basalt_engine::{Point, View};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse, Kind, at};
use basalt_value::sorted_set::{Bounds, Direction};
use basalt_value::{Collection, SortedSet};

pub(super) const ZRANK: Entry = Entry {
    spec: CommandSpec {
        name: "zrank",
        synopsis: "key member [WITHSCORE]",
        group: Group::SortedSet,
        flags: Flags::of(&[Flag::Readonly, Flag::Fast]),
        keys: &[KeyUse::READ],
        overrides: &[at("WITHSCORE").since("7.2.0")],
        since: "2.0.0",
        complexity: "O(log N) with N elements in the sorted set",
        summary: "Returns how many elements of a sorted set stand before a member, nil if it is not there.",
        examples: &[
            "ZADD z 1 a 2 b => (integer) 2",
            "ZRANK z b => (integer) 1",
            r#"ZRANK z b WITHSCORE => [(integer) 1, "2"]"#,
            "ZRANK z x => (nil)",
        ],
        history: &[("7.2.0", "Option WITHSCORE.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Point(zrank),
    ..Entry::DEFAULT
};

pub(super) const ZREVRANK: Entry = Entry {
    spec: CommandSpec {
        name: "zrevrank",
        synopsis: "key member [WITHSCORE]",
        group: Group::SortedSet,
        flags: Flags::of(&[Flag::Readonly, Flag::Fast]),
        keys: &[KeyUse::READ],
        overrides: &[at("WITHSCORE").since("7.2.0")],
        since: "2.0.0",
        complexity: "O(log N) with N elements in the sorted set",
        summary: "Returns how many elements of a sorted set stand behind a member, nil if it is not there.",
        examples: &[
            "ZADD z 1 a 2 b => (integer) 2",
            "ZREVRANK z b => (integer) 0",
            r#"ZREVRANK z a WITHSCORE => [(integer) 1, "1"]"#,
        ],
        history: &[("7.2.0", "Option WITHSCORE.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Point(zrevrank),
    ..Entry::DEFAULT
};

pub(super) const ZCOUNT: Entry = Entry {
    spec: CommandSpec {
        name: "zcount",
        synopsis: "key min max",
        group: Group::SortedSet,
        flags: Flags::of(&[Flag::Readonly, Flag::Fast]),
        keys: &[KeyUse::READ],
        overrides: &[at("min").kind(Kind::Double), at("max").kind(Kind::Double)],
        since: "2.0.0",
        complexity: "O(log N) with N elements in the sorted set",
        summary: "Counts the elements of a sorted set with scores in a range.",
        examples: &[
            "ZADD z 1 a 2 b 3 c => (integer) 3",
            "ZCOUNT z 2 +inf => (integer) 2",
            "ZCOUNT z (1 (3 => (integer) 1",
            "ZCOUNT z a 3 => (error) ERR min or max is not a float",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(zcount),
    ..Entry::DEFAULT
};

pub(super) const ZLEXCOUNT: Entry = Entry {
    spec: CommandSpec {
        name: "zlexcount",
        synopsis: "key min max",
        group: Group::SortedSet,
        flags: Flags::of(&[Flag::Readonly, Flag::Fast]),
        keys: &[KeyUse::READ],
        since: "2.8.9",
        complexity: "O(log N) with N elements in the sorted set",
        summary: "Counts the members in a range, in a sorted set whose scores are all the same.",
        examples: &[
            "ZADD z 0 a 0 b 0 c => (integer) 3",
            "ZLEXCOUNT z - + => (integer) 3",
            "ZLEXCOUNT z [b (c => (integer) 1",
            "ZLEXCOUNT z b c => (error) ERR min or max not valid string range item",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(zlexcount),
    ..Entry::DEFAULT
};

fn zrank(point: &Point<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    rank(point, args, reply, Direction::Forward)
}

fn zrevrank(point: &Point<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    rank(point, args, reply, Direction::Backward)
}

fn rank(
    point: &Point<'_>,
    args: &Args<'_>,
    reply: &mut Reply<'_>,
    direction: Direction,
) -> CommandResult {
    let with_score = match args.len() {
        3 => false,
        4 if args.is(3, "WITHSCORE") => true,
        4 => return Err(CommandError::SYNTAX),
        _ => {
            let name = if direction == Direction::Forward { "zrank" } else { "zrevrank" };
            return Err(CommandError::wrong_arity(name));
        }
    };
    let set = point.collection::<SortedSet>()?;
    let found = set.and_then(|set| Some((set.rank(args.word(2))?, set.len())));
    let Some(((rank, score), len)) = found else {
        if with_score {
            reply.null_array();
        } else {
            reply.null();
        }
        return Ok(());
    };
    if with_score {
        reply.array(2);
    }
    reply.integer(if direction == Direction::Forward { rank } else { len - 1 - rank } as i64);
    if with_score {
        reply.double(score);
    }
    Ok(())
}

fn zcount(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    count(view, args, reply, score_bounds(args.word(2), args.word(3))?)
}

fn zlexcount(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    count(view, args, reply, lex_bounds(args.word(2), args.word(3))?)
}

fn count(
    view: &View<'_>,
    args: &Args<'_>,
    reply: &mut Reply<'_>,
    bounds: Bounds<'_>,
) -> CommandResult {
    let set = view.collection::<SortedSet>(args.key(0))?;
    reply.integer(set.map_or(0, |set| set.ranks(&bounds).len()) as i64);
    Ok(())
}
