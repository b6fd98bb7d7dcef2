//! Whatever a command does to a key that has a version, it moves it.
//!
//! The examples of all commands run, and before each one every key is given a version. So a command
//! that is added, and a new way of changing a key, is covered by its examples.

use crate::harness::TestServer;
use basalt_commands::table;
use basalt_engine::Version;
use basalt_resp::Value;
use basalt_spec::example;
use std::collections::BTreeMap;

/// What a client can see of a key.
#[derive(PartialEq, Debug)]
struct Seen {
    dump: Value,
    expire_ms: Value,
}

/// Commands whose examples end the connection, the server, or what the test asks with.
const LEFT_OUT: [&str; 3] = ["subscribe", "psubscribe", "ssubscribe"];

fn keys(server: &mut TestServer) -> Vec<Vec<u8>> {
    let Value::Array(keys) = server.line("KEYS *") else { return Vec::new() };
    let bytes = |key| if let Value::Bulk(bytes) = key { Some(bytes) } else { None };
    keys.into_iter().filter_map(bytes).collect()
}

fn look(server: &mut TestServer) -> BTreeMap<Vec<u8>, (Version, Seen)> {
    let mut seen = BTreeMap::new();
    for key in keys(server) {
        let dump = server.run(&[b"DUMP", &key[..]]);
        let expire_ms = server.run(&[b"PEXPIRETIME", &key[..]]);
        seen.insert(key.clone(), (server.version(&key), Seen { dump, expire_ms }));
    }
    seen
}

#[test]
fn no_command_changes_a_key_without_moving_its_version() {
    let commands = table::commands();
    let (mut changed, mut failures) = (0, Vec::new());
    for command in commands.table.all() {
        if LEFT_OUT.contains(&command.spec.name) {
            continue;
        }
        let mut server = TestServer::new();
        for line in command.spec.examples {
            let words = example::parse(line).expect("an example").words;
            // The test asks by a connection of its own: this one may be within a transaction.
            let mut other = server.another_connection();
            for key in keys(&mut other) {
                other.make_versioned(&key);
            }
            let before = look(&mut other);
            server.run(&words);
            let after = look(&mut other);
            for (key, (version, seen)) in &before {
                let Some((version_after, seen_after)) = after.get(key) else { continue };
                if seen != seen_after {
                    changed += 1;
                    if version_after <= version {
                        failures.push(format!("{line}: {}", String::from_utf8_lossy(key)));
                    }
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(changed > 100, "only {changed} changes were seen");
}
