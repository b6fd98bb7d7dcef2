//! The entries of the searches.

use super::options::Call;
use super::{run_read, run_write};
use basalt_call::entry::{Entry, Run, Traits};
use basalt_engine::{Txn, View};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandResult;
use basalt_spec::{CommandSpec, Deprecated, Flag, Flags, Group, KeyUse, around, at};

const COMPLEXITY: &str = "O(N + M log M) with N elements in the cells around the area and M in it";

pub(in super::super) const GEOSEARCH: Entry = Entry {
    spec: CommandSpec {
        name: "geosearch",
        synopsis: "key <FROMMEMBER member | FROMLONLAT longitude latitude> <BYRADIUS radius <M | KM | FT | MI> | (BYBOX width) height <M | KM | FT | MI>> [ASC | DESC] [COUNT count [ANY]] [WITHCOORD] [WITHDIST] [WITHHASH]",
        group: Group::Geo,
        flags: Flags::of(&[Flag::Readonly]),
        keys: &[KeyUse::READ],
        overrides: &[
            around("FROMMEMBER").named("from"),
            around("M").named("unit"),
            around("BYRADIUS").named("circle"),
            around("BYBOX").named("box"),
            around("circle").named("by"),
            around("ASC").named("order"),
            around("COUNT").named("count"),
        ],
        since: "6.2.0",
        complexity: COMPLEXITY,
        summary: "Returns the members within a circle or a rectangle around a point or a member.",
        examples: &[
            "GEOADD g 13.361389 38.115556 Palermo 15.087269 37.502669 Catania => (integer) 2",
            r#"GEOSEARCH g FROMLONLAT 15 37 BYRADIUS 200 km ASC => ["Catania", "Palermo"]"#,
            r#"GEOSEARCH g FROMMEMBER Palermo BYBOX 400 400 km COUNT 1 WITHDIST => [["Palermo", "0.0000"]]"#,
            "GEOSEARCH g FROMLONLAT 15 37 BYRADIUS -1 km => (error) ERR radius cannot be negative",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(geosearch),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

pub(in super::super) const GEOSEARCHSTORE: Entry = Entry {
    spec: CommandSpec {
        name: "geosearchstore",
        synopsis: "destination source <FROMMEMBER member | FROMLONLAT longitude latitude> <BYRADIUS radius <M | KM | FT | MI> | (BYBOX width) height <M | KM | FT | MI>> [ASC | DESC] [COUNT count [ANY]] [STOREDIST]",
        group: Group::Geo,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom]),
        keys: &[KeyUse::OVERWRITE, KeyUse::READ],
        overrides: &[
            around("FROMMEMBER").named("from"),
            around("M").named("unit"),
            around("BYRADIUS").named("circle"),
            around("BYBOX").named("box"),
            around("circle").named("by"),
            around("ASC").named("order"),
            around("COUNT").named("count"),
        ],
        since: "6.2.0",
        complexity: COMPLEXITY,
        summary: "Stores the members within a circle or a rectangle around a point or a member, and returns their number.",
        examples: &[
            "GEOADD g 13.361389 38.115556 Palermo 15.087269 37.502669 Catania => (integer) 2",
            "GEOSEARCHSTORE d g FROMLONLAT 15 37 BYRADIUS 100 km => (integer) 1",
            r#"ZRANGE d 0 -1 => ["Catania"]"#,
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(geosearchstore),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

pub(in super::super) const GEORADIUS: Entry = Entry {
    spec: CommandSpec {
        name: "georadius",
        synopsis: "key longitude latitude radius <M | KM | FT | MI> [WITHCOORD] [WITHDIST] [WITHHASH] [COUNT count [ANY]] [ASC | DESC] [STORE key] [STOREDIST key]",
        group: Group::Geo,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom]),
        keys: &[KeyUse::READ, KeyUse::OVERWRITE, KeyUse::OVERWRITE],
        overrides: &[
            around("M").named("unit"),
            at("ANY").since("6.2.0"),
            around("COUNT").named("count"),
            around("ASC").named("order"),
        ],
        since: "3.2.0",
        complexity: COMPLEXITY,
        summary: "Returns, or stores, the members within a circle around a point.",
        examples: &[
            "GEOADD g 13.361389 38.115556 Palermo 15.087269 37.502669 Catania => (integer) 2",
            r#"GEORADIUS g 15 37 100 km WITHDIST => [["Catania", "56.4413"]]"#,
            "GEORADIUS g 15 37 200 km STORE d => (integer) 2",
        ],
        deprecated: Some(Deprecated {
            since: "6.2.0",
            replaced_by: "`GEOSEARCH` and `GEOSEARCHSTORE` with the `BYRADIUS` argument",
        }),
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(georadius),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

pub(in super::super) const GEORADIUS_RO: Entry = Entry {
    spec: CommandSpec {
        name: "georadius_ro",
        synopsis: "key longitude latitude radius <M | KM | FT | MI> [WITHCOORD] [WITHDIST] [WITHHASH] [COUNT count [ANY]] [ASC | DESC]",
        group: Group::Geo,
        flags: Flags::of(&[Flag::Readonly]),
        keys: &[KeyUse::READ],
        overrides: &[
            around("M").named("unit"),
            at("ANY").since("6.2.0"),
            around("COUNT").named("count"),
            around("ASC").named("order"),
        ],
        since: "3.2.10",
        complexity: COMPLEXITY,
        summary: "Returns the members within a circle around a point.",
        examples: &[
            "GEOADD g 13.361389 38.115556 Palermo 15.087269 37.502669 Catania => (integer) 2",
            r#"GEORADIUS_RO g 15 37 200 km DESC => ["Palermo", "Catania"]"#,
        ],
        deprecated: Some(Deprecated {
            since: "6.2.0",
            replaced_by: "`GEOSEARCH` with the `BYRADIUS` argument",
        }),
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(georadius_ro),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

pub(in super::super) const GEORADIUSBYMEMBER: Entry = Entry {
    spec: CommandSpec {
        name: "georadiusbymember",
        synopsis: "key member radius <M | KM | FT | MI> [WITHCOORD] [WITHDIST] [WITHHASH] [COUNT count [ANY]] [ASC | DESC] [STORE key] [STOREDIST key]",
        group: Group::Geo,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom]),
        keys: &[KeyUse::READ, KeyUse::OVERWRITE, KeyUse::OVERWRITE],
        overrides: &[
            around("M").named("unit"),
            around("COUNT").named("count"),
            around("ASC").named("order"),
        ],
        since: "3.2.0",
        complexity: COMPLEXITY,
        summary: "Returns, or stores, the members within a circle around a member.",
        examples: &[
            "GEOADD g 13.361389 38.115556 Palermo 15.087269 37.502669 Catania => (integer) 2",
            r#"GEORADIUSBYMEMBER g Palermo 200 km ASC => ["Palermo", "Catania"]"#,
            "GEORADIUSBYMEMBER g x 1 km => (error) ERR could not decode requested zset member",
        ],
        deprecated: Some(Deprecated {
            since: "6.2.0",
            replaced_by: "`GEOSEARCH` and `GEOSEARCHSTORE` with the `BYRADIUS` and `FROMMEMBER` arguments",
        }),
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(georadiusbymember),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

pub(in super::super) const GEORADIUSBYMEMBER_RO: Entry = Entry {
    spec: CommandSpec {
        name: "georadiusbymember_ro",
        synopsis: "key member radius <M | KM | FT | MI> [WITHCOORD] [WITHDIST] [WITHHASH] [COUNT count [ANY]] [ASC | DESC]",
        group: Group::Geo,
        flags: Flags::of(&[Flag::Readonly]),
        keys: &[KeyUse::READ],
        overrides: &[
            around("M").named("unit"),
            around("COUNT").named("count"),
            around("ASC").named("order"),
        ],
        since: "3.2.10",
        complexity: COMPLEXITY,
        summary: "Returns the members within a circle around a member.",
        examples: &[
            "GEOADD g 13.361389 38.115556 Palermo 15.087269 37.502669 Catania => (integer) 2",
            r#"GEORADIUSBYMEMBER_RO g Palermo 10 km => ["Palermo"]"#,
        ],
        deprecated: Some(Deprecated {
            since: "6.2.0",
            replaced_by: "`GEOSEARCH` with the `BYRADIUS` and `FROMMEMBER` arguments",
        }),
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(georadiusbymember_ro),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

fn geosearch(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    run_read(Call::Search, view, args, reply)
}

fn geosearchstore(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    run_write(Call::SearchStore, txn, args, reply)
}

fn georadius(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    run_write(Call::Radius, txn, args, reply)
}

fn georadius_ro(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    run_read(Call::RadiusRead, view, args, reply)
}

fn georadiusbymember(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    run_write(Call::Member, txn, args, reply)
}

fn georadiusbymember_ro(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    run_read(Call::MemberRead, view, args, reply)
}
