//! A few specs that the other tests share: one of each kind that has something special about it.

use basalt_spec::{
    Audience, BeginSearch, Categories, Category, CommandSpec, CommandTable, Deprecated, FindKeys,
    Flag, Flags, Group, KeyFlag, KeyUse, Kind, Subcommands, around, at,
};

pub const SET: CommandSpec = CommandSpec {
    name: "set",
    synopsis: "key value [NX | XX] [GET] [EX seconds | PX milliseconds | KEEPTTL]",
    group: Group::String,
    flags: Flags::of(&[Flag::Write, Flag::Denyoom]),
    keys: &[KeyUse::MODIFY.varying()],
    overrides: &[
        around("NX").named("condition").since("2.6.12"),
        around("EX").named("expiration"),
        at("KEEPTTL").since("6.0.0"),
    ],
    since: "1.0.0",
    complexity: "O(1)",
    summary: "Stores a string.",
    history: &[("6.0.0", "option KEEPTTL")],
    ..CommandSpec::DEFAULT
};

pub const GETSET: CommandSpec = CommandSpec {
    name: "getset",
    synopsis: "key value",
    group: Group::String,
    flags: Flags::of(&[Flag::Write, Flag::Denyoom, Flag::Fast]),
    keys: &[KeyUse::MODIFY],
    since: "1.0.0",
    complexity: "O(1)",
    summary: "Swaps a string.",
    deprecated: Some(Deprecated { since: "6.2.0", replaced_by: "`SET` with `GET`" }),
    ..CommandSpec::DEFAULT
};

pub const KEYS: CommandSpec = CommandSpec {
    name: "keys",
    synopsis: "pattern",
    flags: Flags::of(&[Flag::Readonly]),
    acl: Some(Categories::of(&[Category::Keyspace, Category::Dangerous])),
    tips: &["request_policy:all_shards"],
    ..CommandSpec::DEFAULT
};

pub const LCS: CommandSpec = CommandSpec {
    name: "lcs",
    synopsis: "key1 key2 [LEN]",
    keys: &[KeyUse::READ],
    ..CommandSpec::DEFAULT
};

pub const MSET: CommandSpec = CommandSpec {
    name: "mset",
    synopsis: "key value [key value ...]",
    keys: &[KeyUse::OVERWRITE],
    ..CommandSpec::DEFAULT
};

pub const BLPOP: CommandSpec = CommandSpec {
    name: "blpop",
    synopsis: "key [key ...] timeout",
    flags: Flags::of(&[Flag::Write, Flag::Blocking]),
    group: Group::List,
    keys: &[KeyUse::TAKE],
    ..CommandSpec::DEFAULT
};

pub const EVAL: CommandSpec = CommandSpec {
    name: "eval",
    synopsis: "script numkeys [key [key ...]] [arg [arg ...]]",
    flags: Flags::of(&[Flag::NoMandatoryKeys, Flag::MayReplicate]),
    group: Group::Scripting,
    keys: &[KeyUse::MODIFY],
    ..CommandSpec::DEFAULT
};

pub const ZUNIONSTORE: CommandSpec = CommandSpec {
    name: "zunionstore",
    synopsis: "destination numkeys key [key ...] [WEIGHTS weight [weight ...]]",
    keys: &[KeyUse::OVERWRITE, KeyUse::READ],
    ..CommandSpec::DEFAULT
};

pub const XREAD: CommandSpec = CommandSpec {
    name: "xread",
    synopsis: "[COUNT count] [BLOCK milliseconds] STREAMS key [key ...] id [id ...]",
    keys: &[KeyUse::READ],
    ..CommandSpec::DEFAULT
};

pub const SORT: CommandSpec = CommandSpec {
    name: "sort",
    synopsis: "key [BY pattern] [LIMIT offset count] [GET pattern [GET pattern ...]] \
               [ASC | DESC] [STORE destination]",
    keys: &[
        KeyUse::READ,
        KeyUse::READ.unfindable(&["BY", "GET"]),
        KeyUse::OVERWRITE.unfindable(&["STORE"]).noted("anywhere in the call"),
    ],
    ..CommandSpec::DEFAULT
};

pub const MIGRATE: CommandSpec = CommandSpec {
    name: "migrate",
    synopsis: "host port <key | \"\"> destination-db timeout [COPY] [KEYS key [key ...]]",
    keys: &[
        KeyUse::TAKE,
        KeyUse::new(&[KeyFlag::Rw, KeyFlag::Access, KeyFlag::Delete, KeyFlag::Incomplete]).found(
            BeginSearch::Keyword { keyword: "KEYS", start_from: -2 },
            FindKeys::Range { last_key: -1, step: 1, limit: 0 },
            &["KEYS"],
        ),
    ],
    overrides: &[at("\"\"").named("empty_string"), at("destination-db").kind(Kind::Integer)],
    ..CommandSpec::DEFAULT
};

pub const SPUBLISH: CommandSpec = CommandSpec {
    name: "spublish",
    synopsis: "shardchannel message",
    group: Group::Pubsub,
    flags: Flags::of(&[Flag::Pubsub, Flag::Fast]),
    keys: &[KeyUse::CHANNEL],
    ..CommandSpec::DEFAULT
};

pub const OBJECT: CommandSpec = CommandSpec {
    name: "object",
    subcommands: Subcommands::Required,
    summary: "Looks inside a key.",
    ..CommandSpec::DEFAULT
};

pub const OBJECT_FREQ: CommandSpec = CommandSpec {
    name: "object|freq",
    synopsis: "key",
    flags: Flags::of(&[Flag::Readonly]),
    keys: &[KeyUse::INSPECT],
    since: "4.0.0",
    complexity: "O(1)",
    summary: "Tells how often a key is used.",
    ..CommandSpec::DEFAULT
};

pub const COMMAND: CommandSpec = CommandSpec {
    name: "command",
    group: Group::Server,
    subcommands: Subcommands::Optional,
    ..CommandSpec::DEFAULT
};

pub const COMMAND_COUNT: CommandSpec =
    CommandSpec { name: "command|count", group: Group::Server, ..CommandSpec::DEFAULT };

pub const DEBUG: CommandSpec = CommandSpec {
    name: "debug",
    group: Group::Server,
    flags: Flags::of(&[Flag::Admin, Flag::Protected]),
    arity: Some(-2),
    audience: Audience::System,
    ..CommandSpec::DEFAULT
};

/// Subcommands stand before their containers here, which must make no difference.
pub const ALL: [&CommandSpec; 17] = [
    &OBJECT_FREQ,
    &COMMAND_COUNT,
    &SET,
    &GETSET,
    &KEYS,
    &LCS,
    &MSET,
    &BLPOP,
    &EVAL,
    &ZUNIONSTORE,
    &XREAD,
    &SORT,
    &MIGRATE,
    &SPUBLISH,
    &OBJECT,
    &COMMAND,
    &DEBUG,
];

pub fn table() -> CommandTable {
    CommandTable::new(ALL).expect("the samples are well formed")
}
