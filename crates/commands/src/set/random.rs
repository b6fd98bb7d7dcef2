//! HOT PATH
//! SPOP and SRANDMEMBER.

use super::reply_item;
use crate::how_many::{HOW_MANY, check_picks};
use crate::number::{count, integer};
use basalt_call::entry::{Entry, Run, Taken, Traits};
use basalt_engine::{Absent, EventClass, Txn, View};
use basalt_env::Random;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::draws;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse, at};
use basalt_value::{Collection, FormLimits, Set};

pub(super) const SPOP: Entry = Entry {
    spec: CommandSpec {
        name: "spop",
        synopsis: "key [count]",
        group: Group::Set,
        flags: Flags::of(&[Flag::Write, Flag::Fast]),
        keys: &[KeyUse::TAKE],
        overrides: &[at("count").since("3.2.0")],
        since: "1.0.0",
        complexity: "O(1) a member",
        summary: "Removes a random member of a set, or a few, and returns them.",
        examples: &[
            "SPOP s => (nil)",
            "SADD s a => (integer) 1",
            r#"SPOP s => "a""#,
            "SADD s a b c => (integer) 3",
            r#"SPOP s 5 => {"a", "b", "c"}"#,
        ],
        tips: &["nondeterministic_output"],
        history: &[("3.2.0", "Option count.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(spop),
    traits: Traits { takes: Some(Taken::Random), ..HOW_MANY },
    ..Entry::DEFAULT
};

pub(super) const SRANDMEMBER: Entry = Entry {
    spec: CommandSpec {
        name: "srandmember",
        synopsis: "key [count]",
        group: Group::Set,
        flags: Flags::of(&[Flag::Readonly]),
        keys: &[KeyUse::READ],
        overrides: &[at("count").since("2.6.0")],
        since: "1.0.0",
        complexity: "O(N) with N members returned, or looked at if they are a good part of the set",
        summary: "Returns a random member of a set, a few different ones, or, with a negative count, some that may be the same.",
        examples: &[
            "SRANDMEMBER s => (nil)",
            "SADD s a => (integer) 1",
            r#"SRANDMEMBER s => "a""#,
            r#"SRANDMEMBER s 3 => ["a"]"#,
            r#"SRANDMEMBER s -3 => ["a", "a", "a"]"#,
        ],
        tips: &["nondeterministic_output"],
        history: &[("2.6.0", "Option count.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(srandmember),
    traits: Traits { takes: Some(Taken::Random), ..HOW_MANY },
    ..Entry::DEFAULT
};

fn spop(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let key = args.key(0);
    if args.len() > 3 {
        return Err(CommandError::SYNTAX);
    }
    let Some(word) = args.opt(2) else {
        let popped = txn.edit::<Set, _>(key, Absent::Skip, |set, edits| {
            set.pop(draws::draw(), edits, |item| reply_item(item, reply))
        })?;
        if popped == Some(true) {
            txn.notify_taken(EventClass::Set, "spop", key);
        } else {
            reply.null();
        }
        return Ok(());
    };
    let count = count(word)?;
    let Some(len) = txn.collection::<Set>(key)?.map(Collection::len) else {
        reply.set(0);
        return Ok(());
    };
    if count >= len {
        if let Some(set) = txn.collection::<Set>(key)? {
            reply.set(len);
            set.iter().for_each(|item| reply_item(item, reply));
        }
        txn.delete(key);
        txn.notify_taken(EventClass::Set, "spop", key);
        return Ok(());
    }
    reply.set(count);
    let mut random = Random::new(draws::draw());
    txn.edit::<Set, _>(key, Absent::Skip, |set, edits| {
        for _ in 0..count {
            set.pop(random.next_u64(), edits, |item| reply_item(item, reply));
        }
    })?;
    if count > 0 {
        txn.notify(EventClass::Set, "spop", key);
    }
    Ok(())
}

fn srandmember(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let key = args.key(0);
    if args.len() > 3 {
        return Err(CommandError::SYNTAX);
    }
    let Some(word) = args.opt(2) else {
        match view.collection::<Set>(key)?.and_then(|set| set.random(draws::draw())) {
            Some(item) => reply_item(item, reply),
            None => reply.null(),
        }
        return Ok(());
    };
    let count = integer(word)?;
    check_picks(count)?;
    let Some(set) = view.collection::<Set>(key)? else {
        reply.array(0);
        return Ok(());
    };
    let mut random = Random::new(draws::draw());
    if count < 0 {
        let picks = count.unsigned_abs();
        reply.array(picks as usize);
        for _ in 0..picks {
            if let Some(item) = set.random(random.next_u64()) {
                reply_item(item, reply);
            }
        }
        return Ok(());
    }
    let count = (count as usize).min(set.len());
    reply.array(count);
    if count > set.len() / 4 {
        some_of_many(set, count, &mut random, reply);
    } else {
        few_of_many(set, count, &mut random, reply);
    }
    Ok(())
}

/// Looks at all members, and takes each with the probability that makes `count` of them in the end.
fn some_of_many(set: &Set, count: usize, random: &mut Random, reply: &mut Reply<'_>) {
    let (mut wanted, mut left) = (count as u64, set.len() as u64);
    for item in set.iter() {
        if random.chance(wanted, left) {
            reply_item(item, reply);
            wanted -= 1;
        }
        left -= 1;
    }
}

/// Draws until `count` different members have come.
fn few_of_many(set: &Set, count: usize, random: &mut Random, reply: &mut Reply<'_>) {
    let (mut drawn, limits) = (Set::new(), FormLimits::default());
    while drawn.len() < count {
        let Some(item) = set.random(random.next_u64()) else { return };
        if drawn.add_item(item, &limits) {
            reply_item(item, reply);
        }
    }
}
