//! What the steps are. To add one, add it to [`all`].
//!
//! RocksDB's C++ takes longer than everything else together, so it is compiled once, in the release
//! profile, by what a user types too: `cargo build --release`. Cargo compiles it again when
//! anything below it gets other features, and features are united over the packages that one
//! command selects: with `-p basalt-cold-rocks` alone, `quote` below `bindgen` has fewer. So each
//! step that needs RocksDB selects [`ROCKSDB`], of which the second package adds no feature to the
//! first, and the dev profile sees the binary without RocksDB only.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The packages that link RocksDB, always selected together; see above.
const ROCKSDB: &str = "--release -p basalt -p basalt-cold-rocks";

/// All other packages.
const LIGHT: &str = "--workspace --exclude basalt --exclude basalt-cold-rocks";

/// The binary as the dev profile may build it.
const WITHOUT_ROCKSDB: &str = "-p basalt --no-default-features";

/// How a step's result is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One result: the exit status.
    Check,
    /// Many results: what the test harness prints.
    Tests,
}

/// One program to run.
pub struct Step {
    /// By which it is chosen and reported.
    pub name: String,
    /// What is run, without a shell.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Added to the environment.
    pub env: Vec<(String, String)>,
    /// How its result is counted.
    pub kind: Kind,
    /// Why it cannot run on this machine, if so.
    pub unavailable: Option<String>,
}

impl Step {
    fn cargo(name: &'static str, kind: Kind, args: &str) -> Step {
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
        Step {
            name: name.to_owned(),
            program: cargo,
            args: args.split_whitespace().map(str::to_owned).collect(),
            env: Vec::new(),
            kind,
            unavailable: None,
        }
    }

    fn with_env(mut self, name: &str, value: impl Into<String>) -> Step {
        self.env.push((name.to_owned(), value.into()));
        self
    }

    fn unless(mut self, reason: Option<String>) -> Step {
        self.unavailable = reason;
        self
    }

    /// As one could type it.
    pub fn command_line(&self) -> String {
        let mut words: Vec<String> =
            self.env.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let is_cargo = Path::new(&self.program).file_stem().is_some_and(|stem| stem == "cargo");
        words.push(if is_cargo { "cargo".to_owned() } else { self.program.clone() });
        words.extend(self.args.iter().cloned());
        words.join(" ")
    }
}

/// All steps, in the order in which they run: the quick ones first.
pub fn all(root: &Path) -> Vec<Step> {
    let binary = release_binary(root).display().to_string();
    let python = std::env::var("BASALT_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let mut steps = quick();
    steps.extend([
        Step::cargo("build", Kind::Check, "build --release -p basalt"),
        Step::cargo(
            "clippy-rocks",
            Kind::Check,
            &format!("clippy {ROCKSDB} --all-targets -- -D warnings"),
        ),
        Step::cargo(
            "cold-rocks",
            Kind::Tests,
            &format!("test {ROCKSDB} --test rocks --test values_rocks --test model_rocks --no-fail-fast"),
        ),
        Step::cargo(
            "careless",
            Kind::Check,
            &format!("build {WITHOUT_ROCKSDB} --features careless"),
        ),
        Step::cargo(
            "integration",
            Kind::Tests,
            "test -p basalt-tests --no-fail-fast -- --skip clients:: --skip frameworks:: --skip openapi:: --skip workers::",
        )
        .with_env("BASALT_BIN", &binary)
        .with_env("BASALT_CARELESS_BIN", careless_binary(root).display().to_string()),
        Step::cargo(
            "clients",
            Kind::Tests,
            "test -p basalt-tests --test it -- clients:: frameworks::node:: frameworks::python:: workers::",
        )
        .with_env("BASALT_BIN", &binary)
        .with_env("BASALT_PYTHON", &python),
        Step::cargo("http", Kind::Tests, "test -p basalt-tests --test it openapi::")
            .with_env("BASALT_BIN", &binary)
            .with_env("BASALT_PYTHON", &python),
    ]);
    steps
}

/// The steps without RocksDB.
fn quick() -> Vec<Step> {
    vec![
        Step::cargo("fmt", Kind::Check, "fmt --all -- --check"),
        Step::cargo("tidy", Kind::Check, "xtask tidy"),
        Step::cargo("deny", Kind::Check, "deny check licenses bans sources")
            .unless(no_cargo_deny()),
        Step::cargo("clippy", Kind::Check, &format!("clippy {LIGHT} --all-targets -- -D warnings")),
        Step::cargo(
            "clippy-bare",
            Kind::Check,
            &format!("clippy {WITHOUT_ROCKSDB} --all-targets -- -D warnings"),
        ),
        Step::cargo("doc", Kind::Check, &format!("doc {LIGHT} --no-deps --document-private-items"))
            .with_env("RUSTDOCFLAGS", "-D warnings -A rustdoc::private_intra_doc_links"),
        // A workspace of its own, which no other step sees. It runs on nightly, but its types are
        // checked by any toolchain; naming a library spares compiling libFuzzer, which only
        // linking needs.
        Step::cargo(
            "fuzz-check",
            Kind::Check,
            "check --locked --manifest-path fuzz/Cargo.toml --bins",
        )
        .with_env("CUSTOM_LIBFUZZER_PATH", "/unlinked/libfuzzer.a"),
        Step::cargo(
            "test",
            Kind::Tests,
            &format!("test {LIGHT} --exclude basalt-tests --no-fail-fast"),
        ),
    ]
}

/// Where cargo puts the release binary; `BASALT_BIN` names another one.
pub fn release_binary(root: &Path) -> PathBuf {
    if let Some(binary) = std::env::var_os("BASALT_BIN").map(PathBuf::from) {
        // Tests run in their package's folder; a bare name is looked for in PATH.
        return if binary.components().count() > 1 { root.join(binary) } else { binary };
    }
    target(root).join("release/basalt")
}

/// The build that acknowledges too early: the dev profile has the binary without RocksDB only.
pub fn careless_binary(root: &Path) -> PathBuf {
    target(root).join("debug/basalt")
}

fn target(root: &Path) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    root.join(target.unwrap_or_else(|| PathBuf::from("target")))
}

/// `cargo deny` takes minutes to build, so it runs where it is installed.
fn no_cargo_deny() -> Option<String> {
    let mut probe = Command::new("cargo-deny");
    let found = probe.arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    match found {
        Ok(status) if status.success() => None,
        _ => Some("cargo-deny is not installed (cargo install cargo-deny --locked)".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_the_quick_steps_come_first() {
        let steps = all(Path::new("/x"));
        let names: Vec<&str> = steps.iter().map(|step| step.name.as_str()).collect();
        let mut unique = names.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), names.len());
        assert_eq!(names[..2], ["fmt", "tidy"]);
    }

    #[test]
    fn rocksdb_is_built_for_one_selection_of_packages_in_one_profile() {
        for step in all(Path::new("/x")) {
            let line = step.command_line();
            let release = line.contains("--release");
            let selects_both = line.contains(ROCKSDB) || line.contains("build --release -p basalt");
            let selects_neither = line.contains(LIGHT)
                || line.contains(WITHOUT_ROCKSDB)
                || line.contains("-p basalt-tests")
                || ["fmt", "tidy", "deny", "fuzz-check"].contains(&step.name.as_str());
            assert!(if release { selects_both } else { selects_neither }, "{line}");
        }
    }
}
