//! HOT PATH
//! HSET, HSETNX, HMSET and HDEL.

use super::terms;
use basalt_call::entry::{Entry, Run};
use basalt_engine::{Absent, EventClass, Txn};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Deprecated, Flag, Flags, Group, KeyUse};
use basalt_value::Hash;
use basalt_value::hash::{EXPIRED_A_CHANGE, Field, OldExpiry};
use basalt_value::item::Item;

const WRITES: Flags = Flags::of(&[Flag::Write, Flag::Denyoom, Flag::Fast]);

pub(super) const HSET: Entry = Entry {
    spec: CommandSpec {
        name: "hset",
        synopsis: "key field value [field value ...]",
        group: Group::Hash,
        flags: WRITES,
        keys: &[KeyUse::UPDATE],
        since: "2.0.0",
        complexity: "O(1) a field",
        summary: "Sets fields of a hash, which expire no more then, and returns how many of them are new.",
        examples: &[
            "HSET h a 1 b 2 => (integer) 2",
            "HSET h b 3 c 4 => (integer) 1",
            r#"HGET h b => "3""#,
            "HSET h a => (error) ERR wrong number of arguments for 'hset' command",
        ],
        history: &[("4.0.0", "Several fields at once.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(hset),
    ..Entry::DEFAULT
};

pub(super) const HSETNX: Entry = Entry {
    spec: CommandSpec {
        name: "hsetnx",
        synopsis: "key field value",
        group: Group::Hash,
        flags: WRITES,
        keys: &[KeyUse::ADD],
        since: "2.0.0",
        complexity: "O(1)",
        summary: "Sets a field of a hash unless it is there, and tells whether it did.",
        examples: &[
            "HSETNX h a 1 => (integer) 1",
            "HSETNX h a 2 => (integer) 0",
            r#"HGET h a => "1""#,
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(hsetnx),
    ..Entry::DEFAULT
};

pub(super) const HMSET: Entry = Entry {
    spec: CommandSpec {
        name: "hmset",
        synopsis: "key field value [field value ...]",
        group: Group::Hash,
        flags: WRITES,
        keys: &[KeyUse::UPDATE],
        since: "2.0.0",
        complexity: "O(1) a field",
        summary: "Sets fields of a hash.",
        examples: &["HMSET h a 1 b 2 => OK", "HLEN h => (integer) 2"],
        deprecated: Some(Deprecated {
            since: "4.0.0",
            replaced_by: "`HSET` with multiple field-value pairs",
        }),
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(hmset),
    ..Entry::DEFAULT
};

pub(super) const HDEL: Entry = Entry {
    spec: CommandSpec {
        name: "hdel",
        synopsis: "key field [field ...]",
        group: Group::Hash,
        flags: Flags::of(&[Flag::Write, Flag::Fast]),
        keys: &[KeyUse::TRIM],
        since: "2.0.0",
        complexity: "O(1) a field",
        summary: "Removes fields of a hash and returns how many of them were there.",
        examples: &["HSET h a 1 b 2 => (integer) 2", "HDEL h a c => (integer) 1"],
        history: &[("2.4.0", "Several fields at once.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(hdel),
    ..Entry::DEFAULT
};

fn hset(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let added = set(txn, args, "hset")?;
    reply.integer(added as i64);
    Ok(())
}

fn hmset(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    set(txn, args, "hmset")?;
    reply.ok();
    Ok(())
}

/// Sets fields; returns the number of new ones.
#[inline]
fn set(txn: &mut Txn<'_>, args: &Args<'_>, command: &str) -> Result<usize, CommandError> {
    if !args.len().is_multiple_of(2) {
        return Err(CommandError::wrong_arity(command));
    }
    let terms = terms(txn);
    let added = txn.edit::<Hash, _>(args.key(0), Absent::Create, |hash, edits| {
        hash.remove_expired(terms.now_ms, EXPIRED_A_CHANGE, edits);
        let mut words = args.from(2);
        let mut added = 0;
        while let (Some(name), Some(value)) = (words.next(), words.next()) {
            let field = Field { name: Item::of(name), value: Item::of(value), expire_ms: 0 };
            added += usize::from(hash.set(field, OldExpiry::Forget, &terms, edits));
        }
        added
    })?;
    // As in Redis, even if all fields had these values.
    txn.count_as_changed(args.key(0));
    txn.notify(EventClass::Hash, "hset", args.key(0));
    Ok(added.unwrap_or(0))
}

fn hsetnx(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let terms = terms(txn);
    let (name, value) = (Item::of(args.word(2)), Item::of(args.word(3)));
    let is_set = txn.edit::<Hash, _>(args.key(0), Absent::Create, |hash, edits| {
        hash.remove_expired(terms.now_ms, EXPIRED_A_CHANGE, edits);
        let field = Field { name, value, expire_ms: 0 };
        hash.field(name, terms.now_ms).is_none()
            && hash.set(field, OldExpiry::Forget, &terms, edits)
    })?;
    if is_set == Some(true) {
        txn.notify(EventClass::Hash, "hset", args.key(0));
    }
    reply.integer(is_set.unwrap_or(false).into());
    Ok(())
}

fn hdel(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let now_ms = txn.now_ms();
    let removed = txn.edit::<Hash, _>(args.key(0), Absent::Skip, |hash, edits| {
        hash.remove_expired(now_ms, EXPIRED_A_CHANGE, edits);
        args.from(2).filter(|name| hash.remove(Item::of(name), now_ms, edits)).count()
    })?;
    if removed.is_some_and(|removed| removed > 0) {
        txn.notify_taken(EventClass::Hash, "hdel", args.key(0));
    }
    reply.integer(removed.unwrap_or(0) as i64);
    Ok(())
}
