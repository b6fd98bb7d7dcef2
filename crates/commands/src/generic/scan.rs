//! SCAN.

use super::keys::{reply_names, wait_for};
use crate::number;
use basalt_call::context::Context;
use basalt_call::entry::{Entry, Run, Traits};
use basalt_engine::{Cursor, WalkEnd, WalkLimits};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_service::session::{Flow, SessionResult};
use basalt_service::walking::Walking;
use basalt_spec::{CommandSpec, Flag, Flags, Group, at};
use basalt_stdx::glob::{Case, Pattern};
use basalt_value::Kind;

/// Keys that are looked at unless COUNT says otherwise.
const COUNT_DEFAULT: usize = 10;
/// Empty buckets that one call may walk over for each key that it may look at, as in Redis …
const BUCKETS_A_KEY: usize = 10;
/// … but always this many: a few for each partition, some 100 µs.
const BUCKETS_MIN: usize = 8192;

pub(super) const SCAN: Entry = Entry {
    spec: CommandSpec {
        name: "scan",
        synopsis: "cursor [MATCH pattern] [COUNT count] [TYPE type]",
        group: Group::Generic,
        flags: Flags::of(&[Flag::Readonly]),
        overrides: &[at("TYPE").since("6.0.0")],
        since: "2.8.0",
        complexity: "O(1) a call, O(N) for all N keys",
        summary: "Returns the names of some keys and a cursor to go on with; the cursor 0 ends it.",
        examples: &[
            r#"SCAN 0 => ["0", []]"#,
            "MSET one 1 two 2 => OK",
            r#"SCAN 0 => ["0", {"one", "two"}]"#,
            r#"SCAN 0 MATCH o* COUNT 100 => ["0", ["one"]]"#,
            r#"SCAN 0 TYPE list => ["0", []]"#,
            "SCAN x => (error) ERR invalid cursor",
            "SCAN 0 COUNT 0 => (error) ERR syntax error",
        ],
        tips: &["nondeterministic_output", "request_policy:special"],
        history: &[("6.0.0", "Option TYPE.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(scan),
    traits: Traits::working_on(4, |args, _| ScanOptions::parse(args).map_or(0, |it| it.count)),
    ..Entry::DEFAULT
};

/// What stands behind SCAN's cursor.
struct ScanOptions<'a> {
    pattern: Option<Pattern>,
    count: usize,
    kind: Option<&'a [u8]>,
}

impl<'a> ScanOptions<'a> {
    fn parse(args: &Args<'a>) -> Result<ScanOptions<'a>, CommandError> {
        let mut options = ScanOptions { pattern: None, count: COUNT_DEFAULT, kind: None };
        for at in (2..args.len()).step_by(2) {
            let word = args.opt(at + 1).ok_or(CommandError::SYNTAX)?;
            if args.is(at, "COUNT") {
                options.count = usize::try_from(number::integer(word)?)
                    .ok()
                    .filter(|&count| count > 0)
                    .ok_or(CommandError::SYNTAX)?;
            } else if args.is(at, "MATCH") {
                options.pattern = Some(Pattern::new(word, Case::Differs));
            } else if args.is(at, "TYPE") {
                options.kind = Some(word);
            } else {
                return Err(CommandError::SYNTAX);
            }
        }
        Ok(options)
    }

    fn wants(&self, key: &[u8], kind: Option<Kind>) -> bool {
        let name = kind.map_or("string", Kind::name);
        let has_kind = |wanted: &[u8]| wanted.eq_ignore_ascii_case(name.as_bytes());
        self.kind.is_none_or(has_kind)
            && self.pattern.as_ref().is_none_or(|pattern| pattern.matches(key))
    }

    fn limits(&self) -> WalkLimits {
        let buckets = self.count.saturating_mul(BUCKETS_A_KEY).max(BUCKETS_MIN);
        WalkLimits { keys: self.count, buckets }
    }
}

fn scan(context: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let from = parse_cursor(args.word(1)).ok_or(CommandError::fixed("ERR invalid cursor"))?;
    let options = ScanOptions::parse(args)?;
    let from = Cursor::from_number(from);
    let mut walking = Walking::resume(context.session.walking.take(), args, from, options.limits());
    loop {
        let Walking { at, left, names, rows, .. } = &mut *walking;
        let step = context.walk_keys(*at, left, rows, &mut |key, kind| {
            if options.wants(key, kind) {
                names.push(key);
            }
        });
        match step {
            Ok(next) => *at = next,
            // What has been read is a page; the rest is read for the next.
            Err(WalkEnd::Unread(_)) if *at != from => break,
            // A partition is held for a moment, and a call for more keys than there are is one for
            // all of them.
            Err(end) => return Ok(Flow::Wait(wait_for(context, walking, end))),
        }
        if *at == Cursor::START || left.are_reached() {
            break;
        }
    }
    context.gate_reads_of_everything();
    reply.array(2);
    reply.bulk(itoa::Buffer::new().format(walking.at.number()).as_bytes());
    reply_names(&walking.names, reply);
    Ok(Flow::Done)
}

/// Reads a cursor as C's `strtoul`, with which Redis does: a sign may stand in front, a negative
/// number counts from 2^64 down, and nothing at all is 0.
pub(crate) fn parse_cursor(word: &[u8]) -> Option<u64> {
    let (negative, digits) = match word {
        [] => return Some(0),
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] | digits => (false, digits),
    };
    if digits.is_empty() {
        return None;
    }
    let value = digits.iter().try_fold(0u64, |value, &digit| {
        let digit = digit.is_ascii_digit().then(|| digit - b'0')?;
        value.checked_mul(10)?.checked_add(u64::from(digit))
    })?;
    Some(if negative { value.wrapping_neg() } else { value })
}

#[cfg(test)]
mod tests {
    use super::parse_cursor;

    #[test]
    fn cursors_are_read_as_redis_reads_them() {
        for (word, cursor) in [
            ("0", 0),
            ("", 0),
            ("007", 7),
            ("+7", 7),
            ("-1", u64::MAX),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(parse_cursor(word.as_bytes()), Some(cursor), "{word}");
        }
        for word in ["x", " 1", "1 ", "+", "-", "+-1", "1.0", "0x1", "18446744073709551616"] {
            assert_eq!(parse_cursor(word.as_bytes()), None, "{word}");
        }
    }
}
