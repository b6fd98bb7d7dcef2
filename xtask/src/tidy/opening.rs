//! How a crate's root file opens: where it stands in the line of travel, and five sentences.

use super::{Finding, Source};

/// What it is, what it owns, what it must never know, its one invariant, where to read next.
const SENTENCES_MIN: usize = 5;

/// Requires `//! bytes ▸ …` with the own place in (escaped) brackets as the first line of every
/// crate root.
pub fn breadcrumb(source: &Source) -> Vec<Finding> {
    if !is_crate_root(&source.path) {
        return Vec::new();
    }
    let first = source.text.lines().next().unwrap_or("");
    // The whole line is in brackets in the program, which owns all of it.
    let route = ["//! bytes ▸", "//! \\[bytes\\] ▸", "//! [bytes ▸"];
    let begins_well = route.iter().any(|route| first.starts_with(route));
    let places = first.matches('[').count();
    if begins_well && places == 1 && first.contains(']') {
        return Vec::new();
    }
    let text = "first line is not the breadcrumb: `//! bytes ▸ resp ▸ command ▸ engine ▸ log ▸ cold` \
                with the crate's own place in \\[brackets\\], escaped since it is no link";
    vec![Finding::failure(1, text)]
}

/// Requires five sentences after the breadcrumb.
pub fn sentences(source: &Source) -> Vec<Finding> {
    if !is_crate_root(&source.path) {
        return Vec::new();
    }
    let doc = source.text.lines().take_while(|line| line.starts_with("//!")).skip(1);
    let prose: Vec<&str> = doc.map(|line| line.trim_start_matches("//!").trim()).collect();
    let count = count_sentences(&prose.join(" "));
    if count >= SENTENCES_MIN {
        return Vec::new();
    }
    let text = format!(
        "the crate's opening has {count} sentences of {SENTENCES_MIN}: what it is, what it owns, what it \
         must never know, its one invariant, where to read next"
    );
    vec![Finding::failure(1, text)]
}

fn is_crate_root(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    matches!(
        parts.as_slice(),
        ["crates", _, "src", "lib.rs" | "main.rs"] | ["xtask", "src", "main.rs"]
    )
}

/// Counts full stops (and the like) that end a word and are followed by a space or by the end.
fn count_sentences(prose: &str) -> usize {
    prose.split_whitespace().filter(|word| word.len() > 1 && ends_sentence(word)).count()
}

fn ends_sentence(word: &str) -> bool {
    let bare = word.trim_end_matches([')', '"', '`', '*']);
    bare.ends_with(['.', '!', '?']) && !["e.g.", "i.e.", "etc.", "cf."].contains(&bare)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "//! bytes ▸ \\[resp\\] ▸ command\n//!\n//! It is one. It owns `two`.\n\
                        //! It never knows 3! Four (always). Read 5.\n";

    fn root(text: &str) -> Source {
        Source::new("crates/resp/src/lib.rs", text)
    }

    #[test]
    fn accepts_a_good_opening() {
        assert!(breadcrumb(&root(GOOD)).is_empty());
        assert!(sentences(&root(GOOD)).is_empty());
        assert!(breadcrumb(&Source::new("crates/resp/src/parse.rs", "//! Parses.")).is_empty());
        assert!(
            breadcrumb(&Source::new("crates/net/src/lib.rs", "//! \\[bytes\\] ▸ resp")).is_empty()
        );
        let program = Source::new("crates/basalt/src/main.rs", "//! [bytes ▸ resp ▸ command]\n");
        assert!(breadcrumb(&program).is_empty());
    }

    #[test]
    fn finds_a_missing_or_placeless_breadcrumb() {
        assert_eq!(breadcrumb(&root("//! Parses.\n")).len(), 1);
        assert_eq!(breadcrumb(&root("//! bytes ▸ resp ▸ command\n")).len(), 1);
        assert_eq!(breadcrumb(&root("")).len(), 1);
    }

    #[test]
    fn finds_too_few_sentences() {
        assert_eq!(sentences(&root("//! bytes ▸ [resp]\n//! One. Two, e.g. three.\n")).len(), 1);
    }
}
