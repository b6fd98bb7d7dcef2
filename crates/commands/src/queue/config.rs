//! Q.CONFIG: the settings of a queue.

use super::options::{lease_ms, time_ms};
use super::{edit, queue_at};
use crate::help::{container, help};
use basalt_call::entry::{Entry, Run};
use basalt_engine::{Absent, Txn, View};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse, Subcommands};
use basalt_value::Queue;
use basalt_value::queue::{Full, Paused, Settings};

pub(super) const Q_CONFIG: Entry = Entry {
    spec: CommandSpec {
        name: "q.config",
        group: Group::Stream,
        subcommands: Subcommands::Required,
        since: "0.1.0",
        complexity: "Depends on the subcommand",
        summary: "The container of commands about the settings of queues.",
        examples: &[
            "Q.CONFIG nosuch q => (error) ERR unknown subcommand 'nosuch'. Try Q.CONFIG HELP.",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(container),
    ..Entry::DEFAULT
};

pub(super) const Q_CONFIG_GET: Entry = Entry {
    spec: CommandSpec {
        name: "q.config|get",
        synopsis: "key",
        group: Group::Stream,
        flags: Flags::of(&[Flag::Readonly, Flag::Fast]),
        keys: &[KeyUse::READ],
        since: "0.1.0",
        complexity: "O(1)",
        summary: "Returns the settings of a queue.",
        examples: &[
            "Q.CONFIG GET q => (nil)",
            "Q.CONFIG SET q lease 60000 => OK",
            r#"Q.CONFIG GET q => ["lease", (integer) 60000, "deliveries-max", (integer) 0, "max", (integer) 0, "max-bytes", (integer) 0, "full", "reject", "inflight-max", (integer) 0, "paused", "no", "overdue-first", "no", "dedup-window", (integer) 300000, "dedup-max", (integer) 100000, "durable", "no"]"#,
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(get),
    ..Entry::DEFAULT
};

const HELP: &[&str] = &[
    "GET <key>",
    "    Return the settings of a queue.",
    "INIT <key> <setting> <value> [<setting> <value> ...]",
    "    Make a queue with these settings; one that is there stays as it is.",
    "SET <key> <setting> <value> [<setting> <value> ...]",
    "    Change settings of a queue, which is made if there is none.",
];

pub(super) const Q_CONFIG_HELP: Entry = Entry {
    spec: CommandSpec {
        name: "q.config|help",
        group: Group::Stream,
        flags: Flags::of(&[Flag::Loading, Flag::Stale]),
        since: "0.1.0",
        complexity: "O(1)",
        summary: "Shows the subcommands of Q.CONFIG.",
        examples: &["Q.CONFIG HELP => (any)"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(|_, args, reply| help(args, HELP, reply)),
    ..Entry::DEFAULT
};

pub(super) const Q_CONFIG_INIT: Entry = Entry {
    spec: CommandSpec {
        name: "q.config|init",
        synopsis: "key setting value [setting value ...]",
        group: Group::Stream,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom, Flag::Fast]),
        keys: &[KeyUse::CREATE],
        since: "0.1.0",
        complexity: "O(N) with N settings",
        summary: "Makes a queue with these settings, and leaves one that is there as it is.",
        examples: &[
            "Q.CONFIG INIT q lease 1000 => OK",
            "Q.CONFIG INIT q lease 2000 => OK",
            "Q.CONFIG INIT q colour blue => (error) ERR a queue has no setting 'colour'",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(init),
    ..Entry::DEFAULT
};

pub(super) const Q_CONFIG_SET: Entry = Entry {
    spec: CommandSpec {
        name: "q.config|set",
        synopsis: "key setting value [setting value ...]",
        group: Group::Stream,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom, Flag::Fast]),
        keys: &[KeyUse::UPDATE],
        since: "0.1.0",
        complexity: "O(N) with N settings",
        summary: "Changes settings of a queue, which is made if it is not there: lease, deliveries-max, max, max-bytes, full, inflight-max, paused, overdue-first, dedup-window, dedup-max, durable.",
        examples: &[
            "Q.CONFIG SET q lease 60000 deliveries-max 5 full drop-oldest => OK",
            "Q.CONFIG SET q paused sometimes => (error) ERR paused must be no, put, get or all",
            "Q.CONFIG SET q colour blue => (error) ERR a queue has no setting 'colour'",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(set),
    ..Entry::DEFAULT
};

const PAUSED: [(&str, Paused); 4] =
    [("no", Paused::Nothing), ("put", Paused::Put), ("get", Paused::Get), ("all", Paused::All)];
const FULL: [(&str, Full); 2] = [("reject", Full::Reject), ("drop-oldest", Full::DropOldest)];
const YES_NO: [(&str, bool); 2] = [("no", false), ("yes", true)];

fn set(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let queue = txn.collection::<Queue>(args.key(0))?;
    let settings = queue.map_or(Settings::DEFAULT, |queue| *queue.settings());
    let settings = changed(settings, args, 3)?;
    change(&settings, txn, args, reply)
}

fn init(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let settings = changed(Settings::DEFAULT, args, 3)?;
    if txn.collection::<Queue>(args.key(0))?.is_some() {
        reply.ok();
        return Ok(());
    }
    change(&settings, txn, args, reply)
}

/// These settings, with what the words from `first` on say instead of some.
pub(super) fn changed(
    mut settings: Settings,
    args: &Args<'_>,
    first: usize,
) -> Result<Settings, CommandError> {
    if first >= args.len() || !(args.len() - first).is_multiple_of(2) {
        return Err(CommandError::SYNTAX);
    }
    for index in (first..args.len()).step_by(2) {
        set_one(&mut settings, args.word(index), args.word(index + 1))?;
    }
    Ok(settings)
}

fn change(
    settings: &Settings,
    txn: &mut Txn<'_>,
    args: &Args<'_>,
    reply: &mut Reply<'_>,
) -> CommandResult {
    edit(txn, args.key(0), Absent::Create, "q.config", |queue, now_ms, edits| {
        queue.set_settings(settings, now_ms, edits);
    })?;
    reply.ok();
    Ok(())
}

fn get(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let Some(queue) = queue_at(view, args.key(0))? else {
        reply.null();
        return Ok(());
    };
    let settings = queue.settings();
    reply.map(11);
    number("lease", settings.lease_ms, reply);
    number("deliveries-max", settings.deliveries_max, reply);
    number("max", settings.max, reply);
    number("max-bytes", settings.max_bytes, reply);
    word("full", &FULL, settings.full, reply);
    number("inflight-max", settings.inflight_max, reply);
    word("paused", &PAUSED, settings.paused, reply);
    word("overdue-first", &YES_NO, settings.overdue_first, reply);
    number("dedup-window", settings.dedup_window_ms, reply);
    number("dedup-max", settings.dedup_max, reply);
    word("durable", &YES_NO, settings.durable, reply);
    Ok(())
}

fn number(name: &str, value: u64, reply: &mut Reply<'_>) {
    reply.bulk(name.as_bytes());
    super::reply_number(value, reply);
}

fn word<T: PartialEq>(name: &str, words: &[(&str, T)], value: T, reply: &mut Reply<'_>) {
    reply.bulk(name.as_bytes());
    let word = words.iter().find(|(_, it)| *it == value).map_or("", |(word, _)| word);
    reply.bulk(word.as_bytes());
}

fn set_one(settings: &mut Settings, name: &[u8], value: &[u8]) -> CommandResult {
    match name.to_ascii_lowercase().as_slice() {
        b"lease" => settings.lease_ms = lease_ms(value)?,
        b"deliveries-max" => settings.deliveries_max = limit(value)?,
        b"max" => settings.max = limit(value)?,
        b"max-bytes" => settings.max_bytes = limit(value)?,
        b"full" => {
            const WORDS: &str = "ERR full must be reject or drop-oldest";
            settings.full = one_of(&FULL, value, WORDS)?;
        }
        b"inflight-max" => settings.inflight_max = limit(value)?,
        b"paused" => {
            const WORDS: &str = "ERR paused must be no, put, get or all";
            settings.paused = one_of(&PAUSED, value, WORDS)?;
        }
        b"overdue-first" => {
            const WORDS: &str = "ERR overdue-first must be yes or no";
            settings.overdue_first = one_of(&YES_NO, value, WORDS)?;
        }
        b"durable" => {
            const WORDS: &str = "ERR durable must be yes or no";
            settings.durable = one_of(&YES_NO, value, WORDS)?;
        }
        b"dedup-window" => settings.dedup_window_ms = time_ms(value, 1)?,
        b"dedup-max" => settings.dedup_max = limit(value)?,
        _ => return Err(no_setting(name)),
    }
    Ok(())
}

/// A limit, 0 for none.
fn limit(word: &[u8]) -> Result<u64, CommandError> {
    const REFUSED: CommandError =
        CommandError::fixed("ERR value is out of range, must be positive");
    basalt_number::parse_i64(word).and_then(|limit| u64::try_from(limit).ok()).ok_or(REFUSED)
}

fn one_of<T: Copy>(
    words: &[(&str, T)],
    value: &[u8],
    refused: &'static str,
) -> Result<T, CommandError> {
    let found = words.iter().find(|(word, _)| value.eq_ignore_ascii_case(word.as_bytes()));
    found.map(|(_, value)| *value).ok_or(CommandError::fixed(refused))
}

#[cold]
fn no_setting(name: &[u8]) -> CommandError {
    let shown = &name[..name.len().min(64)];
    let shown = String::from_utf8_lossy(shown);
    CommandError::new(format!("ERR a queue has no setting '{shown}'"))
}
