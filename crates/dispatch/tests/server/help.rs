//! HELP of every container has the form that Redis gives it, and Redis' lines of syntax.

use super::{elements, text};
use crate::harness::TestServer;
use crate::harness::redis::Redis;
use basalt_resp::Value;
use std::collections::BTreeSet;

/// Containers whose HELP is refused where there is no cluster, as in Redis.
const REFUSED: &str = "cluster";

/// Lines that explain begin so; a line of syntax that goes on begins with more blanks and `[`.
const INDENT: &str = "    ";

fn containers() -> Vec<&'static str> {
    let server = TestServer::new();
    let names = server.server.commands.table.all().iter().map(|command| command.spec.name);
    let helped = names.filter_map(|name| name.strip_suffix("|help"));
    helped.chain(["debug"]).filter(|name| *name != REFUSED).collect()
}

fn help_of(container: &str, reply: &Value) -> Vec<String> {
    let lines: Vec<String> = elements(reply).iter().map(text).collect();
    assert!(lines.len() > 3, "{container}: {lines:?}");
    lines
}

fn is_syntax(line: &str) -> bool {
    !line.starts_with(INDENT) || line.trim_start().starts_with('[')
}

/// The lines of syntax, each with what it goes on with, by subcommand and in their order.
fn syntax(lines: &[String]) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for line in lines[1..].iter().filter(|line| is_syntax(line)) {
        match (line.starts_with(' '), found.last_mut()) {
            (true, Some((_, before))) => before.push_str(&format!("\n{line}")),
            _ => {
                let name = line.split(' ').next().unwrap_or_default();
                found.push((name.to_owned(), line.clone()));
            }
        }
    }
    found
}

#[test]
fn help_has_the_form_and_the_syntax_of_redis() {
    let Some(mut redis) = Redis::start() else { return };
    let mut server = TestServer::new();
    let mut compared = 0;
    for container in containers() {
        let ours = help_of(container, &server.run(&[container, "HELP"]));
        let Value::Array(_) = redis.run(&["COMMAND", "INFO", container]) else { continue };
        let theirs = redis.run(&[container, "HELP"]);
        if matches!(theirs, Value::Error(_)) {
            continue;
        }
        let theirs = help_of(container, &theirs);
        assert_eq!(ours[0], theirs[0], "{container}");
        assert_eq!(ours[ours.len() - 2..], theirs[theirs.len() - 2..], "{container}");
        let (ours, theirs) = (syntax(&ours), syntax(&theirs));
        let both = |lines: &[(String, String)], others: &[(String, String)]| -> Vec<String> {
            let is_known = |name: &str| others.iter().any(|(other, _)| other == name);
            let known = lines.iter().filter(|(name, _)| is_known(name));
            known.map(|(_, line)| line.clone()).collect()
        };
        assert_eq!(both(&ours, &theirs), both(&theirs, &ours), "{container}");
        compared += 1;
    }
    assert!(compared > 13, "only {compared} containers were compared");
}

#[test]
fn help_explains_every_subcommand() {
    let mut server = TestServer::new();
    let names: Vec<&str> =
        server.server.commands.table.all().iter().map(|command| command.spec.name).collect();
    for container in containers() {
        let lines = help_of(container, &server.run(&[container, "HELP"]));
        for (line, next) in lines[1..].iter().zip(&lines[2..]) {
            assert_eq!(line, line.trim_end(), "{container}");
            assert!(!is_syntax(line) || next.starts_with(INDENT), "{container}: {line}");
            assert!(!line.starts_with(' ') || line.starts_with(INDENT), "{container}: {line}");
        }
        let explained: BTreeSet<String> =
            syntax(&lines).into_iter().map(|(name, _)| name.to_lowercase()).collect();
        for name in names.iter().filter_map(|name| name.split_once('|')) {
            let is_explained = name.0 != container || explained.contains(name.1);
            assert!(is_explained, "{container} HELP does not have {}", name.1);
        }
    }
    assert_eq!(
        server.line("CLUSTER HELP"),
        Value::Error(b"ERR This instance has cluster support disabled".to_vec())
    );
}
