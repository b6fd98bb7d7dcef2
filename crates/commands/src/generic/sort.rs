//! SORT and SORT_RO: elements of a list, a set or a sorted set, sorted by themselves or by other
//! keys.
//!
//! ```text
//! copy the elements ▸ weights, from the keys that BY names ▸ sort ▸ LIMIT ▸ results, from GET's
//!                     └ are they held? else ask for them           └ the same, for what LIMIT left
//! ```
//! The names of the keys that BY and GET name are made of elements, so nobody can lock them before
//! the command runs. It asks for them and runs again (`basalt_engine`'s `reach.rs`): once for
//! weights and once for results, so that `LIMIT 0 10` of a long list fetches ten keys. In a
//! transaction every key is held.
//!
//! Its partitions are held while it sorts. Sorting is stable, so where Redis leaves the order of
//! equal weights open, elements stay as they were.

mod elements;
mod keys;
mod order;
mod pattern;
mod request;

use basalt_call::entry::{Entry, Run, Traits};
use basalt_engine::{EventClass, Key, Txn, View};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{Categories, Category, CommandSpec, Flag, Flags, Group, KeyUse, around, at};
use basalt_value::list::Side;
use basalt_value::{Collection, Edits, List, Variant};
use elements::Elements;
use keys::Keys;
use pattern::{Pattern, Source};
use request::{Permits, Request};
use std::collections::HashSet;

const CATEGORIES: Categories =
    Categories::of(&[Category::Dangerous, Category::List, Category::Set, Category::Sortedset]);

pub(super) const SORT: Entry = Entry {
    spec: CommandSpec {
        name: "sort",
        synopsis: "key [BY pattern] [LIMIT offset count] [GET pattern [GET pattern ...]] \
                   [ASC | DESC] [ALPHA] [STORE destination]",
        group: Group::Generic,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom]),
        keys: &[
            KeyUse::READ,
            KeyUse::READ.unfindable(&["BY", "GET"]),
            KeyUse::OVERWRITE.unfindable(&["STORE"]),
        ],
        acl: Some(CATEGORIES),
        overrides: &[around("ASC").named("order"), at("ALPHA").named("sorting")],
        since: "1.0.0",
        complexity: "O(N*log(N)+M) with N elements and M results; O(N) if nothing is sorted",
        summary: "Sorts the elements of a list, a set or a sorted set, and returns or stores them, or what other keys say of them.",
        examples: &[
            "RPUSH l 3 1 2 => (integer) 3",
            r#"SORT l => ["1", "2", "3"]"#,
            r#"SORT l DESC LIMIT 0 2 => ["3", "2"]"#,
            "MSET weight_1 30 weight_2 20 weight_3 10 => OK",
            r#"SORT l BY weight_* GET # GET weight_* LIMIT 0 1 => ["3", "10"]"#,
            "SORT l STORE sorted => (integer) 3",
            r#"LRANGE sorted 0 -1 => ["1", "2", "3"]"#,
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(sort),
    traits: Traits { reads_any_key: Some(reads_any_key), ..Traits::LONG },
    ..Entry::DEFAULT
};

