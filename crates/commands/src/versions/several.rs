//! CAS.EXISTS, CAS.HEXISTS, CAS.MGET and CAS.HMGET: versions of several keys and fields, without
//! what they hold and with it.

use super::element::{Present, reply_present};
use super::field::field_of;
use crate::item::reply_item;
use crate::strings::{reply_string, string};
use basalt_call::entry::{Entry, Run};
use basalt_engine::{Object, Point, View};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandResult;
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse};
use basalt_value::Hash;
use basalt_value::item::Item;

/// Keys that are prefetched at once.
const CHUNK_KEYS: usize = 32;

pub(super) const CAS_EXISTS: Entry = Entry {
    spec: CommandSpec {
        name: "cas.exists",
        synopsis: "key [key ...]",
        group: Group::Generic,
        flags: Flags::of(&[Flag::Readonly, Flag::Fast]),
        keys: &[KeyUse::READ],
        since: "0.1.0",
        complexity: "O(N) with N keys",
        summary: "Returns the version of each key, whatever it holds, and its time to live in milliseconds.",
        examples: &[
            "CAS.SET k v PX 60000 FORCE 7 => [(integer) 1, \"7\"]",
            "LPUSH l a => (integer) 1",
            r#"CAS.EXISTS k absent l => [["7", (integer) 60000], (nil), ["0", (integer) -1]]"#,
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(exists),
    ..Entry::DEFAULT
};

pub(super) const CAS_HEXISTS: Entry = Entry {
    spec: CommandSpec {
        name: "cas.hexists",
        synopsis: "key field [field ...]",
        group: Group::Hash,
        flags: Flags::of(&[Flag::Readonly, Flag::Fast]),
        keys: &[KeyUse::READ],
        since: "0.1.0",
        complexity: "O(N) with N fields",
        summary: "Returns the version of each field and its time to live in milliseconds.",
        examples: &[
            "CAS.HSET h f v PX 60000 FORCE 7 => [(integer) 1, \"7\"]",
            "HSET h g v => (integer) 1",
            r#"CAS.HEXISTS h f absent g => [["7", (integer) 60000], (nil), ["0", (integer) -1]]"#,
            "CAS.HEXISTS absent f => [(nil)]",
            "SET s x => OK",
            "CAS.HEXISTS s f => (error) WRONGTYPE ...",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Point(has_fields),
    ..Entry::DEFAULT
};

pub(super) const CAS_MGET: Entry = Entry {
    spec: CommandSpec {
        name: "cas.mget",
        synopsis: "key [key ...]",
        group: Group::String,
        flags: Flags::of(&[Flag::Readonly, Flag::Fast]),
        keys: &[KeyUse::READ],
        since: "0.1.0",
        complexity: "O(N) with N keys",
        summary: "Returns of each key its version, its time to live in milliseconds and the string that it holds; nil for one without a string.",
        examples: &[
            "CAS.SET k v PX 60000 FORCE 7 => [(integer) 1, \"7\"]",
            "LPUSH l a => (integer) 1",
            r#"CAS.MGET k absent l => [["7", (integer) 60000, "v"], (nil), (nil)]"#,
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(get),
    ..Entry::DEFAULT
};

pub(super) const CAS_HMGET: Entry = Entry {
    spec: CommandSpec {
        name: "cas.hmget",
        synopsis: "key field [field ...]",
        group: Group::Hash,
        flags: Flags::of(&[Flag::Readonly, Flag::Fast]),
        keys: &[KeyUse::READ],
        since: "0.1.0",
        complexity: "O(N) with N fields",
        summary: "Returns of each field its version, its time to live in milliseconds and its value.",
        examples: &[
            "CAS.HSET h f v PX 60000 FORCE 7 => [(integer) 1, \"7\"]",
            "HSET h g 5 => (integer) 1",
            r#"CAS.HMGET h f absent g => [["7", (integer) 60000, "v"], (nil), ["0", (integer) -1, "5"]]"#,
            "SET s x => OK",
            "CAS.HMGET s f => (error) WRONGTYPE ...",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Point(get_fields),
    ..Entry::DEFAULT
};

fn exists(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    reply.array(args.keys().len());
    for keys in args.keys().chunks(CHUNK_KEYS) {
        view.prefetch(keys);
        for key in keys {
            match view.inspect(key) {
                Some(object) => {
                    reply.array(2);
                    reply_present(present(object), view.now_ms(), reply);
                }
                None => reply.null(),
            }
        }
    }
    Ok(())
}

fn present(object: Object<'_>) -> Present {
    Present { version: object.version(), expire_ms: object.expire_ms() }
}

fn has_fields(point: &Point<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let now_ms = point.now_ms();
    let hash = point.collection::<Hash>()?;
    reply.array(args.len() - 2);
    for name in args.from(2) {
        match hash.and_then(|hash| field_of(hash, Item::of(name), now_ms)) {
            Some((_, present)) => {
                reply.array(2);
                reply_present(present, now_ms, reply);
            }
            None => reply.null(),
        }
    }
    Ok(())
}

fn get(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    reply.array(args.keys().len());
    for keys in args.keys().chunks(CHUNK_KEYS) {
        view.prefetch(keys);
        for key in keys {
            match view.get(key).map(|object| (present(object), string(object))) {
                Some((present, Ok(value))) => {
                    reply.array(3);
                    reply_present(present, view.now_ms(), reply);
                    reply_string(value, reply);
                }
                // A value of another type is no error here, as it is none of MGET.
                Some((_, Err(_))) | None => reply.null(),
            }
        }
    }
    Ok(())
}

fn get_fields(point: &Point<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let now_ms = point.now_ms();
    let hash = point.collection::<Hash>()?;
    reply.array(args.len() - 2);
    for name in args.from(2) {
        match hash.and_then(|hash| field_of(hash, Item::of(name), now_ms)) {
            Some((field, present)) => {
                reply.array(3);
                reply_present(present, now_ms, reply);
                reply_item(field.value, reply);
            }
            None => reply.null(),
        }
    }
    Ok(())
}
