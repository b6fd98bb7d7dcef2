//! CAS.SADD, CAS.SREM, CAS.SISMEMBER and CAS.SMISMEMBER.

use super::element::{
    Digests, Outcome, Present, Write, Written, end_removal, removal_condition, reply_present,
    version_of,
};
use super::options::{Accepted, OPTION_NAMES, Options};
use basalt_call::entry::{Entry, Run};
use basalt_engine::{Absent, EventClass, Point, Txn, Version};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse};
use basalt_value::hash::EXPIRED_A_CHANGE;
use basalt_value::item::Item;
use basalt_value::{Edits, FormLimits, Set};

pub(super) const CAS_SADD: Entry = Entry {
    spec: CommandSpec {
        name: "cas.sadd",
        synopsis: "key member [IF version | NX | XX] [EX seconds | PX milliseconds | EXAT \
                   unix-time-seconds | PXAT unix-time-milliseconds | KEEPTTL] [COUNTED | FORCE \
                   forced-version]",
        group: Group::Set,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom, Flag::Fast]),
        keys: &[KeyUse::MODIFY],
        overrides: OPTION_NAMES,
        since: "0.1.0",
        complexity: "O(1)",
        summary: "Adds a member to a set, or gives the one that is there a new version and a new expiry, if \
                  it has a given version. Returns 1 and the new version, or 0 and the one that it has.",
        examples: &[
            "CAS.SADD s m NX FORCE 7 => [(integer) 1, \"7\"]",
            "CAS.SADD s m NX => [(integer) 0, \"7\"]",
            "CAS.SADD s m IF 7 EX 100 COUNTED => [(integer) 1, \"8\"]",
            r#"CAS.SISMEMBER s m => ["8", (integer) 100000]"#,
            "SADD s m => (integer) 0",
            "CAS.SADD s m KEEPTTL COUNTED => [(integer) 1, \"9\"]",
            r#"CAS.SISMEMBER s m => ["9", (integer) 100000]"#,
            "CAS.SADD s absent XX => [(integer) 0, \"0\"]",
            "CAS.SADD s m IF 0 => (error) ERR a version is an integer above 0 ...",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(add),
    ..Entry::DEFAULT
};

