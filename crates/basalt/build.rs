//! Tells the program what it was built from: the commit, and the version of RocksDB.
//!
//! Nothing here fails a build: outside of its own repository, or without git, the commit is
//! unknown.

use std::path::Path;
use std::process::Command;

fn main() {
    let commit = is_own_repository().then(commit).flatten();
    println!("cargo::rustc-env=BASALT_COMMIT={}", commit.as_deref().unwrap_or("unknown"));
    let rocksdb = rocksdb_version("../../Cargo.lock");
    println!("cargo::rustc-env=BASALT_ROCKSDB={}", rocksdb.as_deref().unwrap_or("unknown"));
    println!("cargo::rerun-if-changed=../../Cargo.lock");
    println!("cargo::rerun-if-changed=build.rs");
    // The first grows with each commit and each change of branch; the second is there without it.
    for file in ["logs/HEAD", "HEAD"] {
        if let Some(path) = git(&["rev-parse", "--git-path", file])
            && Path::new(&path).exists()
        {
            println!("cargo::rerun-if-changed={path}");
        }
    }
}

/// Sources that were unpacked somewhere within another repository have no commit there.
fn is_own_repository() -> bool {
    let top = git(&["rev-parse", "--show-toplevel"]);
    let same = |top: String| {
        Some(std::fs::canonicalize(top).ok()? == std::fs::canonicalize("../..").ok()?)
    };
    top.and_then(same).unwrap_or(false)
}

/// The commit, marked if tracked files differ from it.
fn commit() -> Option<String> {
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    let differs = git(&["status", "--porcelain", "--untracked-files=no"]).is_some();
    Some(if differs { format!("{commit} with changes") } else { commit })
}

fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !text.trim().is_empty()).then(|| text.trim().to_owned())
}

/// The version that `librocksdb-sys` has behind the plus sign of its own.
fn rocksdb_version(lock: &str) -> Option<String> {
    let text = std::fs::read_to_string(lock).ok()?;
    let package = text.split("[[package]]").find(|part| part.contains("\"librocksdb-sys\""))?;
    let version = package.lines().find_map(|line| line.strip_prefix("version = \""))?;
    version.trim_end_matches('"').split_once('+').map(|(_, rocksdb)| rocksdb.to_owned())
}
