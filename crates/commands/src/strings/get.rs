//! HOT PATH
//! GET.

use super::reply_object;
use basalt_call::entry::{Entry, Run};
use basalt_engine::Point;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandResult;
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
    run: Run::Point(get),
    ..Entry::DEFAULT
};

fn get(point: &Point<'_>, _: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    reply_object(point.object(), reply)
}
