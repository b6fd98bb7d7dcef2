//! HOT PATH
//! LPOP, RPOP and LMPOP.

use super::{count, popped, reply_item, side};
use crate::how_many::HOW_MANY;
use basalt_call::entry::{Entry, Run, Traits};
use basalt_engine::{Absent, EventClass, Key, Txn};
use basalt_number::parse_i64;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse, around, at};
use basalt_value::list::Side;
use basalt_value::{Collection, List};

pub(super) const LPOP: Entry = Entry {
    spec: CommandSpec {
        name: "lpop",
        synopsis: "key [count]",
        group: Group::List,
        flags: Flags::of(&[Flag::Write, Flag::Fast]),
        keys: &[KeyUse::TAKE],
        overrides: &[at("count").since("6.2.0")],
        since: "1.0.0",
        complexity: "O(N) with N elements returned",
        summary: "Removes the first element of a list, or the first few, and returns them.",
        examples: &[
            "LPOP l => (nil)",
            "RPUSH l a b c => (integer) 3",
            r#"LPOP l => "a""#,
            r#"LPOP l 5 => ["b", "c"]"#,
            "EXISTS l => (integer) 0",
            "LPOP l -1 => (error) ERR value is out of range, must be positive",
        ],
        history: &[("6.2.0", "Option count.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(|txn, args, reply| pop(txn, args, reply, Side::Left)),
    traits: HOW_MANY,
    ..Entry::DEFAULT
};

pub(super) const RPOP: Entry = Entry {
    spec: CommandSpec {
        name: "rpop",
        synopsis: "key [count]",
        group: Group::List,
        flags: Flags::of(&[Flag::Write, Flag::Fast]),
        keys: &[KeyUse::TAKE],
        overrides: &[at("count").since("6.2.0")],
        since: "1.0.0",
        complexity: "O(N) with N elements returned",
        summary: "Removes the last element of a list, or the last few, and returns them.",
        examples: &[
            "RPUSH l a b c => (integer) 3",
            r#"RPOP l => "c""#,
            r#"RPOP l 2 => ["b", "a"]"#,
        ],
        history: &[("6.2.0", "Option count.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(|txn, args, reply| pop(txn, args, reply, Side::Right)),
    traits: HOW_MANY,
    ..Entry::DEFAULT
};

pub(super) const LMPOP: Entry = Entry {
    spec: CommandSpec {
        name: "lmpop",
        synopsis: "numkeys key [key ...] <LEFT | RIGHT> [COUNT count]",
        group: Group::List,
        flags: Flags::of(&[Flag::Write]),
        keys: &[KeyUse::TAKE],
        overrides: &[around("LEFT").named("where")],
        since: "7.0.0",
        complexity: "O(N+M) with N keys and M elements returned",
        summary: "Removes elements from the first of several lists that is there, and returns its name and them.",
        examples: &[
            "LMPOP 2 one two LEFT => (nil)",
            "RPUSH two a b c => (integer) 3",
            r#"LMPOP 2 one two RIGHT COUNT 2 => ["two", ["c", "b"]]"#,
            "LMPOP 0 one LEFT => (error) ERR numkeys should be greater than 0",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(lmpop),
    traits: Traits::working_on(6, |args, len| PopMany::elements(args, 1, len)),
    ..Entry::DEFAULT
};

fn pop(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>, side: Side) -> CommandResult {
    let key = args.key(0);
    if args.len() > 3 {
        return Err(CommandError::wrong_arity(if side == Side::Left { "lpop" } else { "rpop" }));
    }
    let Some(word) = args.opt(2) else {
        if pop_from(txn, key, side, 1, reply, |_, _| ())?.is_none() {
            reply.null();
        }
        return Ok(());
    };
    let count = count(word)?;
    if count == 0 && txn.collection::<List>(key)?.is_some() {
        reply.array(0);
        return Ok(());
    }
    if pop_from(txn, key, side, count, reply, |reply, count| reply.array(count))?.is_none() {
        reply.null_array();
    }
    Ok(())
}

/// Replies with elements that it removes, after `head` has been told how many they are; `None` if
/// there is no list.
#[inline]
pub(super) fn pop_from(
    txn: &mut Txn<'_>,
    key: &Key<'_>,
    side: Side,
    count: usize,
    reply: &mut Reply<'_>,
    head: impl FnOnce(&mut Reply<'_>, usize),
) -> Result<Option<()>, CommandError> {
    let limits = txn.limits();
    let found = txn.edit::<List, _>(key, Absent::Skip, |list, edits| {
        head(reply, count.min(list.len()));
        list.pop(side, count, &limits, edits, |item| reply_item(item, reply));
    })?;
    if found.is_some() && count > 0 {
        txn.notify_taken(EventClass::List, popped(side), key);
    }
    Ok(found)
}

/// What LMPOP and BLMPOP take, from the word with the number of keys on.
pub(super) struct PopMany {
    side: Side,
    count: usize,
}

impl PopMany {
    /// Reads the words of which the first, at `first`, is the number of keys.
    pub(super) fn parse(args: &Args<'_>, first: usize) -> Result<PopMany, CommandError> {
        const NUMKEYS: CommandError = CommandError::fixed("ERR numkeys should be greater than 0");
        const COUNT: CommandError = CommandError::fixed("ERR count should be greater than 0");
        let positive = |word| parse_i64(word).filter(|&number| number > 0);
        let keys = positive(args.word(first)).ok_or(NUMKEYS)?;
        let where_at = usize::try_from(keys)
            .ok()
            .and_then(|keys| keys.checked_add(first + 1))
            .filter(|&at| at < args.len())
            .ok_or(CommandError::SYNTAX)?;
        let side = side(args, where_at)?;
        let mut count = None;
        let mut at = where_at + 1;
        while at < args.len() {
            if count.is_none() && args.is(at, "COUNT") && at + 1 < args.len() {
                let number = positive(args.word(at + 1)).ok_or(COUNT)?;
                count = Some(usize::try_from(number).unwrap_or(usize::MAX));
                at += 2;
            } else {
                return Err(CommandError::SYNTAX);
            }
        }
        Ok(PopMany { side, count: count.unwrap_or(1) })
    }

    /// How many elements a call with these words takes of a list that has `len`.
    pub(super) fn elements(args: &Args<'_>, first: usize, len: usize) -> usize {
        PopMany::parse(args, first).map_or(0, |pop| pop.count.min(len))
    }

    /// Replies with elements of the first list that is there; returns true if there is one.
    pub(super) fn run(
        &self,
        txn: &mut Txn<'_>,
        args: &Args<'_>,
        reply: &mut Reply<'_>,
    ) -> Result<bool, CommandError> {
        for key in args.keys() {
            if txn.collection::<List>(key)?.is_some() {
                self.pop(txn, key, reply)?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Replies with elements of a list that is there.
    pub(super) fn pop(
        &self,
        txn: &mut Txn<'_>,
        key: &Key<'_>,
        reply: &mut Reply<'_>,
    ) -> CommandResult {
        reply.array(2);
        reply.bulk(key.bytes);
        pop_from(txn, key, self.side, self.count, reply, |reply, count| reply.array(count))?;
        Ok(())
    }
}

fn lmpop(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    if !PopMany::parse(args, 1)?.run(txn, args, reply)? {
        reply.null_array();
    }
    Ok(())
}
