//! The entries of the commands that combine sorted sets.

use super::options::{Call, Form};
use super::{Operation, run_count, run_reply, run_store};
use basalt_call::entry::{Entry, Run, Traits};
use basalt_engine::{Txn, View};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandResult;
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse, at};

const READ: Flags = Flags::of(&[Flag::Readonly]);
const STORE: Flags = Flags::of(&[Flag::Write, Flag::Denyoom]);
const UNION_COMPLEXITY: &str =
    "O(N + M log M) with N elements in all sorted sets and M in the result";
const INTERSECTION_COMPLEXITY: &str =
    "O(N K + M log M) with N elements in the smallest of K sorted sets and M in the result";
const DIFFERENCE_COMPLEXITY: &str =
    "O(N K + M log M) with N elements in the first of K sorted sets and M in the result";

pub(in super::super) const ZUNION: Entry = Entry {
    spec: CommandSpec {
        name: "zunion",
        synopsis: "numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE <SUM | MIN | MAX>] [WITHSCORES]",
        group: Group::SortedSet,
        flags: READ,
        keys: &[KeyUse::READ],
        overrides: &[at("AGGREGATE").named("aggregate")],
        since: "6.2.0",
        complexity: UNION_COMPLEXITY,
        summary: "Returns the elements that are in any of several sorted sets.",
        examples: &[
            "ZADD a 1 x 2 y => (integer) 2",
            "ZADD b 5 y => (integer) 1",
            r#"ZUNION 2 a b WITHSCORES => ["x", "1", "y", "7"]"#,
            r#"ZUNION 2 a b WEIGHTS 10 1 AGGREGATE MAX WITHSCORES => ["x", "10", "y", "20"]"#,
            "ZUNION 0 a => (error) ERR at least 1 input key is needed for 'zunion' command",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(zunion),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

pub(in super::super) const ZUNIONSTORE: Entry = Entry {
    spec: CommandSpec {
        name: "zunionstore",
        synopsis: "destination numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE <SUM | MIN | MAX>]",
        group: Group::SortedSet,
        flags: STORE,
        keys: &[KeyUse::OVERWRITE, KeyUse::READ],
        overrides: &[at("AGGREGATE").named("aggregate")],
        since: "2.0.0",
        complexity: UNION_COMPLEXITY,
        summary: "Stores the elements that are in any of several sorted sets, and returns their number.",
        examples: &[
            "ZADD a 1 x 2 y => (integer) 2",
            "ZADD b 5 y => (integer) 1",
            "ZUNIONSTORE d 2 a b => (integer) 2",
            r#"ZRANGE d 0 -1 WITHSCORES => ["x", "1", "y", "7"]"#,
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(zunionstore),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

pub(in super::super) const ZINTER: Entry = Entry {
    spec: CommandSpec {
        name: "zinter",
        synopsis: "numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE <SUM | MIN | MAX>] [WITHSCORES]",
        group: Group::SortedSet,
        flags: READ,
        keys: &[KeyUse::READ],
        overrides: &[at("AGGREGATE").named("aggregate")],
        since: "6.2.0",
        complexity: INTERSECTION_COMPLEXITY,
        summary: "Returns the elements that are in all of several sorted sets.",
        examples: &[
            "ZADD a 1 x 2 y => (integer) 2",
            "ZADD b 5 y => (integer) 1",
            r#"ZINTER 2 a b WITHSCORES => ["y", "7"]"#,
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(zinter),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

pub(in super::super) const ZINTERSTORE: Entry = Entry {
    spec: CommandSpec {
        name: "zinterstore",
        synopsis: "destination numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE <SUM | MIN | MAX>]",
        group: Group::SortedSet,
        flags: STORE,
        keys: &[KeyUse::OVERWRITE, KeyUse::READ],
        overrides: &[at("AGGREGATE").named("aggregate")],
        since: "2.0.0",
        complexity: INTERSECTION_COMPLEXITY,
        summary: "Stores the elements that are in all of several sorted sets, and returns their number.",
        examples: &[
            "ZADD a 1 x 2 y => (integer) 2",
            "ZADD b 5 y => (integer) 1",
            "ZINTERSTORE d 2 a b AGGREGATE MIN => (integer) 1",
            r#"ZRANGE d 0 -1 WITHSCORES => ["y", "2"]"#,
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(zinterstore),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

pub(in super::super) const ZINTERCARD: Entry = Entry {
    spec: CommandSpec {
        name: "zintercard",
        synopsis: "numkeys key [key ...] [LIMIT limit]",
        group: Group::SortedSet,
        flags: READ,
        keys: &[KeyUse::READ],
        since: "7.0.0",
        complexity: "O(N K) with N elements in the smallest of K sorted sets",
        summary: "Counts the members that are in all of several sorted sets, up to a limit.",
        examples: &[
            "ZADD a 1 x 2 y 3 z => (integer) 3",
            "ZADD b 5 y 6 z => (integer) 2",
            "ZINTERCARD 2 a b => (integer) 2",
            "ZINTERCARD 2 a b LIMIT 1 => (integer) 1",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(zintercard),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

pub(in super::super) const ZDIFF: Entry = Entry {
    spec: CommandSpec {
        name: "zdiff",
        synopsis: "numkeys key [key ...] [WITHSCORES]",
        group: Group::SortedSet,
        flags: READ,
        keys: &[KeyUse::READ],
        since: "6.2.0",
        complexity: DIFFERENCE_COMPLEXITY,
        summary: "Returns the elements of the first sorted set whose members are in none of the others.",
        examples: &[
            "ZADD a 1 x 2 y => (integer) 2",
            "ZADD b 5 y => (integer) 1",
            r#"ZDIFF 2 a b WITHSCORES => ["x", "1"]"#,
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(zdiff),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

pub(in super::super) const ZDIFFSTORE: Entry = Entry {
    spec: CommandSpec {
        name: "zdiffstore",
        synopsis: "destination numkeys key [key ...]",
        group: Group::SortedSet,
        flags: STORE,
        keys: &[KeyUse::OVERWRITE, KeyUse::READ],
        since: "6.2.0",
        complexity: DIFFERENCE_COMPLEXITY,
        summary: "Stores the elements of the first sorted set whose members are in none of the others, and returns their number.",
        examples: &[
            "ZADD a 1 x 2 y => (integer) 2",
            "ZADD b 5 y => (integer) 1",
            "ZDIFFSTORE d 2 a b => (integer) 1",
            r#"ZRANGE d 0 -1 => ["x"]"#,
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(zdiffstore),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

fn zunion(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let call = Call { name: "zunion", operation: Operation::Union, form: Form::Reply };
    run_reply(call, view, args, reply)
}

fn zunionstore(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let call = Call { name: "zunionstore", operation: Operation::Union, form: Form::Store };
    run_store(call, txn, args, reply)
}

fn zinter(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let call = Call { name: "zinter", operation: Operation::Intersection, form: Form::Reply };
    run_reply(call, view, args, reply)
}

fn zinterstore(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let call = Call { name: "zinterstore", operation: Operation::Intersection, form: Form::Store };
    run_store(call, txn, args, reply)
}

fn zintercard(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let call = Call { name: "zintercard", operation: Operation::Intersection, form: Form::Count };
    run_count(call, view, args, reply)
}

fn zdiff(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let call = Call { name: "zdiff", operation: Operation::Difference, form: Form::Reply };
    run_reply(call, view, args, reply)
}

fn zdiffstore(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let call = Call { name: "zdiffstore", operation: Operation::Difference, form: Form::Store };
    run_store(call, txn, args, reply)
}
