//! A new command costs two files: its own, and the list of its family.
//!
//! A copy of the tree gets a command that no version of Redis has. The copy must keep the rules of
//! the house. Whether it also compiles, lists the command and answers the command's examples takes
//! minutes, since cargo compiles what stands at another path again: the test looks at that with
//! `BASALT_ADDED_COMMAND=full`, as `cargo xtask nightly` runs it.

use std::path::{Path, PathBuf};
use std::process::Command;

const FILE: &str = "crates/commands/src/strings/letters.rs";
const FAMILY: &str = "crates/commands/src/strings.rs";

/// All that is written of the new command.
const TEXT: &str = r#"//! LETTERS.

use super::bytes;
use basalt_call::entry::{Entry, Run};
use basalt_engine::Point;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandResult;
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse};

pub(super) const LETTERS: Entry = Entry {
    spec: CommandSpec {
        name: "letters",
        synopsis: "key",
        group: Group::String,
        flags: Flags::of(&[Flag::Readonly, Flag::Fast]),
        keys: &[KeyUse::READ],
        since: "7.2.0",
        complexity: "O(N) with N bytes of the string",
        summary: "Counts the letters of the string at a key.",
        examples: &["LETTERS k => (integer) 0", "SET k a1b2 => OK", "LETTERS k => (integer) 2"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Point(letters),
    ..Entry::DEFAULT
};

fn letters(point: &Point<'_>, _: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let bytes = point.object().map_or(Ok(&[][..]), bytes)?;
    reply.integer(bytes.iter().filter(|byte| byte.is_ascii_alphabetic()).count() as i64);
    Ok(())
}
"#;

#[test]
fn a_command_is_added_in_two_files() {
    let copy = Copy::new("added-command");
    copy.add_the_command();
    let changed = copy.git(&["status", "--porcelain", "--untracked-files=all"]);
    let mut changed: Vec<&str> = changed.lines().filter_map(|line| line.get(3..)).collect();
    changed.sort_unstable();
    assert_eq!(changed, [FAMILY, FILE]);
    copy.assert_tidy();
    if std::env::var("BASALT_ADDED_COMMAND").is_ok_and(|value| value == "full") {
        copy.assert_answers();
    }
}

#[test]
fn a_decision_by_the_new_name_would_be_noticed() {
    let copy = Copy::new("decided-by-name");
    copy.add_the_command();
    let path = "crates/dispatch/src/wants.rs";
    let text = copy.read(path);
    copy.write(path, &format!("{text}\n/// A decision.\npub const COUNTED: &str = \"letters\";\n"));
    let output = copy.tidy();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!output.status.success(), "{printed}");
    assert!(printed.contains("\"letters\" is a command's name"), "{printed}");
}

/// A copy of the tree as git would commit it, a repository of its own.
struct Copy {
    root: PathBuf,
}

impl Copy {
    /// Makes the copy of this name, below `target`. The name is the same each time, so that what
    /// cargo compiles of it replaces what it compiled the last time.
    fn new(name: &str) -> Copy {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        if root.exists() {
            std::fs::remove_dir_all(&root).expect("the last copy can be removed");
        }
        let copy = Copy { root };
        let tree = tree();
        let listing = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"];
        for name in git(&tree, &listing).split('\0').filter(|name| !name.is_empty()) {
            let (from, to) = (tree.join(name), copy.path(name));
            // A file may be listed and yet be deleted in the working tree.
            if from.is_file() {
                std::fs::create_dir_all(to.parent().expect("a folder")).expect("a folder");
                std::fs::copy(from, to).expect("a copy");
            }
        }
        copy.git(&["init", "--quiet"]);
        copy.git(&["add", "--all", "--force"]);
        let author = ["-c", "user.name=test", "-c", "user.email=test@localhost"];
        copy.git(&[&author[..], &["commit", "--quiet", "--no-verify", "-m", "the tree"]].concat());
        copy
    }

    fn add_the_command(&self) {
        self.write(FILE, TEXT);
        let family = self.read(FAMILY);
        let named = family.replacen("mod many;\n", "mod letters;\nmod many;\n", 1);
        let listed = named.replacen("    lcs::LCS,\n", "    lcs::LCS,\n    letters::LETTERS,\n", 1);
        assert_eq!(listed.lines().count(), family.lines().count() + 2, "{FAMILY} has changed");
        self.write(FAMILY, &listed);
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("a file of the tree")
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("it can be written");
    }

    fn git(&self, words: &[&str]) -> String {
        git(&self.root, words)
    }

    fn tidy(&self) -> std::process::Output {
        Command::new(env!("CARGO_BIN_EXE_xtask"))
            .arg("tidy")
            .env("CARGO_MANIFEST_DIR", self.path("xtask"))
            .output()
            .expect("xtask starts")
    }

    fn assert_tidy(&self) {
        let output = self.tidy();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }

    /// Compiles the copy, runs all examples, and has the reference page written.
    fn assert_answers(&self) {
        let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
        let target = target.unwrap_or_else(|| tree().join("target"));
        let words = "test -p basalt-dispatch --test main -- every_example the_reference_page";
        let status = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
            .args(words.split(' '))
            .current_dir(&self.root)
            .env("CARGO_TARGET_DIR", target)
            .env("UPDATE_REFERENCE", "1")
            .status()
            .expect("cargo starts");
        assert!(status.success(), "the copy with the new command does not pass its tests");
        let page = self.read("docs/reference/commands.md");
        assert!(page.contains("### LETTERS\n"), "the new command is not among all commands");
    }
}

fn tree() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().expect("the tree").to_owned()
}

fn git(folder: &Path, words: &[&str]) -> String {
    let output = Command::new("git").args(words).current_dir(folder).output().expect("git starts");
    assert!(output.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("names are text")
}