pub(super) const CAS_SREM: Entry = Entry {
    spec: CommandSpec {
        name: "cas.srem",
        synopsis: "key member [IF version]",
        group: Group::Set,
        flags: Flags::of(&[Flag::Write, Flag::Fast]),
        keys: &[KeyUse::TRIM],
        since: "0.1.0",
        complexity: "O(1)",
        summary: "Removes a member from a set, if it has a given version. Returns 1 and the version that it \
                  had, or 0 and the one that it has.",
        examples: &[
            "CAS.SADD s m FORCE 7 => [(integer) 1, \"7\"]",
            "CAS.SREM s m IF 6 => [(integer) 0, \"7\"]",
            "CAS.SREM s m IF 7 => [(integer) 1, \"7\"]",
            "CAS.SREM s m => [(integer) 0, \"0\"]",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(remove),
    ..Entry::DEFAULT
};

pub(super) const CAS_SISMEMBER: Entry = Entry {
    spec: CommandSpec {
        name: "cas.sismember",
        synopsis: "key member",
        group: Group::Set,
        flags: Flags::of(&[Flag::Readonly, Flag::Fast]),
        keys: &[KeyUse::READ],
        since: "0.1.0",
        complexity: "O(1)",
        summary: "Returns the version of a member of a set and its time to live in milliseconds.",
        examples: &[
            "SADD s m => (integer) 1",
            r#"CAS.SISMEMBER s m => ["0", (integer) -1]"#,
            "CAS.SISMEMBER s n => (nil)",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Point(is_member),
    ..Entry::DEFAULT
};

pub(super) const CAS_SMISMEMBER: Entry = Entry {
    spec: CommandSpec {
        name: "cas.smismember",
        synopsis: "key member [member ...]",
        group: Group::Set,
        flags: Flags::of(&[Flag::Readonly, Flag::Fast]),
        keys: &[KeyUse::READ],
        since: "0.1.0",
        complexity: "O(N) with N members",
        summary: "Returns the version of each member of a set and its time to live in milliseconds.",
        examples: &[
            "CAS.SADD s m FORCE 7 => [(integer) 1, \"7\"]",
            "SADD s n => (integer) 1",
            r#"CAS.SMISMEMBER s m absent n => [["7", (integer) -1], (nil), ["0", (integer) -1]]"#,
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Point(are_members),
    ..Entry::DEFAULT
};

/// What a member has, if it is there.
fn member_of(set: &Set, item: Item<'_>, now_ms: u64) -> Option<Present> {
    set.contains_at(item, now_ms).then(|| match set.attribute(item) {
        Some(it) => Present { version: Version::new(it.version), expire_ms: it.expire_ms },
        None => Present { version: Version::NONE, expire_ms: 0 },
    })
}

fn is_member(point: &Point<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let now_ms = point.now_ms();
    let set = point.collection::<Set>()?;
    match set.and_then(|set| member_of(set, Item::of(args.word(2)), now_ms)) {
        Some(present) => {
            reply.array(2);
            reply_present(present, now_ms, reply);
        }
        None => reply.null(),
    }
    Ok(())
}

fn are_members(point: &Point<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let now_ms = point.now_ms();
    let set = point.collection::<Set>()?;
    reply.array(args.len() - 2);
    for member in args.from(2) {
        match set.and_then(|set| member_of(set, Item::of(member), now_ms)) {
            Some(present) => {
                reply.array(2);
                reply_present(present, now_ms, reply);
            }
            None => reply.null(),
        }
    }
    Ok(())
}

fn add(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let options = Options::parse(args, 3, Accepted { digest: false, get: false })?;
    let (key, item, now_ms) = (args.key(0), Item::of(args.word(2)), txn.now_ms());
    let (write, limits) = (Write::new(options, now_ms, "cas.sadd")?, txn.limits());
    let outcome = txn.edit_versioned::<Set, _>(key, Absent::Create, |set, edits| {
        set.remove_expired(now_ms, EXPIRED_A_CHANGE, edits);
        let present = member_of(set, item, now_ms);
        change(set, item, present, &write, &limits, edits)
    })?;
    let outcome = outcome.expect("the key is created if it is absent")?;
    if outcome.is_done() {
        txn.notify(EventClass::Set, "sadd", key);
        if outcome == Outcome::Done(Version::NONE) {
            txn.notify_taken(EventClass::Set, "srem", key);
        }
    }
    reply.array(2);
    outcome.reply(reply);
    Ok(())
}

fn change(
    set: &mut Set,
    item: Item<'_>,
    present: Option<Present>,
    write: &Write<'_>,
    limits: &FormLimits,
    edits: &mut Edits<'_>,
) -> Result<Outcome, CommandError> {
    if !write.is_met(present, None)? {
        return Ok(Outcome::Refused(version_of(present)));
    }
    Ok(Outcome::Done(match write.over(present) {
        Written::Stays { expire_ms, version } => {
            Version::new(set.add_versioned(item, expire_ms, version, limits, edits))
        }
        Written::Goes => {
            set.remove_item(item, edits);
            Version::NONE
        }
    }))
}

fn remove(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let condition = removal_condition(args, Digests::Refused)?;
    let (key, item, now_ms) = (args.key(0), Item::of(args.word(2)), txn.now_ms());
    let outcome = txn.edit::<Set, _>(key, Absent::Skip, |set, edits| {
        set.remove_expired(now_ms, EXPIRED_A_CHANGE, edits);
        let outcome = condition.removal_of(member_of(set, item, now_ms), None)?;
        if outcome.is_done() {
            set.remove_item(item, edits);
        }
        Ok(outcome)
    })?;
    end_removal(txn, key, (EventClass::Set, "srem"), outcome, reply)
}
