//! DEBUG: what tests and developers need and nobody else should have.

mod digest;
mod forms;
mod object;
mod populate;
mod protocol;

use crate::help::help;
use basalt_call::context::Context;
use basalt_call::entry::{Entry, Run, Traits};
use basalt_call::unknown::wrong_subcommand;
use basalt_config::{Permission, WarmUpKeys};
use basalt_engine::WarmUp;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_service::pauses::Paused;
use basalt_service::session::{Flow, SessionResult};
use basalt_service::wait::Wait;
use basalt_spec::{Audience, CommandSpec, Flag, Flags, Group};
use basalt_stdx::glob;
use std::time::Duration;

pub(super) const DEBUG: Entry = Entry {
    spec: CommandSpec {
        name: "debug",
        group: Group::Server,
        flags: Flags::of(&[Flag::Admin, Flag::Noscript, Flag::Loading, Flag::Stale]),
        arity: Some(-2),
        since: "1.0.0",
        complexity: "Depends on the subcommand",
        summary: "Commands for developers and tests, refused unless an option enables them.",
        examples: &[
            "DEBUG SLEEP 0 => OK",
            "DEBUG ERROR \"MY error\" => (error) MY error",
            "DEBUG nosuch => (error) ERR unknown subcommand or wrong number of arguments for 'nosuch'. Try DEBUG HELP.",
        ],
        audience: Audience::System,
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(debug),
    traits: Traits { locks_partitions: true, ..Traits::LONG },
    ..Entry::DEFAULT
};

/// Longest sleep: a day.
const SLEEP_MAX: Duration = Duration::from_secs(24 * 60 * 60);

const NOT_ALLOWED: CommandError = CommandError::fixed(
    "ERR DEBUG command not allowed. If the enable-debug-command option is set to \"local\", you \
     can run it from a local connection, otherwise you need to set this option in the \
     configuration file, and then restart the server.",
);

const NO_CRASH: CommandError = CommandError::fixed(
    "ERR this server does not crash when it is asked to: end its process with a signal",
);

const RELOAD_OPTIONS: &[&[u8]] = &[b"MERGE", b"NOFLUSH", b"NOSAVE"];
const NO_RELOAD_OPTION: CommandError =
    CommandError::fixed("ERR DEBUG RELOAD only supports the MERGE, NOFLUSH and NOSAVE options.");

const HELP: &[&str] = &[
    "CHANGE-REPL-ID",
    "    Does nothing: there is no replication.",
    "DIGEST",
    "    Output a hex signature representing the data of all databases.",
    "DIGEST-VALUE <key> [<key> ...]",
    "    Output a hex signature of each key's value.",
    "ERROR <string>",
    "    Return an error with <string> as its message.",
    "LOG <message>",
    "    Write <message> to the server log.",
    "HTSTATS <dbid>",
    "    Output how many keys the tables of a database hold.",
    "HTSTATS-KEY <key>",
    "    Output how many elements the table of <key>'s value holds.",
    "LOADAOF",
    "    Same as RELOAD.",
    "REPLICATE <string>",
    "    Does nothing: there are no replicas.",
    "OBJECT <key>",
    "    Show low level info about a key and its value.",
    "POPULATE <count> [<prefix>] [<size>]",
    "    Create <count> string keys named key:<num>, but for those that exist.",
    "    If <prefix> is specified it is used instead of 'key'; with <size> the",
    "    values have this many bytes.",
    "PROTOCOL <type>",
    "    Reply with a test value of the specified type. <type> can be: string,",
    "    integer, double, bignum, null, array, set, map, attrib, push, verbatim,",
    "    true, false.",
    "RELOAD [option ...]",
    "    Make a checkpoint, forget everything in memory, and read it back when",
    "    it is asked for and in the background, as after a restart. The options",
    "    MERGE, NOFLUSH and NOSAVE mean nothing.",
    "SDSLEN <key>",
    "    Show how long <key> and its string are, and the memory they take.",
    "SET-ACTIVE-EXPIRE <0|1>",
    "    Switch the removal of expired keys that nobody asks for off or on.",
    "QUICKLIST-PACKED-THRESHOLD <size>",
    "    Does nothing: there is no such encoding.",
    "SLEEP <seconds>",
    "    Answer after <seconds>. Decimals allowed. Other clients wait only if",
    "    debug-sleep-stops-all says so.",
    "STRINGMATCH-LEN <pattern> <string>",
    "    Tell whether the glob-style <pattern> matches <string>: 1 or 0.",
    "LISTPACK <key>",
    "    Write to the server log how long <key>'s packed value is.",
    "QUICKLIST <key> [<0|1>]",
    "    Write to the server log how long <key>'s list is.",
    "CLIENT-ENFORCE-REPLY-LIST <0|1>",
    "    Does nothing: there is no such list.",
    "DICT-RESIZING <0|1>",
    "    Does nothing: tables grow with the writes.",
    "PAUSE-CRON <0|1>",
    "    Does nothing: there is no such task.",
    "REPLYBUFFER PEAK-RESET-TIME <NEVER||RESET|time>",
    "    Does nothing: there is no such buffer.",
    "REPLYBUFFER RESIZING <0|1>",
    "    Does nothing: there is no such buffer.",
];

fn debug(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let is_allowed = match ctx.settings.clients.debug_command {
        Permission::Everybody => true,
        Permission::Local => ctx.session.client.is_local(),
        Permission::Nobody => false,
    };
    if !is_allowed {
        return Err(NOT_ALLOWED);
    }
    let name = args.word(1).to_ascii_lowercase();
    match (&name[..], args.len()) {
        (b"sleep", 3) => return Ok(sleep(ctx, duration(args.word(2)))),
        (b"reload" | b"loadaof", _) => {
            let is_option =
                |word: &[u8]| RELOAD_OPTIONS.iter().any(|it| word.eq_ignore_ascii_case(it));
            if name == b"reload" && !args.from(2).all(is_option) {
                return Err(NO_RELOAD_OPTION);
            }
            let warm_up = match ctx.settings.persistence.warm_up {
                WarmUpKeys::Hot => WarmUp::Hot,
                WarmUpKeys::All => WarmUp::All,
                WarmUpKeys::None => WarmUp::No,
            };
            return Ok(Flow::Wait(Wait::Reload(warm_up)));
        }
        (b"object", 3..) => return object::object(ctx, args, reply),
        (b"listpack", 3) => return forms::listpack(ctx, args, reply),
        (b"quicklist", 3 | 4) => return forms::quicklist(ctx, args, reply),
        (b"sdslen", 3) => return forms::sdslen(ctx, args, reply),
        (b"htstats", 3) => return forms::htstats(ctx, args, reply),
        (b"htstats-key", 3) => return forms::htstats_key(ctx, args, reply),
        (b"populate", 3..=5) => return populate::populate(ctx, args, reply),
        (b"digest", 2) => return digest::everything(ctx, reply),
        (b"digest-value", _) => return digest::values(ctx, args, reply),
        (b"protocol", 3) => protocol::protocol(args, reply)?,
        (b"set-active-expire", 3) => {
            ctx.server.engine.set_active_expiry(args.word(2) != b"0");
            reply.ok();
        }
        (b"log", 3) => {
            tracing::info!("DEBUG LOG: {}", String::from_utf8_lossy(args.word(2)));
            reply.ok();
        }
        (b"error", 3) => {
            let text = String::from_utf8_lossy(args.word(2));
            return Err(CommandError::new(text.into_owned()));
        }
        (b"change-repl-id", 2) | (b"quicklist-packed-threshold", 3) => reply.ok(),
        (b"pause-cron" | b"dict-resizing" | b"replybuffer" | b"replicate", 3..)
        | (b"client-enforce-reply-list", 3) => reply.ok(),
        (b"stringmatch-len", 4) => {
            let matches = glob::matches(args.word(2), args.word(3), glob::Case::Differs);
            reply.integer(matches.into());
        }
        (
            b"segfault" | b"panic" | b"oom" | b"assert" | b"restart" | b"crash-and-recover"
            | b"leak",
            _,
        ) => return Err(NO_CRASH),
        (b"help", 2) => return help(args, HELP, reply),
        _ => return Err(wrong_subcommand(args)),
    }
    Ok(Flow::Done)
}

/// Answers after this time. All other clients wait, too, where `debug-sleep-stops-all` says so.
fn sleep(ctx: &Context<'_>, time: Duration) -> Flow {
    if ctx.settings.server.debug_sleep_stops_all && !time.is_zero() {
        ctx.server.pauses.begin(Paused::All, time);
    }
    Flow::Wait(Wait::Sleep(time))
}

/// Like Redis, takes what is no number for zero.
fn duration(word: &[u8]) -> Duration {
    let seconds = std::str::from_utf8(word).ok().and_then(|text| text.parse::<f64>().ok());
    let duration = Duration::try_from_secs_f64(seconds.unwrap_or(0.0));
    duration.unwrap_or(Duration::ZERO).min(SLEEP_MAX)
}
