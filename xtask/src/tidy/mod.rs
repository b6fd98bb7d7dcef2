//! The house rules that a machine can check.
//!
//! Each rule is a small function over one file's path and text (a [`Source`]), kept in the module
//! of its subject, with a test beside it that shows it a bad sample. A rule has no named
//! exemptions, except where its own table (layers, crates that may hold `unsafe`) is the rule.
//!
//! Deliberately not here: anything that rustc, clippy or rustfmt already checks.

mod circles;
mod knowledge;
mod layers;
mod lexer;
mod links;
mod names;
mod opening;
mod performance;
mod prose;
mod shape;
mod unsafety;
mod words;

use std::path::Path;
use std::process::Command;

/// One file as the rules see it.
pub struct Source {
    /// Relative to the workspace root, with forward slashes.
    pub path: String,
    /// The whole text as it is on disk.
    pub text: String,
    /// `text` with comments and literals blanked, same lines; empty unless this is Rust.
    pub code: String,
    /// `text` with everything but comments blanked, same lines; empty unless this is Rust.
    pub comments: String,
}

impl Source {
    /// Prepares one file for the rules.
    pub fn new(path: &str, text: &str) -> Source {
        let (code, comments) =
            if path.ends_with(".rs") { lexer::split(text) } else { Default::default() };
        Source { path: path.to_owned(), text: text.to_owned(), code, comments }
    }

    /// Whether this is Rust source.
    pub fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// The package's folder name under `crates/`, if the file is in one.
    pub fn crate_name(&self) -> Option<&str> {
        self.path.strip_prefix("crates/")?.split('/').next()
    }
}

/// Whether a finding fails the run or is only printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Printed only.
    Warning,
    /// Fails `tidy`.
    Failure,
}

/// One place that breaks one rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Counted from 1.
    pub line: usize,
    /// What is wrong and what to do about it.
    pub text: String,
    /// Whether it fails the run.
    pub severity: Severity,
}

impl Finding {
    /// A finding that fails the run.
    pub fn failure(line: usize, text: impl Into<String>) -> Finding {
        Finding { line, text: text.into(), severity: Severity::Failure }
    }

    /// A finding that is only printed.
    pub fn warning(line: usize, text: impl Into<String>) -> Finding {
        Finding { line, text: text.into(), severity: Severity::Warning }
    }
}

type Rule = fn(&Source) -> Vec<Finding>;

/// Every rule that looks at one file by itself. Links, justifications, circles and names of
/// commands need the tree and are called apart.
const RULES: &[Rule] = &[
    knowledge::forbidden_dependencies,
    knowledge::forbidden_names,
    layers::dependencies,
    opening::breadcrumb,
    opening::sentences,
    performance::hot_path,
    shape::file_length,
    shape::function_length,
    unsafety::forbidden,
    unsafety::explained,
    words::getters,
    words::machine_paths,
    words::names,
    words::trailing_spaces,
    words::unfinished,
];

/// Checks every file that git tracks or would track; prints findings; true if none is a failure.
/// `--prose` prints the places that the figures of [`prose`] count, too.
pub fn run(root: &Path, args: &[String]) -> bool {
    let prints_places = args.iter().any(|arg| arg == "--prose");
    let sources = match load(root) {
        Ok(sources) => sources,
        Err(error) => {
            eprintln!("tidy: {error}");
            return false;
        }
    };
    let (mut failures, mut warnings) = (0, 0);
    let circles = circles::find(&sources);
    let commands = names::commands(&sources);
    for source in &sources {
        let mut findings: Vec<Finding> = RULES.iter().flat_map(|rule| rule(source)).collect();
        findings.extend(links::resolve(source, &|path| links::read(root, path)));
        let root_justifies = |name: &str| unsafety::root_justifies(&sources, name);
        findings.extend(unsafety::justified(source, &root_justifies));
        findings.extend(names::decided_by(source, &commands));
        let in_circle = circles.iter().filter(|(first, _)| first.path == source.path);
        findings.extend(in_circle.map(|(_, finding)| finding.clone()));
        for finding in findings {
            let kind = match finding.severity {
                Severity::Warning => "warning",
                Severity::Failure => "error",
            };
            println!("{kind}: {}:{}: {}", source.path, finding.line, finding.text);
            match finding.severity {
                Severity::Warning => warnings += 1,
                Severity::Failure => failures += 1,
            }
        }
    }
    failures += prose::check(&sources, prints_places);
    println!("tidy: {} files, {failures} errors, {warnings} warnings", sources.len());
    failures == 0
}

/// Reads all text files that are not ignored; a file that is not UTF-8 is data and has no rules.
fn load(root: &Path) -> Result<Vec<Source>, String> {
    let listing = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard", "-z"])
        .current_dir(root)
        .output()
        .map_err(|error| format!("cannot run git, install it: {error}"))?;
    if !listing.status.success() {
        return Err(format!("git ls-files: {}", String::from_utf8_lossy(&listing.stderr)));
    }
    let mut sources = Vec::new();
    for name in listing.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let name = String::from_utf8_lossy(name).into_owned();
        // A file may be listed and yet be deleted in the working tree.
        let Ok(bytes) = std::fs::read(root.join(&name)) else { continue };
        let Ok(text) = String::from_utf8(bytes) else { continue };
        sources.push(Source::new(&name, &text));
    }
    Ok(sources)
}
