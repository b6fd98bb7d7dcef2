//! What is done at night. To add a step, add a line to [`TABLE`].
//!
//! A line has all that there is to know: the command is the one that is printed, to be typed again.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::ci::steps::{Kind, Step, careless_binary, release_binary};

/// How a step uses its share of the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// It runs once, takes what it takes, and comes before the others.
    Once,
    /// It is told its share by `{seconds}` in its command.
    Told,
    /// It runs again and again, each time with another seed, until its share is over.
    Repeated,
}

/// What a step cannot do without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// A program in the path.
    Program(&'static str),
    /// A subcommand of cargo of the nightly toolchain.
    Nightly(&'static str),
    /// A file of the repository.
    File(&'static str),
    /// A library of Ruby.
    Ruby(&'static str),
}

use Kind::{Check, Tests};
use Need::{File, Nightly, Program, Ruby};
use Pace::{Once, Repeated, Told};

/// One step, or one for each fuzz target.
pub struct Line {
    /// By which it is chosen and reported.
    pub name: &'static str,
    /// Its part of the time; 0 for what runs once.
    pub weight: u32,
    pub pace: Pace,
    pub kind: Kind,
    pub needs: &'static [Need],
    /// Words; those with `=` at its beginning are added to the environment. `{seed}`, `{seconds}`,
    /// `{program}` (the release build of the server), `{careless}` (the one that acknowledges too
    /// early) and `{target}` are replaced; a line with
    /// `{target}` is one step for each target.
    pub command: &'static str,
}

const fn line(
    name: &'static str,
    weight: u32,
    pace: Pace,
    kind: Kind,
    needs: &'static [Need],
    command: &'static str,
) -> Line {
    Line { name, weight, pace, kind, needs, command }
}

/// Fuzz targets that need more than the defaults. Those with a Lua state look for no leaks: mlua
/// counts owners by addresses one past the end of what is allocated, which LeakSanitizer does not
/// take for references.
const FUZZ_ARGUMENTS: &[(&str, &str)] = &[
    ("commands", "-max_len=400 -detect_leaks=0"),
    ("functions", "-detect_leaks=0"),
    ("recovery", "-max_len=600 -len_control=0"),
    ("script_libraries", "-detect_leaks=0"),
];

#[rustfmt::skip]
const TABLE: &[Line] = &[
    line("build", 0, Once, Check, &[], "cargo build --release -p basalt"),
    line("careless", 0, Once, Check, &[], "cargo build -p basalt --no-default-features --features careless"),
    line("deny", 0, Once, Check, &[Program("cargo-deny")], "cargo deny check licenses bans sources"),
    line("instructions", 0, Once, Check, &[Program("valgrind")], "cargo xtask instructions"),
    line("packages", 0, Once, Check, &[File("packaging/try.sh")], "packaging/try.sh"),
    line("added-command", 0, Once, Tests, &[], "BASALT_ADDED_COMMAND=full cargo test -p xtask --test added_command"),
    line("hostile", 0, Once, Tests, &[], "BASALT_BIN={program} BASALT_HOSTILE=full cargo test -p basalt-tests --test it -- hostile:: --test-threads=1"),
    line("frameworks", 0, Once, Tests, &[Program("node"), Program("mvn"), Program("javac"), Ruby("sidekiq")], "BASALT_BIN={program} cargo test -p basalt-tests --test it --no-fail-fast -- frameworks::"),
    line("frameworks-tls", 0, Once, Tests, &[Program("node"), Program("mvn"), Program("javac"), Ruby("sidekiq")], "BASALT_BIN={program} BASALT_FRAMEWORKS_TLS=1 cargo test -p basalt-tests --test it --no-fail-fast -- frameworks::"),
    line("loom", 0, Once, Tests, &[], "RUSTFLAGS=--cfg=loom cargo test --release -p basalt-stdx --test loom"),
    line("miri-keyspace", 0, Once, Tests, &[Nightly("miri")], "MIRIFLAGS=-Zmiri-disable-isolation PROPTEST_CASES=2 cargo +nightly miri test -p basalt-keyspace --lib"),
    line("miri-model", 0, Once, Tests, &[Nightly("miri")], "MIRIFLAGS=-Zmiri-disable-isolation PROPTEST_CASES=2 cargo +nightly miri test -p basalt-keyspace --test model"),
    line("miri-value", 0, Once, Tests, &[Nightly("miri")], "MIRIFLAGS=-Zmiri-disable-isolation PROPTEST_CASES=2 cargo +nightly miri test -p basalt-value --lib -- members:: set::tests hash:: list:: sorted_set::e sorted_set::order_row:: sorted_set::tests::behaves_as_a_map spread:: stream::tests::does_as_plain_vectors_do --skip _packed"),
    line("miri-number", 0, Once, Tests, &[Nightly("miri")], "MIRIFLAGS=-Zmiri-disable-isolation PROPTEST_CASES=2 cargo +nightly miri test -p basalt-number --lib -- --skip only_whole_numbers --skip infinity"),
    line("crash", 20, Repeated, Tests, &[], "BASALT_SEED={seed} BASALT_BIN={program} BASALT_CARELESS_BIN={careless} BASALT_CRASH_ROUNDS=50 cargo test -p basalt-tests --test it --no-fail-fast -- crash:: disk:: --nocapture"),
    line("fuzz", 25, Told, Check, &[Nightly("fuzz")], "cargo +nightly fuzz run {target} -- -max_total_time={seconds} -seed={seed}"),
    line("model", 15, Told, Tests, &[], "BASALT_MODEL_FIRST_SEED={seed} BASALT_MODEL_SECONDS={seconds} cargo test --release -p basalt-model -- walk:: --nocapture"),
    line("model-threads", 5, Told, Tests, &[], "BASALT_STRESS_SECONDS={seconds} cargo test --release -p basalt-model -- stress:: --nocapture"),
    line("model-rocks", 5, Told, Tests, &[], "BASALT_MODEL_FIRST_SEED={seed} BASALT_MODEL_SECONDS={seconds} cargo test --release -p basalt -p basalt-cold-rocks --test model_rocks"),
    line("journal", 5, Repeated, Tests, &[], "BASALT_SEED={seed} BASALT_JOURNAL_HISTORIES=5000 cargo test --release -p basalt-journal -- crashes::"),
    line("properties", 5, Repeated, Tests, &[], "PROPTEST_RNG_SEED={seed} PROPTEST_CASES=1000 cargo test --release --no-fail-fast -p basalt-change -p basalt-http1 -p basalt-rdb -p basalt-resp -p basalt-config -p basalt-stdx -p basalt-value -p basalt-keyspace"),
    line("redis", 10, Repeated, Tests, &[Program("redis-server")], "BASALT_SEED={seed} cargo test --release -p basalt-dispatch --test main --no-fail-fast -- differential::"),
    line("batches", 5, Repeated, Tests, &[], "BASALT_SEED={seed} BASALT_BATCHES=100000 cargo test --release -p basalt-dispatch --test main -- short_ways::"),
    line("pipelines", 5, Repeated, Tests, &[Program("redis-server")], "BASALT_SEED={seed} BASALT_BIN={program} BASALT_PIPELINES=20000 cargo test -p basalt-tests --test it -- pipelines:: --nocapture"),
    line("stress", 5, Told, Tests, &[], "BASALT_BIN={program} BASALT_STRESS_SECONDS={seconds} cargo test -p basalt-tests --test it -- stress:: --nocapture"),
];

/// One step, still without seed and time.
pub struct Plan {
    pub name: String,
    /// Of all weights; fuzz targets share their line's.
    pub weight: f64,
    pub pace: Pace,
    /// Why it cannot run on this machine, if so.
    pub missing: Option<String>,
    /// It takes one core, and what it finds does not depend on what else runs: as many run side by
    /// side as there are cores.
    pub takes_one_core: bool,
    kind: Kind,
    command: String,
}

impl Plan {
    /// The step with its seed and time.
    pub fn step(&self, seed: u64, seconds: u64) -> Step {
        let command = self.command.replace("{seed}", &seed.to_string());
        let command = command.replace("{seconds}", &seconds.to_string());
        let mut words = command.split_whitespace().map(str::to_owned).peekable();
        let mut env = Vec::new();
        while let Some((name, value)) = words.peek().and_then(|word| word.split_once('=')) {
            env.push((name.to_owned(), value.to_owned()));
            words.next();
        }
        // Not the cargo that runs this one: only the one in the path knows `+nightly`.
        let program = words.next().unwrap_or_default();
        let args = words.collect();
        let unavailable = self.missing.clone();
        Step { name: self.name.clone(), program, args, env, kind: self.kind, unavailable }
    }

    /// The command with its placeholders.
    pub fn command(&self) -> &str {
        &self.command
    }
}

/// All steps, in the order in which they run.
///
/// # Errors
/// The list of fuzz targets cannot be read.
pub fn all(root: &Path) -> Result<Vec<Plan>, String> {
    let manifest = std::fs::read_to_string(root.join("fuzz/Cargo.toml"))
        .map_err(|error| format!("fuzz/Cargo.toml: {error}"))?;
    let targets = fuzz_targets(&manifest)?;
    let program = release_binary(root).display().to_string();
    let careless = careless_binary(root).display().to_string();
    let mut plans = Vec::new();
    for line in TABLE {
        let missing = line.needs.iter().find_map(|need| missing(root, *need));
        let plan = |name: String, weight: f64, command: String| Plan {
            name,
            weight,
            pace: line.pace,
            missing: missing.clone(),
            // Miri and the fuzzers.
            takes_one_core: line.needs.iter().any(|need| matches!(need, Nightly(_))),
            kind: line.kind,
            command: command.replace("{program}", &program).replace("{careless}", &careless),
        };
        if !line.command.contains("{target}") {
            plans.push(plan(line.name.to_owned(), f64::from(line.weight), line.command.to_owned()));
            continue;
        }
        for target in &targets {
            let weight = f64::from(line.weight) / targets.len() as f64;
            let mut command = line.command.replace("{target}", target);
            for (_, arguments) in FUZZ_ARGUMENTS.iter().filter(|(name, _)| name == target) {
                command = format!("{command} {arguments}");
            }
            plans.push(plan(format!("{}-{target}", line.name), weight, command));
        }
    }
    Ok(plans)
}

fn fuzz_targets(manifest: &str) -> Result<Vec<String>, String> {
    let manifest: toml::Table =
        manifest.parse().map_err(|error| format!("fuzz/Cargo.toml: {error}"))?;
    let bins = manifest.get("bin").and_then(toml::Value::as_array);
    let names = bins.into_iter().flatten().filter_map(|bin| bin.get("name")?.as_str());
    let names: Vec<String> = names.map(str::to_owned).collect();
    if names.is_empty() { Err("fuzz/Cargo.toml has no targets".to_owned()) } else { Ok(names) }
}

/// What is not there, with the way to get it.
fn missing(root: &Path, need: Need) -> Option<String> {
    let succeeds = |program: &str, args: &[&str]| {
        let mut probe = Command::new(program);
        // Asking for a toolchain is not to install it.
        probe.args(args).env("RUSTUP_AUTO_INSTALL", "0");
        let status = probe.stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    };
    match need {
        Program(program) if succeeds(program, &["--version"]) => None,
        Program(program @ "cargo-deny") => Some(format!("cargo install {program} --locked")),
        Program(program) => Some(format!("{program} is not installed")),
        Nightly(tool) if succeeds("cargo", &["+nightly", tool, "--version"]) => None,
        Nightly("miri") => {
            Some("rustup component add --toolchain nightly miri rust-src".to_owned())
        }
        Nightly(tool) => {
            Some(format!("rustup toolchain install nightly; cargo install cargo-{tool} --locked"))
        }
        Ruby(library) if succeeds("ruby", &["-r", library, "-e", ""]) => None,
        Ruby(library) => Some(format!("apt-get install ruby-{library}")),
        File(path) if root.join(path).exists() => None,
        File(path) => Some(format!("{path} is not there")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_weights_fit_paces() {
        let mut names: Vec<&str> = TABLE.iter().map(|line| line.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), TABLE.len());
        for Line { name, weight, pace, command, .. } in TABLE {
            assert_eq!(*weight == 0, *pace == Once, "{name}");
            assert_eq!(command.contains("{seconds}"), *pace == Told, "{name}");
            assert!(*pace != Repeated || command.contains("{seed}"), "{name} repeats itself");
        }
    }

    #[test]
    fn every_fuzz_target_is_a_step() {
        let manifest = "[[bin]]\nname = \"resp\"\n[[bin]]\nname = \"row\"\n";
        assert_eq!(fuzz_targets(manifest), Ok(vec!["resp".to_owned(), "row".to_owned()]));
        assert!(fuzz_targets("[package]\nname = \"x\"\n").is_err());
    }

    #[test]
    fn a_command_is_taken_apart() {
        let plan = Plan {
            name: "x".to_owned(),
            weight: 1.0,
            pace: Repeated,
            missing: None,
            takes_one_core: false,
            kind: Tests,
            command: "A_SEED={seed} cargo +nightly test -- --time={seconds}".to_owned(),
        };
        let step = plan.step(7, 60);
        assert_eq!(step.env, [("A_SEED".to_owned(), "7".to_owned())]);
        assert_eq!(step.program, "cargo");
        assert_eq!(step.args, ["+nightly", "test", "--", "--time=60"]);
        assert_eq!(step.command_line(), "A_SEED=7 cargo +nightly test -- --time=60");
    }
}
