//! DEL and UNLINK: the same here, because big values are always freed in the background.

use basalt_call::entry::{Entry, Run, Traits};
use basalt_engine::{EventClass, Txn};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandResult;
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse};

pub(super) const DEL: Entry = Entry {
    spec: CommandSpec {
        name: "del",
        synopsis: "key [key ...]",
        group: Group::Generic,
        flags: Flags::of(&[Flag::Write]),
        keys: &[KeyUse::REMOVE],
        since: "1.0.0",
        complexity: "O(N) with N keys; freeing a collection takes time in proportion to its elements",
        summary: "Deletes keys and returns how many there were.",
        examples: &[
            "MSET a 1 b 2 => OK",
            "DEL a b absent => (integer) 2",
            "EXISTS a b => (integer) 0",
        ],
        tips: &["request_policy:multi_shard", "response_policy:agg_sum"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(delete),
    traits: Traits { asks_heads: true, ..Traits::NONE },
    ..Entry::DEFAULT
};

pub(super) const UNLINK: Entry = Entry {
    spec: CommandSpec {
        name: "unlink",
        synopsis: "key [key ...]",
        group: Group::Generic,
        flags: Flags::of(&[Flag::Write, Flag::Fast]),
        keys: &[KeyUse::REMOVE],
        since: "4.0.0",
        complexity: "O(N) with N keys",
        summary: "Deletes keys as DEL does, and frees their memory in the background.",
        examples: &["MSET a 1 b 2 => OK", "UNLINK a b absent => (integer) 2"],
        tips: &["request_policy:multi_shard", "response_policy:agg_sum"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(delete),
    traits: Traits { asks_heads: true, ..Traits::NONE },
    ..Entry::DEFAULT
};

fn delete(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let keys = args.keys();
    if keys.len() > 1 {
        txn.prefetch(keys);
    }
    let mut deleted = 0;
    for key in keys {
        if txn.delete(key) {
            txn.notify(EventClass::Generic, "del", key);
            deleted += 1;
        }
    }
    reply.integer(deleted);
    Ok(())
}
