//! Which crate may depend on which: the table of `docs/architecture.md`, checked against every
//! `Cargo.toml`.
//!
//! A crate may depend on crates of lower layers only, in every kind of dependency. Besides, some
//! libraries may be named by a few crates only, so that the rest builds without them.

use super::{Finding, Source};

/// Folder under `crates/` → layer. A crate that is missing here fails the rule.
const LAYERS: &[(&str, u8)] = &[
    ("env", 0),
    ("number", 0),
    ("stdx", 0),
    ("config", 1),
    ("console", 1),
    ("http1", 1),
    ("observe", 1),
    ("rdb", 1),
    ("resp", 1),
    ("spec", 1),
    ("value", 1),
    ("acl", 2),
    ("change", 2),
    ("cold", 2),
    ("journal", 2),
    ("payload", 2),
    ("pubsub", 2),
    ("script", 2),
    ("tls", 2),
    ("tracking", 2),
    ("cold-rocks", 3),
    ("value-log", 3),
    ("keyspace", 3),
    ("engine", 4),
    ("cluster", 5),
    ("consensus", 5),
    ("journal-log", 5),
    ("queue", 5),
    ("replica", 5),
    ("model", 6),
    ("service", 6),
    ("call", 7),
    ("report", 7),
    ("commands", 8),
    ("dispatch", 9),
    ("net", 10),
    ("bench", 11),
    ("http", 11),
    ("sim", 11),
    ("tests", 11),
    // The program contains the load generator as a subcommand.
    ("basalt", 12),
];

/// Dependency → the only crates that may name it.
const RESERVED: &[(&str, &[&str])] = &[
    ("httparse", &["http1"]),
    ("lz4_flex", &["value-log"]),
    ("rocksdb", &["cold-rocks"]),
    ("basalt-cold-rocks", &["basalt"]),
    ("mlua", &["script"]),
    ("mio", &["bench", "consensus", "http", "net"]),
    ("tokio", &["consensus", "http", "net"]),
    ("rustls", &["bench", "tests", "tls"]),
    ("twox-hash", &["stdx"]),
];

/// Checks one `crates/*/Cargo.toml` against both tables.
pub fn dependencies(source: &Source) -> Vec<Finding> {
    let Some(name) = source.crate_name() else { return Vec::new() };
    if source.path != format!("crates/{name}/Cargo.toml") {
        return Vec::new();
    }
    let Some(layer) = layer_of(name) else {
        let text = format!("crate {name} has no layer: add it to the table in xtask's layers.rs");
        return vec![Finding::failure(1, text)];
    };
    let manifest: toml::Table = match source.text.parse() {
        Ok(manifest) => manifest,
        Err(error) => return vec![Finding::failure(1, format!("not valid TOML: {error}"))],
    };
    let mut findings = Vec::new();
    for dependency in dependency_names(&manifest) {
        let line = line_of(&source.text, &dependency);
        if let Some(text) = reserved(name, &dependency) {
            findings.push(Finding::failure(line, text));
        }
        let Some(other) = dependency.strip_prefix("basalt-") else { continue };
        match layer_of(other) {
            Some(below) if below < layer => {}
            Some(below) => findings.push(Finding::failure(
                line,
                format!("{name} (layer {layer}) may not depend on {other} (layer {below})"),
            )),
            None => findings.push(Finding::failure(line, format!("{other} has no layer"))),
        }
    }
    findings
}

fn layer_of(name: &str) -> Option<u8> {
    LAYERS.iter().find(|(crate_name, _)| *crate_name == name).map(|(_, layer)| *layer)
}

fn reserved(name: &str, dependency: &str) -> Option<String> {
    let (_, allowed) = RESERVED.iter().find(|(library, _)| *library == dependency)?;
    (!allowed.contains(&name))
        .then(|| format!("only {} may depend on {dependency}", allowed.join(", ")))
}

/// The packages named in every dependency table, also under `[target.*]`, with renames undone.
fn dependency_names(manifest: &toml::Table) -> Vec<String> {
    let mut names = Vec::new();
    for (key, value) in manifest {
        let Some(table) = value.as_table() else { continue };
        if key.ends_with("dependencies") {
            names.extend(table.iter().map(|(name, value)| package_name(name, value)));
        } else if key == "target" {
            names.extend(
                table.values().filter_map(|value| value.as_table()).flat_map(dependency_names),
            );
        }
    }
    names
}

fn package_name(name: &str, value: &toml::Value) -> String {
    value.get("package").and_then(|package| package.as_str()).unwrap_or(name).to_owned()
}

fn line_of(text: &str, dependency: &str) -> usize {
    text.lines().position(|line| line.contains(dependency)).map_or(1, |index| index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, text: &str) -> Vec<String> {
        let source = Source::new(&format!("crates/{name}/Cargo.toml"), text);
        dependencies(&source).into_iter().map(|finding| finding.text).collect()
    }

    #[test]
    fn accepts_lower_layers() {
        assert!(check("engine", "[dependencies]\nbasalt-journal = {}\nlibc = \"1\"\n").is_empty());
        assert!(check("basalt", "[dependencies]\nbasalt-cold-rocks = {}\n").is_empty());
        assert!(check("net", "[dependencies]\nmio = {}\n").is_empty());
    }

    #[test]
    fn finds_a_dependency_upwards_or_sideways_in_any_table() {
        assert_eq!(check("journal", "[dependencies]\nbasalt-engine = {}\n").len(), 1);
        assert_eq!(check("journal", "[dev-dependencies]\nbasalt-cold = {}\n").len(), 1);
        assert_eq!(check("env", "[target.'cfg(unix)'.dependencies]\nbasalt-resp = {}\n").len(), 1);
        assert_eq!(check("env", "[dependencies]\nx = { package = \"basalt-net\" }\n").len(), 1);
    }

    #[test]
    fn finds_a_crate_without_a_layer() {
        assert_eq!(check("novelty", "[dependencies]\n").len(), 1);
    }

    #[test]
    fn finds_a_reserved_library() {
        assert_eq!(check("engine", "[dependencies]\nrocksdb = {}\n").len(), 1);
        assert_eq!(check("dispatch", "[dependencies]\ntokio = {}\n").len(), 1);
        assert_eq!(check("tests", "[dependencies]\nbasalt-cold-rocks = {}\n").len(), 1);
    }
}