pub(super) const SORT_RO: Entry = Entry {
    spec: CommandSpec {
        name: "sort_ro",
        synopsis: "key [BY pattern] [LIMIT offset count] [GET pattern [GET pattern ...]] \
                   [ASC | DESC] [ALPHA]",
        group: Group::Generic,
        flags: Flags::of(&[Flag::Readonly]),
        keys: &[KeyUse::READ, KeyUse::READ.unfindable(&["BY", "GET"])],
        acl: Some(CATEGORIES),
        overrides: &[around("ASC").named("order"), at("ALPHA").named("sorting")],
        since: "7.0.0",
        complexity: "O(N*log(N)+M) with N elements and M results; O(N) if nothing is sorted",
        summary: "Sorts the elements of a list, a set or a sorted set as SORT does, and returns them.",
        examples: &[
            "SADD s b c a => (integer) 3",
            r#"SORT_RO s ALPHA => ["a", "b", "c"]"#,
            r#"SORT_RO s ALPHA LIMIT 1 1 => ["b"]"#,
            "SORT_RO s => (error) ERR One or more scores can't be converted into double",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(sort_ro),
    traits: Traits { reads_any_key: Some(reads_any_key), ..Traits::LONG },
    ..Entry::DEFAULT
};

/// BY with a pattern and GET read keys that they do not name.
fn reads_any_key(args: &Args<'_>) -> Option<CommandError> {
    let mut at = 2;
    while at + 1 < args.len() {
        if args.is(at, "by") && args.word(at + 1).contains(&b'*') {
            return Some(CommandError::fixed(
                "ERR BY option of SORT denied due to insufficient ACL permissions.",
            ));
        }
        if args.is(at, "get") {
            return Some(CommandError::fixed(
                "ERR GET option of SORT denied due to insufficient ACL permissions.",
            ));
        }
        at += match () {
            () if args.is(at, "limit") => 3,
            () if args.is(at, "by") || args.is(at, "store") => 2,
            () => 1,
        };
    }
    None
}

/// What has come of sorting.
enum Sorted {
    /// It takes these keys, too.
    Needs(Vec<Vec<u8>>),
    /// These elements, in order; the keys of their results are held.
    Chosen(Elements),
}

fn sort_ro(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let request = Request::parse(args, Permits::Reading)?;
    let keys = Keys::Read(view);
    match sorted(&request, keys, args)? {
        Sorted::Needs(names) => view.reach(names),
        Sorted::Chosen(chosen) => answer(&request, keys, &chosen, reply),
    }
    Ok(())
}

fn sort(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let request = Request::parse(args, Permits::Storing)?;
    if txn.get(args.key(0)).is_none() {
        txn.notify(EventClass::Miss, "keymiss", args.key(0));
    }
    let chosen = match sorted(&request, Keys::Write(txn), args)? {
        Sorted::Needs(names) => {
            txn.reach(names);
            return Ok(());
        }
        Sorted::Chosen(chosen) => chosen,
    };
    if request.stores {
        store(&request, txn, args.key(1), &chosen, reply)?;
    } else {
        answer(&request, Keys::Write(txn), &chosen, reply);
    }
    Ok(())
}

/// The elements that the request is for, in its order.
fn sorted(
    request: &Request<'_>,
    keys: Keys<'_, '_>,
    args: &Args<'_>,
) -> Result<Sorted, CommandError> {
    let Some(object) = keys.get(args.key(0)) else { return Ok(Sorted::Chosen(Elements::new())) };
    let source = Source::of(object).ok_or(CommandError::WRONG_TYPE)?;
    let held = Held::new(keys, args);
    let mut wanted = Vec::new();
    let chosen = match request.sorting(source, keys.issuer()) {
        None => Elements::unsorted(source, request),
        Some(sorting) => {
            let elements = Elements::all(source);
            let patterns = sorting.by.as_slice();
            held.add_wanted(patterns, &elements, &mut wanted);
            if held.lacks(&wanted) {
                return Ok(Sorted::Needs(wanted));
            }
            let order = order::order(&elements, &sorting, keys)?;
            elements.choose(&order[request.range(order.len())])
        }
    };
    held.add_wanted(&request.results, &chosen, &mut wanted);
    Ok(if held.lacks(&wanted) { Sorted::Needs(wanted) } else { Sorted::Chosen(chosen) })
}

/// Which keys the command may look at.
enum Held<'k> {
    Everything,
    These(HashSet<&'k [u8]>),
}

impl<'k> Held<'k> {
    fn new(keys: Keys<'_, '_>, args: &Args<'k>) -> Held<'k> {
        if keys.reaches_everything() {
            return Held::Everything;
        }
        Held::These(args.keys().iter().map(|key| key.bytes).collect())
    }

    /// Adds the names of the keys that patterns make of elements.
    fn add_wanted(&self, patterns: &[Pattern<'_>], of: &Elements, wanted: &mut Vec<Vec<u8>>) {
        if matches!(self, Held::Everything) {
            return;
        }
        for pattern in patterns {
            let names = of.iter().filter_map(|element| pattern.key_name(element));
            wanted.extend(names);
        }
        wanted.sort_unstable();
        wanted.dedup();
    }

    fn lacks(&self, wanted: &[Vec<u8>]) -> bool {
        match self {
            Held::Everything => false,
            Held::These(held) => wanted.iter().any(|name| !held.contains(&name[..])),
        }
    }
}

/// Visits the results: the elements, or what every GET says of each.
fn visit_results(
    request: &Request<'_>,
    keys: Keys<'_, '_>,
    chosen: &Elements,
    mut visit: impl FnMut(Option<&[u8]>),
) {
    for element in chosen.iter() {
        if request.results.is_empty() {
            visit(Some(element));
        }
        for pattern in &request.results {
            visit(pattern.look_up(element, keys).as_deref());
        }
    }
}

fn answer(request: &Request<'_>, keys: Keys<'_, '_>, chosen: &Elements, reply: &mut Reply<'_>) {
    reply.array(chosen.len() * request.results.len().max(1));
    visit_results(request, keys, chosen, |result| match result {
        Some(bytes) => reply.bulk(bytes),
        None => reply.null(),
    });
}

fn store(
    request: &Request<'_>,
    txn: &mut Txn<'_>,
    to: &Key<'_>,
    chosen: &Elements,
    reply: &mut Reply<'_>,
) -> CommandResult {
    let limits = txn.limits();
    let mut list = List::new();
    visit_results(request, Keys::Write(txn), chosen, |result| {
        list.push(Side::Right, result.unwrap_or_default(), &limits, &mut Edits::none());
    });
    let len = list.len() as i64;
    if !list.is_empty() {
        txn.put_value(to, list.into_value(), 0)?;
        txn.notify(EventClass::List, "sortstore", to);
    } else if txn.delete(to) {
        txn.notify(EventClass::Generic, "del", to);
    }
    reply.integer(len);
    Ok(())
}
