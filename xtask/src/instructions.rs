//! What GET, SET and changes of collections cost between the socket and the log, in instructions,
//! and GET and PUT by HTTP beside GET and SET from a thread's poll on, against kept figures.
//!
//! Instructions do not depend on the load of the machine, so a change of a few per cent can be seen
//! anywhere. The drivers are `crates/dispatch/examples/measure.rs` and
//! `crates/http/examples/measure_turns.rs`, counted by callgrind; the figures are in
//! `instructions.toml` beside this package's sources. They hold for the compiler that
//! `rust-toolchain.toml` names. A figure that is lower than the kept one fails as well: what has
//! been gained is kept by `--update`.

use std::path::{Path, PathBuf};
use std::process::Command;

/// How far a count may be from the kept figure, in per cent.
const TOLERANCE_PERCENT: f64 = 2.0;

const FIGURES: &str = "xtask/instructions.toml";

/// A program that makes requests, and what of it is counted.
struct Driver {
    package: &'static str,
    /// Its name, among the package's examples.
    example: &'static str,
    /// The function in which instructions are counted.
    counted: &'static str,
    /// What is kept, and what the driver is told.
    cases: &'static [(&'static str, &'static [&'static str])],
}

const DRIVERS: [Driver; 2] = [
    Driver {
        package: "basalt-dispatch",
        example: "measure",
        counted: "*counted*",
        cases: &[
            ("get", &["get"]),
            ("set", &["set"]),
            ("get-always", &["get", "always"]),
            ("set-always", &["set", "always"]),
            ("set-new", &["set-new"]),
            ("lpush", &["lpush"]),
            ("sadd", &["sadd"]),
            ("hset", &["hset"]),
            ("zadd", &["zadd"]),
            ("evalsha", &["evalsha"]),
            ("fcall", &["fcall"]),
            ("q-put", &["q.put"]),
            ("q-get", &["q.get"]),
            ("q-ack", &["q.ack"]),
        ],
    },
    Driver {
        package: "basalt-http",
        example: "measure_turns",
        counted: "*run_turn*",
        cases: &[
            ("turn-get", &["resp-get"]),
            ("turn-set", &["resp-set"]),
            ("http-get", &["get"]),
            ("http-put", &["put"]),
            ("http-get-changing", &["get", "changing"]),
        ],
    },
];

/// Counts all cases and compares, or keeps what has been counted; returns true if all are as they
/// were.
pub fn run(root: &Path, args: &[String]) -> bool {
    let updates = match args {
        [] => false,
        [only] if only == "--update" => true,
        _ => {
            eprintln!("instructions: takes --update or nothing");
            return false;
        }
    };
    let result = count_all(root).and_then(|counts| {
        if updates { keep(root, &counts).map(|()| true) } else { compare_all(root, &counts) }
    });
    result.unwrap_or_else(|error| {
        eprintln!("instructions: {error}");
        false
    })
}

type Counts = Vec<(&'static str, f64)>;

fn count_all(root: &Path) -> Result<Counts, String> {
    let mut counts = Counts::new();
    for driver in &DRIVERS {
        let program = driver.build(root)?;
        for (name, words) in driver.cases {
            let count = driver.count(&program, words);
            let count = count.map_err(|error| format!("{name}: {error}"))?;
            println!("{name}: {count:.1} instructions a request");
            counts.push((*name, count));
        }
    }
    Ok(counts)
}

impl Driver {
    /// Builds it; returns where it is.
    fn build(&self, root: &Path) -> Result<PathBuf, String> {
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
        let built = Command::new(cargo)
            .args(["build", "--release", "-p", self.package, "--example", self.example])
            .current_dir(root)
            .status()
            .map_err(|error| format!("cannot start cargo: {error}"))?;
        if !built.success() {
            return Err(format!("the driver in {} does not build", self.package));
        }
        let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
        Ok(root.join(target).join("release/examples").join(self.example))
    }

    /// Instructions a request.
    fn count(&self, program: &Path, words: &[&str]) -> Result<f64, String> {
        let toggle = format!("--toggle-collect={}", self.counted);
        let output = Command::new("valgrind")
            .args(["--tool=callgrind", &toggle, "--callgrind-out-file=/dev/null"])
            .arg(program)
            .args(words)
            .output()
            .map_err(|error| format!("cannot start valgrind: {error}"))?;
        let (stdout, stderr) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        if !output.status.success() {
            return Err(format!("{}: {stderr}", output.status));
        }
        per_request(&stdout, &stderr).ok_or_else(|| format!("no figures in:\n{stdout}{stderr}"))
    }
}

/// Reads `100000 requests` and callgrind's `==1== Collected : 68900000`.
fn per_request(stdout: &str, stderr: &str) -> Option<f64> {
    let requests: f64 =
        stdout.lines().find_map(|line| line.strip_suffix(" requests")?.parse().ok())?;
    let collected = stderr.lines().find_map(|line| line.split_once("Collected :"))?.1;
    let collected: f64 = collected.trim().parse().ok()?;
    (requests > 0.0 && collected > 0.0).then_some(collected / requests)
}

fn keep(root: &Path, counts: &Counts) -> Result<(), String> {
    let mut text =
        "# Instructions a request, counted by `cargo xtask instructions --update`.\n".to_owned();
    for (name, count) in counts {
        text.push_str(&format!("{name} = {count:.1}\n"));
    }
    std::fs::write(root.join(FIGURES), text).map_err(|error| format!("{FIGURES}: {error}"))
}

fn compare_all(root: &Path, counts: &Counts) -> Result<bool, String> {
    let text = std::fs::read_to_string(root.join(FIGURES))
        .map_err(|error| format!("{FIGURES}: {error}"))?;
    let kept: toml::Table = text.parse().map_err(|error| format!("{FIGURES}: {error}"))?;
    let mut is_good = true;
    for (name, count) in counts {
        let kept = kept.get(*name).and_then(toml::Value::as_float);
        let kept = kept.ok_or_else(|| format!("{FIGURES} has no figure {name}"))?;
        if let Some(change) = change(*count, kept) {
            is_good = false;
            println!(
                "{name}: {count:.1} instructions, not {kept:.1}: {change:+.1}% (--update keeps it)"
            );
        }
    }
    Ok(is_good)
}

/// The difference in per cent, if it is more than is tolerated.
fn change(count: f64, kept: f64) -> Option<f64> {
    let percent = (count / kept - 1.0) * 100.0;
    (percent.abs() > TOLERANCE_PERCENT).then_some(percent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_callgrind_says() {
        let stderr = "==9== Events    : Ir\n==9== Collected : 68900000\n==9==\n";
        assert_eq!(per_request("100000 requests\n", stderr), Some(689.0));
        assert_eq!(per_request("100000 requests\n", "==9== Collected : 0\n"), None);
        assert_eq!(per_request("", stderr), None);
    }

    #[test]
    fn notices_more_and_less() {
        assert!(change(715.0, 700.0).is_some_and(|percent| percent > 2.0));
        assert!(change(685.0, 700.0).is_some_and(|percent| percent < -2.0));
        assert!(change(713.0, 700.0).is_none() && change(687.0, 700.0).is_none());
    }
}
