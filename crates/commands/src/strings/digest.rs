//! DIGEST, and DELEX, which deletes a key if what it holds is as expected.

use super::bytes;
use super::comparison::Comparison;
use basalt_call::entry::{Entry, Run, Traits};
use basalt_engine::{EventClass, Txn, View};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyFlag, KeyFlags, KeyUse, around};
use basalt_stdx::digest::Digest;

pub(super) const DIGEST: Entry = Entry {
    spec: CommandSpec {
        name: "digest",
        synopsis: "key",
        group: Group::String,
        flags: Flags::of(&[Flag::Readonly, Flag::Fast]),
        keys: &[KeyUse::READ],
        since: "8.4.0",
        complexity: "O(N) with N bytes of the string",
        summary: "Returns the XXH3 digest of the string at a key, as 16 hexadecimal digits.",
        examples: &[
            "DIGEST k => (nil)",
            "SET k hello => OK",
            r#"DIGEST k => "9555e8555c62dcfd""#,
            "LPUSH l a => (integer) 1",
            "DIGEST l => (error) WRONGTYPE ...",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(digest),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

pub(super) const DELEX: Entry = Entry {
    spec: CommandSpec {
        name: "delex",
        synopsis: "key [IFEQ ifeq-value | IFNE ifne-value | IFDEQ ifdeq-digest | IFDNE ifdne-digest]",
        group: Group::String,
        flags: Flags::of(&[Flag::Write, Flag::Fast]),
        keys: &[KeyUse::TRIM.varying()],
        key_flags: Some(key_flags),
        overrides: &[around("IFEQ").named("condition")],
        since: "8.4.0",
        complexity: "O(1); with IFDEQ and IFDNE O(N) with N bytes of the string",
        summary: "Deletes a key if the string that it holds, or the string's digest, is or is not a \
                  given one; returns how many keys were deleted.",
        examples: &[
            "SET k hello => OK",
            "DELEX k IFEQ other => (integer) 0",
            "DELEX k IFDNE 9555e8555c62dcfd => (integer) 0",
            "DELEX k IFEQ hello => (integer) 1",
            "DELEX k IFNE hello => (integer) 0",
            "LPUSH l a => (integer) 1",
            "DELEX l IFEQ a => (error) ERR Key should be of string type if conditions are specified",
            "DELEX l => (integer) 1",
            "SET k hello => OK",
            "DELEX k IFDEQ 955 => (error) ERR must be exactly 16 hexadecimal characters",
            "DELEX k IF hello => (error) ERR Invalid condition. Use IFEQ, IFNE, IFDEQ, or IFDNE",
            "DELEX k IFEQ => (error) ERR wrong number of arguments for 'delex' command",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(delex),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

/// Words of a call without a condition, and with one.
const WORDS: usize = 2;
const WORDS_WITH_CONDITION: usize = 4;

/// Without a condition it is DEL.
#[cold]
fn key_flags(call: &[&[u8]]) -> KeyFlags {
    if call.len() > WORDS {
        KeyFlags::of(&[KeyFlag::Rw, KeyFlag::Delete])
    } else {
        KeyFlags::of(&[KeyFlag::Rm, KeyFlag::Delete])
    }
}

fn digest(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    match view.get(args.key(0)) {
        Some(object) => reply.bulk(&Digest::of(bytes(object)?).digits()),
        None => reply.null(),
    }
    Ok(())
}

fn delex(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let key = args.key(0);
    let is_met = match args.len() {
        WORDS => true,
        WORDS_WITH_CONDITION => is_met(txn, args)?,
        _ => return Err(CommandError::wrong_arity("delex")),
    };
    let is_deleted = is_met && txn.delete(key);
    if is_deleted {
        txn.notify(EventClass::Generic, "del", key);
    }
    reply.integer(is_deleted.into());
    Ok(())
}

/// In the order in which Redis asks: of a key that is not there nothing is compared.
fn is_met(txn: &Txn<'_>, args: &Args<'_>) -> Result<bool, CommandError> {
    const NO_STRING: CommandError =
        CommandError::fixed("ERR Key should be of string type if conditions are specified");
    const NO_CONDITION: CommandError =
        CommandError::fixed("ERR Invalid condition. Use IFEQ, IFNE, IFDEQ, or IFDNE");
    let Some(object) = txn.get(args.key(0)) else { return Ok(false) };
    object.string().ok_or(NO_STRING)?;
    Comparison::option(args, WORDS).ok_or(NO_CONDITION)?.holds(Some(object))
}
