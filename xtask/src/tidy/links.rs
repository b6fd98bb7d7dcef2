//! Links in Markdown pages: a relative target must exist, and so must its heading.

use std::path::Path;

use super::{Finding, Source};

/// What a link may point at.
pub enum Target {
    /// A folder, or a file whose headings do not matter.
    Exists,
    /// A Markdown page with this text.
    Page(String),
}

/// Looks a path up in the tree.
pub fn read(root: &Path, path: &str) -> Option<Target> {
    let full = root.join(path);
    if path.ends_with(".md") {
        return std::fs::read_to_string(full).ok().map(Target::Page);
    }
    full.exists().then_some(Target::Exists)
}

/// Checks every link of one page; `lookup` answers for paths relative to the root.
pub fn resolve(source: &Source, lookup: &dyn Fn(&str) -> Option<Target>) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !source.path.ends_with(".md") {
        return findings;
    }
    let mut fenced = false;
    for (index, line) in source.text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        for link in links(line) {
            if let Some(text) = broken(source, link, lookup) {
                findings.push(Finding::failure(index + 1, text));
            }
        }
    }
    findings
}

/// The targets of `[text](target)` in one line, without code spans.
fn links(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (at, _) in line.match_indices("](") {
        if line[..at].matches('`').count() % 2 == 1 {
            continue;
        }
        if let Some(length) = line[at + 2..].find([')', ' ']) {
            found.push(&line[at + 2..at + 2 + length]);
        }
    }
    found
}

fn broken(source: &Source, link: &str, lookup: &dyn Fn(&str) -> Option<Target>) -> Option<String> {
    if link.contains("://") || link.starts_with("mailto:") {
        return None;
    }
    let (path, heading) = link.split_once('#').unwrap_or((link, ""));
    let target = if path.is_empty() {
        Target::Page(source.text.clone())
    } else {
        match lookup(&join(&source.path, path)) {
            Some(target) => target,
            None => return Some(format!("link to {path}, which does not exist")),
        }
    };
    match target {
        Target::Page(text)
            if !heading.is_empty() && !headings(&text).any(|slug| slug == heading) =>
        {
            Some(format!("link to heading #{heading}, which does not exist in the page"))
        }
        _ => None,
    }
}

/// Resolves `link` against the folder of `page`.
fn join(page: &str, link: &str) -> String {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    if link.starts_with('/') {
        parts.clear();
    }
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// Headings as their anchors: lower case, spaces to dashes, punctuation dropped.
fn headings(text: &str) -> impl Iterator<Item = String> + '_ {
    text.lines().filter(|line| line.starts_with('#')).map(|line| {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let kept = title.chars().filter(|char| char.is_alphanumeric() || " -_".contains(*char));
        kept.map(|char| if char == ' ' { '-' } else { char }).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> usize {
        let lookup = |path: &str| match path {
            "docs/a.md" => Some(Target::Page("# The first, really\n".to_owned())),
            "Cargo.toml" => Some(Target::Exists),
            _ => None,
        };
        resolve(&Source::new("docs/page.md", text), &lookup).len()
    }

    #[test]
    fn accepts_links_that_resolve() {
        assert_eq!(
            check("# Here\n[a](a.md) [b](a.md#the-first-really) [c](../Cargo.toml) [d](#here)"),
            0
        );
        assert_eq!(check("[web](https://example.org/x) `[not](a-link)`\n```\n[x](y)\n```\n"), 0);
    }

    #[test]
    fn finds_a_missing_page_and_a_missing_heading() {
        assert_eq!(check("[a](b.md)"), 1);
        assert_eq!(check("[a](a.md#second) [b](#nowhere)"), 2);
    }
}
