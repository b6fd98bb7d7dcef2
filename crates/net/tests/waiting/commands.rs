//! Commands that no product has: the least that waits for a key, and one that takes long.

use basalt_call::entry::{Entry, Run, Traits};
use basalt_commands::timeout::seconds;
use basalt_engine::{Key, Object, PutOptions, Service, Txn, View, WaitAnswer};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse};
use std::sync::{Condvar, Mutex};

/// All of them.
pub const COMMANDS: &[Entry] = &[TAKE, FOLLOW, ADD, LONG, WHOLE, STALL];

/// Keys whose TEST.LONG may end.
static ENDING: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());
static ENDS: Condvar = Condvar::new();

/// Has TEST.LONG of a key end.
pub fn end_long(key: &str) {
    ENDING.lock().unwrap().push(key.as_bytes().to_vec());
    ENDS.notify_all();
}

/// Takes the value of the first key that has one, as BLPOP does an element: key and value, or null.
const TAKE: Entry = Entry {
    spec: CommandSpec {
        name: "test.take",
        synopsis: "key [key ...] timeout",
        group: Group::Generic,
        flags: Flags::of(&[Flag::Write, Flag::Blocking]),
        keys: &[KeyUse::REMOVE],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(take),
    ..Entry::DEFAULT
};

/// Shows the value of a key once it is another than the given one, as XREAD does; an error if the
/// key goes.
const FOLLOW: Entry = Entry {
    spec: CommandSpec {
        name: "test.follow",
        synopsis: "key known timeout",
        group: Group::Generic,
        flags: Flags::of(&[Flag::Readonly, Flag::Blocking]),
        keys: &[KeyUse::READ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(follow),
    ..Entry::DEFAULT
};

/// Adds one unit to a key that holds that many, as RPUSH adds an element. TAKE takes all.
const ADD: Entry = Entry {
    spec: CommandSpec {
        name: "test.add",
        synopsis: "key",
        group: Group::Generic,
        flags: Flags::of(&[Flag::Write]),
        keys: &[KeyUse::ADD],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(add),
    ..Entry::DEFAULT
};

/// Holds its key's partition and its thread until [`end_long`].
const LONG: Entry = Entry {
    spec: CommandSpec {
        name: "test.long",
        synopsis: "key",
        group: Group::Generic,
        flags: Flags::of(&[Flag::Readonly]),
        keys: &[KeyUse::READ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(long),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

/// Holds its key's partition until [`end_long`], as a command does that replies all of a large
/// collection.
const WHOLE: Entry =
    Entry { spec: CommandSpec { name: "test.whole", ..LONG.spec }, traits: Traits::WHOLE, ..LONG };

/// Holds its thread until [`end_long`], and nobody serves the thread's other clients meanwhile: no
/// command may.
const STALL: Entry =
    Entry { spec: CommandSpec { name: "test.stall", ..LONG.spec }, traits: Traits::NONE, ..LONG };

fn long(_: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let ending = ENDING.lock().unwrap();
    let ends = |keys: &mut Vec<Vec<u8>>| !keys.iter().any(|key| key == args.word(1));
    drop(ENDS.wait_while(ending, ends).unwrap());
    reply.ok();
    Ok(())
}

fn take(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let keys = args.keys();
    let time = seconds(args.word(args.len() - 1))?;
    let ready = keys.iter().find(|key| txn.is_in_turn(key) && txn.get(key).is_some());
    let Some(key) = ready else {
        if txn.wait(keys, Service::InTurn, time) == WaitAnswer::MustAnswer {
            reply.null();
        }
        return Ok(());
    };
    let value = txn.get(key).map(|object| bytes(object).to_vec());
    txn.delete(key);
    reply.array(2);
    reply.bulk(key.bytes);
    reply.bulk(&value.unwrap_or_default());
    Ok(())
}

fn follow(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let time = seconds(args.word(3))?;
    let key: &Key<'_> = args.key(0);
    match view.get(key) {
        Some(object) if bytes(object) != args.word(2) => {
            reply.bulk(bytes(object));
        }
        None if view.has_waited() => return Err(CommandError::fixed("ERR the key is gone")),
        _ => {
            let keys = std::slice::from_ref(key);
            let answer = view.wait(keys, Service::EveryChangeAndEnd, time);
            if answer == WaitAnswer::MustAnswer {
                reply.null();
            }
        }
    }
    Ok(())
}

fn add(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let key = args.key(0);
    let len = txn.get(key).map_or(0, |object| bytes(object).len());
    if len == 0 {
        txn.put(key, b"x", PutOptions::whole(0));
    } else {
        txn.splice(key, len, b"x");
    }
    txn.signal(key);
    reply.integer(len as i64 + 1);
    Ok(())
}

/// The tests have strings only.
fn bytes(object: Object<'_>) -> &[u8] {
    object.string().map_or(&[], |string| string.bytes())
}
