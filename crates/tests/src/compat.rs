//! Runs the cases of the public project resp-compatibility (`data/README.md`).
//!
//! A case is a list of commands with their results, run on an empty database. The conventions are
//! that project's: a command is split at single spaces, double quotes group and vanish; in a binary
//! case backslash escapes are resolved first; results are compared as integers, strings, nulls and
//! lists; with `sort_result`, lists that hold no lists are sorted on both sides; an error reply
//! never matches.
//!
//! A case runs only if the server has all of its commands, so that the count grows with the server.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use crate::client::Connection;
use crate::server::Server;
use crate::transcript::Version;
use basalt_resp::Value;

/// How long a server may take to notice that a connection has gone.
const GONE_AFTER_MAX: Duration = Duration::from_secs(10);

/// One case of the file.
#[derive(Clone, Debug)]
pub struct Case {
    name: String,
    commands: Vec<String>,
    results: Vec<Json>,
    since: Version,
    cluster: bool,
    disabled: bool,
    sorted: bool,
    binary: bool,
}

/// What came of a run.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Cases whose every result was as expected.
    pub passed: usize,
    /// One text for each case with another result.
    pub failed: Vec<String>,
    /// Why cases were left out, and how many for each reason.
    pub skipped: BTreeMap<String, usize>,
}

/// Reads the cases.
pub fn load(path: &Path) -> Result<Vec<Case>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let list: Vec<Json> = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    list.iter().map(|case| read_case(case).ok_or_else(|| format!("not a case: {case}"))).collect()
}

fn read_case(json: &Json) -> Option<Case> {
    let flag = |name: &str| json.get(name).and_then(Json::as_bool).unwrap_or(false);
    let commands = json.get("command")?.as_array()?;
    Some(Case {
        name: json.get("name")?.as_str()?.to_owned(),
        commands: commands.iter().filter_map(|line| line.as_str().map(str::to_owned)).collect(),
        results: json.get("result")?.as_array()?.clone(),
        since: Version::parse(json.get("since")?.as_str()?)?,
        cluster: json.get("tags").and_then(Json::as_str) == Some("cluster"),
        disabled: flag("skipped"),
        sorted: flag("sort_result"),
        binary: flag("command_binary"),
    })
}

/// Runs all cases that are not newer than `newest` and whose commands the server has.
pub fn run(server: &Server, cases: &[Case], newest: Version) -> io::Result<Outcome> {
    let mut outcome = Outcome::default();
    let mut commands = Commands::ask(server.connect())?;
    for case in cases {
        let reason = match skip_reason(case, newest) {
            Some(reason) => Some(reason),
            None => commands.missing(case)?.map(|name| format!("no command {name}")),
        };
        if let Some(reason) = reason {
            *outcome.skipped.entry(reason).or_default() += 1;
            continue;
        }
        match run_case(server, case) {
            Ok(()) => outcome.passed += 1,
            Err(text) => outcome.failed.push(format!("{}: {text}", case.name)),
        }
        await_no_subscriber(&mut commands.connection)?;
    }
    Ok(outcome)
}

fn skip_reason(case: &Case, newest: Version) -> Option<String> {
    if case.cluster {
        return Some("for a cluster only".to_owned());
    }
    if case.disabled {
        return Some("disabled by its authors".to_owned());
    }
    (case.since > newest).then(|| format!("newer than {newest:?}"))
}

/// What the server can do, asked once for each command.
struct Commands {
    connection: Connection,
    names: Vec<String>,
    /// Command → its subcommands as `name|sub`; empty for a plain command.
    subcommands: HashMap<String, Vec<String>>,
}

impl Commands {
    fn ask(mut connection: Connection) -> io::Result<Commands> {
        let names = strings(&connection.run("COMMAND LIST")?);
        Ok(Commands { connection, names, subcommands: HashMap::new() })
    }

    /// The first command of the case that the server has not.
    fn missing(&mut self, case: &Case) -> io::Result<Option<String>> {
        for line in &case.commands {
            let mut words = line.split(' ').map(str::to_ascii_lowercase);
            let name = words.next().unwrap_or_default();
            if !self.names.contains(&name) {
                return Ok(Some(name));
            }
            let full = format!("{name}|{}", words.next().unwrap_or_default());
            let subcommands = self.subcommands(&name)?;
            if !subcommands.is_empty() && !subcommands.contains(&full) {
                return Ok(Some(full));
            }
        }
        Ok(None)
    }

    fn subcommands(&mut self, name: &str) -> io::Result<&Vec<String>> {
        if !self.subcommands.contains_key(name) {
            let reply = self.connection.call(&["COMMAND", "INFO", name])?;
            self.subcommands.insert(name.to_owned(), subcommands_of(&reply));
        }
        Ok(&self.subcommands[name])
    }
}

