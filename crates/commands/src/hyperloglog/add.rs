//! HOT PATH
//! PFADD.

use super::{hll, sparse_bytes_max, store};
use crate::generic::{RAW, encoding};
use crate::strings::make_raw;
use basalt_call::entry::{Entry, Run};
use basalt_engine::{EventClass, Txn};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse};
use basalt_value::hll::{Change, Element, HllBuf};

pub(super) const PFADD: Entry = Entry {
    spec: CommandSpec {
        name: "pfadd",
        synopsis: "key [element [element ...]]",
        group: Group::Hyperloglog,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom, Flag::Fast]),
        keys: &[KeyUse::ADD],
        since: "2.8.9",
        complexity: "O(1) for each element",
        summary: "Adds elements to a HyperLogLog, which is created if absent; says whether its estimate may have changed.",
        examples: &[
            "PFADD k a b c => (integer) 1",
            "PFADD k a b => (integer) 0",
            "PFCOUNT k => (integer) 3",
            "SET s text => OK",
            "PFADD s a => (error) WRONGTYPE Key is not a valid HyperLogLog string value.",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(pfadd),
    ..Entry::DEFAULT
};

fn pfadd(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let changed = match add(txn, args)? {
        Some(changed) => changed,
        None => create(txn, args)?,
    };
    if changed {
        txn.notify(EventClass::String, "pfadd", args.key(0));
    }
    reply.integer(i64::from(changed));
    Ok(())
}

/// The string is changed in place, element by element; only the bytes that differ and the count's
/// are logged. After an error what came before it stays, as in Redis. `None` if the key is not
/// there.
fn add(txn: &mut Txn<'_>, args: &Args<'_>) -> Result<Option<bool>, CommandError> {
    let key = args.key(0);
    let sparse_bytes_max = sparse_bytes_max(txn);
    let (mut element, mut changed) = (2, false);
    loop {
        let Some(object) = txn.get(key) else { return Ok(None) };
        let stored = hll(object)?;
        let mut change = Ok(None);
        while matches!(change, Ok(None)) && element < args.len() {
            change = stored.change_for(Element::new(args.word(element)), sparse_bytes_max);
            element += 1;
        }
        let change = match change {
            Ok(Some(change)) => change,
            rest => {
                if encoding(object) != RAW {
                    make_raw(txn, key);
                }
                rest?;
                break;
            }
        };
        match change {
            Change::Patch(patch) => {
                let invalidation = stored.invalidation();
                txn.replace(key, patch.range(), patch.bytes());
                if let Some((at, byte)) = invalidation {
                    txn.splice(key, at, &[byte]);
                }
            }
            Change::Promote(element) => {
                let mut dense = HllBuf::from(stored);
                dense.promote(element)?;
                store(txn, key, dense.bytes())?;
            }
        }
        changed = true;
        if element == args.len() {
            break;
        }
    }
    Ok(Some(changed))
}

fn create(txn: &mut Txn<'_>, args: &Args<'_>) -> Result<bool, CommandError> {
    let mut new = HllBuf::default();
    new.invalidate_count();
    for element in args.from(2) {
        new.add(Element::new(element), sparse_bytes_max(txn))?;
    }
    store(txn, args.key(0), new.bytes())?;
    Ok(true)
}
