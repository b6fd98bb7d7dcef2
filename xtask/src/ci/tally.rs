//! Counting of test results out of what cargo prints.

use std::io::{BufRead, BufReader, Read};

/// Passed and failed, of tests or of whole steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Tests or steps that passed.
    pub passed: u64,
    /// Tests or steps that failed.
    pub failed: u64,
}

impl Tally {
    /// One step that passed.
    pub fn passed() -> Tally {
        Tally { passed: 1, failed: 0 }
    }

    /// One step that failed.
    pub fn failed() -> Tally {
        Tally { passed: 0, failed: 1 }
    }

    /// This tally with one failure more.
    pub fn plus_failure(self) -> Tally {
        Tally { failed: self.failed + 1, ..self }
    }

    /// The sum.
    pub fn plus(self, other: Tally) -> Tally {
        Tally { passed: self.passed + other.passed, failed: self.failed + other.failed }
    }

    /// In words; a step that did not run says so.
    pub fn verdict(&self) -> String {
        match self {
            Tally { passed: 0, failed: 0 } => "nothing ran".to_owned(),
            Tally { passed, failed: 0 } => format!("ok ({passed} passed)"),
            Tally { passed, failed } => format!("FAILED ({passed} passed, {failed} failed)"),
        }
    }
}

/// Copies a test run's output to ours, line by line, and adds up its results.
pub fn pass_on(output: impl Read) -> Tally {
    let mut tally = Tally::default();
    let mut reader = BufReader::new(output);
    let mut line = Vec::new();
    // Output need not be UTF-8: a test may print what it received.
    while matches!(reader.read_until(b'\n', &mut line), Ok(length) if length > 0) {
        let text = String::from_utf8_lossy(&line);
        print!("{text}");
        tally = tally.plus(parse(&text));
        line.clear();
    }
    tally
}

/// Reads `test result: ok. 12 passed; 0 failed; …`; any other line counts nothing.
fn parse(line: &str) -> Tally {
    let Some(rest) = line.trim_start().strip_prefix("test result: ") else {
        return Tally::default();
    };
    let count = |word: &str| -> u64 {
        let before = rest.split(word).next().filter(|_| rest.contains(word)).unwrap_or("");
        before.split_whitespace().next_back().and_then(|number| number.parse().ok()).unwrap_or(0)
    };
    Tally { passed: count("passed;"), failed: count("failed;") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_up_result_lines_only() {
        let output = "running 3 tests\ntest a ... ok\n\
                      test result: ok. 3 passed; 0 failed; 0 ignored; finished in 0.1s\n\
                      test result: FAILED. 12 passed; 2 failed; 1 ignored; finished in 0.1s\n\
                      5 passed; 5 failed;\n";
        assert_eq!(pass_on(output.as_bytes()), Tally { passed: 15, failed: 2 });
    }

    #[test]
    fn a_failure_shows_in_the_verdict() {
        assert!(Tally::passed().plus(Tally::failed()).verdict().starts_with("FAILED"));
        assert_eq!(Tally::default().verdict(), "nothing ran");
    }
}
