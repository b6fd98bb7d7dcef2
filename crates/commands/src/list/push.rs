//! HOT PATH
//! LPUSH, RPUSH, LPUSHX and RPUSHX.

use super::pushed;
use basalt_call::entry::{Entry, Run};
use basalt_engine::{Absent, EventClass, Txn};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandResult;
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse};
use basalt_value::list::Side;
use basalt_value::{Collection, List};

const FLAGS: Flags = Flags::of(&[Flag::Write, Flag::Denyoom, Flag::Fast]);
const COMPLEXITY: &str = "O(1) an element";

pub(super) const LPUSH: Entry = Entry {
    spec: CommandSpec {
        name: "lpush",
        synopsis: "key element [element ...]",
        group: Group::List,
        flags: FLAGS,
        keys: &[KeyUse::ADD],
        since: "1.0.0",
        complexity: COMPLEXITY,
        summary: "Adds elements at the head of a list, one after the other, and returns its length.",
        examples: &[
            "LPUSH l a b => (integer) 2",
            r#"LRANGE l 0 -1 => ["b", "a"]"#,
            "SET s x => OK",
            "LPUSH s a => (error) WRONGTYPE Operation against a key holding the wrong kind of value",
        ],
        history: &[("2.4.0", "Several elements at once.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(|txn, args, reply| push(txn, args, reply, Side::Left, Absent::Create)),
    ..Entry::DEFAULT
};

pub(super) const RPUSH: Entry = Entry {
    spec: CommandSpec {
        name: "rpush",
        synopsis: "key element [element ...]",
        group: Group::List,
        flags: FLAGS,
        keys: &[KeyUse::ADD],
        since: "1.0.0",
        complexity: COMPLEXITY,
        summary: "Adds elements at the tail of a list, one after the other, and returns its length.",
        examples: &["RPUSH l a b => (integer) 2", r#"LRANGE l 0 -1 => ["a", "b"]"#],
        history: &[("2.4.0", "Several elements at once.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(|txn, args, reply| push(txn, args, reply, Side::Right, Absent::Create)),
    ..Entry::DEFAULT
};

pub(super) const LPUSHX: Entry = Entry {
    spec: CommandSpec {
        name: "lpushx",
        synopsis: "key element [element ...]",
        group: Group::List,
        flags: FLAGS,
        keys: &[KeyUse::ADD],
        since: "2.2.0",
        complexity: COMPLEXITY,
        summary: "Adds elements at the head of a list that exists, and returns its length.",
        examples: &[
            "LPUSHX l a => (integer) 0",
            "LPUSH l a => (integer) 1",
            "LPUSHX l b => (integer) 2",
        ],
        history: &[("4.0.0", "Several elements at once.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(|txn, args, reply| push(txn, args, reply, Side::Left, Absent::Skip)),
    ..Entry::DEFAULT
};

pub(super) const RPUSHX: Entry = Entry {
    spec: CommandSpec {
        name: "rpushx",
        synopsis: "key element [element ...]",
        group: Group::List,
        flags: FLAGS,
        keys: &[KeyUse::ADD],
        since: "2.2.0",
        complexity: COMPLEXITY,
        summary: "Adds elements at the tail of a list that exists, and returns its length.",
        examples: &[
            "RPUSHX l a => (integer) 0",
            "RPUSH l a => (integer) 1",
            "RPUSHX l b => (integer) 2",
        ],
        history: &[("4.0.0", "Several elements at once.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(|txn, args, reply| push(txn, args, reply, Side::Right, Absent::Skip)),
    ..Entry::DEFAULT
};

#[inline]
fn push(
    txn: &mut Txn<'_>,
    args: &Args<'_>,
    reply: &mut Reply<'_>,
    side: Side,
    absent: Absent,
) -> CommandResult {
    let limits = txn.limits();
    let len = txn.edit::<List, _>(args.key(0), absent, |list, edits| {
        args.from(2).for_each(|element| list.push(side, element, &limits, edits));
        list.len()
    })?;
    if len.is_some() {
        txn.notify(EventClass::List, pushed(side), args.key(0));
        txn.signal(args.key(0));
    }
    reply.integer(len.unwrap_or(0) as i64);
    Ok(())
}
