//! Words and characters that have no place in the tree.

use super::{Finding, Source};

/// File and module names that say nothing about what is inside.
const EMPTY_NAMES: &[&str] = &["common", "helper", "helpers", "manager", "util", "utils"];

/// Beginnings of paths that exist on one person's machine only. Split so that this file passes
/// itself.
const MACHINE_PATHS: &[&str] =
    &[concat!("/ho", "me/"), concat!("/Us", "ers/"), concat!("/ro", "ot/"), concat!("/wo", "rk/")];

/// Forbids work left for later.
pub fn unfinished(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in source.code.lines().enumerate() {
        if ["todo!", "unimplemented!"].iter().any(|word| line.contains(word)) {
            findings
                .push(Finding::failure(index + 1, "unfinished code: finish it or leave it out"));
        }
    }
    let prose = if source.is_rust() { &source.comments } else { &source.text };
    for (index, line) in prose.lines().enumerate() {
        let mut words = line.split(|char: char| !char.is_alphanumeric());
        if words.any(|word| word == concat!("TO", "DO") || word == concat!("FIX", "ME")) {
            findings
                .push(Finding::failure(index + 1, "a note of unfinished work: do it or drop it"));
        }
    }
    findings
}

/// Forbids names under which anything could be filed.
pub fn names(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    let stem = |part: &str| part.split('.').next().unwrap_or("").to_owned();
    if source.is_rust() {
        for part in source.path.split('/').map(stem) {
            if EMPTY_NAMES.contains(&part.as_str()) {
                findings
                    .push(Finding::failure(1, format!("`{part}` says nothing: name the subject")));
            }
        }
    }
    for (index, line) in source.code.lines().enumerate() {
        let name = line.split_once("mod ").map(|(_, rest)| rest.trim_end_matches([';', '{', ' ']));
        if name.is_some_and(|name| EMPTY_NAMES.contains(&name)) {
            findings.push(Finding::failure(
                index + 1,
                "this module name says nothing: name the subject",
            ));
        }
    }
    findings
}

/// Forbids `get_` in front of a public function's name.
pub fn getters(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in source.code.lines().enumerate() {
        if line.trim_start().starts_with("pub") && line.contains("fn get_") {
            findings
                .push(Finding::failure(index + 1, "drop the `get_` prefix: name what it returns"));
        }
    }
    findings
}

/// Forbids spaces and tabs at the end of a line. In a table of tab-separated values the last field
/// may be empty.
pub fn trailing_spaces(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in source.text.split('\n').enumerate() {
        let empty_field = line.ends_with('\t') && source.path.ends_with(".tsv");
        if line.ends_with([' ', '\t', '\r']) && !empty_field {
            findings.push(Finding::failure(index + 1, "space at the end of the line"));
        }
    }
    findings
}

/// Forbids absolute paths of developers' machines.
pub fn machine_paths(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in source.text.lines().enumerate() {
        if let Some(path) = MACHINE_PATHS.iter().find(|path| names_path(line, path)) {
            let text = format!("an absolute path of one machine ({path}…): make it relative");
            findings.push(Finding::failure(index + 1, text));
        }
    }
    findings
}

/// Whether `path` begins a path in `line`, rather than being the middle of one or of a word.
fn names_path(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        !line[..at].ends_with(|char: char| char.is_alphanumeric() || "_-./}*".contains(char))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_unfinished_work_in_code_comments_and_prose() {
        assert_eq!(unfinished(&Source::new("a.rs", "fn f() { todo!() }")).len(), 1);
        assert_eq!(unfinished(&Source::new("a.rs", concat!("// TO", "DO: later"))).len(), 1);
        assert_eq!(unfinished(&Source::new("a.md", concat!("FIX", "ME this"))).len(), 1);
        assert!(unfinished(&Source::new("a.rs", "let s = \"todo!\"; // todo list")).is_empty());
    }

    #[test]
    fn finds_empty_names() {
        assert_eq!(names(&Source::new("crates/x/src/utils.rs", "")).len(), 1);
        assert_eq!(names(&Source::new("crates/x/src/helpers/a.rs", "")).len(), 1);
        assert_eq!(names(&Source::new("crates/x/src/a.rs", "pub(crate) mod common;")).len(), 1);
        assert_eq!(names(&Source::new("crates/x/src/a.rs", "mod manager {")).len(), 1);
        assert!(names(&Source::new("crates/x/src/commonly.rs", "mod settings;")).is_empty());
    }

    #[test]
    fn finds_getters() {
        assert_eq!(getters(&Source::new("a.rs", "    pub fn get_size(&self)")).len(), 1);
        assert_eq!(getters(&Source::new("a.rs", "pub(crate) const fn get_size()")).len(), 1);
        assert!(getters(&Source::new("a.rs", "fn get_command() {} pub fn getrange()")).is_empty());
    }

    #[test]
    fn finds_trailing_spaces() {
        assert_eq!(trailing_spaces(&Source::new("a.md", "a \nb\t\nc\r\nd\n")).len(), 3);
        assert!(trailing_spaces(&Source::new("a.md", "a\n\nb\n")).is_empty());
        assert!(trailing_spaces(&Source::new("a.tsv", "a\t\n")).is_empty());
        assert_eq!(trailing_spaces(&Source::new("a.tsv", "a \n")).len(), 1);
    }

    #[test]
    fn finds_paths_of_one_machine() {
        let bad = concat!("see /ho", "me/me/notes and (/wo", "rk/x)");
        assert_eq!(machine_paths(&Source::new("a.md", bad)).len(), 1);
        let good = concat!("$HOME/x, frame/wo", "rk/x, https://a.b/wo", "rk/x");
        assert!(machine_paths(&Source::new("a.md", good)).is_empty());
    }
}
