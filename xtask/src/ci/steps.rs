//! What the steps are. To add one, add it to [`all`].
//!
//! The crates that link RocksDB (`cold-rocks` and the binary) are built in the release profile only, once:
//! its C++ takes longer than everything else together.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

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
    pub name: &'static str,
    /// What is run, without a shell.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Added to the environment.
    pub env: Vec<(&'static str, String)>,
    /// How its result is counted.
    pub kind: Kind,
    /// Why it cannot run on this machine, if so.
    pub unavailable: Option<String>,
}

impl Step {
    fn cargo(name: &'static str, kind: Kind, args: &str) -> Step {
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
        Step {
            name,
            program: cargo,
            args: args.split_whitespace().map(str::to_owned).collect(),
            env: Vec::new(),
            kind,
            unavailable: None,
        }
    }

    fn with_env(mut self, name: &'static str, value: impl Into<String>) -> Step {
        self.env.push((name, value.into()));
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
        words.push("cargo".to_owned());
        words.extend(self.args.iter().cloned());
        words.join(" ")
    }
}

/// All steps, in the order in which they run: the quick ones first.
pub fn all(root: &Path) -> Vec<Step> {
    let binary = release_binary(root).display().to_string();
    let python = std::env::var("BASALT_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let light = "--workspace --exclude basalt-cold-rocks --exclude basalt";
    vec![
        Step::cargo("fmt", Kind::Check, "fmt --all -- --check"),
        Step::cargo("tidy", Kind::Check, "xtask tidy"),
        Step::cargo("deny", Kind::Check, "deny check licenses bans sources")
            .unless(no_cargo_deny()),
        Step::cargo("clippy", Kind::Check, &format!("clippy {light} --all-targets -- -D warnings")),
        Step::cargo(
            "test",
            Kind::Tests,
            &format!("test {light} --exclude basalt-tests --no-fail-fast"),
        ),
        Step::cargo("build", Kind::Check, "build --release -p basalt"),
        Step::cargo(
            "cold-rocks",
            Kind::Tests,
            "test --release -p basalt-cold-rocks --no-fail-fast",
        ),
        Step::cargo(
            "integration",
            Kind::Tests,
            "test -p basalt-tests --no-fail-fast -- --skip clients::",
        )
        .with_env("BASALT_BIN", &binary),
        Step::cargo("clients", Kind::Tests, "test -p basalt-tests --test it clients::")
            .with_env("BASALT_BIN", &binary)
            .with_env("BASALT_PYTHON", python),
    ]
}

/// Where cargo puts the release binary; `BASALT_BIN` names another one.
fn release_binary(root: &Path) -> PathBuf {
    if let Some(binary) = std::env::var_os("BASALT_BIN").map(PathBuf::from) {
        // Tests run in their package's folder; a bare name is looked for in PATH.
        return if binary.components().count() > 1 { root.join(binary) } else { binary };
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    root.join(target.unwrap_or_else(|| PathBuf::from("target"))).join("release/basalt")
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
        let names: Vec<&str> = steps.iter().map(|step| step.name).collect();
        let mut unique = names.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), names.len());
        assert_eq!(names[..2], ["fmt", "tidy"]);
    }

    #[test]
    fn nothing_builds_rocksdb_in_the_dev_profile() {
        for step in all(Path::new("/x")) {
            let line = step.command_line();
            let all_crates = line.contains("--workspace") && !line.contains("--exclude basalt ");
            assert!(!all_crates, "{line}");
        }
    }
}
