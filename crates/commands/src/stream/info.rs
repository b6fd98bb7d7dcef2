//! XINFO: what a stream, its groups and their consumers are like.

use super::{info_full, no_group, reply_entry, reply_id};
use crate::help::{container, help};
use basalt_call::entry::{Entry, Run, Traits};
use basalt_engine::View;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse, Subcommands, at};
use basalt_value::Collection;
use basalt_value::stream::{EntryId, Stream};

pub(super) const XINFO: Entry = Entry {
    spec: CommandSpec {
        name: "xinfo",
        group: Group::Stream,
        subcommands: Subcommands::Required,
        since: "5.0.0",
        complexity: "Depends on the subcommand",
        summary: "The container of commands that look into a stream.",
        examples: &["XINFO nosuch s => (error) ERR unknown subcommand 'nosuch'. Try XINFO HELP."],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(container),
    ..Entry::DEFAULT
};

pub(super) const XINFO_CONSUMERS: Entry = Entry {
    spec: CommandSpec {
        name: "xinfo|consumers",
        synopsis: "key groupname",
        group: Group::Stream,
        flags: Flags::of(&[Flag::Readonly]),
        keys: &[KeyUse::READ],
        since: "5.0.0",
        complexity: "O(N) with N consumers",
        summary: "Tells of each consumer of a group what is pending for it and how long it has been idle.",
        examples: &[
            "XGROUP CREATE s g $ MKSTREAM => OK",
            "XGROUP CREATECONSUMER s g c => (integer) 1",
            r#"XINFO CONSUMERS s g => [["name", "c", "pending", (integer) 0, "idle", (any), "inactive", (integer) -1]]"#,
        ],
        tips: &["nondeterministic_output"],
        history: &[("7.2.0", "Added the field `inactive`, and changed what `idle` means.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(consumers),
    ..Entry::DEFAULT
};

pub(super) const XINFO_GROUPS: Entry = Entry {
    spec: CommandSpec {
        name: "xinfo|groups",
        synopsis: "key",
        group: Group::Stream,
        flags: Flags::of(&[Flag::Readonly]),
        keys: &[KeyUse::READ],
        since: "5.0.0",
        complexity: "O(N) with N groups",
        summary: "Tells of each group of a stream how far it is.",
        examples: &[
            r#"XADD s 1-0 f a => "1-0""#,
            "XGROUP CREATE s g 0 => OK",
            r#"XINFO GROUPS s => [["name", "g", "consumers", (integer) 0, "pending", (integer) 0, "last-delivered-id", "0-0", "entries-read", (nil), "lag", (integer) 1]]"#,
        ],
        history: &[("7.0.0", "Added the fields `entries-read` and `lag`.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(groups),
    ..Entry::DEFAULT
};

const HELP: &[&str] = &[
    "CONSUMERS <key> <groupname>",
    "    Describe the consumers of a group.",
    "GROUPS <key>",
    "    Describe the groups of a stream.",
    "STREAM <key> [FULL [COUNT <count>]",
    "    Describe a stream.",
];

pub(super) const XINFO_HELP: Entry = Entry {
    spec: CommandSpec {
        name: "xinfo|help",
        group: Group::Stream,
        flags: Flags::of(&[Flag::Loading, Flag::Stale]),
        since: "5.0.0",
        complexity: "O(1)",
        summary: "Shows the subcommands of XINFO.",
        examples: &["XINFO HELP => (any)"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(|_, args, reply| help(args, HELP, reply)),
    ..Entry::DEFAULT
};

pub(super) const XINFO_STREAM: Entry = Entry {
    spec: CommandSpec {
        name: "xinfo|stream",
        synopsis: "key [FULL ([COUNT count])]",
        group: Group::Stream,
        flags: Flags::of(&[Flag::Readonly]),
        keys: &[KeyUse::READ],
        overrides: &[at("FULL").named("full")],
        since: "5.0.0",
        complexity: "O(1), with FULL O(N) with N entries, groups, consumers and pending entries returned",
        summary: "Tells what a stream is like, with FULL also its entries, groups and consumers.",
        examples: &[
            "XINFO STREAM s => (error) ERR no such key",
            r#"XADD s 1-0 f a => "1-0""#,
            "XINFO STREAM s => (any)",
        ],
        history: &[
            ("6.0.0", "Added the option `FULL`."),
            (
                "7.0.0",
                "Added the fields `max-deleted-entry-id`, `entries-added`, `recorded-first-entry-id`, `entries-read` and `lag`.",
            ),
            ("7.2.0", "Added the field `active-time`, and changed what `seen-time` means."),
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(stream),
    // FULL may ask for all.
    traits: Traits::working_beyond(4, |_, _| usize::MAX),
    ..Entry::DEFAULT
};

fn stream(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let stream = existing(view, args)?;
    match info_full::parse(args)? {
        Some(count_max) => {
            info_full::full(stream, count_max, reply);
            Ok(())
        }
        None => {
            reply.map(10);
            about(stream, reply);
            field("groups", reply);
            reply.integer(stream.group_count() as i64);
            let (first, last) = (EntryId::MIN, EntryId::MAX);
            for (name, entry) in [
                ("first-entry", stream.entries(first, last).next()),
                ("last-entry", stream.entries_back(first, last).next()),
            ] {
                field(name, reply);
                match entry {
                    Some(entry) => reply_entry(&entry, reply),
                    None => reply.null(),
                }
            }
            Ok(())
        }
    }
}

/// The seven fields that both forms begin with.
pub(super) fn about(stream: &Stream, reply: &mut Reply<'_>) {
    let nodes = stream.node_count() as i64;
    field("length", reply);
    reply.integer(stream.len() as i64);
    field("radix-tree-keys", reply);
    reply.integer(nodes);
    // There is no radix tree; one of this number of keys has at least as many nodes.
    field("radix-tree-nodes", reply);
    reply.integer(nodes + 1);
    field("last-generated-id", reply);
    reply_id(stream.last_id(), reply);
    field("max-deleted-entry-id", reply);
    reply_id(stream.max_deleted_id(), reply);
    field("entries-added", reply);
    reply.integer(stream.entries_added() as i64);
    field("recorded-first-entry-id", reply);
    reply_id(stream.first_id(), reply);
}

fn groups(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let stream = existing(view, args)?;
    reply.array(stream.group_count());
    for (name, group) in stream.groups() {
        reply.map(6);
        field("name", reply);
        reply.bulk(name);
        field("consumers", reply);
        reply.integer(group.consumer_count() as i64);
        field("pending", reply);
        reply.integer(group.pending_count() as i64);
        field("last-delivered-id", reply);
        reply_id(group.last_id(), reply);
        field("entries-read", reply);
        known(group.entries_read(), reply);
        field("lag", reply);
        known(stream.lag(group), reply);
    }
    Ok(())
}

fn consumers(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let stream = existing(view, args)?;
    let name = args.word(3);
    let group = stream.group(name).ok_or_else(|| no_group(args.key(0).bytes, name))?;
    let since = |ms: u64| view.now_ms().saturating_sub(ms) as i64;
    reply.array(group.consumer_count());
    for consumer in group.consumers() {
        reply.map(4);
        field("name", reply);
        reply.bulk(consumer.name());
        field("pending", reply);
        reply.integer(consumer.pending_count() as i64);
        field("idle", reply);
        reply.integer(since(consumer.seen_ms()));
        field("inactive", reply);
        reply.integer(consumer.active_ms().map_or(-1, since));
    }
    Ok(())
}

fn existing<'a>(view: &'a View<'_>, args: &Args<'_>) -> Result<&'a Stream, CommandError> {
    view.collection::<Stream>(args.key(0))?.ok_or(CommandError::NO_SUCH_KEY)
}

/// The name of a field of a map.
pub(super) fn field(name: &str, reply: &mut Reply<'_>) {
    reply.bulk(name.as_bytes());
}

/// A number, or null if it is not known.
pub(super) fn known(number: Option<u64>, reply: &mut Reply<'_>) {
    match number {
        Some(number) => reply.integer(number as i64),
        None => reply.null(),
    }
}
