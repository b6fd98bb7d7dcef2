//! Counting bits: BITCOUNT.

use super::{bytes_or_none, unit};
use crate::number::integer;
use basalt_call::entry::{Entry, Run, Traits};
use basalt_engine::View;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse, around};
use basalt_value::bits::{Indexes, Unit, count_ones};

pub(super) const BITCOUNT: Entry = Entry {
    spec: CommandSpec {
        name: "bitcount",
        synopsis: "key [start end [BYTE | BIT]]",
        group: Group::Bitmap,
        flags: Flags::of(&[Flag::Readonly]),
        keys: &[KeyUse::READ],
        overrides: &[
            around("BYTE").named("index_unit").since("7.0.0"),
            around("start").named("index"),
        ],
        since: "2.6.0",
        complexity: "O(N) with N bytes looked at",
        summary: "Counts the set bits of a string, or of the part between two indexes; negative ones count from its end.",
        examples: &[
            "SET k foobar => OK",
            "BITCOUNT k => (integer) 26",
            "BITCOUNT k 0 0 => (integer) 4",
            "BITCOUNT k 1 1 BYTE => (integer) 6",
            "BITCOUNT k 5 30 BIT => (integer) 17",
            "BITCOUNT k -2 -1 => (integer) 7",
            "BITCOUNT absent => (integer) 0",
            "BITCOUNT k 0 => (error) ERR syntax error",
        ],
        history: &[("7.0.0", "Options BYTE and BIT.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(bitcount),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

fn bitcount(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let indexes = match args.len() {
        2 => Indexes::WHOLE,
        4 | 5 => Indexes {
            start: integer(args.word(2))?,
            end: integer(args.word(3))?,
            unit: if args.len() == 5 { unit(args, 4)? } else { Unit::Byte },
        },
        _ => return Err(CommandError::SYNTAX),
    };
    let bytes = bytes_or_none(view.get(args.key(0)))?;
    // Both before the first element would otherwise mean the first element.
    let crossed = indexes.start < 0 && indexes.end < 0 && indexes.start > indexes.end;
    let range = if crossed { 0..0 } else { indexes.resolve(bytes.len()) };
    reply.integer(count_ones(bytes, range) as i64);
    Ok(())
}
