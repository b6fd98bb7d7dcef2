//! Combining strings: BITOP.

use super::bytes_or_none;
use basalt_call::entry::{Entry, Run, Traits};
use basalt_change::op::StringForm;
use basalt_engine::{EventClass, Key, PutOptions, Txn};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse};
use basalt_value::bits::{Operation, combine, combine_into};

pub(super) const BITOP: Entry = Entry {
    spec: CommandSpec {
        name: "bitop",
        synopsis: "operation destkey key [key ...]",
        group: Group::Bitmap,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom]),
        keys: &[KeyUse::OVERWRITE, KeyUse::READ],
        since: "2.6.0",
        complexity: "O(N) with N bytes of all strings",
        summary: "Combines strings bit by bit with AND, OR, XOR or NOT, stores the result, and returns its length. \
                  Shorter strings count as filled up with zeros.",
        examples: &[
            "MSET a abc b ABCD => OK",
            "BITOP AND d a b => (integer) 4",
            r#"GET d => "ABC\x00""#,
            "BITOP XOR d a b => (integer) 4",
            r#"GET d => "   D""#,
            "BITOP NOT d a => (integer) 3",
            r#"GET d => "\x9e\x9d\x9c""#,
            "BITOP OR d absent => (integer) 0",
            "EXISTS d => (integer) 0",
            "BITOP NOT d a b => (error) ERR BITOP NOT must be called with a single source key.",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(bitop),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

fn bitop(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let operation = parse_operation(args)?;
    let [destination, sources @ ..] = args.keys() else { return Err(CommandError::SYNTAX) };
    if operation == Operation::Not && sources.len() != 1 {
        return Err(CommandError::fixed("ERR BITOP NOT must be called with a single source key."));
    }
    if txn.must_wait_for_checkpoint(destination) {
        return Ok(());
    }
    txn.prefetch(args.keys());
    txn.notify_missing(sources);
    let mut longest = 0;
    for key in sources {
        longest = bytes_or_none(txn.get(key))?.len().max(longest);
    }
    let result = match txn.take_string(destination, longest..=longest.saturating_mul(2)) {
        Some(old) => in_place(operation, txn, (destination, old), sources),
        None => {
            let mut strings = Vec::with_capacity(sources.len());
            for key in sources {
                strings.push(bytes_or_none(txn.get(key))?);
            }
            combine(operation, strings.into_iter())
        }
    };
    reply.integer(longest as i64);
    if !result.is_empty() {
        txn.put_vec(destination, result, PutOptions { expire_ms: 0, form: StringForm::Edited });
        txn.notify(EventClass::String, "set", destination);
    } else if txn.delete(destination) {
        txn.notify(EventClass::Generic, "del", destination);
    }
    Ok(())
}

/// The strings combined in the memory of the destination's string, which has room for the result
/// and has been taken out of its key.
fn in_place(
    operation: Operation,
    txn: &Txn<'_>,
    (destination, mut result): (&Key<'_>, Vec<u8>),
    sources: &[Key<'_>],
) -> Vec<u8> {
    let mut others: Vec<&[u8]> = sources
        .iter()
        .filter(|source| source.bytes != destination.bytes)
        .map(|source| bytes_or_none(txn.get(source)).unwrap_or_default())
        .collect();
    let own = sources.len() - others.len();
    if own == 0 {
        result.clear();
        result.extend_from_slice(others.swap_remove(0));
    } else if operation == Operation::Xor && own.is_multiple_of(2) {
        result.fill(0);
    }
    combine_into(operation, &mut result, others.into_iter());
    result
}

fn parse_operation(args: &Args<'_>) -> Result<Operation, CommandError> {
    const NAMES: [(&str, Operation); 4] = [
        ("AND", Operation::And),
        ("OR", Operation::Or),
        ("XOR", Operation::Xor),
        ("NOT", Operation::Not),
    ];
    let named = NAMES.into_iter().find(|(name, _)| args.is(1, name));
    named.map(|(_, operation)| operation).ok_or(CommandError::SYNTAX)
}