/// The tenth item of a command's description lists its subcommands, each with its name first.
fn subcommands_of(reply: &Value) -> Vec<String> {
    let Value::Array(commands) = reply else { return Vec::new() };
    let Some(Value::Array(fields)) = commands.first() else { return Vec::new() };
    let Some(Value::Array(list)) = fields.get(9) else { return Vec::new() };
    list.iter().filter_map(|sub| strings(sub).into_iter().next()).collect()
}

fn strings(reply: &Value) -> Vec<String> {
    let Value::Array(items) = reply else { return Vec::new() };
    let text = |item: &Value| match item {
        Value::Bulk(text) | Value::Simple(text) => {
            Some(String::from_utf8_lossy(text).to_lowercase())
        }
        _ => None,
    };
    items.iter().filter_map(text).collect()
}

fn run_case(server: &Server, case: &Case) -> Result<(), String> {
    let mut connection = server.connect();
    let text = |error: io::Error| error.to_string();
    connection.run("FLUSHALL").map_err(text)?;
    for (line, result) in case.commands.iter().zip(&case.results) {
        let bytes = if case.binary { unescape(line) } else { line.clone().into_bytes() };
        let reply = connection.call(&split(&bytes)).map_err(text)?;
        let sorted = case.sorted && result.is_array();
        let (mut expected, mut actual) = (result.clone(), to_json(&reply));
        if sorted {
            sort(&mut expected);
            sort(&mut actual);
        }
        if expected != actual {
            return Err(format!("{line}: expected {expected}, got {actual}"));
        }
    }
    Ok(())
}

/// Waits until the server has noticed that the connection of a case has gone: the next case may
/// publish, and is to find nobody.
fn await_no_subscriber(connection: &mut Connection) -> io::Result<()> {
    let nobody = [Value::Integer(0), Value::Array(Vec::new())];
    let deadline = Instant::now() + GONE_AFTER_MAX;
    while [connection.run("PUBSUB NUMPAT")?, connection.run("PUBSUB CHANNELS")?] != nobody {
        if Instant::now() > deadline {
            return Err(io::Error::other("a subscriber that has gone is still there"));
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

fn to_json(reply: &Value) -> Json {
    match reply {
        Value::Integer(number) => Json::from(*number),
        Value::Simple(text) | Value::Bulk(text) => {
            Json::from(String::from_utf8_lossy(text).into_owned())
        }
        Value::Null | Value::NullArray => Json::Null,
        Value::Array(items) => Json::Array(items.iter().map(to_json).collect()),
        other => serde_json::json!({ "unexpected": format!("{other:?}") }),
    }
}

fn sort(json: &mut Json) {
    let Json::Array(items) = json else { return };
    if items.iter().any(Json::is_array) {
        items.iter_mut().for_each(sort);
    } else {
        items.sort_by_key(Json::to_string);
    }
}

/// Splits at every single space; a double quote switches grouping on or off and vanishes.
fn split(line: &[u8]) -> Vec<Vec<u8>> {
    let mut parts = vec![Vec::new()];
    let mut quoted = false;
    for byte in line {
        match (byte, parts.last_mut()) {
            (b'"', _) => quoted = !quoted,
            (b' ', _) if !quoted => parts.push(Vec::new()),
            (byte, Some(part)) => part.push(*byte),
            (_, None) => {}
        }
    }
    parts
}

/// Resolves backslash escapes; characters are bytes here.
fn unescape(line: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = line;
    while let Some(char) = rest.chars().next() {
        let (byte, length) = match rest.as_bytes() {
            [b'\\', b'x', ..] => {
                (rest.get(2..4).and_then(|hex| u8::from_str_radix(hex, 16).ok()).unwrap_or(0), 4)
            }
            [b'\\', b'n', ..] => (b'\n', 2),
            [b'\\', b'r', ..] => (b'\r', 2),
            [b'\\', b't', ..] => (b'\t', 2),
            [b'\\', b'a', ..] => (0x07, 2),
            [b'\\', b'b', ..] => (0x08, 2),
            [b'\\', quoted @ (b'\\' | b'"'), ..] => (*quoted, 2),
            _ => (char as u32 as u8, char.len_utf8()),
        };
        bytes.push(byte);
        rest = rest.get(length..).unwrap_or("");
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_as_that_project_does() {
        assert_eq!(split(b"hello \"world of x\" y"), [&b"hello"[..], b"world of x", b"y"]);
        assert_eq!(split(b"a  b"), [&b"a"[..], b"", b"b"]);
        assert_eq!(unescape(r#"a\x00\xff\n\\\"b"#), b"a\0\xff\n\\\"b");
    }

    #[test]
    fn sorts_the_innermost_lists_only() {
        let mut json = serde_json::json!([["b", "a"], ["d", "c"]]);
        sort(&mut json);
        assert_eq!(json, serde_json::json!([["a", "b"], ["c", "d"]]));
    }
}
