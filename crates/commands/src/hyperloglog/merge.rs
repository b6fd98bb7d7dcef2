//! PFMERGE.

use super::{hll, sparse_bytes_max, store};
use basalt_call::entry::{Entry, Run};
use basalt_engine::{EventClass, Txn};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandResult;
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyFlag, KeyUse};
use basalt_value::hll::{Encoding, HllBuf, Registers};

pub(super) const PFMERGE: Entry = Entry {
    spec: CommandSpec {
        name: "pfmerge",
        synopsis: "destkey sourcekey [sourcekey ...]",
        group: Group::Hyperloglog,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom]),
        keys: &[KeyUse::new(&[KeyFlag::Rw, KeyFlag::Access, KeyFlag::Insert]), KeyUse::READ],
        arity: Some(-2),
        since: "2.8.9",
        complexity: "O(N) with N keys",
        summary: "Adds to a HyperLogLog, which is created if absent, what was added to others.",
        examples: &[
            "PFADD a 1 2 3 => (integer) 1",
            "PFADD b 3 4 => (integer) 1",
            "PFMERGE d a b absent => OK",
            "PFCOUNT d => (integer) 4",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(pfmerge),
    ..Entry::DEFAULT
};

fn pfmerge(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    txn.prefetch(args.keys());
    txn.notify_missing(args.keys());
    let mut union = Registers::default();
    let mut encoding = Encoding::Sparse;
    for key in args.keys() {
        let Some(object) = txn.get(key) else { continue };
        let source = hll(object)?;
        source.merge_into(&mut union)?;
        if source.encoding() == Encoding::Dense {
            encoding = Encoding::Dense;
        }
    }
    let destination = args.key(0);
    let mut merged = match txn.get(destination) {
        Some(object) => HllBuf::from(hll(object)?),
        None => HllBuf::default(),
    };
    merged.raise(&union, encoding, sparse_bytes_max(txn))?;
    store(txn, destination, merged.bytes())?;
    txn.notify(EventClass::String, "pfadd", destination);
    reply.ok();
    Ok(())
}
