//! HOT PATH
//! PFADD.

use super::{hll, sparse_bytes_max, store};
use crate::args::Args;
use crate::commands::strings::make_raw;
use crate::commands::{Entry, Run};
use crate::error::{CommandError, CommandResult};
use basalt_engine::{EventClass, Txn};
use basalt_resp::Reply;
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse};
use basalt_value::hll::{Change, Element, Encoding, HllBuf};

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
};

fn pfadd(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let encoding = match txn.get(args.key(0)) {
        Some(object) => Some(hll(object)?.encoding()),
        None => None,
    };
    let changed = match encoding {
        Some(Encoding::Dense) => add_to_dense(txn, args)?,
        Some(Encoding::Sparse) => add_to_sparse(txn, args)?,
        None => create(txn, args)?,
    };
    if changed {
        txn.notify(EventClass::String, "pfadd", args.key(0));
    }
    reply.integer(i64::from(changed));
    Ok(())
}

/// The registers are changed in place; only their bytes and the count's are logged.
fn add_to_dense(txn: &mut Txn<'_>, args: &Args<'_>) -> Result<bool, CommandError> {
    let key = args.key(0);
    let mut elements = args.from(2).peekable();
    let mut changed = false;
    while elements.peek().is_some() {
        let Some(object) = txn.get(key) else { return Ok(changed) };
        let dense = hll(object)?;
        let next = elements.find_map(|element| dense.dense_change_for(Element::new(element)));
        let Some(patch) = next else { break };
        let invalidation = dense.invalidation();
        txn.splice(key, patch.at(), patch.bytes());
        if let Some((at, byte)) = invalidation {
            txn.splice(key, at, &[byte]);
        }
        changed = true;
    }
    Ok(changed)
}

/// Copied when the first element is new. After an error what came before it stays, as in Redis.
fn add_to_sparse(txn: &mut Txn<'_>, args: &Args<'_>) -> Result<bool, CommandError> {
    let key = args.key(0);
    let sparse_bytes_max = sparse_bytes_max(txn);
    let Some(object) = txn.get(key) else { return Ok(false) };
    let stored = hll(object)?;
    let mut edited: Option<HllBuf> = None;
    let result = args.from(2).try_for_each(|element| {
        let current = edited.as_ref().map_or(stored, HllBuf::hll);
        let change: Option<Change> = current.change_for(Element::new(element))?;
        change.map_or(Ok(()), |change| {
            edited.get_or_insert_with(|| HllBuf::from(stored)).apply(change, sparse_bytes_max)
        })
    });
    match &edited {
        Some(edited) => store(txn, key, edited.bytes())?,
        None => make_raw(txn, key),
    }
    result?;
    Ok(edited.is_some())
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
