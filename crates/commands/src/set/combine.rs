//! SINTER, SUNION, SDIFF, their STORE forms, and SINTERCARD.

use super::reply_item;
use basalt_call::entry::{Entry, Run, Traits};
use basalt_engine::{Key, Txn, View, WrongType};
use basalt_number::parse_i64;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse};
use basalt_value::item::Item;
use basalt_value::{Collection, FormLimits, Set, Variant};

const READS: Flags = Flags::of(&[Flag::Readonly]);
const STORES: Flags = Flags::of(&[Flag::Write, Flag::Denyoom]);

pub(super) const SINTER: Entry = Entry {
    spec: CommandSpec {
        name: "sinter",
        synopsis: "key [key ...]",
        group: Group::Set,
        flags: READS,
        keys: &[KeyUse::READ],
        since: "1.0.0",
        complexity: "O(N*M) with N members of the smallest set and M sets",
        summary: "Returns the members that several sets have in common.",
        examples: &[
            "SADD a 1 2 3 => (integer) 3",
            "SADD b 2 3 4 => (integer) 3",
            r#"SINTER a b => {"2", "3"}"#,
        ],
        tips: &["nondeterministic_output_order"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(|view, args, reply| read(Combination::Intersection, view, args, reply)),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

pub(super) const SUNION: Entry = Entry {
    spec: CommandSpec {
        name: "sunion",
        synopsis: "key [key ...]",
        group: Group::Set,
        flags: READS,
        keys: &[KeyUse::READ],
        since: "1.0.0",
        complexity: "O(N) with N members in all sets",
        summary: "Returns the members that any of several sets has.",
        examples: &[
            "SADD a 1 2 => (integer) 2",
            "SADD b 2 3 => (integer) 2",
            r#"SUNION a b => {"1", "2", "3"}"#,
        ],
        tips: &["nondeterministic_output_order"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(|view, args, reply| read(Combination::Union, view, args, reply)),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

pub(super) const SDIFF: Entry = Entry {
    spec: CommandSpec {
        name: "sdiff",
        synopsis: "key [key ...]",
        group: Group::Set,
        flags: READS,
        keys: &[KeyUse::READ],
        since: "1.0.0",
        complexity: "O(N*M) with N members of the first set and M sets",
        summary: "Returns the members of a set that none of several others has.",
        examples: &[
            "SADD a 1 2 3 => (integer) 3",
            "SADD b 2 => (integer) 1",
            r#"SDIFF a b => {"1", "3"}"#,
        ],
        tips: &["nondeterministic_output_order"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(|view, args, reply| read(Combination::Difference, view, args, reply)),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

pub(super) const SINTERSTORE: Entry = Entry {
    spec: CommandSpec {
        name: "sinterstore",
        synopsis: "destination key [key ...]",
        group: Group::Set,
        flags: STORES,
        keys: &[KeyUse::UPDATE, KeyUse::READ],
        since: "1.0.0",
        complexity: "O(N*M) with N members of the smallest set and M sets",
        summary: "Stores the members that several sets have in common, and returns how many they are.",
        examples: &[
            "SADD a 1 2 3 => (integer) 3",
            "SADD b 2 3 4 => (integer) 3",
            "SINTERSTORE c a b => (integer) 2",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(|txn, args, reply| store(Combination::Intersection, txn, args, reply)),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

pub(super) const SUNIONSTORE: Entry = Entry {
    spec: CommandSpec {
        name: "sunionstore",
        synopsis: "destination key [key ...]",
        group: Group::Set,
        flags: STORES,
        keys: &[KeyUse::OVERWRITE, KeyUse::READ],
        since: "1.0.0",
        complexity: "O(N) with N members in all sets",
        summary: "Stores the members that any of several sets has, and returns how many they are.",
        examples: &["SADD a 1 2 => (integer) 2", "SUNIONSTORE c a b => (integer) 2"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(|txn, args, reply| store(Combination::Union, txn, args, reply)),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

pub(super) const SDIFFSTORE: Entry = Entry {
    spec: CommandSpec {
        name: "sdiffstore",
        synopsis: "destination key [key ...]",
        group: Group::Set,
        flags: STORES,
        keys: &[KeyUse::OVERWRITE, KeyUse::READ],
        since: "1.0.0",
        complexity: "O(N*M) with N members of the first set and M sets",
        summary: "Stores the members of a set that none of several others has, and returns how many they are.",
        examples: &["SADD a 1 2 => (integer) 2", "SDIFFSTORE c a b => (integer) 2"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(|txn, args, reply| store(Combination::Difference, txn, args, reply)),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

pub(super) const SINTERCARD: Entry = Entry {
    spec: CommandSpec {
        name: "sintercard",
        synopsis: "numkeys key [key ...] [LIMIT limit]",
        group: Group::Set,
        flags: READS,
        keys: &[KeyUse::READ],
        since: "7.0.0",
        complexity: "O(N*M) with N members of the smallest set and M sets",
        summary: "Returns how many members several sets have in common, counting up to a limit.",
        examples: &[
            "SADD a 1 2 3 => (integer) 3",
            "SADD b 2 3 4 => (integer) 3",
            "SINTERCARD 2 a b => (integer) 2",
            "SINTERCARD 2 a b LIMIT 1 => (integer) 1",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(sintercard),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

/// How sets are combined.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Combination {
    Intersection,
    Union,
    Difference,
}

impl Combination {
    /// The event of its being stored.
    fn stored(self) -> &'static str {
        match self {
            Combination::Intersection => "sinterstore",
            Combination::Union => "sunionstore",
            Combination::Difference => "sdiffstore",
        }
    }

    /// Visits the members of the combination, each once, until `visit` says that it is enough.
    fn visit(self, sets: &[Option<&Set>], mut visit: impl FnMut(Item<'_>) -> bool) {
        match self {
            Combination::Intersection => intersect(sets, visit),
            Combination::Union => {
                let (mut seen, limits) = (Set::new(), FormLimits::default());
                for set in sets.iter().copied().flatten() {
                    for item in set.iter() {
                        if (sets.len() == 1 || seen.add_item(item, &limits)) && !visit(item) {
                            return;
                        }
                    }
                }
            }
            Combination::Difference => {
                let Some((&Some(first), others)) = sets.split_first() else { return };
                let is_elsewhere =
                    |item| others.iter().copied().flatten().any(|set| set.contains(item));
                for item in first.iter().filter(|&item| !is_elsewhere(item)) {
                    if !visit(item) {
                        return;
                    }
                }
            }
        }
    }
}

/// From the smallest set on: what is not there need not be looked for elsewhere.
fn intersect(sets: &[Option<&Set>], mut visit: impl FnMut(Item<'_>) -> bool) {
    let Some(mut sets) = sets.iter().copied().collect::<Option<Vec<&Set>>>() else { return };
    sets.sort_by_key(|set| set.len());
    let Some((first, others)) = sets.split_first() else { return };
    for item in first.iter() {
        if others.iter().all(|set| set.contains(item)) && !visit(item) {
            return;
        }
    }
}

fn sets<'v>(view: &'v View<'_>, keys: &[Key<'_>]) -> Result<Vec<Option<&'v Set>>, WrongType> {
    keys.iter().map(|key| view.collection::<Set>(key)).collect()
}

fn read(
    combination: Combination,
    view: &View<'_>,
    args: &Args<'_>,
    reply: &mut Reply<'_>,
) -> CommandResult {
    let sets = sets(view, args.keys())?;
    let place = reply.array_deferred();
    let mut count = 0;
    combination.visit(&sets, |item| {
        reply_item(item, reply);
        count += 1;
        true
    });
    reply.set_end(place, count);
    Ok(())
}

fn store(
    combination: Combination,
    txn: &mut Txn<'_>,
    args: &Args<'_>,
    reply: &mut Reply<'_>,
) -> CommandResult {
    let (to, from) = args.keys().split_first().ok_or(CommandError::SYNTAX)?;
    txn.notify_missing(from);
    let limits = txn.limits();
    let mut result = Set::new();
    let sets: Vec<Option<&Set>> =
        from.iter().map(|key| txn.collection::<Set>(key)).collect::<Result<_, _>>()?;
    combination.visit(&sets, |item| {
        result.add_item(item, &limits);
        true
    });
    let len = result.len() as i64;
    txn.put_result(to, result.into_value(), combination.stored())?;
    reply.integer(len);
    Ok(())
}

fn sintercard(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    const NUMKEYS: CommandError = CommandError::fixed("ERR numkeys should be greater than 0");
    const TOO_MANY: CommandError =
        CommandError::fixed("ERR Number of keys can't be greater than number of args");
    const LIMIT: CommandError = CommandError::fixed("ERR LIMIT can't be negative");
    let keys = parse_i64(args.word(1)).filter(|&keys| keys > 0).ok_or(NUMKEYS)?;
    if keys as u64 > args.len() as u64 - 2 {
        return Err(TOO_MANY);
    }
    let mut limit = 0;
    let mut at = keys as usize + 2;
    while at < args.len() {
        match args.opt(at + 1) {
            Some(word) if args.is(at, "LIMIT") => {
                let number = parse_i64(word).and_then(|limit| u64::try_from(limit).ok());
                limit = number.ok_or(LIMIT)?;
            }
            _ => return Err(CommandError::SYNTAX),
        }
        at += 2;
    }
    let sets = sets(view, args.keys())?;
    let mut count = 0;
    intersect(&sets, |_| {
        count += 1;
        count != limit
    });
    reply.integer(count as i64);
    Ok(())
}
