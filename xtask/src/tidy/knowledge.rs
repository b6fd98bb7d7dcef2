//! What a crate must not know: the last column of the table in `docs/architecture.md`, as names
//! that its source must not contain and packages that it must not depend on.
//!
//! [`super::layers`] checks the direction of dependencies; this rule the ones that the direction
//! would allow, and what the standard library offers to all. Tests may know more: they build what
//! is below or beside the crate, so only `src` counts, without the tests in it, and no
//! `dev-dependencies`.

use super::{Finding, Source};

/// Makes and uses sockets. Addresses are no sockets.
const SOCKETS: &[&str] = &[
    "std::net::Tcp",
    "std::net::Udp",
    "net::{Tcp",
    "net::{Udp",
    "std::os::unix::net",
    "mio::",
    "polling::",
    "socket2::",
];
/// Opens files.
const FILES: &[&str] = &["std::fs", "fs::File", "std::os::unix::fs"];
/// Locks.
const LOCKS: &[&str] = &["parking_lot", "std::sync::Mutex", "std::sync::RwLock", "ShortLock"];
/// What commands are, and how they are called and answered.
const COMMANDS: &[&str] = &[
    "basalt_service",
    "basalt_call",
    "basalt_commands",
    "basalt_dispatch",
    "basalt_spec",
    "basalt_resp",
];
/// Those of them that are crates of the command between the protocol and the engine.
const ROOMS: &[&str] = &["basalt_service", "basalt_call", "basalt_commands", "basalt_dispatch"];
/// How keys are stored, and where.
const STORAGE: &[&str] = &["basalt_keyspace", "basalt_journal", "basalt_cold_rocks"];
/// Keys and what is under them.
const KEYS: &[&str] = &["basalt_change", "basalt_keyspace", "basalt_engine"];
/// What keys and values mean.
const MEANING: &[&str] = &["basalt_change", "basalt_value", "basalt_rdb", "basalt_keyspace"];
/// The inside of the server.
const SERVER: &[&str] = &[
    "basalt_service",
    "basalt_call",
    "basalt_commands",
    "basalt_dispatch",
    "basalt_engine",
    "basalt_keyspace",
    "basalt_journal",
    "basalt_net",
];

/// The time, randomness and threads of the operating system: they come from `env`, so that a test
/// or a simulator can put others in their place.
const OUTSIDE: &[&str] = &[
    "Instant::now",
    "time::Instant",
    "SystemTime",
    "thread::Builder",
    "std::thread::spawn",
    "hash::RandomState",
    "RandomState::new",
    "getrandom",
];
/// The crates that may name them: `env` itself, and those that only measure or try the others.
const SEES_OUTSIDE: &[&str] = &["bench", "env", "model", "tests"];

/// Crate → what must not be named in it.
const UNKNOWN: &[(&str, &[&[&str]])] = &[
    ("bench", &[SERVER]),
    ("call", &[SOCKETS, FILES, STORAGE, &["basalt_commands", "basalt_dispatch"]]),
    ("change", &[COMMANDS, LOCKS, FILES, SOCKETS]),
    ("cold", &[MEANING, COMMANDS]),
    ("cold-rocks", &[MEANING, COMMANDS]),
    ("commands", &[SOCKETS, FILES, STORAGE, &["basalt_dispatch"]]),
    ("config", &[COMMANDS, KEYS, SOCKETS]),
    ("console", &[SERVER, COMMANDS, KEYS, MEANING, SOCKETS, FILES, LOCKS]),
    ("dispatch", &[SOCKETS, FILES, STORAGE, &["basalt_commands"]]),
    ("engine", &[COMMANDS, SOCKETS, &["basalt_journal", "basalt_script", "basalt_pubsub"]]),
    ("http", &[SOCKETS, FILES, LOCKS, KEYS, MEANING, STORAGE, &["basalt_commands"]]),
    ("http1", &[COMMANDS, KEYS, MEANING, FILES, SOCKETS, LOCKS]),
    ("journal", &[MEANING, COMMANDS, SOCKETS]),
    ("journal-log", &[COMMANDS, SOCKETS, &["basalt_keyspace", "basalt_value"]]),
    ("keyspace", &[COMMANDS, FILES, SOCKETS, &["basalt_journal", "basalt_cold"]]),
    ("model", &[COMMANDS, &["basalt_keyspace"]]),
    (
        "net",
        &[
            STORAGE,
            &["basalt_call", "basalt_commands", "basalt_spec", "basalt_value", "basalt_cold"],
        ],
    ),
    ("number", &[COMMANDS, KEYS, MEANING, FILES, SOCKETS, LOCKS]),
    ("observe", &[SOCKETS]),
    ("payload", &[COMMANDS, KEYS, FILES, SOCKETS, LOCKS]),
    ("pubsub", &[KEYS, COMMANDS, SOCKETS]),
    ("rdb", &[FILES, SOCKETS, LOCKS]),
    (
        "report",
        &[
            SOCKETS,
            FILES,
            STORAGE,
            &["basalt_call", "basalt_commands", "basalt_dispatch", "basalt_resp"],
        ],
    ),
    ("resp", &[FILES, SOCKETS, LOCKS]),
    ("script", &[KEYS, ROOMS, &["basalt_spec"], SOCKETS, FILES]),
    ("service", &[SOCKETS, FILES, STORAGE, &["basalt_call", "basalt_commands", "basalt_dispatch"]]),
    ("spec", &[FILES, SOCKETS, LOCKS]),
    ("tests", &[SERVER]),
    ("tls", &[COMMANDS, KEYS, MEANING, STORAGE, SOCKETS]),
    ("tracking", &[COMMANDS, FILES, SOCKETS, LOCKS]),
    ("value", &[COMMANDS, KEYS, FILES, SOCKETS, LOCKS]),
];

