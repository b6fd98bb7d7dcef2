//! RENAME and RENAMENX.

use basalt_call::entry::{Entry, Run, Traits};
use basalt_engine::{Destination, EventClass, Key, Txn};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse};

pub(super) const RENAME: Entry = Entry {
    spec: CommandSpec {
        name: "rename",
        synopsis: "key newkey",
        group: Group::Generic,
        flags: Flags::of(&[Flag::Write]),
        keys: &[KeyUse::TAKE, KeyUse::OVERWRITE],
        since: "1.0.0",
        complexity: "O(1), and the cost of freeing what is replaced",
        summary: "Gives a key another name, replacing what has that name.",
        examples: &[
            "SET a 1 EX 100 => OK",
            "SET b 2 => OK",
            "RENAME a b => OK",
            r#"GET b => "1""#,
            "TTL b => (integer) 100",
            "RENAME a b => (error) ERR no such key",
            "RENAME b b => OK",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(rename),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

pub(super) const RENAMENX: Entry = Entry {
    spec: CommandSpec {
        name: "renamenx",
        synopsis: "key newkey",
        group: Group::Generic,
        flags: Flags::of(&[Flag::Write, Flag::Fast]),
        keys: &[KeyUse::TAKE, KeyUse::CREATE],
        since: "1.0.0",
        complexity: "O(1)",
        summary: "Gives a key another name if nothing has that name.",
        examples: &[
            "MSET a 1 b 2 => OK",
            "RENAMENX a b => (integer) 0",
            "RENAMENX a c => (integer) 1",
            "RENAMENX b b => (integer) 0",
            "RENAMENX a b => (error) ERR no such key",
        ],
        history: &[("3.2.0", "The same name twice is no error.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(renamenx),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

fn rename(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let (from, to) = (args.key(0), Destination { db: txn.db(), key: args.key(1) });
    if txn.get(from).is_none() {
        return Err(CommandError::NO_SUCH_KEY);
    }
    if from.bytes != to.key.bytes {
        move_name(txn, from, to)?;
    }
    reply.ok();
    Ok(())
}

fn move_name(txn: &mut Txn<'_>, from: &Key<'_>, to: Destination<'_>) -> CommandResult {
    txn.rename(from, to)?;
    txn.notify(EventClass::Generic, "rename_from", from);
    txn.notify(EventClass::Generic, "rename_to", to.key);
    Ok(())
}

fn renamenx(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let (from, to) = (args.key(0), Destination { db: txn.db(), key: args.key(1) });
    if txn.get(from).is_none() {
        return Err(CommandError::NO_SUCH_KEY);
    }
    let renamed = !txn.exists_at(to);
    if renamed {
        move_name(txn, from, to)?;
    }
    reply.integer(renamed.into());
    Ok(())
}
