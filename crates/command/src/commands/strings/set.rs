//! HOT PATH
//! SET with all its options.

use crate::args::Args;
use crate::commands::{Entry, Run};
use crate::error::CommandResult;
use basalt_engine::{PutOptions, Txn};
use basalt_resp::Reply;
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse};

pub(super) const SET: Entry = Entry {
    spec: CommandSpec {
        name: "set",
        synopsis: "key value",
        group: Group::String,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom]),
        keys: &[KeyUse::MODIFY.varying()],
        since: "1.0.0",
        complexity: "O(1)",
        summary: "Stores a string, whatever was at the key before, and with it when it expires.",
        examples: &["SET k v => OK"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(set),
};

fn set(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    txn.put(args.key(0), args.word(2), PutOptions::whole(0));
    reply.ok();
    Ok(())
}
