//! BLPOP, BRPOP, BLMPOP, BLMOVE and BRPOPLPUSH: as the commands without the B, but they wait for
//! elements.

use super::pop::{PopMany, pop_from};
use super::transfer::Ends;
use crate::timeout;
use basalt_call::entry::{Entry, Run, Traits};
use basalt_engine::{Key, Service, Txn, WaitAnswer};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Deprecated, Flag, Flags, Group, KeyUse, around};
use basalt_value::List;
use basalt_value::list::Side;
use std::time::Duration;

pub(super) const BLPOP: Entry = Entry {
    spec: CommandSpec {
        name: "blpop",
        synopsis: "key [key ...] timeout",
        group: Group::List,
        flags: Flags::of(&[Flag::Write, Flag::Blocking]),
        keys: &[KeyUse::TAKE],
        since: "2.0.0",
        complexity: "O(N) with N keys",
        summary: "Removes the first element of the first of several lists that has one, and waits if none has.",
        examples: &[
            "RPUSH b 1 2 => (integer) 2",
            r#"BLPOP a b 0 => ["b", "1"]"#,
            "BLPOP a 0.01 => (nil)",
            "BLPOP a -1 => (error) ERR timeout is negative",
        ],
        history: &[("6.0.0", "The timeout may have a fraction.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(|txn, args, reply| pop(txn, args, reply, Side::Left)),
    ..Entry::DEFAULT
};

pub(super) const BRPOP: Entry = Entry {
    spec: CommandSpec {
        name: "brpop",
        synopsis: "key [key ...] timeout",
        group: Group::List,
        flags: Flags::of(&[Flag::Write, Flag::Blocking]),
        keys: &[KeyUse::TAKE],
        since: "2.0.0",
        complexity: "O(N) with N keys",
        summary: "Removes the last element of the first of several lists that has one, and waits if none has.",
        examples: &["RPUSH b 1 2 => (integer) 2", r#"BRPOP a b 0 => ["b", "2"]"#],
        history: &[("6.0.0", "The timeout may have a fraction.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(|txn, args, reply| pop(txn, args, reply, Side::Right)),
    ..Entry::DEFAULT
};

pub(super) const BLMPOP: Entry = Entry {
    spec: CommandSpec {
        name: "blmpop",
        synopsis: "timeout numkeys key [key ...] <LEFT | RIGHT> [COUNT count]",
        group: Group::List,
        flags: Flags::of(&[Flag::Write, Flag::Blocking]),
        keys: &[KeyUse::TAKE],
        overrides: &[around("LEFT").named("where")],
        since: "7.0.0",
        complexity: "O(N+M) with N keys and M elements returned",
        summary: "Removes elements from the first of several lists that has some, and waits if none has.",
        examples: &[
            "RPUSH two a b c => (integer) 3",
            r#"BLMPOP 0 2 one two RIGHT COUNT 2 => ["two", ["c", "b"]]"#,
            "BLMPOP 0.01 1 one LEFT => (nil)",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(blmpop),
    traits: Traits::working_on(7, |args, len| PopMany::elements(args, 2, len)),
    ..Entry::DEFAULT
};

pub(super) const BLMOVE: Entry = Entry {
    spec: CommandSpec {
        name: "blmove",
        synopsis: "source destination <LEFT | RIGHT> <LEFT | RIGHT> timeout",
        group: Group::List,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom, Flag::Blocking]),
        keys: &[KeyUse::TAKE, KeyUse::ADD],
        overrides: &[around("LEFT").named("whereto"), around("LEFT").first().named("wherefrom")],
        since: "6.2.0",
        complexity: "O(1)",
        summary: "Moves an element from an end of one list to an end of another, and waits for one to move.",
        examples: &[
            "RPUSH a 1 2 => (integer) 2",
            r#"BLMOVE a b LEFT RIGHT 0 => "1""#,
            "BLMOVE c b LEFT RIGHT 0.01 => (nil)",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(blmove),
    ..Entry::DEFAULT
};

pub(super) const BRPOPLPUSH: Entry = Entry {
    spec: CommandSpec {
        name: "brpoplpush",
        synopsis: "source destination timeout",
        group: Group::List,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom, Flag::Blocking]),
        keys: &[KeyUse::TAKE, KeyUse::ADD],
        since: "2.2.0",
        complexity: "O(1)",
        summary: "Moves the last element of one list to the head of another, and waits for one to move.",
        examples: &["RPUSH a 1 2 => (integer) 2", r#"BRPOPLPUSH a b 0 => "2""#],
        deprecated: Some(Deprecated {
            since: "6.2.0",
            replaced_by: "`BLMOVE` with the `RIGHT` and `LEFT` arguments",
        }),
        history: &[("6.0.0", "The timeout may have a fraction.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(brpoplpush),
    ..Entry::DEFAULT
};

/// Whether there is a list from which it is the client's turn to take. A client that has waited
/// passes over a key that has got a value of another kind.
fn is_ready(txn: &Txn<'_>, key: &Key<'_>) -> Result<bool, CommandError> {
    match txn.collection::<List>(key) {
        Ok(list) => Ok(list.is_some() && txn.is_in_turn(key)),
        Err(_) if txn.has_waited() => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Waits for elements at these keys, or answers that there were none.
fn wait(txn: &mut Txn<'_>, keys: &[Key<'_>], time: Option<Duration>, reply: &mut Reply<'_>) {
    if txn.wait(keys, Service::InTurn, time) == WaitAnswer::MustAnswer {
        reply.null_array();
    }
}

fn pop(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>, side: Side) -> CommandResult {
    let time = timeout::seconds(args.word(args.len() - 1))?;
    for key in args.keys() {
        if is_ready(txn, key)? {
            reply.array(2);
            reply.bulk(key.bytes);
            pop_from(txn, key, side, 1, reply, |_, _| ())?;
            return Ok(());
        }
    }
    wait(txn, args.keys(), time, reply);
    Ok(())
}

fn blmpop(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let time = timeout::seconds(args.word(1))?;
    let many = PopMany::parse(args, 2)?;
    for key in args.keys() {
        if is_ready(txn, key)? {
            return many.pop(txn, key, reply);
        }
    }
    wait(txn, args.keys(), time, reply);
    Ok(())
}

fn blmove(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let ends = Ends::parse(args)?;
    transfer(&ends, timeout::seconds(args.word(5))?, txn, args, reply)
}

fn brpoplpush(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    transfer(&Ends::ROTATE, timeout::seconds(args.word(3))?, txn, args, reply)
}

fn transfer(
    ends: &Ends,
    time: Option<Duration>,
    txn: &mut Txn<'_>,
    args: &Args<'_>,
    reply: &mut Reply<'_>,
) -> CommandResult {
    if is_ready(txn, args.key(0))? {
        ends.run(txn, args, reply)?;
        return Ok(());
    }
    let keys = std::slice::from_ref(args.key(0));
    if txn.has_waited() {
        wait(txn, keys, time, reply);
    } else if txn.wait(keys, Service::InTurn, time) == WaitAnswer::MustAnswer {
        // In a transaction the answer is that of LMOVE.
        reply.null();
    }
    Ok(())
}
