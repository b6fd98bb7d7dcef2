//! Circles of imports inside a crate: files that can only be understood, and moved, together.
//!
//! An edge leads from a file to each module of its crate that it names in a `use` or in a path; a
//! path leads to the deepest module that is a file, so what is imported by way of the crate's root
//! makes the root, and all that it re-exports, part of a circle. Tests inside a file are left out.
//! A pair of parent and child is common and harmless, so circles of up to three files are allowed.

use super::{Finding, Source};
use std::collections::{BTreeMap, BTreeSet};

/// The size up to which a circle of files is allowed.
const FILES_MAX: usize = 3;

/// Modules by their path in the crate; the crate's root is the empty path.
type Modules<'a> = BTreeMap<Vec<&'a str>, &'a Source>;

/// Checks every crate's circles. Each finding is about the first file of its circle.
pub fn find(sources: &[Source]) -> Vec<(&Source, Finding)> {
    let names: BTreeSet<&str> = sources.iter().filter_map(Source::crate_name).collect();
    names.into_iter().flat_map(|name| find_in_crate(sources, name)).collect()
}

fn find_in_crate<'a>(sources: &'a [Source], name: &str) -> Vec<(&'a Source, Finding)> {
    let modules: Modules<'a> = sources
        .iter()
        .filter_map(|source| Some((module_path(&source.path, name)?, source)))
        .collect();
    let circles = circles(&edges(&modules));
    let mut findings = Vec::new();
    for circle in circles.iter().filter(|circle| circle.len() > FILES_MAX) {
        let listed: Vec<String> = circle.iter().map(|module| shown(module)).collect();
        let text = format!(
            "{} files import each other in a circle (at most {FILES_MAX}): {}",
            circle.len(),
            listed.join(", ")
        );
        findings.push((modules[&circle[0]], Finding::failure(1, text)));
    }
    findings
}

fn shown(module: &[&str]) -> String {
    if module.is_empty() { "the root".to_owned() } else { module.join("::") }
}

/// `crates/NAME/src/a/b.rs` → `["a", "b"]`; nothing for files elsewhere.
fn module_path<'a>(path: &'a str, name: &str) -> Option<Vec<&'a str>> {
    let inner = path.strip_prefix("crates/")?.strip_prefix(name)?.strip_prefix("/src/")?;
    let mut parts: Vec<&str> = inner.strip_suffix(".rs")?.split('/').collect();
    if matches!(parts.last(), Some(&("lib" | "main" | "mod"))) {
        parts.pop();
    }
    Some(parts)
}

fn edges<'a>(modules: &Modules<'a>) -> BTreeMap<Vec<&'a str>, BTreeSet<Vec<&'a str>>> {
    let of_one = |(path, source): (&Vec<&'a str>, &&'a Source)| {
        let named = paths(without_tests(&source.code));
        let targets = named.iter().filter_map(|named| target(modules, path, named));
        (path.clone(), targets.filter(|target| target != path).collect())
    };
    modules.iter().map(of_one).collect()
}

/// The code before the tests that end it.
fn without_tests(code: &str) -> &str {
    let is_tests = |(at, _): &(usize, &str)| code[*at..].lines().nth(1).is_some_and(opens_module);
    let found = code.match_indices("#[cfg(test)]").find(is_tests);
    found.map_or(code, |(at, _)| &code[..at])
}

fn opens_module(line: &str) -> bool {
    line.starts_with("mod ") && line.ends_with('{')
}

/// All paths that the code names: those of `use` declarations, their trees spread out, and those
/// that begin with `crate` or `super` elsewhere.
fn paths(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("use ") {
        if !is_word_end(&code[..at])
            && let Some(end) = code[at..].find(';')
        {
            spread("", &code[at + 4..at + end], &mut found);
        }
    }
    for root in ["crate::", "super::"] {
        for (at, _) in code.match_indices(root) {
            let before = &code[..at];
            let names = !before.ends_with("::") && !before.ends_with("pub(in ");
            if names && !is_word_end(before) {
                let is_path = |char: char| char.is_alphanumeric() || char == '_' || char == ':';
                let end = code[at..].find(|char| !is_path(char)).unwrap_or(code.len() - at);
                let path = &code[at..at + end];
                // The root of a `use` tree, whose leaves have been found above, names nothing.
                if !path.ends_with("::") {
                    found.push(path.to_owned());
                }
            }
        }
    }
    found
}

fn is_word_end(before: &str) -> bool {
    before.ends_with(|char: char| char.is_alphanumeric() || char == '_')
}

/// `a::{b, c::{d, e}}` → `a::b`, `a::c::d`, `a::c::e`.
fn spread(prefix: &str, tree: &str, found: &mut Vec<String>) {
    let tree = tree.trim();
    let Some((before, rest)) = tree.split_once('{') else {
        let path = tree.split(" as ").next().unwrap_or(tree).trim();
        if !path.is_empty() {
            found.push(format!("{prefix}{path}"));
        }
        return;
    };
    let inner = rest.trim_end().strip_suffix('}').unwrap_or(rest);
    let prefix = format!("{prefix}{}", before.trim());
    let (mut depth, mut start) = (0, 0);
    for (at, char) in inner.char_indices() {
        match char {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                spread(&prefix, &inner[start..at], found);
                start = at + 1;
            }
            _ => {}
        }
    }
    spread(&prefix, &inner[start..], found);
}

