//! SIGKILL in the midst of commits: every checkpoint is there whole or not at all, and an
//! acknowledged one is there.

use std::{
    env,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Command, Stdio},
};

use basalt_cold::conformance::crash;

use crate::open;

const DIR_VARIABLE: &str = "BASALT_COLD_CRASH_DIR";
const KILLS: u64 = 25;

#[test]
fn kill_leaves_whole_checkpoints() {
    let root = tempfile::tempdir().expect("a temporary directory");
    let mut last = 0;
    for kill in 0..KILLS {
        // From before the first commit to many commits and a compaction or two later.
        let acknowledged = run_child_until(root.path(), kill % 9);
        let found = crash::verify(&open(root.path()));
        assert!(
            found >= acknowledged.max(last),
            "{acknowledged} was acknowledged, {found} is there"
        );
        last = found;
    }
    assert!(last >= KILLS);
}

/// Kills the child right after it has acknowledged `commits` checkpoints, so in the midst of the
/// next. Returns the last acknowledged one.
fn run_child_until(dir: &Path, commits: u64) -> u64 {
    let mut child = Command::new(env::current_exe().expect("this test"))
        .args(["--exact", "crash::child_commits", "--nocapture"])
        .env(DIR_VARIABLE, dir)
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts the child");
    let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    let mut numbers = std::iter::from_fn(|| lines.next())
        .filter_map(|line| line.expect("reads").strip_prefix("committed ")?.parse().ok());
    let last = numbers.nth(commits as usize).expect("the child commits");
    child.kill().expect("kills");
    child.wait().expect("is dead");
    numbers.last().unwrap_or(last)
}

/// Not a test of its own: the child of the test above, which passes a directory to it.
#[test]
fn child_commits() {
    let Some(dir) = env::var_os(DIR_VARIABLE) else { return };
    let tier = open(Path::new(&dir));
    // The harness may have left its own text on the line.
    println(0);
    crash::commit_until_killed(&tier, &mut println);
}

fn println(number: u64) {
    let mut out = std::io::stdout().lock();
    write!(out, "\ncommitted {number}\n").and_then(|()| out.flush()).expect("the parent listens");
}
