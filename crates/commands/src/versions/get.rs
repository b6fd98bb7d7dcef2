//! HOT PATH
//! CAS.GET.

use super::reply_version;
use crate::strings::{reply_string, string};
use basalt_call::entry::{Entry, Run};
use basalt_engine::Point;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandResult;
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse};

pub(super) const CAS_GET: Entry = Entry {
    spec: CommandSpec {
        name: "cas.get",
        synopsis: "key",
        group: Group::String,
        flags: Flags::of(&[Flag::Readonly, Flag::Fast]),
        keys: &[KeyUse::READ],
        since: "0.1.0",
        complexity: "O(1)",
        summary: "Returns the version of a key, its time to live in milliseconds and the string that it holds.",
        examples: &[
            "CAS.GET k => (nil)",
            "SET k v => OK",
            r#"CAS.GET k => ["0", (integer) -1, "v"]"#,
            "LPUSH l a => (integer) 1",
            "CAS.GET l => (error) WRONGTYPE ...",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Point(get),
    ..Entry::DEFAULT
};

fn get(point: &Point<'_>, _: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let Some(object) = point.object() else {
        reply.null();
        return Ok(());
    };
    let value = string(object)?;
    let left_ms = match object.expire_ms() {
        0 => -1,
        expire_ms => expire_ms.saturating_sub(point.now_ms()) as i64,
    };
    reply.array(3);
    reply_version(object.version(), reply);
    reply.integer(left_ms);
    reply_string(value, reply);
    Ok(())
}
