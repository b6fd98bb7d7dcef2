//! OBJECT: what a value is made of and how it is used.

use crate::help::{container, help};
use basalt_call::entry::{Entry, Run, Traits};
use basalt_change::op::StringForm;
use basalt_engine::{EntryValue, Object, View};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse, Subcommands};

/// What OBJECT ENCODING calls a string that is neither a number nor short, or has been edited.
pub(crate) const RAW: &str = "raw";
/// Longest string that Redis embeds in its object.
const EMBEDDED_BYTES_MAX: usize = 44;
/// Integers below this are objects that all keys share in Redis, whose reference count is the
/// largest there is.
const SHARED_INTEGERS: i64 = 10_000;
const SHARED_REFERENCES: i64 = i32::MAX as i64;

pub(super) const OBJECT: Entry = Entry {
    spec: CommandSpec {
        name: "object",
        group: Group::Generic,
        subcommands: Subcommands::Required,
        since: "2.2.3",
        complexity: "Depends on the subcommand",
        summary: "The container of commands that look inside a key.",
        examples: &[
            "OBJECT => (error) ERR wrong number of arguments for 'object' command",
            "OBJECT nosuch k => (error) ERR unknown subcommand 'nosuch'. Try OBJECT HELP.",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(container),
    ..Entry::DEFAULT
};

pub(super) const OBJECT_ENCODING: Entry = Entry {
    spec: CommandSpec {
        name: "object|encoding",
        synopsis: "key",
        group: Group::Generic,
        flags: Flags::of(&[Flag::Readonly]),
        keys: &[KeyUse::INSPECT],
        since: "2.2.3",
        complexity: "O(1)",
        summary: "Tells how the value at a key is represented in memory.",
        examples: &[
            "OBJECT ENCODING k => (nil)",
            "SET k 12 => OK",
            r#"OBJECT ENCODING k => "int""#,
            "SET k abc => OK",
            r#"OBJECT ENCODING k => "embstr""#,
        ],
        tips: &["nondeterministic_output"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(encoding_of),
    traits: Traits { inspects_keys: true, ..Traits::NONE },
    ..Entry::DEFAULT
};

pub(super) const OBJECT_FREQ: Entry = Entry {
    spec: CommandSpec {
        name: "object|freq",
        synopsis: "key",
        group: Group::Generic,
        flags: Flags::of(&[Flag::Readonly]),
        keys: &[KeyUse::INSPECT],
        since: "4.0.0",
        complexity: "O(1)",
        summary: "Tells how often a key is used, on a logarithmic scale, where eviction goes by frequency.",
        examples: &["OBJECT FREQ k => (nil)"],
        tips: &["nondeterministic_output"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(freq),
    traits: Traits { inspects_keys: true, ..Traits::NONE },
    ..Entry::DEFAULT
};

pub(super) const OBJECT_IDLETIME: Entry = Entry {
    spec: CommandSpec {
        name: "object|idletime",
        synopsis: "key",
        group: Group::Generic,
        flags: Flags::of(&[Flag::Readonly]),
        keys: &[KeyUse::INSPECT],
        since: "2.2.3",
        complexity: "O(1)",
        summary: "Tells for how many seconds a key has not been used.",
        examples: &[
            "OBJECT IDLETIME k => (nil)",
            "SET k v => OK",
            "OBJECT IDLETIME k => (integer) 0",
        ],
        tips: &["nondeterministic_output"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(idletime),
    traits: Traits { inspects_keys: true, ..Traits::NONE },
    ..Entry::DEFAULT
};

pub(super) const OBJECT_REFCOUNT: Entry = Entry {
    spec: CommandSpec {
        name: "object|refcount",
        synopsis: "key",
        group: Group::Generic,
        flags: Flags::of(&[Flag::Readonly]),
        keys: &[KeyUse::INSPECT],
        since: "2.2.3",
        complexity: "O(1)",
        summary: "Tells how often the value at a key is referred to.",
        examples: &[
            "OBJECT REFCOUNT k => (nil)",
            "SET k v => OK",
            "OBJECT REFCOUNT k => (integer) 1",
        ],
        tips: &["nondeterministic_output"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(refcount),
    traits: Traits { inspects_keys: true, ..Traits::NONE },
    ..Entry::DEFAULT
};

const HELP: &[&str] = &[
    "DESCRIBE <key>",
    "    Return the type of a key, its time to live, its encoding, the memory that",
    "    it takes and how many elements it has.",
    "ENCODING <key>",
    "    Return how the value of a key is represented in memory.",
    "FREQ <key>",
    "    Return how often a key is used, on a logarithmic scale.",
    "IDLETIME <key>",
    "    Return the seconds for which a key has not been used.",
    "REFCOUNT <key>",
    "    Return how often the value of a key is referred to.",
];

pub(super) const OBJECT_HELP: Entry = Entry {
    spec: CommandSpec {
        name: "object|help",
        group: Group::Generic,
        flags: Flags::of(&[Flag::Loading, Flag::Stale]),
        since: "6.2.0",
        complexity: "O(1)",
        summary: "Lists the subcommands of OBJECT.",
        examples: &["OBJECT HELP => (any)"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(|_, args, reply| help(args, HELP, reply)),
    ..Entry::DEFAULT
};

fn encoding_of(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    match view.inspect(args.key(0)) {
        Some(object) => reply.bulk(encoding(object).as_bytes()),
        None => reply.null(),
    }
    Ok(())
}

/// How Redis would store the value. A string goes by how it came about and by its length.
pub(crate) fn encoding(object: Object<'_>) -> &'static str {
    let bytes = match object.value() {
        EntryValue::String(string) => string.bytes(),
        EntryValue::Collection(value) => return value.encoding(),
    };
    match object.form() {
        StringForm::Edited => RAW,
        StringForm::Whole if basalt_number::parse_i64(bytes).is_some() => "int",
        StringForm::Whole if bytes.len() <= EMBEDDED_BYTES_MAX => "embstr",
        StringForm::Whole => RAW,
    }
}

/// How often the key is used: at most one use a second counts.
fn freq(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let Some(object) = view.inspect(args.key(0)) else {
        reply.null();
        return Ok(());
    };
    if !view.engine().eviction().is_by_frequency() {
        return Err(CommandError::fixed(
            "ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please \
             note that when switching between policies at runtime LRU and LFU data will take some \
             time to adjust.",
        ));
    }
    let now_s = (view.now_ms() / 1000) as u32;
    reply.integer(object.access().frequency(now_s).into());
    Ok(())
}

fn idletime(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let Some(object) = view.inspect(args.key(0)) else {
        reply.null();
        return Ok(());
    };
    if view.engine().eviction().is_by_frequency() {
        return Err(CommandError::fixed(
            "ERR An LFU maxmemory policy is selected, idle time not tracked. Please note that when \
             switching between policies at runtime LRU and LFU data will take some time to adjust.",
        ));
    }
    let now_s = (view.now_ms() / 1000) as u32;
    reply.integer(object.access().idle_seconds(now_s).into());
    Ok(())
}

fn refcount(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    match view.inspect(args.key(0)) {
        Some(object) => reply.integer(references(object)),
        None => reply.null(),
    }
    Ok(())
}

fn references(object: Object<'_>) -> i64 {
    let is_shared = encoding(object) == "int"
        && object
            .string()
            .and_then(|string| basalt_number::parse_i64(string.bytes()))
            .is_some_and(|value| (0..SHARED_INTEGERS).contains(&value));
    if is_shared { SHARED_REFERENCES } else { 1 }
}
