//! The reference page of all commands, made of their specs.

use basalt_call::calls::Commands;
use basalt_spec::{Command, Group, Subcommands};
use std::fmt::Write;

const PAGE_HEAD: &str = "\
<!-- Made from the command table in crates/commands; do not edit it by hand. -->
# Commands

What is here is what this version has. Names, arguments, replies and error texts are those of Redis \
7.2; *since* names the Redis version that brought a command. `COMMAND DOCS` and `COMMAND INFO` tell \
the same to a client.

The examples run as tests, in order, on an empty database. What stands behind `=>` is the reply: a \
bare word is a simple string, `\"...\"` a bulk string, `[...]` an array, `{...}` an array in any order, \
`(any)` whatever is not an error; an error that ends in `...` only begins so.
";

/// The groups that have commands, in the order of the page.
const GROUPS: &[(Group, &str)] = &[
    (Group::String, "Strings"),
    (Group::Bitmap, "Bits of strings"),
    (Group::Hyperloglog, "HyperLogLogs"),
    (Group::List, "Lists"),
    (Group::Hash, "Hashes"),
    (Group::Set, "Sets"),
    (Group::SortedSet, "Sorted sets"),
    (Group::Geo, "Places"),
    (Group::Stream, "Streams"),
    (Group::Generic, "Keys of any type"),
    (Group::Transactions, "Transactions"),
    (Group::Pubsub, "Publish and subscribe"),
    (Group::Connection, "Connection"),
    (Group::Server, "Server"),
    (Group::Scripting, "Scripts and functions"),
    (Group::Cluster, "Cluster"),
];

/// The reference page, checked in as `docs/reference/commands.md`.
///
/// # Panics
/// If a command's group is not on the page: that is a mistake in this crate, and its tests find it.
pub fn reference_markdown(commands: &Commands) -> String {
    let mut page = PAGE_HEAD.to_owned();
    for command in commands.table.all() {
        let group = command.spec.group;
        assert!(GROUPS.iter().any(|(shown, _)| *shown == group), "{} is on no page", group.name());
    }
    for (group, title) in GROUPS {
        let mut shown: Vec<&Command> =
            commands.table.all().iter().filter(|command| command.spec.group == *group).collect();
        shown.sort_by_key(|command| command.spec.name);
        if !shown.is_empty() {
            let _ = write!(page, "\n## {title}\n");
        }
        shown.into_iter().for_each(|command| section(&mut page, command));
    }
    page
}

fn section(page: &mut String, command: &Command) {
    let spec = command.spec;
    let name = spec.name.replace('|', " ").to_uppercase();
    let _ = write!(page, "\n### {name}\n\n");
    if spec.subcommands != Subcommands::Required {
        let _ = write!(page, "`{}`\n\n", format!("{name} {}", spec.synopsis).trim_end());
    }
    let _ = write!(page, "{} Since {}", spec.summary, spec.since);
    if !spec.complexity.is_empty() {
        let _ = write!(page, "; {}", spec.complexity.trim_end_matches('.'));
    }
    page.push_str(".\n");
    if let Some(deprecated) = spec.deprecated {
        let _ =
            write!(page, "\nDeprecated since {}: {}.\n", deprecated.since, deprecated.replaced_by);
    }
    if !spec.history.is_empty() {
        page.push('\n');
    }
    for (version, what) in spec.history {
        let _ = writeln!(page, "- {version}: {what}");
    }
    if !spec.examples.is_empty() {
        let _ = write!(page, "\n```text\n{}\n```\n", spec.examples.join("\n"));
    }
}