/// Finds names in a crate's source that it must not know.
pub fn forbidden_names(source: &Source) -> Vec<Finding> {
    let Some(name) = source.crate_name() else { return Vec::new() };
    if !source.is_rust() || !source.path.starts_with(&format!("crates/{name}/src/")) {
        return Vec::new();
    }
    let code = source.code.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let mut findings = Vec::new();
    for (index, line) in code.lines().enumerate() {
        if let Some(word) = unknown_to(name).find(|word| contains(line, word)) {
            let text = format!("{name} must not know {word} (the table in docs/architecture.md)");
            findings.push(Finding::failure(index + 1, text));
        }
    }
    findings
}

/// Finds dependencies of a crate on what it must not know.
pub fn forbidden_dependencies(source: &Source) -> Vec<Finding> {
    let Some(name) = source.crate_name() else { return Vec::new() };
    if source.path != format!("crates/{name}/Cargo.toml") {
        return Vec::new();
    }
    let Ok(manifest) = source.text.parse::<toml::Table>() else { return Vec::new() };
    let Some(table) = manifest.get("dependencies").and_then(|value| value.as_table()) else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    for dependency in table.keys() {
        let as_named = dependency.replace('-', "_");
        if unknown_to(name).any(|word| word.trim_end_matches(':') == as_named) {
            let text =
                format!("{name} must not know {dependency}: only its tests may depend on it");
            let line = source.text.lines().position(|line| line.starts_with(dependency.as_str()));
            findings.push(Finding::failure(line.map_or(1, |line| line + 1), text));
        }
    }
    findings
}

fn unknown_to(name: &str) -> impl Iterator<Item = &'static str> {
    let row = UNKNOWN.iter().find(|(crate_name, _)| *crate_name == name);
    let outside = if SEES_OUTSIDE.contains(&name) { &[] } else { OUTSIDE };
    let of_its_row = row
        .into_iter()
        .flat_map(|(_, groups)| groups.iter().flat_map(|group| group.iter().copied()));
    of_its_row.chain(outside.iter().copied())
}

/// Whether a line has a name that is no part of a longer one: `basalt_cold` is not in
/// `basalt_cold_rocks`.
fn contains(line: &str, name: &str) -> bool {
    let is_word = |char: char| char.is_alphanumeric() || char == '_';
    let is_whole = name.starts_with("basalt_");
    line.match_indices(name).any(|(at, _)| {
        let after = &line[at + name.len()..];
        !(line[..at].ends_with(is_word) || is_whole && after.starts_with(is_word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(path: &str, text: &str) -> usize {
        forbidden_names(&Source::new(path, text)).len()
    }

    #[test]
    fn finds_what_a_crate_must_not_know() {
        assert_eq!(names("crates/commands/src/a.rs", "use basalt_keyspace::entry::X;\n"), 1);
        assert_eq!(names("crates/commands/src/a.rs", "let f = std::fs::read(x);\n"), 1);
        assert_eq!(names("crates/commands/src/a.rs", "use std::net::{TcpStream, Shutdown};\n"), 1);
        assert_eq!(names("crates/engine/src/a.rs", "use basalt_resp::Reply;\n"), 1);
        assert_eq!(names("crates/cold-rocks/src/a.rs", "use basalt_value::Value;\n"), 1);
        assert_eq!(names("crates/stdx/src/a.rs", "let start = Instant::now();\n"), 1);
        assert_eq!(names("crates/net/src/a.rs", "std::thread::spawn(work);\n"), 1);
        assert_eq!(names("crates/pubsub/src/a.rs", "use std::hash::{BuildHasher};\n"), 0);
        assert_eq!(names("crates/bench/src/a.rs", "let start = Instant::now();\n"), 0);
    }

    #[test]
    fn leaves_tests_longer_names_and_other_crates_alone() {
        assert_eq!(names("crates/commands/src/a.rs", "use std::net::SocketAddr;\n"), 0);
        assert_eq!(names("crates/dispatch/tests/a.rs", "use basalt_keyspace::entry::X;\n"), 0);
        let tests = "#[cfg(test)]\nmod tests {\n    use basalt_keyspace::X;\n}\n";
        assert_eq!(names("crates/commands/src/a.rs", tests), 0);
        assert_eq!(names("crates/engine/src/a.rs", "use basalt_keyspace::entry::X;\n"), 0);
        assert_eq!(names("crates/keyspace/src/a.rs", "let basalt_cold_count = 1;\n"), 0);
        assert_eq!(names("crates/commands/src/a.rs", "// not basalt_keyspace\n"), 0);
    }

    #[test]
    fn finds_a_dependency_but_not_one_of_tests() {
        let check = |text| forbidden_dependencies(&Source::new("crates/commands/Cargo.toml", text));
        let found = check("[dependencies]\nbasalt-keyspace = { path = \"../keyspace\" }\n");
        assert_eq!((found.len(), found[0].line), (1, 2));
        assert!(check("[dev-dependencies]\nbasalt-keyspace = {}\n").is_empty());
    }
}
