//! Where `unsafe` may stand, and what must stand beside it.

use super::{Finding, Source};

/// Crates that may hold `unsafe` where a measurement or the kernel's interface demands it.
const UNSAFE_CRATES: &[&str] = &["basalt", "env", "keyspace", "net", "script", "stdx", "value"];

/// How far above an `unsafe` its `SAFETY` comment may begin.
const SAFETY_LINES_MAX: usize = 15;

/// Requires `#![forbid(unsafe_code)]` in every crate root outside the short list.
pub fn forbidden(source: &Source) -> Vec<Finding> {
    let parts: Vec<&str> = source.path.split('/').collect();
    let root = match parts.as_slice() {
        ["crates", name, "src", "lib.rs" | "main.rs"] => !UNSAFE_CRATES.contains(name),
        ["xtask", "src", "main.rs"] => true,
        _ => false,
    };
    if !root || source.code.contains("#![forbid(unsafe_code)]") {
        return Vec::new();
    }
    vec![Finding::failure(1, "crate root lacks #![forbid(unsafe_code)]")]
}

/// Requires of each `unsafe` that its crate is on the list and that SAFETY stands above it.
pub fn explained(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    let comments: Vec<&str> = source.comments.lines().collect();
    for (index, line) in source.code.lines().enumerate() {
        if !has_unsafe(line) {
            continue;
        }
        let number = index + 1;
        if !source.crate_name().is_some_and(|name| UNSAFE_CRATES.contains(&name)) {
            let text = "unsafe in a crate that is not on the list in xtask's unsafety.rs";
            findings.push(Finding::failure(number, text));
        }
        let above = index.saturating_sub(SAFETY_LINES_MAX)..index;
        if !comments.get(above).is_some_and(|above| above.iter().any(|text| is_safety(text))) {
            findings
                .push(Finding::failure(number, "unsafe without a `// SAFETY:` comment above it"));
        }
    }
    findings
}

/// Requires that a file with `unsafe` names the measurement that demands it: JUSTIFICATION in the
/// file itself, or, where one design demands it throughout a crate, in the crate's root, of which
/// `root` tells whether it does.
pub fn justified(source: &Source, root: &dyn Fn(&str) -> bool) -> Vec<Finding> {
    let Some(index) = source.code.lines().position(has_unsafe) else { return Vec::new() };
    let in_root = || source.crate_name().is_some_and(root);
    if is_justified(source) || in_root() {
        return Vec::new();
    }
    let text = "unsafe without a JUSTIFICATION (the measurement that demands it) in the file or the crate's root";
    vec![Finding::failure(index + 1, text)]
}

/// Whether the root of the crate in this folder justifies `unsafe` for all of the crate.
pub fn root_justifies(sources: &[Source], name: &str) -> bool {
    let roots = ["lib.rs", "main.rs"].map(|file| format!("crates/{name}/src/{file}"));
    sources.iter().any(|source| roots.contains(&source.path) && is_justified(source))
}

fn is_justified(source: &Source) -> bool {
    source.comments.contains("JUSTIFICATION")
}

fn is_safety(comment: &str) -> bool {
    comment.contains("SAFETY:") || comment.contains("# Safety")
}

/// A block, function, trait or implementation; not the lint's name in an attribute.
fn has_unsafe(line: &str) -> bool {
    let mut words = line.split(|char: char| !(char.is_alphanumeric() || char == '_'));
    words.any(|word| word == "unsafe")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_root_that_does_not_forbid() {
        assert_eq!(forbidden(&Source::new("crates/resp/src/lib.rs", "mod a;")).len(), 1);
        let good = Source::new("crates/resp/src/lib.rs", "#![forbid(unsafe_code)]\n");
        assert!(forbidden(&good).is_empty());
        assert!(forbidden(&Source::new("crates/net/src/lib.rs", "mod a;")).is_empty());
        // In a comment it forbids nothing.
        let comment = Source::new("crates/resp/src/lib.rs", "// #![forbid(unsafe_code)]\n");
        assert_eq!(forbidden(&comment).len(), 1);
    }

    #[test]
    fn finds_unsafe_without_its_comments() {
        let bare = Source::new("crates/net/src/a.rs", "fn f() { unsafe { g() } }");
        assert_eq!(explained(&bare).len(), 1);
        assert_eq!(justified(&bare, &|_| false).len(), 1);
        let elsewhere = Source::new("crates/spec/src/a.rs", "fn f() { unsafe { g() } }");
        assert_eq!(explained(&elsewhere).len(), 2);
    }

    #[test]
    fn a_crate_root_justifies_its_own_crate_only() {
        let roots =
            [Source::new("crates/keyspace/src/lib.rs", "//! JUSTIFICATION: five times faster.")];
        let justifies = |name: &str| root_justifies(&roots, name);
        let inside = Source::new("crates/keyspace/src/a.rs", "unsafe { g() }");
        assert!(justified(&inside, &justifies).is_empty());
        let elsewhere = Source::new("crates/net/src/a.rs", "unsafe { g() }");
        assert_eq!(justified(&elsewhere, &justifies).len(), 1);
    }

    #[test]
    fn accepts_unsafe_with_its_comments() {
        let text = "//! JUSTIFICATION: 12 % by bench x.\n// SAFETY: g is pure.\nunsafe { g() }\n";
        let good = Source::new("crates/net/src/a.rs", text);
        assert!(explained(&good).is_empty() && justified(&good, &|_| false).is_empty());
        let mention = "#![forbid(unsafe_code)]\n// unsafe is a word\n";
        assert!(explained(&Source::new("crates/spec/src/a.rs", mention)).is_empty());
    }
}
