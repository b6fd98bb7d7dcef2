//! Every example of every command, run.

use crate::harness::TestServer;
use basalt_commands::table;
use basalt_resp::Value;
use basalt_spec::Found;
use basalt_spec::example::{self, Expected};

/// Commands that examples of other commands use before they exist; such examples end there.
const NOT_YET: &[&str] = &["select"];

#[test]
fn every_example_answers_what_it_says() {
    let commands = table::commands();
    let mut failures = Vec::new();
    for command in commands.table.all() {
        let mut server = TestServer::new();
        for line in command.spec.examples {
            let parsed = example::parse(line)
                .unwrap_or_else(|error| panic!("{}: `{line}`: {error}", command.spec.name));
            let second = parsed.words.get(1).map(Vec::as_slice);
            let name = String::from_utf8_lossy(&parsed.words[0]).to_lowercase();
            if matches!(commands.table.resolve(&parsed.words[0], second), Found::Nothing)
                && NOT_YET.contains(&name.as_str())
            {
                break;
            }
            let value = server.run(&parsed.words);
            if !agrees(&value, &parsed.reply) {
                failures.push(format!("{}: `{line}` answered {value:?}", command.spec.name));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Commands that are refused in a transaction, or end it.
const NOT_WITHIN: &[&str] = &[
    "DISCARD", "EXEC", "MIGRATE", "MONITOR", "MULTI", "PSYNC", "RESET", "SAVE", "SHUTDOWN", "SYNC",
    "WATCH",
];

/// Also one that sleeps is refused: it waits.
fn has_no_place_within(words: &[Vec<u8>]) -> bool {
    let is_word = |at: usize, name: &str| {
        words.get(at).is_some_and(|word| word.eq_ignore_ascii_case(name.as_bytes()))
    };
    NOT_WITHIN.iter().any(|name| is_word(0, name)) || is_word(0, "DEBUG") && is_word(1, "SLEEP")
}

/// None of them is kept from its answer by what its transaction holds, or does not hold.
#[test]
fn every_example_answers_the_same_as_a_transaction() {
    let commands = table::commands();
    let (mut failures, mut count) = (Vec::new(), 0);
    for command in commands.table.all() {
        let mut server = TestServer::new();
        for line in command.spec.examples {
            let parsed = example::parse(line).expect("an example");
            if has_no_place_within(&parsed.words) {
                break;
            }
            server.line("MULTI");
            let queued = server.run(&parsed.words);
            let value = match queued {
                Value::Simple(text) if text == b"QUEUED" => match server.line("EXEC") {
                    Value::Array(mut replies) if replies.len() == 1 => replies.remove(0),
                    other => other,
                },
                refused => refused,
            };
            server.line("DISCARD");
            count += 1;
            if !agrees(&value, &parsed.reply) {
                failures.push(format!("{}: `{line}` answered {value:?}", command.spec.name));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(count > 1000, "{count}");
}

#[test]
fn a_wrong_example_is_noticed() {
    let bulk = Value::Bulk(b"v".to_vec());
    assert!(agrees(&bulk, &Expected::Bulk(b"v".to_vec())));
    assert!(!agrees(&bulk, &Expected::Bulk(b"w".to_vec())));
    assert!(!agrees(&bulk, &Expected::Simple("v".to_owned())));
    assert!(!agrees(&Value::Error(b"ERR".to_vec()), &Expected::Any));
    let twice = Value::Array(vec![bulk.clone(), bulk.clone()]);
    let other = Expected::Unordered(vec![Expected::Bulk(b"v".to_vec()), Expected::Nil]);
    assert!(!agrees(&twice, &other));
    assert!(agrees(&Value::Array(vec![Value::Null, bulk]), &other));
}

/// A reply is what an example says.
pub fn agrees(value: &Value, expected: &Expected) -> bool {
    match (value, expected) {
        (Value::Error(_), Expected::Any) => false,
        (_, Expected::Any) => true,
        (Value::Simple(text), Expected::Simple(wanted)) => text == wanted.as_bytes(),
        (Value::Error(text), Expected::Error(wanted)) => text == wanted.as_bytes(),
        (Value::Error(text), Expected::ErrorPrefix(wanted)) => text.starts_with(wanted.as_bytes()),
        (Value::Integer(number), Expected::Integer(wanted)) => number == wanted,
        (Value::Bulk(bytes), Expected::Bulk(wanted)) => bytes == wanted,
        (Value::Null | Value::NullArray, Expected::Nil) => true,
        (Value::Array(values), Expected::Array(wanted)) => {
            values.len() == wanted.len()
                && values.iter().zip(wanted).all(|(value, wanted)| agrees(value, wanted))
        }
        (Value::Array(values), Expected::Unordered(wanted)) => {
            let mut left: Vec<&Expected> = wanted.iter().collect();
            values.len() == wanted.len()
                && values.iter().all(|value| {
                    let place = left.iter().position(|wanted| agrees(value, wanted));
                    place.map(|place| left.swap_remove(place)).is_some()
                })
        }
        _ => false,
    }
}
