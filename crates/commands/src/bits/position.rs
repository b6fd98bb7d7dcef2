//! Looking for a bit: BITPOS.

use super::{bytes_or_none, unit};
use crate::number::integer;
use basalt_call::entry::{Entry, Run, Traits};
use basalt_engine::View;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse, around};
use basalt_value::bits::{Bit, Indexes, first};

pub(super) const BITPOS: Entry = Entry {
    spec: CommandSpec {
        name: "bitpos",
        synopsis: "key bit [start [end [BYTE | BIT]]]",
        group: Group::Bitmap,
        flags: Flags::of(&[Flag::Readonly]),
        keys: &[KeyUse::READ],
        overrides: &[
            around("BYTE").named("index_unit").since("7.0.0"),
            around("end").named("end_index"),
            around("start").named("index"),
        ],
        since: "2.8.7",
        complexity: "O(N) with N bytes looked at",
        summary: "Finds the first set or clear bit of a string, or of the part between two indexes. \
                  Without an end, a string counts as followed by clear bits.",
        examples: &[
            r#"SET k "\xff\xf0\x00" => OK"#,
            "BITPOS k 0 => (integer) 12",
            "BITPOS k 1 1 => (integer) 8",
            "BITPOS k 1 2 => (integer) -1",
            "BITPOS k 0 13 -1 BIT => (integer) 13",
            r#"SET k "\xff" => OK"#,
            "BITPOS k 0 => (integer) 8",
            "BITPOS k 0 0 -1 => (integer) -1",
            "BITPOS absent 0 => (integer) 0",
            "BITPOS absent 1 => (integer) -1",
        ],
        history: &[("7.0.0", "Options BYTE and BIT.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(bitpos),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

const NOWHERE: i64 = -1;

fn bitpos(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let value = match integer(args.word(2))? {
        0 => Bit::Zero,
        1 => Bit::One,
        _ => return Err(CommandError::fixed("ERR The bit argument must be 1 or 0.")),
    };
    let indexes = parse_indexes(args)?;
    let object = view.get(args.key(0));
    let bytes = bytes_or_none(object)?;
    let range = indexes.resolve(bytes.len());
    let position = match first(bytes, range.clone(), value) {
        Some(position) => position as i64,
        None if value == Bit::One => NOWHERE,
        None if object.is_none() => 0,
        // The first of the clear bits behind the string.
        None if args.len() < 5 && !range.is_empty() => range.end as i64,
        None => NOWHERE,
    };
    reply.integer(position);
    Ok(())
}

fn parse_indexes(args: &Args<'_>) -> Result<Indexes, CommandError> {
    let mut indexes = Indexes::WHOLE;
    if args.len() > 6 {
        return Err(CommandError::SYNTAX);
    }
    if let Some(start) = args.opt(3) {
        indexes.start = integer(start)?;
    }
    if args.len() == 6 {
        indexes.unit = unit(args, 5)?;
    }
    if let Some(end) = args.opt(4) {
        indexes.end = integer(end)?;
    }
    Ok(indexes)
}
