//! The table: names, subcommands, arity, categories, and specs that it refuses.

use basalt_spec::{
    Category, CommandSpec, CommandTable, Filter, Flag, Found, KeyPlaceError, KeyUse, Problem,
    Subcommands, at,
};

use crate::samples;

#[test]
fn names_are_found_in_any_case() {
    let table = samples::table();
    for name in ["set", "SET", "Set"] {
        assert_eq!(table.lookup(name.as_bytes()).map(|c| c.spec.name), Some("set"));
    }
    for name in
        ["", "se", "sett", "s\u{0}t", "object|freq", "an-unreasonably-long-name-of-a-command"]
    {
        assert!(table.lookup(name.as_bytes()).is_none(), "{name}");
    }
    assert!(table.lookup_full_name(b"OBJECT|Freq").is_some());
    assert!(table.lookup_full_name(b"object|").is_none());
    assert!(table.lookup_full_name(b"set|freq").is_none());
}

#[test]
fn containers_lead_to_their_subcommands() {
    let table = samples::table();
    let name = |name: &str, second: Option<&str>| match table
        .resolve(name.as_bytes(), second.map(str::as_bytes))
    {
        Found::Command(command) => command.spec.name,
        Found::NoSubcommand(container) if container.spec.name == "object" => "no subcommand",
        Found::NoSubcommand(_) => "unexpected",
        Found::Nothing => "nothing",
    };
    assert_eq!(name("OBJECT", Some("FREQ")), "object|freq");
    assert_eq!(name("object", Some("count")), "no subcommand");
    assert_eq!(name("object", None), "object");
    assert_eq!(name("command", None), "command");
    assert_eq!(name("command", Some("count")), "command|count");
    assert_eq!(name("set", Some("freq")), "set");
    assert_eq!(name("freq", None), "nothing");
}

#[test]
fn ids_follow_the_order_of_the_specs() {
    let table = samples::table();
    for (index, (command, spec)) in table.all().iter().zip(samples::ALL).enumerate() {
        assert_eq!((command.id.index(), command.spec.name), (index, spec.name));
    }
    assert_eq!(table.commands().count(), samples::ALL.len() - 2);
    let object = table.lookup(b"object").expect("a sample");
    let names: Vec<_> = table.subcommands_of(object).map(|sub| sub.spec.name).collect();
    assert_eq!(names, ["object|freq"]);
}

#[test]
fn arity_counts_words() {
    let table = samples::table();
    let accepts = |name: &str, words: usize| {
        table.lookup_full_name(name.as_bytes()).expect(name).accepts_words(words)
    };
    assert!(accepts("getset", 3) && !accepts("getset", 2) && !accepts("getset", 4));
    assert!(accepts("mset", 3) && accepts("mset", 30) && !accepts("mset", 2));
    assert!(accepts("object", 2) && !accepts("object", 1) && accepts("command", 1));
    assert!(accepts("object|freq", 3) && !accepts("object|freq", 2));
}

#[test]
fn categories_and_flags_derive() {
    let table = samples::table();
    let categories = |name: &str| {
        let command = table.lookup_full_name(name.as_bytes()).expect(name);
        command.categories.iter().map(Category::name).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(categories("getset"), "write string fast");
    assert_eq!(categories("keys"), "keyspace read slow dangerous");
    assert_eq!(categories("object"), "slow");
    assert_eq!(categories("object|freq"), "keyspace read slow");
    assert_eq!(categories("debug"), "admin slow dangerous");
    assert_eq!(categories("blpop"), "write list slow blocking");
    let moves =
        |name: &str| table.lookup(name.as_bytes()).expect(name).flags.has(Flag::Movablekeys);
    assert!(moves("sort") && moves("eval") && moves("xread") && moves("zunionstore"));
    assert!(!moves("set") && !moves("mset") && !moves("lcs"));
}

#[test]
fn lists_are_filtered() {
    let table = samples::table();
    let names = |filter: Filter<'_>| table.list(filter).map(|c| c.spec.name).collect::<Vec<_>>();
    assert_eq!(names(Filter::Category(Category::Read)), ["object|freq", "keys"]);
    let starts = |name: &str| name.starts_with("object");
    assert_eq!(names(Filter::Pattern(&starts)), ["object|freq", "object"]);
}

#[test]
fn specs_with_mistakes_are_refused() {
    const ORPHAN: CommandSpec = CommandSpec { name: "object|freq", ..CommandSpec::DEFAULT };
    const UPPER: CommandSpec = CommandSpec { name: "GET", ..CommandSpec::DEFAULT };
    const PLAIN: CommandSpec = CommandSpec { name: "object", ..CommandSpec::DEFAULT };
    const OPEN: CommandSpec = CommandSpec { name: "x", synopsis: "[a", ..CommandSpec::DEFAULT };
    const NO_USE: CommandSpec = CommandSpec { name: "x", synopsis: "key", ..CommandSpec::DEFAULT };
    const LOST: CommandSpec = CommandSpec {
        name: "x",
        synopsis: "[NX] key",
        keys: &[KeyUse::READ],
        ..CommandSpec::DEFAULT
    };
    const UNUSED: CommandSpec =
        CommandSpec { name: "x", overrides: &[at("NX")], ..CommandSpec::DEFAULT };
    const CONTAINER: CommandSpec =
        CommandSpec { name: "object", subcommands: Subcommands::Required, ..CommandSpec::DEFAULT };
    let problem = |specs: &[&'static CommandSpec]| {
        CommandTable::new(specs.iter().copied()).map(drop).expect_err("a mistake").problem
    };
    assert_eq!(problem(&[&ORPHAN]), Problem::NoContainer);
    assert_eq!(problem(&[&ORPHAN, &PLAIN]), Problem::NoContainer);
    assert_eq!(problem(&[&ORPHAN, &CONTAINER, &ORPHAN]), Problem::Duplicate);
    assert_eq!(problem(&[&UPPER]), Problem::Name);
    assert!(matches!(problem(&[&OPEN]), Problem::Synopsis(_)));
    assert!(matches!(problem(&[&UNUSED]), Problem::Synopsis(_)));
    let uses = KeyPlaceError::Uses { derived: 1, stated: 0 };
    assert_eq!(problem(&[&NO_USE]), Problem::Keys(uses));
    assert_eq!(problem(&[&LOST]), Problem::Keys(KeyPlaceError::Unlocated("key".to_owned())));
    let error = CommandTable::new([&NO_USE]).expect_err("a mistake").to_string();
    assert!(error.starts_with("command `x`: keys: the synopsis has 1 runs"), "{error}");
}
