//! Parts of a string: STRLEN, GETRANGE and SUBSTR.

use super::string;
use crate::number::integer;
use basalt_call::entry::{Entry, Run, Traits};
use basalt_engine::{HeadContent, Point, StringValue, View, WrongType};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandResult;
use basalt_spec::{CommandSpec, Deprecated, Flag, Flags, Group, KeyUse};
use std::ops::Range;

/// A part of at least as many bytes is not copied. It keeps the whole value in memory until it is
/// sent, so a small one is.
const PART_SHARED_BYTES_MIN: usize = 1 << 20;

pub(super) const STRLEN: Entry = Entry {
    spec: CommandSpec {
        name: "strlen",
        synopsis: "key",
        group: Group::String,
        flags: Flags::of(&[Flag::Readonly, Flag::Fast]),
        keys: &[KeyUse::INSPECT],
        since: "2.2.0",
        complexity: "O(1)",
        summary: "Returns the length in bytes of the string at a key, 0 if there is none.",
        examples: &["STRLEN k => (integer) 0", "SET k abc => OK", "STRLEN k => (integer) 3"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Point(strlen),
    traits: Traits { asks_heads: true, ..Traits::NONE },
    ..Entry::DEFAULT
};

pub(super) const GETRANGE: Entry = Entry {
    spec: CommandSpec {
        name: "getrange",
        synopsis: "key start end",
        group: Group::String,
        flags: Flags::of(&[Flag::Readonly]),
        keys: &[KeyUse::READ],
        since: "2.4.0",
        complexity: "O(N) with N bytes returned",
        summary: "Returns the bytes of a string from one index to another; negative indexes count from its end.",
        examples: &[
            r#"SET k "hello world" => OK"#,
            r#"GETRANGE k 0 4 => "hello""#,
            r#"GETRANGE k -5 -1 => "world""#,
            r#"GETRANGE k 5 2 => """#,
            r#"GETRANGE absent 0 -1 => """#,
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(getrange),
    ..Entry::DEFAULT
};

pub(super) const SUBSTR: Entry = Entry {
    spec: CommandSpec {
        name: "substr",
        synopsis: "key start end",
        group: Group::String,
        flags: Flags::of(&[Flag::Readonly]),
        keys: &[KeyUse::READ],
        since: "1.0.0",
        complexity: "O(N) with N bytes returned",
        summary: "The old name of GETRANGE.",
        examples: &["SET k hello => OK", r#"SUBSTR k 1 -2 => "ell""#],
        deprecated: Some(Deprecated { since: "2.0.0", replaced_by: "`GETRANGE`" }),
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(getrange),
    ..Entry::DEFAULT
};

fn strlen(point: &Point<'_>, _: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let len = match point.head().map(|head| head.content) {
        Some(HeadContent::String(bytes)) => bytes,
        Some(HeadContent::Collection(_)) => return Err(WrongType.into()),
        None => 0,
    };
    reply.integer(len as i64);
    Ok(())
}

fn getrange(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let (start, end) = (integer(args.word(2))?, integer(args.word(3))?);
    let Some(object) = view.get(args.key(0)) else {
        reply.bulk(b"");
        return Ok(());
    };
    let value = string(object)?;
    let range = resolve(start, end, value.bytes().len());
    match value {
        StringValue::Shared(shared) if range.len() >= PART_SHARED_BYTES_MIN => {
            reply.bulk_part(shared.to_arc(), range);
        }
        value => reply.bulk(&value.bytes()[range]),
    }
    Ok(())
}

/// The bytes from index `start` to index `end`, both included, of `len`; negative ones count from
/// the end. As in Redis 7, an end before the first byte means the first byte, unless the start lies
/// behind it and both are negative.
fn resolve(start: i64, end: i64, len: usize) -> Range<usize> {
    let from_end = |index: i64| {
        if index < 0 { len.saturating_sub(index.unsigned_abs() as usize) } else { index as usize }
    };
    if len == 0 || start < 0 && end < 0 && start > end {
        return 0..0;
    }
    let (start, end) = (from_end(start), from_end(end).min(len - 1));
    if start > end { 0..0 } else { start..end + 1 }
}

#[cfg(test)]
mod tests {
    use super::resolve;

    #[test]
    fn indexes_resolve_as_in_redis() {
        for (start, end, len, expected) in [
            (0, -1, 5, 0..5),
            (1, 3, 5, 1..4),
            (-3, -2, 5, 2..4),
            (-100, 100, 5, 0..5),
            (0, -100, 5, 0..1),
            (-1, -2, 5, 0..0),
            (-100, -101, 5, 0..0),
            (5, 10, 5, 0..0),
            (0, 0, 0, 0..0),
            (i64::MIN, i64::MAX, 5, 0..5),
            (i64::MAX, i64::MIN, 5, 0..0),
        ] {
            assert_eq!(resolve(start, end, len), expected, "{start} to {end} of {len}");
        }
    }
}
