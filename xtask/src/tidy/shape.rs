//! Length of files and of functions.
//!
//! A file is aimed at 300 lines; over 800 is warned about, over 1,200 fails. A function is allowed
//! 70 lines: over that is warned about, over 100 fails, so that one line more never forces a bad
//! cut on the spot. Functions are found by their braces, in code with comments and literals
//! blanked.

use super::{Finding, Source};

const FILE_LINES_WARN: usize = 800;
const FILE_LINES_MAX: usize = 1_200;
const FUNCTION_LINES_WARN: usize = 70;
const FUNCTION_LINES_MAX: usize = 100;

/// Bounds the number of lines of a Rust file.
pub fn file_length(source: &Source) -> Vec<Finding> {
    let lines = source.text.lines().count();
    if !source.is_rust() || lines <= FILE_LINES_WARN {
        return Vec::new();
    }
    let text = format!("{lines} lines; split by subject (aim for 300, at most {FILE_LINES_MAX})");
    vec![graded(1, text, lines > FILE_LINES_MAX)]
}

/// Bounds the number of lines of a function, from `fn` to its closing brace.
pub fn function_length(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    for function in functions(&source.code) {
        if function.lines > FUNCTION_LINES_WARN {
            let Function { line, lines, name } = function;
            let text = format!("function {name} has {lines} lines; split it (at most 70)");
            findings.push(graded(line, text, lines > FUNCTION_LINES_MAX));
        }
    }
    findings
}

fn graded(line: usize, text: String, fails: bool) -> Finding {
    if fails { Finding::failure(line, text) } else { Finding::warning(line, text) }
}

struct Function {
    line: usize,
    lines: usize,
    name: String,
}

/// Finds every function with a body, nested ones too.
fn functions(code: &str) -> Vec<Function> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("fn ") {
        let starts_word = !code[..at].ends_with(|char: char| char.is_alphanumeric() || char == '_');
        let name: String = code[at + 3..]
            .chars()
            .take_while(|char| char.is_alphanumeric() || *char == '_')
            .collect();
        if !starts_word || name.is_empty() {
            continue;
        }
        if let Some(length) = body_end(&code[at..]) {
            let line = code[..at].matches('\n').count() + 1;
            let lines = code[at..at + length].matches('\n').count() + 1;
            found.push(Function { line, lines, name });
        }
    }
    found
}

/// Offset just after the closing brace of the function that starts the text; nothing for a
/// declaration.
pub(super) fn body_end(code: &str) -> Option<usize> {
    let (mut braces, mut brackets) = (0_usize, 0_usize);
    for (at, char) in code.char_indices() {
        match char {
            '[' | '(' => brackets += 1,
            ']' | ')' => brackets = brackets.saturating_sub(1),
            ';' if braces == 0 && brackets == 0 => return None,
            '{' => braces += 1,
            '}' if braces <= 1 => return Some(at + 1),
            '}' => braces -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::Severity;
    use super::*;

    fn function_of(lines: usize) -> Source {
        let body = "    work(\"{\"); // {\n".repeat(lines - 2);
        Source::new(
            "crates/x/src/a.rs",
            &format!("trait T {{ fn t(); }}\nfn long() {{\n{body}}}\n"),
        )
    }

    #[test]
    fn function_length_warns_then_fails() {
        assert!(function_length(&function_of(70)).is_empty());
        let warned = function_length(&function_of(71));
        assert_eq!((warned.len(), warned[0].severity, warned[0].line), (1, Severity::Warning, 2));
        assert_eq!(function_length(&function_of(101))[0].severity, Severity::Failure);
    }

    #[test]
    fn file_length_warns_then_fails() {
        let file = |lines| Source::new("a.rs", &"x\n".repeat(lines));
        assert!(file_length(&file(800)).is_empty());
        assert_eq!(file_length(&file(801))[0].severity, Severity::Warning);
        assert_eq!(file_length(&file(1_201))[0].severity, Severity::Failure);
        assert!(file_length(&Source::new("a.md", &"x\n".repeat(5_000))).is_empty());
    }
}
