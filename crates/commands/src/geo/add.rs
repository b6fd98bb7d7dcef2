//! GEOADD.

use super::hash::{Cell, STEP_MAX};
use super::places::point;
use crate::sorted_set::{Conditions, set_scores};
use basalt_call::entry::{Entry, Run};
use basalt_engine::Txn;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse, around, at};

pub(super) const GEOADD: Entry = Entry {
    spec: CommandSpec {
        name: "geoadd",
        synopsis: "key [NX | XX] [CH] longitude latitude member [longitude latitude member ...]",
        group: Group::Geo,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom]),
        keys: &[KeyUse::UPDATE],
        overrides: &[
            around("NX").named("condition").since("6.2.0"),
            at("CH").named("change").since("6.2.0"),
        ],
        since: "3.2.0",
        complexity: "O(log N) for each member, with N elements in the sorted set",
        summary: "Gives members of a sorted set their places, adding those that are not there, and returns how many were added.",
        examples: &[
            "GEOADD g 13.361389 38.115556 Palermo 15.087269 37.502669 Catania => (integer) 2",
            r#"ZSCORE g Palermo => "3479099956230698""#,
            "GEOADD g 200 0 x => (error) ERR invalid longitude,latitude pair 200.000000,0.000000",
        ],
        history: &[("6.2.0", "Options NX, XX and CH.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(geoadd),
    ..Entry::DEFAULT
};

fn geoadd(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let (mut conditions, mut counts_changes, mut at) = (Conditions::default(), false, 2);
    loop {
        let flag = match () {
            () if args.is(at, "NX") => &mut conditions.is_nx,
            () if args.is(at, "XX") => &mut conditions.is_xx,
            () if args.is(at, "CH") => &mut counts_changes,
            () => break,
        };
        *flag = true;
        at += 1;
    }
    if !(args.len() - at).is_multiple_of(3) || conditions.is_nx && conditions.is_xx {
        return Err(CommandError::SYNTAX);
    }
    let mut places = Vec::with_capacity((args.len() - at) / 3);
    for at in (at..args.len()).step_by(3) {
        let score = Cell::of(point(args, at)?, STEP_MAX).score();
        places.push((score, args.word(at + 2)));
    }
    if places.is_empty() {
        // What ZADD says to a call without members.
        return Err(CommandError::SYNTAX);
    }
    let counts = set_scores(txn, args.key(0), places.into_iter(), conditions)?;
    reply.integer(counts.added + if counts_changes { counts.updated } else { 0 });
    Ok(())
}
