//! HOT PATH
//! Commands on many keys: MGET, MSET and MSETNX.
//!
//! What they touch is brought into the cache a chunk ahead: one after the other, each key would
//! cost two trips to memory.

use super::{reply_string, string};
use basalt_call::entry::{Entry, Run, Traits};
use basalt_engine::{EventClass, Key, PutOptions, Txn, View};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse};

/// Keys that are prefetched at once: about as many as there are outstanding loads, several times.
const CHUNK_KEYS: usize = 32;

pub(super) const MGET: Entry = Entry {
    spec: CommandSpec {
        name: "mget",
        synopsis: "key [key ...]",
        group: Group::String,
        flags: Flags::of(&[Flag::Readonly, Flag::Fast]),
        keys: &[KeyUse::READ],
        since: "1.0.0",
        complexity: "O(N) with N keys",
        summary: "Returns the strings at several keys; a key without one gives nil.",
        examples: &["SET a 1 => OK", r#"MGET a absent => ["1", (nil)]"#],
        tips: &["request_policy:multi_shard"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(mget),
    ..Entry::DEFAULT
};

pub(super) const MSET: Entry = Entry {
    spec: CommandSpec {
        name: "mset",
        synopsis: "key value [key value ...]",
        group: Group::String,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom]),
        keys: &[KeyUse::OVERWRITE],
        since: "1.0.1",
        complexity: "O(N) with N keys",
        summary: "Stores several strings at once.",
        examples: &[
            "MSET a 1 b 2 => OK",
            r#"MGET a b => ["1", "2"]"#,
            "MSET a => (error) ERR wrong number of arguments for 'mset' command",
            "MSET a 1 b => (error) ERR wrong number of arguments for 'mset' command",
        ],
        tips: &["request_policy:multi_shard", "response_policy:all_succeeded"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(mset),
    traits: Traits::BLIND,
    ..Entry::DEFAULT
};

pub(super) const MSETNX: Entry = Entry {
    spec: CommandSpec {
        name: "msetnx",
        synopsis: "key value [key value ...]",
        group: Group::String,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom]),
        keys: &[KeyUse::CREATE],
        since: "1.0.1",
        complexity: "O(N) with N keys",
        summary: "Stores several strings at once, but only if none of the keys exists.",
        examples: &[
            "MSETNX a 1 b 2 => (integer) 1",
            "MSETNX b 3 c 4 => (integer) 0",
            r#"MGET a b c => ["1", "2", (nil)]"#,
        ],
        tips: &["request_policy:multi_shard", "response_policy:agg_min"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(msetnx),
    ..Entry::DEFAULT
};

fn mget(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    reply.array(args.keys().len());
    for keys in args.keys().chunks(CHUNK_KEYS) {
        view.prefetch(keys);
        for key in keys {
            match view.get(key).map(string) {
                Some(Ok(value)) => reply_string(value, reply),
                // A value of another type is no error here.
                Some(Err(_)) | None => reply.null(),
            }
        }
    }
    Ok(())
}

fn mset(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    check_pairs(args, "mset")?;
    put_all(txn, args);
    reply.ok();
    Ok(())
}

fn msetnx(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    check_pairs(args, "msetnx")?;
    let absent = args.keys().chunks(CHUNK_KEYS).all(|keys| {
        txn.prefetch(keys);
        keys.iter().all(|key| txn.get(key).is_none())
    });
    if absent {
        put_all(txn, args);
    }
    reply.integer(i64::from(absent));
    Ok(())
}

/// Every key has a value.
fn check_pairs(args: &Args<'_>, command: &str) -> CommandResult {
    if args.len() % 2 == 1 { Ok(()) } else { Err(CommandError::wrong_arity(command)) }
}

/// Puts the pairs of words behind the command's name.
fn put_all(txn: &mut Txn<'_>, args: &Args<'_>) {
    let mut index = 2;
    for keys in args.keys().chunks(CHUNK_KEYS) {
        txn.prefetch(keys);
        for key in keys {
            put(txn, key, args.word(index));
            index += 2;
        }
    }
}

#[inline]
fn put(txn: &mut Txn<'_>, key: &Key<'_>, value: &[u8]) {
    txn.put(key, value, PutOptions::whole(0));
    txn.notify(EventClass::String, "set", key);
}
