//! For every command of Redis 7.0: from the synopsis alone come Redis' arity, its three integers
//! and its key specifications.

use basalt_spec::{
    BeginSearch, Command, CommandSpec, CommandTable, FindKeys, Flag, KeySpec, KeyUse, Kind,
    Override, Subcommands, at,
};

const FACTS: &str = include_str!("redis-7.0-commands.tsv");

/// Redis states another arity than its own synopsis gives: these check the rest in the function,
/// or leave undocumented arguments out.
const ARITY_STATED: [&str; 9] = [
    "command|getkeys",
    "command|getkeysandflags",
    "debug",
    "geohash",
    "geopos",
    "pfmerge",
    "psync",
    "quit",
    "replconf",
];

const NO_KEY: [Override; 1] = [at("key").kind(Kind::String)];

struct Fact {
    name: &'static str,
    synopsis: &'static str,
    integers: [i16; 4],
    key_specs: Vec<&'static str>,
}

fn facts() -> Vec<Fact> {
    let lines = FACTS.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let fields: Vec<&str> = line.split('\t').collect();
            let key_specs = fields.get(6).map_or(Vec::new(), |all| all.split("; ").collect());
            Fact {
                name: fields[0],
                synopsis: fields[1],
                integers: std::array::from_fn(|i| fields[2 + i].parse().expect("an integer")),
                key_specs,
            }
        })
        .collect()
}

/// What an author would write: a plain use for each run of keys, and a stated place where the
/// synopsis cannot tell.
fn uses(key_specs: &[&str]) -> &'static [KeyUse] {
    let unknown: [&[&str]; 2] = [&["STORE"], &["BY", "GET"]];
    let mut unknown = unknown.into_iter().cycle().skip(1);
    let use_of = |text: &&str| match *text {
        "?" => KeyUse::READ.unfindable(unknown.next().expect("endless")),
        "KEYS@-2 to -1 by 1" => KeyUse::READ.found(
            BeginSearch::Keyword { keyword: "KEYS", start_from: -2 },
            FindKeys::Range { last_key: -1, step: 1, limit: 0 },
            &["KEYS"],
        ),
        _ if text.is_empty() => unreachable!("an empty column is left out"),
        _ => KeyUse::READ,
    };
    Box::leak(key_specs.iter().map(use_of).collect())
}

fn spec(fact: &Fact) -> CommandSpec {
    let is_channel = fact.synopsis.contains("shardchannel") && !fact.key_specs.is_empty();
    CommandSpec {
        name: fact.name,
        synopsis: fact.synopsis,
        keys: if is_channel { &[KeyUse::CHANNEL] } else { uses(&fact.key_specs) },
        // It asks about a name, and touches no key.
        overrides: if fact.name == "cluster|keyslot" { &NO_KEY } else { &[] },
        arity: ARITY_STATED.contains(&fact.name).then_some(fact.integers[0]),
        ..CommandSpec::DEFAULT
    }
}

/// The commands of the file and the containers that their names ask for.
fn table() -> CommandTable {
    let mut specs: Vec<&'static CommandSpec> = Vec::new();
    for fact in facts() {
        let container = fact.name.split_once('|').map(|(container, _)| container);
        if let Some(name) = container.filter(|name| !specs.iter().any(|spec| spec.name == *name)) {
            let subcommands = Subcommands::Required;
            specs.push(Box::leak(Box::new(CommandSpec {
                name,
                subcommands,
                ..CommandSpec::DEFAULT
            })));
        }
        specs.push(Box::leak(Box::new(spec(&fact))));
    }
    CommandTable::new(specs).expect("every synopsis is well formed")
}

fn written(spec: &KeySpec) -> String {
    let begin = match spec.begin {
        BeginSearch::Index(index) => index.to_string(),
        BeginSearch::Keyword { keyword, start_from } => format!("{keyword}@{start_from}"),
        BeginSearch::Unknown => return "?".to_owned(),
    };
    match spec.find {
        FindKeys::Range { last_key, step, limit: 0 } => format!("{begin} to {last_key} by {step}"),
        FindKeys::Range { last_key, step, limit } => {
            format!("{begin} to {last_key} by {step} of {limit}")
        }
        FindKeys::KeyNum { number_index: 0, first_key: 1, step: 1 } => format!("{begin} counted"),
        other => format!("{begin} {other:?}"),
    }
}

fn integers(command: &Command) -> [i16; 4] {
    let range = command.key_range;
    [command.arity, range.first, range.last, range.step]
}

#[test]
fn every_synopsis_gives_the_numbers_of_redis() {
    let table = table();
    let facts = facts();
    assert!(facts.len() > 340, "the file of facts is cut off");
    for fact in facts {
        let command = table.lookup_full_name(fact.name.as_bytes()).expect(fact.name);
        assert_eq!(integers(command), fact.integers, "{} {}", fact.name, fact.synopsis);
        let key_specs: Vec<String> = command.key_specs.iter().map(written).collect();
        assert_eq!(key_specs, fact.key_specs, "{} {}", fact.name, fact.synopsis);
        let is_plain = fact.key_specs.iter().all(|spec| spec.contains(" to "))
            && fact.key_specs.iter().all(|spec| !spec.contains('@'));
        assert_eq!(!command.flags.has(Flag::Movablekeys), is_plain, "{}", fact.name);
    }
}

#[test]
fn every_command_is_found_in_any_case_and_its_neighbours_are_not() {
    let table = table();
    for command in table.commands() {
        let name = command.spec.name;
        let found = table.lookup(name.to_uppercase().as_bytes()).map(|found| found.id);
        assert_eq!(found, Some(command.id));
        let longer = format!("{name}x");
        let is_name = |name: &str| table.commands().any(|command| command.spec.name == name);
        assert_eq!(table.lookup(longer.as_bytes()).is_some(), is_name(&longer), "{longer}");
        assert_eq!(table.lookup(&name.as_bytes()[1..]).is_some(), is_name(&name[1..]), "{name}");
    }
}
