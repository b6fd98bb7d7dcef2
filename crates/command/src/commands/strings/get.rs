//! HOT PATH
//! GET.

use crate::args::Args;
use crate::commands::{Entry, Run};
use crate::error::CommandResult;
use basalt_engine::{Object, View};
use basalt_keyspace::entry::StringValue;
use basalt_resp::{Reply, SHARED_BYTES_MIN};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse};

pub(super) const GET: Entry = Entry {
    spec: CommandSpec {
        name: "get",
        synopsis: "key",
        group: Group::String,
        flags: Flags::of(&[Flag::Readonly, Flag::Fast]),
        keys: &[KeyUse::READ],
        since: "1.0.0",
        complexity: "O(1)",
        summary: "Returns the string at a key.",
        examples: &["GET k => (nil)", "SET k v => OK", r#"get k => "v""#],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(get),
};

fn get(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    match view.get(args.key(0)) {
        Some(object) => string(object, reply),
        None => reply.null(),
    }
    Ok(())
}

/// Replies with an object's string, without copying it if it is large.
#[inline]
pub(super) fn string(object: Object<'_>, reply: &mut Reply<'_>) {
    match object.string() {
        StringValue::Shared(shared) if shared.vec().len() >= SHARED_BYTES_MIN => {
            reply.bulk_shared(shared.to_arc());
        }
        value => reply.bulk(value.bytes()),
    }
}
