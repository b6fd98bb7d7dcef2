//! CAS.EXISTS and CAS.HEXISTS: versions of several keys and fields, without what they hold.

use super::element::{Present, reply_present};
use super::field::field_of;
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