/// The module that a path named in `from` leads to, if it is one of this crate.
fn target<'a>(modules: &Modules<'a>, from: &[&'a str], path: &str) -> Option<Vec<&'a str>> {
    let mut segments = path.split("::").map(str::trim).peekable();
    let mut at: Vec<&'a str> = from.to_vec();
    match *segments.peek()? {
        "crate" => {
            segments.next();
            at.clear();
        }
        "self" => {
            segments.next();
        }
        "super" => {
            while segments.next_if_eq(&"super").is_some() {
                at.pop();
            }
        }
        first => {
            child(modules, &at, first)?;
        }
    }
    while let Some(next) = segments.next().and_then(|segment| child(modules, &at, segment)) {
        at = next;
    }
    modules.contains_key(&at).then_some(at)
}

fn child<'a>(modules: &Modules<'a>, of: &[&str], name: &str) -> Option<Vec<&'a str>> {
    let is_it = |path: &&Vec<&str>| path.split_last() == Some((&name, of));
    modules.keys().find(is_it).cloned()
}

/// The sets of modules that reach each other, those of one left out.
fn circles<'a>(edges: &BTreeMap<Vec<&'a str>, BTreeSet<Vec<&'a str>>>) -> Vec<Vec<Vec<&'a str>>> {
    let reach: BTreeMap<_, _> = edges.keys().map(|from| (from, reachable(edges, from))).collect();
    let mut seen = BTreeSet::new();
    let mut circles = Vec::new();
    for from in edges.keys() {
        let is_mutual = |to: &&Vec<&'a str>| reach[to].contains(from);
        let circle: Vec<Vec<&str>> = reach[from].iter().filter(is_mutual).cloned().collect();
        if circle.len() > 1 && seen.insert(circle.clone()) {
            circles.push(circle);
        }
    }
    circles
}

/// All that one module reaches; itself only in a circle.
fn reachable<'a>(
    edges: &BTreeMap<Vec<&'a str>, BTreeSet<Vec<&'a str>>>,
    from: &Vec<&'a str>,
) -> BTreeSet<Vec<&'a str>> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&Vec<&str>> = vec![from];
    while let Some(at) = open.pop() {
        for next in &edges[at] {
            if found.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::Severity;
    use super::*;

    fn check(files: &[(&str, &str)]) -> Vec<(Severity, String)> {
        let path = |name: &str| format!("crates/novelty/src/{name}.rs");
        let sources: Vec<Source> =
            files.iter().map(|(name, text)| Source::new(&path(name), text)).collect();
        find(&sources).into_iter().map(|(_, found)| (found.severity, found.text)).collect()
    }

    #[test]
    fn finds_a_circle_of_four_through_trees_children_and_plain_paths() {
        let files = [
            ("lib", "mod a;\nmod b;\n"),
            ("a", "mod inner;\nuse inner::X;\n"),
            ("a/inner", "use crate::{b::{Y, Z}, other};\n"),
            ("b", "fn f() { crate::c::g() }\n"),
            ("c", "use super::a as first;\n"),
        ];
        let found = check(&files);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].0, Severity::Failure);
        assert!(found[0].1.ends_with("a, a::inner, b, c"), "{}", found[0].1);
    }

    #[test]
    fn allows_three_files_lines_without_a_way_back_and_tests() {
        let three = [
            ("a", "use crate::b;\n"),
            ("b", "use crate::c::{self, C};\n"),
            ("c", "use super::a;\n"),
        ];
        assert!(check(&three).is_empty());
        let tests = [
            ("a", "use crate::b;\n"),
            ("b", "use crate::c;\n"),
            ("c", "use crate::d;\n"),
            ("d", "// use crate::a;\n#[cfg(test)]\nmod tests {\n    use crate::a;\n}\n"),
        ];
        assert!(check(&tests).is_empty());
    }

    #[test]
    fn a_tree_under_the_root_names_its_leaves_only() {
        let files = [
            ("lib", "mod a;\nmod b;\nmod c;\npub use {a::A, b::B, c::C};\n"),
            ("a", "use crate::{b::B, c::C};\n"),
            ("b", "use crate::{c::C, d::D};\n"),
            ("c", "use crate::{d::D, d::E};\n"),
            ("d", "use std::fmt;\n"),
        ];
        assert!(check(&files).is_empty());
    }

    #[test]
    fn to_be_visible_in_a_module_is_not_to_name_it() {
        let files = [
            ("a", "mod b;\nuse b::X;\n"),
            ("a/b", "mod c;\nuse c::X;\n"),
            ("a/b/c", "mod d;\nuse d::X;\n"),
            ("a/b/c/d", "pub(in crate::a) struct X;\npub(in super::super) struct Y;\n"),
        ];
        assert!(check(&files).is_empty());
    }
}
