//! GEODIST, GEOHASH and GEOPOS: what is known about members.

use super::distance::{distance_m, unit_m};
use super::hash::Cell;
use super::places::place;
use super::reply;
use basalt_call::entry::{Entry, Run};
use basalt_engine::View;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse, around};
use basalt_value::SortedSet;

pub(super) const GEODIST: Entry = Entry {
    spec: CommandSpec {
        name: "geodist",
        synopsis: "key member1 member2 [M | KM | FT | MI]",
        group: Group::Geo,
        flags: Flags::of(&[Flag::Readonly]),
        keys: &[KeyUse::READ],
        overrides: &[around("M").named("unit")],
        since: "3.2.0",
        complexity: "O(1)",
        summary: "Returns the distance between two members, nil if either is not there.",
        examples: &[
            "GEOADD g 13.361389 38.115556 Palermo 15.087269 37.502669 Catania => (integer) 2",
            r#"GEODIST g Palermo Catania => "166274.1516""#,
            r#"GEODIST g Palermo Catania km => "166.2742""#,
            "GEODIST g Palermo x => (nil)",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(geodist),
    ..Entry::DEFAULT
};

pub(super) const GEOHASH: Entry = Entry {
    spec: CommandSpec {
        name: "geohash",
        synopsis: "key member [member ...]",
        group: Group::Geo,
        flags: Flags::of(&[Flag::Readonly]),
        keys: &[KeyUse::READ],
        arity: Some(-2),
        since: "3.2.0",
        complexity: "O(N) with N members asked for",
        summary: "Returns the geohashes of members, nil for each that is not there.",
        examples: &[
            "GEOADD g 13.361389 38.115556 Palermo => (integer) 1",
            r#"GEOHASH g Palermo x => ["sqc8b49rny0", (nil)]"#,
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(geohash),
    ..Entry::DEFAULT
};

pub(super) const GEOPOS: Entry = Entry {
    spec: CommandSpec {
        name: "geopos",
        synopsis: "key member [member ...]",
        group: Group::Geo,
        flags: Flags::of(&[Flag::Readonly]),
        keys: &[KeyUse::READ],
        arity: Some(-2),
        since: "3.2.0",
        complexity: "O(N) with N members asked for",
        summary: "Returns the coordinates of members, nil for each that is not there.",
        examples: &[
            "GEOADD g 13.361389 38.115556 Palermo => (integer) 1",
            r#"GEOPOS g Palermo x => [["13.36138933897018433", "38.11555639549629859"], (nil)]"#,
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(geopos),
    ..Entry::DEFAULT
};

fn geodist(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let unit_m = match args.len() {
        4 => 1.0,
        5 => unit_m(args, 4)?,
        _ => return Err(CommandError::SYNTAX),
    };
    let set = view.collection::<SortedSet>(args.key(0))?;
    match (place(set, args.word(2)), place(set, args.word(3))) {
        (Some(one), Some(other)) => reply::distance(reply, distance_m(one, other) / unit_m),
        _ => reply.null(),
    }
    Ok(())
}

fn geohash(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let set = view.collection::<SortedSet>(args.key(0))?;
    let members = args.from(2);
    reply.array(members.len());
    for member in members {
        match set.and_then(|set| set.score(member)) {
            Some(score) => reply.bulk(&Cell::of_score(score).text()),
            None => reply.null(),
        }
    }
    Ok(())
}

fn geopos(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let set = view.collection::<SortedSet>(args.key(0))?;
    let members = args.from(2);
    reply.array(members.len());
    for member in members {
        match place(set, member) {
            Some(point) => reply::point(reply, point),
            None => reply.null_array(),
        }
    }
    Ok(())
}
