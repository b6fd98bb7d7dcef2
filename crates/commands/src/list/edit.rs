//! LSET, LINSERT, LREM and LTRIM.

use super::{Range, index};
use crate::number::integer;
use basalt_call::entry::{Entry, Run, Traits};
use basalt_engine::{Absent, EventClass, Txn};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse, around};
use basalt_value::item::Item;
use basalt_value::{Collection, List};

pub(super) const LSET: Entry = Entry {
    spec: CommandSpec {
        name: "lset",
        synopsis: "key index element",
        group: Group::List,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom]),
        keys: &[KeyUse::UPDATE],
        since: "1.0.0",
        complexity: "O(N) with N chunks of elements between the index and the nearer end",
        summary: "Replaces the element at an index.",
        examples: &[
            "LSET l 0 x => (error) ERR no such key",
            "RPUSH l a b => (integer) 2",
            "LSET l -1 x => OK",
            r#"LRANGE l 0 -1 => ["a", "x"]"#,
            "LSET l 2 x => (error) ERR index out of range",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(lset),
    ..Entry::DEFAULT
};

pub(super) const LINSERT: Entry = Entry {
    spec: CommandSpec {
        name: "linsert",
        synopsis: "key <BEFORE | AFTER> pivot element",
        group: Group::List,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom]),
        keys: &[KeyUse::ADD],
        overrides: &[around("BEFORE").named("where")],
        since: "2.2.0",
        complexity: "O(N) with N elements up to the pivot",
        summary: "Inserts an element beside the first one that is equal to a pivot, and returns the length of the list.",
        examples: &[
            "LINSERT l BEFORE a x => (integer) 0",
            "RPUSH l a b => (integer) 2",
            "LINSERT l BEFORE b x => (integer) 3",
            "LINSERT l AFTER c x => (integer) -1",
            r#"LRANGE l 0 -1 => ["a", "x", "b"]"#,
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(linsert),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

pub(super) const LREM: Entry = Entry {
    spec: CommandSpec {
        name: "lrem",
        synopsis: "key count element",
        group: Group::List,
        flags: Flags::of(&[Flag::Write]),
        keys: &[KeyUse::TRIM],
        since: "1.0.0",
        complexity: "O(N+M) with N elements and M removed",
        summary: "Removes elements that are equal to a given one: the first few, the last few or all.",
        examples: &[
            "RPUSH l a b a b a => (integer) 5",
            "LREM l 1 b => (integer) 1",
            "LREM l -1 a => (integer) 1",
            r#"LRANGE l 0 -1 => ["a", "a", "b"]"#,
            "LREM l 0 a => (integer) 2",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(lrem),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

pub(super) const LTRIM: Entry = Entry {
    spec: CommandSpec {
        name: "ltrim",
        synopsis: "key start stop",
        group: Group::List,
        flags: Flags::of(&[Flag::Write]),
        keys: &[KeyUse::TRIM],
        since: "1.0.0",
        complexity: "O(N) with N elements removed",
        summary: "Removes all elements but those from one index to another.",
        examples: &[
            "RPUSH l a b c d => (integer) 4",
            "LTRIM l 1 -2 => OK",
            r#"LRANGE l 0 -1 => ["b", "c"]"#,
            "LTRIM l 5 9 => OK",
            "EXISTS l => (integer) 0",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(ltrim),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

fn lset(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    const OUTSIDE: CommandError = CommandError::fixed("ERR index out of range");
    let (key, limits) = (args.key(0), txn.limits());
    let list = txn.collection::<List>(key)?.ok_or(CommandError::NO_SUCH_KEY)?;
    let index = index(integer(args.word(2))?, list.len()).ok_or(OUTSIDE)?;
    txn.edit::<List, _>(key, Absent::Skip, |list, edits| {
        list.set(index, args.word(3), &limits, edits);
    })?;
    txn.notify(EventClass::List, "lset", key);
    reply.ok();
    Ok(())
}

fn linsert(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let behind = match () {
        () if args.is(2, "BEFORE") => 0,
        () if args.is(2, "AFTER") => 1,
        () => return Err(CommandError::SYNTAX),
    };
    let limits = txn.limits();
    let len = txn.edit::<List, _>(args.key(0), Absent::Skip, |list, edits| {
        let pivot = Item::of(args.word(3));
        let Some(at) = list.iter_from(0).position(|item| item == pivot) else { return -1 };
        list.insert(at + behind, args.word(4), &limits, edits);
        list.len() as i64
    })?;
    if len.is_some_and(|len| len > 0) {
        txn.notify(EventClass::List, "linsert", args.key(0));
    }
    reply.integer(len.unwrap_or(0));
    Ok(())
}

fn lrem(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let (count, limits) = (integer(args.word(2))?, txn.limits());
    let removed = txn.edit::<List, _>(args.key(0), Absent::Skip, |list, edits| {
        list.remove_equal(args.word(3), count, &limits, edits)
    })?;
    if removed.is_some_and(|removed| removed > 0) {
        txn.notify_taken(EventClass::List, "lrem", args.key(0));
    }
    reply.integer(removed.unwrap_or(0) as i64);
    Ok(())
}

fn ltrim(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let (range, limits) = (Range::parse(args)?, txn.limits());
    let found = txn.edit::<List, _>(args.key(0), Absent::Skip, |list, edits| {
        let (start, count) = range.within(list.len());
        list.trim(start, count, &limits, edits);
    })?;
    if found.is_some() {
        // As in Redis, even if nothing was removed.
        txn.count_as_changed(args.key(0));
        txn.notify_taken(EventClass::List, "ltrim", args.key(0));
    }
    reply.ok();
    Ok(())
}
