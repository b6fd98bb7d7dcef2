//! CAS.DEL.

use super::{reply_outcome, version};
use crate::strings::Comparison;
use basalt_call::entry::{Entry, Run};
use basalt_engine::{EventClass, Txn, Version};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse, around};

pub(super) const CAS_DEL: Entry = Entry {
    spec: CommandSpec {
        name: "cas.del",
        synopsis: "key [IF version | IFDEQ digest]",
        group: Group::String,
        flags: Flags::of(&[Flag::Write, Flag::Fast]),
        keys: &[KeyUse::TRIM],
        overrides: &[around("IF").named("condition")],
        since: "0.1.0",
        complexity: "O(1); with IFDEQ O(N) with N bytes of the string",
        summary: "Deletes a key, if it has a given version, or holds a string of a given digest. Returns 1 and the version that it had, or 0 \
                  and the one that it has.",
        examples: &[
            "CAS.SET k v FORCE 7 => [(integer) 1, \"7\"]",
            "CAS.DEL k IF 6 => [(integer) 0, \"7\"]",
            "CAS.DEL k IF 7 => [(integer) 1, \"7\"]",
            "CAS.DEL k => [(integer) 0, \"0\"]",
            "CAS.DEL k IF x => (error) ERR a version is an integer above 0 ...",
            "SET k hello => OK",
            "CAS.DEL k IFDEQ 0000000000000000 => [(integer) 0, \"0\"]",
            "CAS.DEL k IFDEQ 9555e8555c62dcfd => [(integer) 1, \"0\"]",
            "CAS.DEL k UNLESS 7 => (error) ERR syntax error",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(delete),
    ..Entry::DEFAULT
};

/// On what the command depends.
#[derive(Clone, Copy)]
enum Condition<'a> {
    None,
    /// IF
    Version(Version),
    /// IFDEQ
    Compared(Comparison<'a>),
}

fn delete(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let condition = match args.len() {
        2 => Condition::None,
        4 if args.is(2, "IF") => Condition::Version(version(args.word(3))?),
        4 if args.is(2, "IFDEQ") => Condition::Compared(Comparison::digest_is(args.word(3))),
        _ => return Err(CommandError::SYNTAX),
    };
    let key = args.key(0);
    if let Condition::Compared(comparison) = condition
        && comparison.must_run_apart(txn, key)
    {
        return Ok(());
    }
    let current = txn.version(key);
    let is_met = match condition {
        Condition::None => true,
        Condition::Version(expected) => expected == current,
        Condition::Compared(comparison) => comparison.holds(txn.get(key))?,
    };
    let is_deleted = is_met && txn.delete(key);
    if is_deleted {
        txn.notify(EventClass::Generic, "del", key);
    }
    reply.array(2);
    reply_outcome(is_deleted, current, reply);
    Ok(())
}
