//! HOT PATH
//! Commands whose names say what are options of ZRANGE now.

use super::query::{Query, Rules, Sort};
use basalt_call::entry::{Entry, Run, Traits};
use basalt_engine::View;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandResult;
use basalt_spec::{CommandSpec, Deprecated, Flag, Flags, Group, KeyUse, Kind, at};
use basalt_value::sorted_set::Direction;

const COMPLEXITY: &str = "O(log N + M) with N elements in the sorted set and M returned";

pub(in super::super) const ZREVRANGE: Entry = Entry {
    spec: CommandSpec {
        name: "zrevrange",
        synopsis: "key start stop [WITHSCORES]",
        group: Group::SortedSet,
        flags: Flags::of(&[Flag::Readonly]),
        keys: &[KeyUse::READ],
        since: "1.2.0",
        complexity: COMPLEXITY,
        summary: "Returns the elements of a sorted set in a range of ranks, counted from the highest score.",
        examples: &["ZADD z 1 a 2 b 3 c => (integer) 3", r#"ZREVRANGE z 0 1 => ["c", "b"]"#],
        deprecated: Some(Deprecated {
            since: "6.2.0",
            replaced_by: "`ZRANGE` with the `REV` argument",
        }),
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(zrevrange),
    traits: Traits::working_on(4, |args, len| Query::elements_max(args, REVERSED, len)),
    ..Entry::DEFAULT
};

pub(in super::super) const ZRANGEBYSCORE: Entry = Entry {
    spec: CommandSpec {
        name: "zrangebyscore",
        synopsis: "key min max [WITHSCORES] [LIMIT offset count]",
        group: Group::SortedSet,
        flags: Flags::of(&[Flag::Readonly]),
        keys: &[KeyUse::READ],
        overrides: &[
            at("min").kind(Kind::Double),
            at("max").kind(Kind::Double),
            at("WITHSCORES").since("2.0.0"),
        ],
        since: "1.0.5",
        complexity: COMPLEXITY,
        summary: "Returns the elements of a sorted set with scores in a range, lowest first.",
        examples: &[
            "ZADD z 1 a 2 b 3 c => (integer) 3",
            r#"ZRANGEBYSCORE z (1 3 LIMIT 0 1 => ["b"]"#,
        ],
        history: &[("2.0.0", "Option WITHSCORES.")],
        deprecated: Some(Deprecated {
            since: "6.2.0",
            replaced_by: "`ZRANGE` with the `BYSCORE` argument",
        }),
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(zrangebyscore),
    traits: Traits::working_on(4, |args, len| Query::elements_max(args, BY_SCORE, len)),
    ..Entry::DEFAULT
};

pub(in super::super) const ZREVRANGEBYSCORE: Entry = Entry {
    spec: CommandSpec {
        name: "zrevrangebyscore",
        synopsis: "key max min [WITHSCORES] [LIMIT offset count]",
        group: Group::SortedSet,
        flags: Flags::of(&[Flag::Readonly]),
        keys: &[KeyUse::READ],
        overrides: &[at("max").kind(Kind::Double), at("min").kind(Kind::Double)],
        since: "2.2.0",
        complexity: COMPLEXITY,
        summary: "Returns the elements of a sorted set with scores in a range, highest first.",
        examples: &[
            "ZADD z 1 a 2 b 3 c => (integer) 3",
            r#"ZREVRANGEBYSCORE z +inf 2 WITHSCORES => ["c", "3", "b", "2"]"#,
        ],
        deprecated: Some(Deprecated {
            since: "6.2.0",
            replaced_by: "`ZRANGE` with the `REV` and `BYSCORE` arguments",
        }),
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(zrevrangebyscore),
    traits: Traits::working_on(4, |args, len| Query::elements_max(args, BY_SCORE_REVERSED, len)),
    ..Entry::DEFAULT
};

pub(in super::super) const ZRANGEBYLEX: Entry = Entry {
    spec: CommandSpec {
        name: "zrangebylex",
        synopsis: "key min max [LIMIT offset count]",
        group: Group::SortedSet,
        flags: Flags::of(&[Flag::Readonly]),
        keys: &[KeyUse::READ],
        since: "2.8.9",
        complexity: COMPLEXITY,
        summary: "Returns the members in a range, first ones first, of a sorted set whose scores are all the same.",
        examples: &["ZADD z 0 a 0 b 0 c => (integer) 3", r#"ZRANGEBYLEX z - (c => ["a", "b"]"#],
        deprecated: Some(Deprecated {
            since: "6.2.0",
            replaced_by: "`ZRANGE` with the `BYLEX` argument",
        }),
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(zrangebylex),
    traits: Traits::working_on(4, |args, len| Query::elements_max(args, BY_LEX, len)),
    ..Entry::DEFAULT
};

pub(in super::super) const ZREVRANGEBYLEX: Entry = Entry {
    spec: CommandSpec {
        name: "zrevrangebylex",
        synopsis: "key max min [LIMIT offset count]",
        group: Group::SortedSet,
        flags: Flags::of(&[Flag::Readonly]),
        keys: &[KeyUse::READ],
        since: "2.8.9",
        complexity: COMPLEXITY,
        summary: "Returns the members in a range, last ones first, of a sorted set whose scores are all the same.",
        examples: &["ZADD z 0 a 0 b 0 c => (integer) 3", r#"ZREVRANGEBYLEX z + [b => ["c", "b"]"#],
        deprecated: Some(Deprecated {
            since: "6.2.0",
            replaced_by: "`ZRANGE` with the `REV` and `BYLEX` arguments",
        }),
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(zrevrangebylex),
    traits: Traits::working_on(4, |args, len| Query::elements_max(args, BY_LEX_REVERSED, len)),
    ..Entry::DEFAULT
};

const REVERSED: Rules = rules(Sort::Rank, Direction::Backward);
const BY_SCORE: Rules = rules(Sort::Score, Direction::Forward);
const BY_SCORE_REVERSED: Rules = rules(Sort::Score, Direction::Backward);
const BY_LEX: Rules = rules(Sort::Lex, Direction::Forward);
const BY_LEX_REVERSED: Rules = rules(Sort::Lex, Direction::Backward);

const fn rules(sort: Sort, direction: Direction) -> Rules {
    Rules { bounds_at: 2, sort: Some(sort), direction: Some(direction), may_score: true }
}

fn zrevrange(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    super::run(view, args, reply, REVERSED)
}

fn zrangebyscore(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    super::run(view, args, reply, BY_SCORE)
}

fn zrevrangebyscore(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    super::run(view, args, reply, BY_SCORE_REVERSED)
}

fn zrangebylex(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    super::run(view, args, reply, BY_LEX)
}

fn zrevrangebylex(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    super::run(view, args, reply, BY_LEX_REVERSED)
}
