//! What COMMAND says about a command is what Redis 7.0 says, where it has the command.

use super::{elements, fields, text};
use crate::harness::TestServer;
use crate::harness::redis::Redis;
use basalt_resp::{Value, decode};
use std::collections::BTreeSet;

/// Fields of COMMAND DOCS that are each server's own words.
const OWN_WORDS: &[&str] = &["summary", "complexity", "history", "replaced_by", "subcommands"];

/// What commands have learned after Redis 7.0. Scripts may call those that wait.
const NEWER: &[(&str, &str)] = &[
    ("zrank", "arity"),
    ("zrank", "arguments"),
    ("zrevrank", "arity"),
    ("zrevrank", "arguments"),
    ("blpop", "flags"),
    ("brpop", "flags"),
    ("blmove", "flags"),
    ("brpoplpush", "flags"),
    ("bzpopmin", "flags"),
    ("bzpopmax", "flags"),
];

/// Arguments of which Redis makes a group that a synopsis does not show.
const GROUPED: &[&str] = &["module|loadex", "failover"];

fn ask(redis: &mut Redis, words: &[&str]) -> Value {
    decode(&redis.run_for_bytes(words)).expect("a reply").expect("a whole reply").0
}

fn own_names() -> Vec<&'static str> {
    let server = TestServer::new();
    server.server.commands.table.all().iter().map(|command| command.spec.name).collect()
}

/// Order means nothing in flags, categories and maps, and notes are each server's own words.
fn unordered(value: &Value) -> Value {
    match value {
        Value::Array(values) => {
            let is_noted = matches!(values.first(), Some(Value::Bulk(name)) if name == b"notes");
            let values = if is_noted { &values[2..] } else { &values[..] };
            let mut values: Vec<Value> =
                values.iter().filter(|value| !is_newer(value)).map(unordered).collect();
            values.sort_by_key(|value| format!("{value:?}"));
            Value::Array(values)
        }
        other => other.clone(),
    }
}

/// An argument that came after Redis 7.0.
fn is_newer(argument: &Value) -> bool {
    let Value::Array(fields) = argument else { return false };
    let newer =
        |version: &[u8]| [&b"7.2"[..], b"7.4", b"8."].iter().any(|it| version.starts_with(it));
    fields.windows(2).any(|pair| match pair {
        [Value::Bulk(name), Value::Bulk(version)] => name == b"since" && newer(version),
        _ => false,
    })
}

#[test]
fn command_info_is_the_same_field_by_field() {
    const NAMES: [&str; 9] =
        ["name", "arity", "flags", "first", "last", "step", "categories", "tips", "key specs"];
    let Some(mut redis) = Redis::start() else { return };
    let mut server = TestServer::new();
    let (mut compared, mut different) = (0, Vec::new());
    for name in own_names() {
        let expected = ask(&mut redis, &["COMMAND", "INFO", name]);
        let actual = server.run(&["COMMAND", "INFO", name]);
        let (Value::Array(expected), actual) = (&elements(&expected)[0], &elements(&actual)[0])
        else {
            continue;
        };
        compared += 1;
        for (field, (expected, actual)) in NAMES.iter().zip(expected.iter().zip(elements(actual))) {
            let (expected, actual) = (unordered(expected), unordered(actual));
            if expected != actual && !NEWER.contains(&(name, *field)) {
                different
                    .push(format!("{name} {field}\n  redis:  {expected:?}\n  basalt: {actual:?}"));
            }
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
    assert!(compared > 40, "only {compared} commands were compared");
}

#[test]
fn command_docs_are_the_same_but_for_our_own_words() {
    let Some(mut redis) = Redis::start() else { return };
    let mut server = TestServer::new();
    let mut different = Vec::new();
    for name in own_names() {
        let expected = ask(&mut redis, &["COMMAND", "DOCS", name]);
        let actual = server.run(&["COMMAND", "DOCS", name]);
        let [_, expected] = elements(&expected) else { continue };
        let (expected, actual) = (fields(expected), fields(&elements(&actual)[1]));
        let names: BTreeSet<&String> = expected.keys().chain(actual.keys()).collect();
        for field in names {
            let (expected, actual) = (expected.get(field), actual.get(field));
            let is_compared =
                !OWN_WORDS.contains(&field.as_str()) && !NEWER.contains(&(name, field.as_str()));
            let is_compared = is_compared && (field != "arguments" || !GROUPED.contains(&name));
            if is_compared && expected.map(|v| unordered(v)) != actual.map(|v| unordered(v)) {
                different
                    .push(format!("{name} {field}\n  redis:  {expected:?}\n  basalt: {actual:?}"));
            }
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

#[test]
fn lists_counts_and_all_agree_with_the_table() {
    let mut server = TestServer::new();
    let names: BTreeSet<String> = own_names().into_iter().map(str::to_owned).collect();
    let listed = server.run(&["COMMAND", "LIST"]);
    assert_eq!(elements(&listed).iter().map(text).collect::<BTreeSet<_>>(), names);
    let count = names.iter().filter(|name| !name.contains('|')).count();
    assert_eq!(server.run(&["COMMAND", "COUNT"]), Value::Integer(count as i64));
    for words in [&["COMMAND"][..], &["COMMAND", "INFO"]] {
        assert_eq!(elements(&server.run(words)).len(), count);
    }
    assert_eq!(fields(&server.run(&["COMMAND", "DOCS"])).len(), count);
    let connection = server.run(&["COMMAND", "LIST", "FILTERBY", "ACLCAT", "CONNECTION"]);
    assert!(elements(&connection).iter().map(text).any(|name| name == "client|id"));
}
