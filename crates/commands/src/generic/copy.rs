//! COPY, COPYEX and MOVE: values on their way to other keys and databases.

use super::database;
use crate::expire_time::{Base, ExpireTime, Range};
use basalt_call::entry::{Entry, Run, Traits};
use basalt_engine::{Destination, EventClass, Txn};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse, around};

const SAME_OBJECT: CommandError =
    CommandError::fixed("ERR source and destination objects are the same");

pub(super) const COPY: Entry = Entry {
    spec: CommandSpec {
        name: "copy",
        synopsis: "source destination [DB destination-db] [REPLACE]",
        group: Group::Generic,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom]),
        keys: &[KeyUse::READ, KeyUse::OVERWRITE],
        since: "6.2.0",
        complexity: "O(N) with N elements of a collection; O(1) for a string",
        summary: "Copies the value at a key, and when it expires, to another key or database.",
        examples: &[
            "SET a 1 EX 100 => OK",
            "COPY a b => (integer) 1",
            "TTL b => (integer) 100",
            "COPY a b => (integer) 0",
            "COPY a b REPLACE => (integer) 1",
            "COPY absent b => (integer) 0",
            "COPY a a => (error) ERR source and destination objects are the same",
            "COPY a a DB 1 REPLACE => (integer) 1",
            "SELECT 1 => OK",
            r#"GET a => "1""#,
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(copy),
    traits: Traits { names_databases: true, ..Traits::LONG },
    ..Entry::DEFAULT
};

pub(super) const COPYEX: Entry = Entry {
    spec: CommandSpec {
        name: "copyex",
        synopsis: "source destination <EX seconds | PX milliseconds> [REPLACE]",
        group: Group::Generic,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom]),
        keys: &[KeyUse::READ, KeyUse::OVERWRITE],
        overrides: &[around("EX").named("expiration")],
        since: "0.1.0",
        complexity: "O(N) with N elements of a collection; O(1) for a string",
        summary: "Copies the value at a key to another key, which expires after this time: there is no copy without it.",
        examples: &[
            "SET a 1 EX 100 => OK",
            "COPYEX a b EX 7 => (integer) 1",
            "TTL b => (integer) 7",
            "TTL a => (integer) 100",
            "COPYEX a b EX 9 => (integer) 0",
            "COPYEX a b PX 9000 REPLACE => (integer) 1",
            "TTL b => (integer) 9",
            "COPYEX absent b EX 5 REPLACE => (integer) 0",
            "COPYEX a a EX 5 => (error) ERR source and destination objects are the same",
            "COPYEX a b EX 0 => (error) ERR invalid expire time in 'copyex' command",
            "COPYEX a b REPLACE EX 5 => (error) ERR syntax error",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(copy_for_a_time),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

pub(super) const MOVE: Entry = Entry {
    spec: CommandSpec {
        name: "move",
        synopsis: "key db",
        group: Group::Generic,
        flags: Flags::of(&[Flag::Write, Flag::Fast]),
        keys: &[KeyUse::MODIFY],
        since: "1.0.0",
        complexity: "O(1)",
        summary: "Moves a key to another database unless the key exists there.",
        examples: &[
            "SET k v => OK",
            "MOVE k 1 => (integer) 1",
            "EXISTS k => (integer) 0",
            "MOVE k 1 => (integer) 0",
            "MOVE k 0 => (error) ERR source and destination objects are the same",
            "SELECT 1 => OK",
            r#"GET k => "v""#,
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(move_key),
    traits: Traits { names_databases: true, ..Traits::LONG },
    ..Entry::DEFAULT
};

/// What stands behind COPY's keys.
struct CopyOptions {
    db: u8,
    replace: bool,
}

impl CopyOptions {
    fn parse(txn: &Txn<'_>, args: &Args<'_>) -> Result<CopyOptions, CommandError> {
        let mut options = CopyOptions { db: txn.db(), replace: false };
        let mut at = 3;
        while at < args.len() {
            if args.is(at, "REPLACE") {
                options.replace = true;
                at += 1;
            } else if args.is(at, "DB")
                && let Some(word) = args.opt(at + 1)
            {
                options.db = database::named(word, txn.engine())?;
                at += 2;
            } else {
                return Err(CommandError::SYNTAX);
            }
        }
        Ok(options)
    }
}

fn copy(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let options = CopyOptions::parse(txn, args)?;
    let (from, to) = (args.key(0), Destination { db: options.db, key: args.key(1) });
    if to.db == txn.db() && from.bytes == to.key.bytes {
        return Err(SAME_OBJECT);
    }
    if to.db != txn.db() && txn.must_wait_for(to) {
        return Ok(());
    }
    let copied = (options.replace || !txn.exists_at(to)) && txn.copy(from, to)?;
    if copied {
        txn.notify_at(EventClass::Generic, "copy_to", to);
    } else if txn.get(from).is_none() {
        txn.notify(EventClass::Miss, "keymiss", from);
    }
    reply.integer(copied.into());
    Ok(())
}

fn copy_for_a_time(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let replaces = args.len() == 6 && args.is(5, "REPLACE");
    let time = ExpireTime::option(args, 3).filter(|time| time.base == Base::Now);
    let time = time.filter(|_| args.len() == 5 || replaces).ok_or(CommandError::SYNTAX)?;
    let expire_ms = time.parse(args.word(4), txn.now_ms(), Range::Positive, "copyex")?;
    let (from, to) = (args.key(0), Destination { db: txn.db(), key: args.key(1) });
    if from.bytes == to.key.bytes {
        return Err(SAME_OBJECT);
    }
    let copied = (replaces || !txn.exists_at(to)) && txn.copy(from, to)?;
    if copied {
        txn.set_expiry(to.key, expire_ms);
        txn.notify(EventClass::Generic, "copy_to", to.key);
        txn.notify(EventClass::Generic, "expire", to.key);
    } else if txn.get(from).is_none() {
        txn.notify(EventClass::Miss, "keymiss", from);
    }
    reply.integer(copied.into());
    Ok(())
}

fn move_key(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let key = args.key(0);
    let to = Destination { db: database::named(args.word(2), txn.engine())?, key };
    if to.db == txn.db() {
        return Err(SAME_OBJECT);
    }
    if txn.must_wait_for(to) {
        return Ok(());
    }
    let moved = !txn.exists_at(to) && txn.rename(key, to)?;
    if moved {
        txn.notify(EventClass::Generic, "move_from", key);
        txn.notify_at(EventClass::Generic, "move_to", to);
    }
    reply.integer(moved.into());
    Ok(())
}
