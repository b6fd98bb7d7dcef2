//! Reads a transcript file into cases and steps.

use std::fmt;
use std::ops::Range;

/// A version of Redis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32, pub u32, pub u32);

impl Version {
    /// Reads `7.2.0` or `7.2`.
    pub fn parse(text: &str) -> Option<Version> {
        let mut parts = text.split('.').map(|part| part.parse::<u32>().ok());
        let (major, minor) = (parts.next()??, parts.next()??);
        Some(Version(major, minor, parts.next().unwrap_or(Some(0))?))
    }
}

/// The only server that a case is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Only {
    /// Basalt has this, Redis has not.
    Basalt,
    /// Basalt does this differently, on purpose.
    Redis,
}

/// Some steps that belong together, on an empty database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Case {
    /// Skipped on a Redis older than this.
    pub since: Option<Version>,
    /// Skipped on the other server.
    pub only: Option<Only>,
    /// Skipped in the other protocol: 2 or 3.
    pub protocol: Option<u8>,
    /// Skipped on a server without this command.
    pub needs: Option<String>,
    /// In order.
    pub steps: Vec<Step>,
}

/// One command and its reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Index of the command's line in the file, from 0.
    pub line: usize,
    /// 1, unless the line says `@2 > `.
    pub connection: u8,
    /// As written, still quoted; `None` if nothing is sent and only a reply awaited.
    pub command: Option<String>,
    /// Repeat until the reply is as expected.
    pub eventually: bool,
    /// Sort the reply before comparing.
    pub unordered: bool,
    /// The reply's lines; empty in a transcript that waits to be blessed.
    pub expected: Vec<String>,
    /// The reply's lines in RESP3 where they differ.
    pub expected_resp3: Option<Vec<String>>,
    /// The lines that hold `expected`.
    pub span: Range<usize>,
    /// The lines that hold the RESP3 form with its `# resp3`; empty if there is none.
    pub span_resp3: Range<usize>,
}

/// A line that is no transcript.
#[derive(Debug, PartialEq, Eq)]
pub struct ParseError {
    /// From 1.
    pub line: usize,
    /// What is wrong with it.
    pub text: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}: {}", self.line, self.text)
    }
}

impl std::error::Error for ParseError {}

/// Marks for the next command.
#[derive(Default)]
struct Marks {
    eventually: bool,
    unordered: bool,
}

/// Reads a whole file.
pub fn parse(text: &str) -> Result<Vec<Case>, ParseError> {
    let mut cases = vec![Case::default()];
    let mut marks = Marks::default();
    for (index, line) in text.lines().enumerate() {
        if line.is_empty() {
            cases.push(Case::default());
            continue;
        }
        let Some(case) = cases.last_mut() else { continue };
        if let Some(comment) = line.strip_prefix('#') {
            directive(case, &mut marks, comment.trim(), index)?;
        } else if let Some((connection, command)) = step_line(line) {
            let marks = std::mem::take(&mut marks);
            case.steps.push(new_step(index, connection, command, marks));
        } else {
            reply_line(case, line, index)?;
        }
    }
    cases.retain(|case| !case.steps.is_empty());
    Ok(cases)
}

fn new_step(index: usize, connection: u8, command: Option<&str>, marks: Marks) -> Step {
    Step {
        line: index,
        connection,
        command: command.map(str::to_owned),
        eventually: marks.eventually,
        unordered: marks.unordered,
        expected: Vec::new(),
        expected_resp3: None,
        span: index + 1..index + 1,
        span_resp3: index + 1..index + 1,
    }
}

/// Reads a comment that is a directive; any other comment is for people.
fn directive(
    case: &mut Case,
    marks: &mut Marks,
    text: &str,
    index: usize,
) -> Result<(), ParseError> {
    let error = |text: &str| ParseError { line: index + 1, text: text.to_owned() };
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    match (word, rest) {
        ("since", version) => {
            let version = Version::parse(version).ok_or_else(|| error("not a version"))?;
            case.since = Some(version);
        }
        ("protocol", "2") => case.protocol = Some(2),
        ("protocol", "3") => case.protocol = Some(3),
        ("basalt-only", _) => case.only = Some(Only::Basalt),
        ("redis-only", _) => case.only = Some(Only::Redis),
        ("needs", command) => case.needs = Some(command.to_owned()),
        ("eventually", "") => marks.eventually = true,
        ("unordered", "") => marks.unordered = true,
        ("resp3", "") => {
            let step = case.steps.last_mut().ok_or_else(|| error("resp3 before any command"))?;
            step.expected_resp3 = Some(Vec::new());
            step.span_resp3 = index..index + 1;
        }
        _ => {}
    }
    Ok(())
}

/// `> GET k`, `@2 > GET k`, or, where nothing is sent, `<` or `@2 <`.
fn step_line(line: &str) -> Option<(u8, Option<&str>)> {
    let (connection, rest) = match line.strip_prefix('@') {
        None => (1, line),
        Some(line) => {
            let (number, rest) = line.split_once(' ')?;
            (number.parse().ok()?, rest)
        }
    };
    if rest == "<" {
        return Some((connection, None));
    }
    Some((connection, Some(rest.strip_prefix("> ")?)))
}

fn reply_line(case: &mut Case, line: &str, index: usize) -> Result<(), ParseError> {
    let Some(step) = case.steps.last_mut() else {
        return Err(ParseError { line: index + 1, text: "a reply before any command".to_owned() });
    };
    match &mut step.expected_resp3 {
        Some(lines) => {
            lines.push(line.to_owned());
            step.span_resp3.end = index + 1;
        }
        None => {
            step.expected.push(line.to_owned());
            step.span.end = index + 1;
            step.span_resp3 = index + 1..index + 1;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# a comment\n# since 7.2.0\n> SET k v\nOK\n@2 > GET k\n\"v\"\n# resp3\n\"w\"\n@2 <\n*\n\n\
                        # basalt-only\n# eventually\n# unordered\n> KEYS *\n1) \"a\"\n2) \"b\"\n";

    #[test]
    fn reads_cases_steps_and_spans() {
        let cases = parse(TEXT).expect("it is a transcript");
        assert_eq!(cases.len(), 2);
        assert_eq!(cases[0].since, Some(Version(7, 2, 0)));
        let get = &cases[0].steps[1];
        assert_eq!((get.connection, get.command.as_deref(), get.line), (2, Some("GET k"), 4));
        assert_eq!((&get.span, &get.span_resp3), (&(5..6), &(6..8)));
        assert_eq!(get.expected_resp3, Some(vec!["\"w\"".to_owned()]));
        let awaited = &cases[0].steps[2];
        assert_eq!((awaited.connection, &awaited.command, awaited.line), (2, &None, 8));
        let keys = &cases[1].steps[0];
        assert!(keys.eventually && keys.unordered && cases[1].only == Some(Only::Basalt));
        assert_eq!((keys.span.clone(), keys.span_resp3.clone()), (15..17, 17..17));
    }

    #[test]
    fn refuses_a_reply_without_a_command() {
        assert_eq!(parse("OK\n").map_err(|error| error.line), Err(1));
        assert!(parse("# since soon\n").is_err());
    }
}
