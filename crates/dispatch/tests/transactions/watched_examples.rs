//! The examples of every command that writes, against a real Redis: which of their keys they change
//! so that a transaction that watches the key is aborted. Examples have both kinds of calls, those
//! that change something and those that do not.

use super::is_aborted;
use crate::harness::TestServer;
use crate::harness::redis::Redis;
use basalt_resp::Value;
use basalt_spec::example::{self, Expected};
use basalt_spec::{Command, CommandTable, Flag, Found, KeyFlag};
use std::collections::BTreeSet;

type Words = Vec<Vec<u8>>;

/// A call, what is run before it, and the key that is watched meanwhile.
struct Case<'a> {
    before: &'a [Words],
    call: &'a Words,
    key: &'a [u8],
}

/// It converts the value in memory, of which Redis does not tell those that watch.
const FOR_DEVELOPERS: &str = "pfdebug";

/// Calls that a Redis 7.0 refuses or answers otherwise because it is older.
const NEWER: &[&str] = &["set", "delex", "digest"];

fn is_changed(run: &mut dyn FnMut(&Words) -> Value, case: &Case<'_>) -> (bool, bool) {
    let words = |line: &str| line.split(' ').map(|word| word.as_bytes().to_vec()).collect();
    run(&words("FLUSHALL"));
    run(&words("SELECT 0"));
    case.before.iter().for_each(|words| drop(run(words)));
    run(&vec![b"WATCH".to_vec(), case.key.to_vec()]);
    let failed = matches!(run(case.call), Value::Error(_));
    run(&words("MULTI"));
    run(&words("PING"));
    let aborted = is_aborted(&run(&words("EXEC")));
    (aborted, failed)
}

fn keys_of<'a>(table: &CommandTable, call: &'a Words) -> BTreeSet<&'a [u8]> {
    let found = table.resolve(&call[0], call.get(1).map(Vec::as_slice));
    let Found::Command(command) = found else { return BTreeSet::new() };
    let mut keys = BTreeSet::new();
    let visited = command.visit_keys(&call[..], |position, flags| {
        if !flags.has(KeyFlag::NotKey) {
            keys.insert(&call[position][..]);
        }
    });
    if visited.is_ok() { keys } else { BTreeSet::new() }
}

/// A call that would wait.
fn waits(command: &Command, reply: &Expected) -> bool {
    command.flags.has(Flag::Blocking) && *reply == Expected::Nil
}

#[test]
fn what_examples_change_of_a_watched_key_is_what_they_change_in_redis() {
    let Some(mut redis) = Redis::start() else { return };
    let mut server = TestServer::new();
    let commands = basalt_commands::table::commands();
    let (mut changes, mut others, mut different) = (0, 0, Vec::new());
    for command in commands.table.all() {
        let described = redis.run(&["COMMAND", "INFO", command.spec.name]);
        let is_known = matches!(described, Value::Array(of) if matches!(of[..], [Value::Array(_)]));
        let writes = command.flags.has(Flag::Write) || command.spec.name.starts_with("eval");
        if !is_known || !writes || command.spec.name == FOR_DEVELOPERS {
            continue;
        }
        let examples = command.spec.examples.iter();
        let examples: Vec<_> =
            examples.map(|line| example::parse(line).expect("an example")).collect();
        let calls: Vec<Words> = examples.iter().map(|example| example.words.clone()).collect();
        for (number, call) in calls.iter().enumerate() {
            if waits(command, &examples[number].reply) {
                break;
            }
            for key in keys_of(&commands.table, call) {
                let case = Case { before: &calls[..number], call, key };
                let ours = is_changed(&mut |words| server.run(words), &case);
                let theirs = is_changed(&mut |words| redis.run(words), &case);
                // What only one of them can do is compared elsewhere.
                if ours.1 != theirs.1 && NEWER.contains(&command.spec.name) {
                    continue;
                }
                if ours.0 {
                    changes += 1
                } else {
                    others += 1
                }
                if ours != theirs {
                    let (line, key) = (command.spec.examples[number], key.escape_ascii());
                    different.push(format!("{line}: {key}: {ours:?}, in Redis {theirs:?}"));
                }
            }
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
    assert!(changes > 100 && others > 100, "only {changes} changes and {others} others");
}
