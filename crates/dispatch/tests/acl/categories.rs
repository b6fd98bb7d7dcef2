//! Every command of the table is denied to a user without it, or without one of its categories.

use super::{is_denied, log_in};
use crate::harness::TestServer;
use basalt_resp::Value;
use basalt_spec::Flag;

#[test]
fn every_command_is_denied_without_it_and_without_its_categories() {
    let mut server = TestServer::new();
    let table = std::sync::Arc::clone(&server.server.commands.table);
    for command in table.all() {
        if command.flags.has(Flag::NoAuth) {
            continue;
        }
        let name = command.spec.name;
        let mut call: Vec<&str> = name.split('|').collect();
        call.resize(usize::from(command.arity.unsigned_abs()).max(call.len()), "1");
        if command.subcommands.len() > 1 && call.len() > 1 {
            continue; // One of its subcommands is called.
        }
        let mut rules = vec![format!("-{name}")];
        let categories = command.categories.iter();
        rules.extend(categories.map(|category| format!("-{}", category.name_with_at())));
        for rule in rules {
            log_in(&mut server, "alice", &["reset", "on", "nopass", "+@all", "~*", "&*", &rule]);
            let reply = server.run(&call);
            assert!(is_denied(&reply), "{rule}: {call:?} ▸ {reply:?}");
        }
    }
}

#[test]
fn what_logs_in_is_for_everybody() {
    let mut server = TestServer::new();
    log_in(&mut server, "alice", &["reset", "on", "nopass"]);
    assert!(is_denied(&server.line("PING")));
    for line in ["AUTH alice x", "HELLO 2", "RESET"] {
        assert!(!is_denied(&server.line(line)), "{line}");
    }
    assert!(!is_denied(&server.line("PING")), "it is the default user again");
}

/// A script may ask for any words.
#[test]
fn a_call_with_any_number_of_words_can_be_asked_about() {
    let mut server = TestServer::new();
    let rules = ["on", "nopass", "+@all", "~k*", "%R~r*", "(%W~w* +@write)", "&c*"];
    log_in(&mut server, "alice", &rules);
    let table = std::sync::Arc::clone(&server.server.commands.table);
    for command in table.all() {
        let name = command.spec.name;
        for more in [["1", "k", "1", "k", "GET", "k"], ["k", "STREAMS", "1", "k", "1", "1"]] {
            for count in 0..=more.len() {
                let words: Vec<&str> =
                    name.split('|').chain(more.into_iter().take(count)).collect();
                let asked =
                    format!("return tostring(redis.acl_check_cmd('{}'))", words.join("','"));
                let answer = server.run(&["EVAL", &asked, "0"]);
                let is_answer = match &answer {
                    Value::Error(text) => text.starts_with(b"ERR Invalid command passed"),
                    other => matches!(other, Value::Bulk(_)),
                };
                assert!(is_answer, "{words:?}: {answer:?}");
            }
        }
    }
}
