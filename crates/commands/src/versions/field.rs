//! CAS.HGET and CAS.HDEL.

use super::element::{Digests, Present, end_removal, removal_condition, reply_present};
use crate::item::reply_item;
use basalt_call::entry::{Entry, Run};
use basalt_engine::{Absent, EventClass, Point, Txn, Version};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandResult;
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse, around};
use basalt_value::Hash;
use basalt_value::hash::{EXPIRED_A_CHANGE, Field};
use basalt_value::item::{Digits, Item};

pub(super) const CAS_HGET: Entry = Entry {
    spec: CommandSpec {
        name: "cas.hget",
        synopsis: "key field",
        group: Group::Hash,
        flags: Flags::of(&[Flag::Readonly, Flag::Fast]),
        keys: &[KeyUse::READ],
        since: "0.1.0",
        complexity: "O(1)",
        summary: "Returns the version of a field, its time to live in milliseconds and its value.",
        examples: &[
            "CAS.HGET h f => (nil)",
            "HSET h f v => (integer) 1",
            r#"CAS.HGET h f => ["0", (integer) -1, "v"]"#,
            "CAS.HSET h g 5 PX 60000 FORCE 7 => [(integer) 1, \"7\"]",
            r#"CAS.HGET h g => ["7", (integer) 60000, "5"]"#,
            "SET s x => OK",
            "CAS.HGET s f => (error) WRONGTYPE ...",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Point(get),
    ..Entry::DEFAULT
};

pub(super) const CAS_HDEL: Entry = Entry {
    spec: CommandSpec {
        name: "cas.hdel",
        synopsis: "key field [IF version | IFDEQ digest]",
        group: Group::Hash,
        flags: Flags::of(&[Flag::Write, Flag::Fast]),
        keys: &[KeyUse::TRIM],
        overrides: &[around("IF").named("condition")],
        since: "0.1.0",
        complexity: "O(1); with IFDEQ O(N) with N bytes of the value",
        summary: "Removes a field from a hash, if it has a given version, or a value of a given digest. Returns 1 and the version that it had, or 0 \
                  and the one that it has.",
        examples: &[
            "CAS.HSET h f v FORCE 7 => [(integer) 1, \"7\"]",
            "CAS.HDEL h f IF 6 => [(integer) 0, \"7\"]",
            "CAS.HDEL h f IF 7 => [(integer) 1, \"7\"]",
            "CAS.HDEL h f => [(integer) 0, \"0\"]",
            "EXISTS h => (integer) 0",
            "HSET h f hello => (integer) 1",
            "CAS.HDEL h f IFDEQ 0000000000000000 => [(integer) 0, \"0\"]",
            "CAS.HDEL h f IFDEQ 9555e8555c62dcfd => [(integer) 1, \"0\"]",
            "CAS.HDEL h f UNLESS 7 => (error) ERR syntax error",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(delete),
    ..Entry::DEFAULT
};

/// A field that is there, and what it has.
pub(super) fn field_of<'a>(
    hash: &'a Hash,
    name: Item<'_>,
    now_ms: u64,
) -> Option<(Field<'a>, Present)> {
    let field = hash.field(name, now_ms)?;
    let version = hash.version(name, now_ms).map_or(Version::NONE, Version::new);
    Some((field, Present { version, expire_ms: field.expire_ms }))
}

fn get(point: &Point<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let now_ms = point.now_ms();
    let hash = point.collection::<Hash>()?;
    match hash.and_then(|hash| field_of(hash, Item::of(args.word(2)), now_ms)) {
        Some((field, present)) => {
            reply.array(3);
            reply_present(present, now_ms, reply);
            reply_item(field.value, reply);
        }
        None => reply.null(),
    }
    Ok(())
}

fn delete(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let condition = removal_condition(args, Digests::Accepted)?;
    let (key, name, now_ms) = (args.key(0), Item::of(args.word(2)), txn.now_ms());
    let outcome = txn.edit::<Hash, _>(key, Absent::Skip, |hash, edits| {
        hash.remove_expired(now_ms, EXPIRED_A_CHANGE, edits);
        let found = field_of(hash, name, now_ms);
        let present = found.map(|(_, present)| present);
        let mut digits = Digits::default();
        let value = found.map(|(field, _)| field.value.spell(&mut digits));
        let outcome = condition.removal_of(present, value)?;
        if outcome.is_done() {
            hash.remove(name, now_ms, edits);
        }
        Ok(outcome)
    })?;
    end_removal(txn, key, (EventClass::Hash, "hdel"), outcome, reply)
}
