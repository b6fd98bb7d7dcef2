//! XGROUP: making, moving and removing groups and their consumers.

use super::{edit_as, ids, no_group, notify};
use crate::help::{container, help};
use crate::number::integer;
use basalt_call::entry::{Entry, Run, Traits};
use basalt_call::unknown::wrong_subcommand;
use basalt_engine::{Absent, Key, Txn};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse, Subcommands, around, at};
use basalt_value::stream::{GroupPlace, Reader, Stream};

pub(super) const XGROUP: Entry = Entry {
    spec: CommandSpec {
        name: "xgroup",
        group: Group::Stream,
        subcommands: Subcommands::Required,
        since: "5.0.0",
        complexity: "Depends on the subcommand",
        summary: "The container of commands about consumer groups.",
        examples: &["XGROUP nosuch s => (error) ERR unknown subcommand 'nosuch'. Try XGROUP HELP."],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(container),
    ..Entry::DEFAULT
};

pub(super) const XGROUP_CREATE: Entry = Entry {
    spec: CommandSpec {
        name: "xgroup|create",
        synopsis: "key groupname <id | $> [MKSTREAM] [ENTRIESREAD entries_read]",
        group: Group::Stream,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom]),
        keys: &[KeyUse::ADD],
        overrides: &[at("$").named("new_id"), around("id").named("id")],
        since: "5.0.0",
        complexity: "O(1)",
        summary: "Makes a consumer group that is to read the entries of a stream behind an ID.",
        examples: &[
            "XGROUP CREATE s g $ => (error) ERR The XGROUP subcommand requires the key to exist. ...",
            "XGROUP CREATE s g $ MKSTREAM => OK",
            "XGROUP CREATE s g 0 => (error) BUSYGROUP Consumer Group name already exists",
        ],
        history: &[("7.0.0", "Added the argument `entries_read`.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(create),
    ..Entry::DEFAULT
};

pub(super) const XGROUP_CREATECONSUMER: Entry = Entry {
    spec: CommandSpec {
        name: "xgroup|createconsumer",
        synopsis: "key groupname consumername",
        group: Group::Stream,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom]),
        keys: &[KeyUse::ADD],
        since: "6.2.0",
        complexity: "O(1)",
        summary: "Makes a consumer of a group and returns whether it is new.",
        examples: &[
            "XGROUP CREATE s g $ MKSTREAM => OK",
            "XGROUP CREATECONSUMER s g c => (integer) 1",
            "XGROUP CREATECONSUMER s g c => (integer) 0",
            "XGROUP CREATECONSUMER s h c => (error) NOGROUP No such consumer group 'h' for key name 's'",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(create_consumer),
    ..Entry::DEFAULT
};

pub(super) const XGROUP_DELCONSUMER: Entry = Entry {
    spec: CommandSpec {
        name: "xgroup|delconsumer",
        synopsis: "key groupname consumername",
        group: Group::Stream,
        flags: Flags::of(&[Flag::Write]),
        keys: &[KeyUse::TRIM],
        since: "5.0.0",
        complexity: "O(N) with N entries pending for the consumer",
        summary: "Removes a consumer of a group and returns how many entries were pending for it, which are forgotten.",
        examples: &[
            "XGROUP CREATE s g $ MKSTREAM => OK",
            "XGROUP CREATECONSUMER s g c => (integer) 1",
            "XGROUP DELCONSUMER s g c => (integer) 0",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(delete_consumer),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

pub(super) const XGROUP_DESTROY: Entry = Entry {
    spec: CommandSpec {
        name: "xgroup|destroy",
        synopsis: "key groupname",
        group: Group::Stream,
        flags: Flags::of(&[Flag::Write]),
        keys: &[KeyUse::TRIM],
        since: "5.0.0",
        complexity: "O(N) with N pending entries",
        summary: "Removes a group with its consumers and pending entries and returns whether it was there.",
        examples: &[
            "XGROUP CREATE s g $ MKSTREAM => OK",
            "XGROUP DESTROY s g => (integer) 1",
            "XGROUP DESTROY s g => (integer) 0",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(destroy),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

const HELP: &[&str] = &[
    "CREATE <key> <groupname> <id|$> [option]",
    "    Make a group of consumers. Options are:",
    "    * MKSTREAM",
    "      Make the stream, if there is none.",
    "    * ENTRIESREAD entries_read",
    "      How many entries the group counts as read.",
    "CREATECONSUMER <key> <groupname> <consumer>",
    "    Make a consumer.",
    "DELCONSUMER <key> <groupname> <consumer>",
    "    Delete a consumer.",
    "DESTROY <key> <groupname>",
    "    Delete a group.",
    "SETID <key> <groupname> <id|$> [ENTRIESREAD entries_read]",
    "    Set the entry from which on a group is served, and how many count as",
    "    read.",
];

pub(super) const XGROUP_HELP: Entry = Entry {
    spec: CommandSpec {
        name: "xgroup|help",
        group: Group::Stream,
        flags: Flags::of(&[Flag::Loading, Flag::Stale]),
        since: "5.0.0",
        complexity: "O(1)",
        summary: "Shows the subcommands of XGROUP.",
        examples: &["XGROUP HELP => (any)"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(|_, args, reply| help(args, HELP, reply)),
    ..Entry::DEFAULT
};

pub(super) const XGROUP_SETID: Entry = Entry {
    spec: CommandSpec {
        name: "xgroup|setid",
        synopsis: "key groupname <id | $> [ENTRIESREAD entries_read]",
        group: Group::Stream,
        flags: Flags::of(&[Flag::Write]),
        keys: &[KeyUse::UPDATE],
        overrides: &[at("$").named("new_id"), around("id").named("id")],
        since: "5.0.0",
        complexity: "O(1)",
        summary: "Has a group go on reading behind an ID.",
        examples: &[
            "XGROUP CREATE s g $ MKSTREAM => OK",
            "XGROUP SETID s g 0 => OK",
            "XGROUP SETID s h 0 => (error) NOGROUP No such consumer group 'h' for key name 's'",
        ],
        history: &[("7.0.0", "Added the argument `entries_read`.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(set_id),
    ..Entry::DEFAULT
};

const KEY_REQUIRED: CommandError = CommandError::fixed(
    "ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use the MKSTREAM option to create an empty stream automatically.",
);

/// The options behind an identity.
struct Options {
    absent: Absent,
    entries_read: Option<u64>,
}

fn create(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let options = parse(args)?;
    let (key, name) = (args.key(0), args.word(3));
    let stream = txn.collection::<Stream>(key)?;
    if stream.is_none() && options.absent == Absent::Skip {
        return Err(KEY_REQUIRED);
    }
    let last_id = match args.word(4) {
        b"$" => stream.map(Stream::last_id).unwrap_or_default(),
        id => ids::id(id)?,
    };
    let at = GroupPlace { last_id, entries_read: options.entries_read };
    let created = txn.edit_aside::<Stream, _>(key, options.absent, |stream, edits| {
        stream.create_group(name, at, edits)
    })?;
    if created != Some(true) {
        return Err(CommandError::fixed("BUSYGROUP Consumer Group name already exists"));
    }
    notify(txn, "xgroup-create", key);
    reply.ok();
    Ok(())
}

fn set_id(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let options = parse(args)?;
    if options.absent == Absent::Create {
        return Err(wrong_subcommand(args));
    }
    let (key, name) = (args.key(0), args.word(3));
    let stream = stream_with_group(txn, key, name)?;
    let last_id = match args.word(4) {
        b"$" => stream.last_id(),
        id => ids::id_or_bound(id)?,
    };
    let at = GroupPlace { last_id, entries_read: options.entries_read };
    txn.edit_aside::<Stream, _>(key, Absent::Skip, |stream, edits| {
        stream.set_group(name, at, edits)
    })?;
    notify(txn, "xgroup-setid", key);
    reply.ok();
    Ok(())
}

fn parse(args: &Args<'_>) -> Result<Options, CommandError> {
    let mut options = Options { absent: Absent::Skip, entries_read: None };
    let mut index = 5;
    while index < args.len() {
        if args.is(index, "mkstream") {
            options.absent = Absent::Create;
            index += 1;
        } else if args.is(index, "entriesread") && index + 1 < args.len() {
            options.entries_read = match integer(args.word(index + 1))? {
                -1 => None,
                count => Some(u64::try_from(count).map_err(|_| {
                    CommandError::fixed("ERR value for ENTRIESREAD must be positive or -1")
                })?),
            };
            index += 2;
        } else {
            return Err(wrong_subcommand(args));
        }
    }
    Ok(options)
}

fn destroy(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let key = args.key(0);
    let destroyed = txn.edit_aside::<Stream, _>(key, Absent::Skip, |stream, edits| {
        stream.destroy_group(args.word(3), edits)
    })?;
    let destroyed = destroyed.ok_or(KEY_REQUIRED)?;
    if destroyed {
        notify(txn, "xgroup-destroy", key);
        // Its consumers that wait learn it.
        txn.signal(key);
    }
    reply.integer(destroyed.into());
    Ok(())
}

fn create_consumer(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let (key, group, consumer) = (args.key(0), args.word(3), args.word(4));
    stream_with_group(txn, key, group)?;
    let reader = Reader { group, consumer, now_ms: txn.now_ms() };
    let created = edit_as(txn, key, reader, |stream, edits| stream.create_consumer(reader, edits))?;
    reply.integer((created.flatten() == Some(true)).into());
    Ok(())
}

fn delete_consumer(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let (key, group, consumer) = (args.key(0), args.word(3), args.word(4));
    stream_with_group(txn, key, group)?;
    let pending = txn.edit_aside::<Stream, _>(key, Absent::Skip, |stream, edits| {
        stream.delete_consumer(group, consumer, edits)
    })?;
    let pending = pending.flatten();
    if pending.is_some() {
        notify(txn, "xgroup-delconsumer", key);
    }
    reply.integer(pending.unwrap_or(0) as i64);
    Ok(())
}

/// The stream at a key, which has this group.
fn stream_with_group<'a>(
    txn: &'a Txn<'_>,
    key: &Key<'_>,
    group: &[u8],
) -> Result<&'a Stream, CommandError> {
    let stream = txn.collection::<Stream>(key)?.ok_or(KEY_REQUIRED)?;
    if stream.group(group).is_none() {
        return Err(no_group(key.bytes, group));
    }
    Ok(stream)
}
