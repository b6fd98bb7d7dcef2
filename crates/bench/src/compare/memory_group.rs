//! A control group of Linux that bounds the memory of one process, pages of files that it caches
//! included: beyond that the kernel takes pages back, and ends the process where it cannot.
//!
//! Version 1 has a tree for memory alone, version 2 one for all. The group is made beneath the root
//! of the tree, for beneath a group of version 2 that has processes there can be none. The process
//! enters it before it becomes the server, so nothing that the server takes is counted elsewhere.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

/// Where Linux shows the groups.
const TREE: &str = "/sys/fs/cgroup";
/// Puts the shell into the group whose list is `$0`, and has it become the rest of its words.
const ENTER: &str = "echo 0 > \"$0\" && exec \"$@\"";
/// How often a group is removed: its last process may not be wholly gone.
const REMOVALS: u32 = 50;
const REMOVE_EVERY: Duration = Duration::from_millis(10);

/// The group goes with this value.
#[derive(Debug)]
pub(crate) struct MemoryGroup {
    dir: PathBuf,
}

impl MemoryGroup {
    /// Makes a group of this many bytes, without swap.
    ///
    /// # Errors
    /// There is no tree of groups that count memory, or this process may not make one.
    pub(crate) fn new(bytes: u64) -> io::Result<MemoryGroup> {
        MemoryGroup::beneath(Path::new(TREE), bytes)
    }

    fn beneath(tree: &Path, bytes: u64) -> io::Result<MemoryGroup> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        // Relaxed: only uniqueness matters.
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("basalt-bench-{}-{number}", std::process::id());
        let (dir, limits) = match tree.join("memory").join("memory.limit_in_bytes").exists() {
            true => {
                let both = ["memory.limit_in_bytes", "memory.memsw.limit_in_bytes"];
                (tree.join("memory").join(name), both.map(|file| (file, bytes)))
            }
            false if counts_memory(tree) => {
                (tree.join(name), [("memory.max", bytes), ("memory.swap.max", 0)])
            }
            false => return Err(io::Error::other("no control groups count memory here")),
        };
        fs::create_dir(&dir)?;
        let group = MemoryGroup { dir };
        for (index, (file, bytes)) in limits.into_iter().enumerate() {
            let written = fs::write(group.dir.join(file), bytes.to_string());
            // A kernel without swap has no limit of it.
            if index == 0 {
                written?;
            }
        }
        Ok(group)
    }

    /// A command that runs `program` within the group.
    pub(crate) fn command(&self, program: &OsStr) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", ENTER]).arg(self.dir.join("cgroup.procs")).arg(program);
        command
    }
}

impl Drop for MemoryGroup {
    fn drop(&mut self) {
        for _ in 0..REMOVALS {
            match fs::remove_dir(&self.dir) {
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                    thread::sleep(REMOVE_EVERY);
                }
                // What else there may be stays, empty.
                _ => return,
            }
        }
    }
}

/// The root of a tree of version 2 has its groups count memory.
fn counts_memory(tree: &Path) -> bool {
    let controllers = fs::read_to_string(tree.join("cgroup.subtree_control")).unwrap_or_default();
    controllers.split_whitespace().any(|controller| controller == "memory")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(group: &MemoryGroup, file: &str) -> Option<String> {
        fs::read_to_string(group.dir.join(file)).ok()
    }

    #[test]
    fn each_version_has_its_own_files() {
        let tree = tempfile::tempdir().expect("a directory");
        let refused = MemoryGroup::beneath(tree.path(), 5).expect_err("nothing counts memory");
        assert!(refused.to_string().contains("no control groups"), "{refused}");
        fs::write(tree.path().join("cgroup.subtree_control"), "cpu io\n").expect("written");
        assert!(MemoryGroup::beneath(tree.path(), 5).is_err());

        fs::write(tree.path().join("cgroup.subtree_control"), "cpu memory\n").expect("written");
        let second = MemoryGroup::beneath(tree.path(), 5).expect("version 2");
        assert_eq!(limit(&second, "memory.max").as_deref(), Some("5"));
        assert_eq!(limit(&second, "memory.swap.max").as_deref(), Some("0"));

        fs::create_dir(tree.path().join("memory")).expect("a directory");
        fs::write(tree.path().join("memory/memory.limit_in_bytes"), "9").expect("written");
        let first = MemoryGroup::beneath(tree.path(), 7).expect("version 1");
        assert_eq!(limit(&first, "memory.limit_in_bytes").as_deref(), Some("7"));
        assert_eq!(limit(&first, "memory.memsw.limit_in_bytes").as_deref(), Some("7"));
        assert_ne!(first.dir, second.dir);
    }

    #[test]
    fn a_program_enters_before_it_begins_and_keeps_its_arguments() {
        let tree = tempfile::tempdir().expect("a directory");
        fs::write(tree.path().join("cgroup.subtree_control"), "memory\n").expect("written");
        let group = MemoryGroup::beneath(tree.path(), 5).expect("a group");
        let mut command = group.command(OsStr::new("printf"));
        let output = command.args(["%s|", "a b", "", "$0"]).output().expect("a shell");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "a b||$0|");
        assert_eq!(limit(&group, "cgroup.procs").as_deref(), Some("0\n"));
    }
}
