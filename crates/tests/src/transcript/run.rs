//! Plays transcripts to a server, and writes down what Redis answers.

use std::collections::HashMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::expect::{self, Captures};
use super::parse::{Case, Only, Step, Version, parse};
use super::quote::split_args;
use super::render::{render, sort};
use crate::client::Connection;
use crate::server::Target;
use basalt_resp::Value;

/// Lines shown of a reply that was not expected.
const SHOWN_LINES_MAX: usize = 40;

/// How long an `# eventually` may take.
const EVENTUALLY_TIMEOUT: Duration = Duration::from_secs(60);

/// What the connections speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Redis's first protocol.
    Resp2,
    /// With maps, sets and doubles.
    Resp3,
}

impl Protocol {
    fn number(self) -> u8 {
        match self {
            Protocol::Resp2 => 2,
            Protocol::Resp3 => 3,
        }
    }
}

/// What came of a run.
#[derive(Debug, Default)]
pub struct Report {
    /// Commands whose reply was compared.
    pub steps: usize,
    /// Cases that were played.
    pub cases: usize,
    /// Cases that were not: too new for this server, or for another server or protocol.
    pub skipped: usize,
    /// One text for each reply that was not as expected.
    pub failures: Vec<String>,
}

/// Plays every `FAMILY/COMMAND.txt` below `folder`.
pub fn run_folder(server: &dyn Target, protocol: Protocol, folder: &Path) -> Report {
    let session = TranscriptSession::new(server, protocol);
    let mut report = Report::default();
    let files = transcripts(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for path in files {
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{error}"));
        let name = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
        match parse(&text) {
            Ok(cases) => session.run_cases(&name, &cases, &mut report),
            Err(error) => report.failures.push(format!("{name}: {error}")),
        }
    }
    report
}

/// All transcript files in order.
fn transcripts(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(transcripts(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "txt") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Replaces what is missing or wrong in a transcript by the server's answers; returns how many.
pub fn bless_file(server: &dyn Target, protocol: Protocol, path: &Path) -> io::Result<usize> {
    let text = fs::read_to_string(path)?;
    let cases = parse(&text).map_err(io::Error::other)?;
    let session = TranscriptSession::new(server, protocol);
    let mut edits = Vec::new();
    for case in cases.iter().filter(|case| session.applies(case)) {
        let mut play = Play::begin(&session)?;
        for step in &case.steps {
            let actual = play.perform(step);
            if !play.compare(step, &actual) {
                edits.push(edit(step, protocol, actual));
            }
        }
    }
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let count = edits.len();
    // From the end, so that earlier spans stay true.
    for (span, replacement) in edits.into_iter().rev() {
        lines.splice(span, replacement);
    }
    if count > 0 {
        fs::write(path, lines.join("\n") + "\n")?;
    }
    Ok(count)
}

fn edit(
    step: &Step,
    protocol: Protocol,
    actual: Vec<String>,
) -> (std::ops::Range<usize>, Vec<String>) {
    match protocol {
        Protocol::Resp2 => (step.span.clone(), actual),
        Protocol::Resp3 => {
            let mut section = vec!["# resp3".to_owned()];
            section.extend(actual);
            (step.span_resp3.clone(), section)
        }
    }
}

/// One server, spoken to in one protocol.
#[derive(Debug)]
pub struct TranscriptSession<'a> {
    server: &'a dyn Target,
    protocol: Protocol,
    /// Nothing for Basalt: it has every version's commands.
    redis_version: Option<Version>,
}

impl<'a> TranscriptSession<'a> {
    /// Asks the server who it is.
    pub fn new(server: &'a dyn Target, protocol: Protocol) -> TranscriptSession<'a> {
        let redis_version = server.is_redis().then(|| {
            let info = server.connect().run("INFO server");
            redis_version(&info).unwrap_or_else(|| panic!("no version in {info:?}"))
        });
        TranscriptSession { server, protocol, redis_version }
    }

    fn applies(&self, case: &Case) -> bool {
        let only = match case.only {
            None => true,
            Some(Only::Basalt) => self.redis_version.is_none(),
            Some(Only::Redis) => self.redis_version.is_some(),
        };
        let new_enough = match (self.redis_version, case.since) {
            (Some(version), Some(since)) => version >= since,
            _ => true,
        };
        let protocol = case.protocol.is_none_or(|number| number == self.protocol.number());
        only && new_enough && protocol && case.needs.as_ref().is_none_or(|name| self.knows(name))
    }

    /// Whether the server has a command.
    fn knows(&self, command: &str) -> bool {
        let info = self.server.connect().call(&["COMMAND", "INFO", command]);
        match info.unwrap_or_else(|error| panic!("COMMAND INFO {command}: {error}")) {
            Value::Array(found) => matches!(found[..], [Value::Array(_)]),
            other => panic!("COMMAND INFO {command} answered {other:?}"),
        }
    }

    fn run_cases(&self, name: &str, cases: &[Case], report: &mut Report) {
        for case in cases {
            if !self.applies(case) {
                report.skipped += 1;
                continue;
            }
            report.cases += 1;
            let mut play = match Play::begin(self) {
                Ok(play) => play,
                Err(error) => {
                    report.failures.push(format!("{name}: cannot begin a case: {error}"));
                    continue;
                }
            };
            for step in &case.steps {
                let actual = play.perform(step);
                report.steps += 1;
                if !play.compare(step, &actual) {
                    report.failures.push(explain(name, step, play.expected(step), &actual));
                }
            }
        }
    }
}

fn redis_version(info: &io::Result<Value>) -> Option<Version> {
    let Ok(Value::Bulk(text)) = info else { return None };
    let text = String::from_utf8_lossy(text);
    Version::parse(text.lines().find_map(|line| line.strip_prefix("redis_version:"))?.trim())
}

fn explain(name: &str, step: &Step, expected: &[String], actual: &[String]) -> String {
    let Step { line, .. } = step;
    let command = step.command.as_deref().unwrap_or("<");
    let shown = |lines: &[String]| lines[..lines.len().min(SHOWN_LINES_MAX)].join("\n    ");
    let (expected, actual) = (shown(expected), shown(actual));
    format!("{name}:{}: {command}\n  expected:\n    {expected}\n  got:\n    {actual}", line + 1)
}

/// One case being played.
struct Play<'a> {
    session: &'a TranscriptSession<'a>,
    connections: HashMap<u8, Connection>,
    captures: Captures,
}

/// The connections of the case before are closed, but the server may not have noticed all of it:
/// messages would still be counted as sent to them.
fn wait_until_nobody_listens(control: &mut Connection) -> io::Result<()> {
    let nobody = [Value::Array(Vec::new()), Value::Array(Vec::new()), Value::Integer(0)];
    let questions = ["PUBSUB CHANNELS", "PUBSUB SHARDCHANNELS", "PUBSUB NUMPAT"];
    let deadline = Instant::now() + EVENTUALLY_TIMEOUT;
    for (question, nobody) in questions.iter().zip(&nobody) {
        while control.run(question)? != *nobody {
            if Instant::now() > deadline {
                return Err(io::Error::other("subscriptions outlive their connections"));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    Ok(())
}

impl<'a> Play<'a> {
    fn begin(session: &'a TranscriptSession<'a>) -> io::Result<Play<'a>> {
        let mut control = session.server.connect();
        let reply = control.run("FLUSHALL")?;
        if reply != Value::Simple(b"OK".to_vec()) {
            return Err(io::Error::other(format!("FLUSHALL answered {reply:?}")));
        }
        wait_until_nobody_listens(&mut control)?;
        Ok(Play { session, connections: HashMap::new(), captures: Captures::new() })
    }

    fn expected<'s>(&self, step: &'s Step) -> &'s [String] {
        match (&step.expected_resp3, self.session.protocol) {
            (Some(expected), Protocol::Resp3) => expected,
            _ => &step.expected,
        }
    }

    fn compare(&mut self, step: &Step, actual: &[String]) -> bool {
        // Nothing is expected in a transcript that waits to be blessed, and nothing is never right.
        let expected = self.expected(step);
        !expected.is_empty() && expect::matches(expected, actual, &mut self.captures)
    }

    /// Sends the command, again and again if the step says so, and returns the reply's lines.
    fn perform(&mut self, step: &Step) -> Vec<String> {
        let started = Instant::now();
        loop {
            let actual = match self.exchange(step) {
                Ok(lines) => lines,
                Err(error) => vec![closed(&error)],
            };
            if !step.eventually
                || self.compare(step, &actual)
                || started.elapsed() > EVENTUALLY_TIMEOUT
            {
                return actual;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn exchange(&mut self, step: &Step) -> io::Result<Vec<String>> {
        if let Some(command) = &step.command {
            let Some(args) = split_args(command) else {
                return Ok(vec!["(the quotes do not match)".to_owned()]);
            };
            let args: Vec<Vec<u8>> = args.into_iter().map(|arg| self.substitute(arg)).collect();
            self.connection(step.connection)?.send(&args)?;
        }
        if step.expected.first().is_some_and(|line| line == "(no reply)") {
            return Ok(vec!["(no reply)".to_owned()]);
        }
        let mut reply = self.connection(step.connection)?.receive()?;
        if step.unordered {
            sort(&mut reply);
        }
        Ok(render(&reply))
    }

    fn substitute(&self, arg: Vec<u8>) -> Vec<u8> {
        let name = arg.strip_prefix(b"$").and_then(|name| std::str::from_utf8(name).ok());
        name.and_then(|name| self.captures.get(name).cloned()).unwrap_or(arg)
    }

    fn connection(&mut self, number: u8) -> io::Result<&mut Connection> {
        use std::collections::hash_map::Entry;
        match self.connections.entry(number) {
            Entry::Occupied(entry) => Ok(entry.into_mut()),
            Entry::Vacant(entry) => {
                let mut connection = self.session.server.connect();
                if self.session.protocol == Protocol::Resp3 {
                    connection.run("HELLO 3")?;
                }
                Ok(entry.insert(connection))
            }
        }
    }
}

/// A server that hangs up is part of the notation; any other trouble is shown as it is.
fn closed(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::UnexpectedEof | ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => {
            "(closed)".to_owned()
        }
        _ => format!("({error})"),
    }
}
