//! What a file that calls itself hot must not contain.

use super::{Finding, Source};

/// The first line by which a file promises: no blocking call, no log line, no needless allocation.
const MARK: &str = "//! HOT PATH";

const FORBIDDEN: &[&str] =
    &["println!", "print!", "tracing::", "std::fs", ".await", "format!", "thread::sleep"];

/// Forbids blocking, logging and formatting in hot files, outside their tests.
pub fn hot_path(source: &Source) -> Vec<Finding> {
    if !source.text.starts_with(MARK) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (index, line) in source.code.lines().enumerate() {
        // By house rule the tests are the last thing in a file.
        if line.contains("#[cfg(test)]") {
            break;
        }
        for word in FORBIDDEN.iter().filter(|word| line.contains(**word)) {
            findings.push(Finding::failure(index + 1, format!("{word} in a file marked HOT PATH")));
        }
    }
    findings
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
    fn leaves_tests_and_comments_alone() {
        let text = "//! HOT PATH\n// format! is slow\n#[cfg(test)]\nmod tests { format!(\"\") }\n";
        assert!(hot_path(&Source::new("crates/x/src/a.rs", text)).is_empty());
    }
}
