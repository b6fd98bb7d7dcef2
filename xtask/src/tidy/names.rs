//! The dispatch decides by no name.
//!
//! What is special about a command stands in its entry, so that a new command needs its family's
//! file and the list of its family and nothing else. In what runs commands, a string that is a
//! command's name, or a name in a comparison, is a decision that the next command would have to be
//! entered in. Byte strings are left alone: they are compared with words of a request, as options
//! are, and names have been looked up.

use super::{Finding, Source};
use std::collections::BTreeSet;

/// Where commands are.
const FAMILIES: &str = "crates/commands/src/";
/// What runs them.
const DISPATCH: &[&str] = &[
    "crates/call/src/",
    "crates/dispatch/src/",
    "crates/net/src/",
    "crates/service/src/hand_over.rs",
    "crates/service/src/pauses.rs",
    "crates/service/src/prepared.rs",
    "crates/service/src/push.rs",
    "crates/service/src/scripts.rs",
    "crates/service/src/session.rs",
    "crates/service/src/transaction.rs",
    "crates/service/src/wait.rs",
];
/// Ways of deciding by a name.
const COMPARISONS: &[&str] = &["match ", "matches!", "==", "!=", ".contains(", ".starts_with("];

/// Names of all commands, as their specs give them.
pub fn commands(sources: &[Source]) -> BTreeSet<String> {
    let families = sources.iter().filter(|source| source.path.starts_with(FAMILIES));
    let lines = families.flat_map(|source| source.text.lines());
    let name = |line: &str| {
        let name = line.trim().strip_prefix("name: \"")?.strip_suffix("\",")?;
        Some(name.to_owned())
    };
    lines.filter_map(name).collect()
}

/// Finds decisions by a command's name.
pub fn decided_by(source: &Source, commands: &BTreeSet<String>) -> Vec<Finding> {
    let is_dispatch = DISPATCH.iter().any(|path| source.path.starts_with(path));
    if !source.is_rust() || !is_dispatch {
        return Vec::new();
    }
    let code = source.code.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let mut findings = Vec::new();
    for (index, (code, text)) in code.lines().zip(source.text.lines()).enumerate() {
        let compares = COMPARISONS.iter().any(|comparison| code.contains(comparison));
        if compares && code.contains("spec.name") {
            let text = "a decision by a command's name: make it a trait in the command's entry";
            findings.push(Finding::failure(index + 1, text));
        }
        for literal in literals(code, text) {
            if commands.contains(&literal) || is_prefix(commands, &literal) {
                let text = format!(
                    "\"{literal}\" is a command's name: what is special about the command is a \
                     trait in its entry"
                );
                findings.push(Finding::failure(index + 1, text));
            }
        }
    }
    findings
}

/// What stands before the subcommands of a container.
fn is_prefix(commands: &BTreeSet<String>, literal: &str) -> bool {
    literal.ends_with('|') && commands.iter().any(|name| name.starts_with(literal))
}

/// The strings of a line, but byte strings: what stands between quotes that are code.
fn literals(code: &str, text: &str) -> Vec<String> {
    let quotes: Vec<usize> =
        code.chars().enumerate().filter(|(_, char)| *char == '"').map(|(at, _)| at).collect();
    let text: Vec<char> = text.chars().collect();
    let is_text = |pair: &&[usize]| pair[0] == 0 || text[pair[0] - 1] != 'b';
    let pairs = quotes.chunks_exact(2).filter(is_text);
    pairs.map(|pair| text[pair[0] + 1..pair[1]].iter().collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, text: &str) -> usize {
        let family =
            "    spec: CommandSpec {\n        name: \"get\",\n        name: \"object|freq\",\n";
        let family = Source::new("crates/commands/src/strings/get.rs", family);
        decided_by(&Source::new(path, text), &commands(&[family])).len()
    }

    #[test]
    fn finds_a_name_in_the_dispatch_and_a_comparison_of_names() {
        let dispatch = "crates/dispatch/src/a.rs";
        assert_eq!(check(dispatch, "const AT_ONCE: [&str; 2] = [\"exact\", \"get\"];\n"), 1);
        assert_eq!(check(dispatch, "    !name.starts_with(\"object|\")\n"), 1);
        assert_eq!(check(dispatch, "match command.spec.name {\n"), 1);
        assert_eq!(check("crates/net/src/turn.rs", "if name == \"get\" {}\n"), 1);
    }

    #[test]
    fn leaves_families_tests_comments_and_other_strings_alone() {
        assert_eq!(check("crates/commands/src/help.rs", "if name == \"get\" {}\n"), 0);
        let dispatch = "crates/dispatch/src/a.rs";
        assert_eq!(check(dispatch, "// \"get\"\nlet text = \"get it\";\n"), 0);
        assert_eq!(check(dispatch, "#[cfg(test)]\nmod tests {\n    f(\"get\");\n}\n"), 0);
        assert_eq!(check(dispatch, "let name = command.spec.name;\n"), 0);
        assert_eq!(check(dispatch, "let is = word.eq_ignore_ascii_case(b\"get\");\n"), 0);
        assert_eq!(check("crates/bench/src/a.rs", "let command = \"get\";\n"), 0);
    }
}
