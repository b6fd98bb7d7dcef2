//! What GET, SET and changes of collections cost between the socket and the log, in instructions,
//! against kept figures.
//!
//! Instructions do not depend on the load of the machine, so a change of a few per cent can be seen
//! anywhere. The driver is `crates/dispatch/examples/measure.rs`, counted by callgrind; the figures
//! are in `instructions.toml` beside this package's sources. They hold for the compiler that
//! `rust-toolchain.toml` names. A figure that is lower than the kept one fails as well: what has
//! been gained is kept by `--update`.

use std::path::Path;
use std::process::Command;

/// How far a count may be from the kept figure, in per cent.
const TOLERANCE_PERCENT: f64 = 2.0;

const FIGURES: &str = "xtask/instructions.toml";

/// What is kept, and what the driver is told.
const CASES: &[(&str, &[&str])] = &[
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
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let built = Command::new(cargo)
        .args(["build", "--release", "-p", "basalt-dispatch", "--example", "measure"])
        .current_dir(root)
        .status()
        .map_err(|error| format!("cannot start cargo: {error}"))?;
    if !built.success() {
        return Err("the driver does not build".to_owned());
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    let driver = root.join(target).join("release/examples/measure");
    let counted = CASES.iter().map(|(name, words)| {
        let count = count(&driver, words).map_err(|error| format!("{name}: {error}"))?;
        println!("{name}: {count:.1} instructions a request");
        Ok((*name, count))
    });
    counted.collect()
}

fn count(driver: &Path, words: &[&str]) -> Result<f64, String> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--toggle-collect=*counted*", "--callgrind-out-file=/dev/null"])
        .arg(driver)
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
