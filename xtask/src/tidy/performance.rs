//! What a file that calls itself hot must not contain.

use super::{Finding, Source, shape};
use std::ops::Range;

/// The first line by which a file promises: no blocking call, no log line, no needless allocation.
const MARK: &str = "//! HOT PATH";

const COLD: &str = "#[cold]";

const FORBIDDEN: &[&str] =
    &["println!", "print!", "tracing::", "std::fs", ".await", "format!", "thread::sleep"];

/// Forbids blocking, logging and formatting in hot files, outside their tests and outside what is
/// marked `#[cold]`: the compiler moves a cold function out of the way, and a reader of the mark
/// knows that it is off the path.
pub fn hot_path(source: &Source) -> Vec<Finding> {
    if !source.text.starts_with(MARK) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    let cold = cold_lines(&source.code);
    for (index, line) in source.code.lines().enumerate() {
        // By house rule the tests are the last thing in a file.
        if line.contains("#[cfg(test)]") {
            break;
        }
        if cold.iter().any(|lines| lines.contains(&index)) {
            continue;
        }
        for word in FORBIDDEN.iter().filter(|word| line.contains(**word)) {
            findings.push(Finding::failure(index + 1, format!("{word} in a file marked HOT PATH")));
        }
    }
    findings
}

/// The lines, counted from 0, of each function under a `#[cold]`.
fn cold_lines(code: &str) -> Vec<Range<usize>> {
    let line_of = |at: usize| code[..at].matches('\n').count();
    let range = |(at, _): (usize, &str)| {
        let end = shape::body_end(&code[at + COLD.len()..])?;
        Some(line_of(at)..line_of(at + COLD.len() + end) + 1)
    };
    code.match_indices(COLD).filter_map(range).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_slow_calls_in_hot_files_only() {
        let body = "fn f() {\n    tracing::info!(\"x\");\n    let s = format!(\"a\");\n}\n";
        let hot = Source::new("crates/x/src/a.rs", &format!("//! HOT PATH: x\n{body}"));
        assert_eq!(hot_path(&hot).iter().map(|finding| finding.line).collect::<Vec<_>>(), [3, 4]);
        assert!(hot_path(&Source::new("crates/x/src/a.rs", body)).is_empty());
    }

    #[test]
    fn leaves_cold_functions_alone_and_nothing_after_them() {
        let text = "//! HOT PATH\n#[cold]\nfn f() {\n    format!(\"{}\", {1});\n}\nfn g() { format!(\"\") }\n";
        let findings = hot_path(&Source::new("crates/x/src/a.rs", text));
        assert_eq!(findings.iter().map(|finding| finding.line).collect::<Vec<_>>(), [6]);
    }

    #[test]
    fn leaves_tests_and_comments_alone() {
        let text = "//! HOT PATH\n// format! is slow\n#[cfg(test)]\nmod tests { format!(\"\") }\n";
        assert!(hot_path(&Source::new("crates/x/src/a.rs", text)).is_empty());
    }
}
