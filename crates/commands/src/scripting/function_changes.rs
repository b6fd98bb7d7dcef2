//! FUNCTION LOAD, DELETE, FLUSH and RESTORE: what changes the libraries.

use super::function::has_valid_mode;
use basalt_call::context::Context;
use basalt_call::entry::{Entry, Run, Traits};
use basalt_call::unknown::wrong_subcommand;
use basalt_rdb::{DecodeLimits, decode_functions};
use basalt_resp::Reply;
use basalt_script::Library;
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_service::functions::{Changing, Collision, LIBRARIES_BYTES_MAX, LOAD_TIME_MAX};
use basalt_service::session::{Flow, SessionResult};
use basalt_service::wait::Wait;
use basalt_spec::{CommandSpec, Flag, Flags, Group, around};
use std::sync::Arc;
use std::time::Duration;

/// How long all libraries of a payload may take together to register their functions.
const RESTORE_TIME_MAX: Duration = Duration::from_secs(5);

const WRITES: Flags = Flags::of(&[Flag::Write, Flag::Noscript]);
const TAKES_MEMORY: Flags = Flags::of(&[Flag::Write, Flag::Denyoom, Flag::Noscript]);
const TIPS: &[&str] = &["request_policy:all_shards", "response_policy:all_succeeded"];

pub(super) const FUNCTION_LOAD: Entry = Entry {
    spec: CommandSpec {
        name: "function|load",
        synopsis: "[REPLACE] function-code",
        group: Group::Scripting,
        flags: TAKES_MEMORY,
        since: "7.0.0",
        complexity: "O(1), and what it takes to run the text",
        summary: "Makes a library of functions known, durably, and gives its name.",
        examples: &[
            "FUNCTION LOAD \"#!lua name=l\\nredis.register_function('f', function() return 1 end)\" => \"l\"",
            "FCALL f 0 => (integer) 1",
            "FUNCTION LOAD \"#!lua name=l\\nredis.register_function('f', function() end)\" => (error) ERR Library 'l' already exists",
            "FUNCTION LOAD REPLACE \"#!lua name=l\\nredis.register_function('f', function() return 2 end)\" => \"l\"",
            "FCALL f 0 => (integer) 2",
            "FUNCTION LOAD \"return 1\" => (error) ERR Missing library metadata",
        ],
        tips: TIPS,
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(load),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

pub(super) const FUNCTION_DELETE: Entry = Entry {
    spec: CommandSpec {
        name: "function|delete",
        synopsis: "library-name",
        group: Group::Scripting,
        flags: WRITES,
        since: "7.0.0",
        complexity: "O(N) with N functions",
        summary: "Deletes a library with its functions.",
        examples: &[
            "FUNCTION LOAD \"#!lua name=l\\nredis.register_function('f', function() end)\" => \"l\"",
            "FUNCTION DELETE l => OK",
            "FUNCTION DELETE l => (error) ERR Library not found",
        ],
        tips: TIPS,
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(delete),
    ..Entry::DEFAULT
};

pub(super) const FUNCTION_FLUSH: Entry = Entry {
    spec: CommandSpec {
        name: "function|flush",
        synopsis: "[ASYNC | SYNC]",
        group: Group::Scripting,
        flags: WRITES,
        overrides: &[around("ASYNC").named("async")],
        since: "7.0.0",
        complexity: "O(N) with N functions",
        summary: "Deletes all libraries.",
        examples: &[
            "FUNCTION LOAD \"#!lua name=l\\nredis.register_function('f', function() end)\" => \"l\"",
            "FUNCTION FLUSH => OK",
            "FUNCTION LIST => []",
            "FUNCTION FLUSH ASYNC => OK",
            "FUNCTION FLUSH NOW => (error) ERR ...",
        ],
        tips: TIPS,
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(flush),
    ..Entry::DEFAULT
};

pub(super) const FUNCTION_RESTORE: Entry = Entry {
    spec: CommandSpec {
        name: "function|restore",
        synopsis: "serialized-value [FLUSH | APPEND | REPLACE]",
        group: Group::Scripting,
        flags: TAKES_MEMORY,
        overrides: &[around("FLUSH").named("policy")],
        since: "7.0.0",
        complexity: "O(N) with N bytes, and what it takes to run the texts",
        summary: "Makes the libraries of a payload known, durably; all or none of them.",
        examples: &["FUNCTION RESTORE x => (error) ERR DUMP payload version or checksum are wrong"],
        tips: TIPS,
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(restore),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

fn load(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let last = args.len() - 1;
    let mut collision = Collision::Refused;
    for index in 2..last {
        if !args.is(index, "replace") {
            let option = String::from_utf8_lossy(args.word(index));
            return Err(CommandError::new(format!("ERR Unknown option given: {option}")));
        }
        collision = Collision::Replaces;
    }
    if let Some(wait) = ctx.admit_change_of_libraries()? {
        return Ok(Flow::Wait(wait));
    }
    let scripts = &ctx.server.scripts;
    let known = scripts.functions.now();
    let refuse = |name: &str| match known.has(name) && collision == Collision::Refused {
        true => Err(CommandError::new(format!("ERR Library '{name}' already exists"))),
        false => Ok(()),
    };
    let code = args.word(last).to_vec();
    let library = scripts.read_library(code, ctx.settings, load_time_max(ctx), refuse)?;
    let name = library.source.name.clone();
    add(ctx, &[library], collision, reply, |reply| reply.bulk(name.as_bytes()))
}

fn delete(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    if let Some(wait) = ctx.admit_change_of_libraries()? {
        return Ok(Flow::Wait(wait));
    }
    let scripts = &ctx.server.scripts;
    match scripts.delete_library(args.word(2), changing(ctx)) {
        Ok(deleted) => deleted?,
        Err(held) => return Ok(Flow::Wait(Wait::from(held))),
    }
    reply.ok();
    Ok(Flow::Done)
}

fn flush(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    if args.len() > 3 {
        return Err(wrong_subcommand(args));
    }
    if !has_valid_mode(args) {
        return Err(CommandError::fixed("ERR FUNCTION FLUSH only supports SYNC|ASYNC option"));
    }
    if let Some(wait) = ctx.admit_change_of_libraries()? {
        return Ok(Flow::Wait(wait));
    }
    add(ctx, &[], Collision::Flushes, reply, |reply| reply.ok())
}

fn restore(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    const POLICY: CommandError = CommandError::fixed(
        "ERR Wrong restore policy given, value should be either FLUSH, APPEND or REPLACE.",
    );
    if args.len() > 4 {
        return Err(wrong_subcommand(args));
    }
    let collision = match args.opt(3) {
        None => Collision::Refused,
        Some(_) if args.is(3, "append") => Collision::Refused,
        Some(_) if args.is(3, "replace") => Collision::Replaces,
        Some(_) if args.is(3, "flush") => Collision::Flushes,
        Some(_) => return Err(POLICY),
    };
    if let Some(wait) = ctx.admit_change_of_libraries()? {
        return Ok(Flow::Wait(wait));
    }
    let limits = DecodeLimits {
        string_bytes_max: LIBRARIES_BYTES_MAX,
        memory_bytes_max: LIBRARIES_BYTES_MAX,
    };
    let texts = decode_functions(args.word(2), &limits).map_err(CommandError::because)?;
    let clock = &*ctx.server.env.clock;
    let started = clock.now();
    let mut libraries: Vec<Arc<Library>> = Vec::new();
    for text in texts {
        let refuse = |name: &str| match libraries.iter().any(|other| other.source.name == name) {
            true => Err(CommandError::new(format!("ERR Library '{name}' already exists"))),
            false => Ok(()),
        };
        let scripts = &ctx.server.scripts;
        let left = RESTORE_TIME_MAX.saturating_sub(clock.since(started));
        let time_max = load_time_max(ctx).min(left);
        match scripts.read_library(text.into_owned(), ctx.settings, time_max, refuse) {
            Ok(library) => libraries.push(library),
            Err(error) => {
                scripts.forget_libraries(&libraries);
                return Err(error);
            }
        }
    }
    add(ctx, &libraries, collision, reply, |reply| reply.ok())
}

/// How long a library may take. Those of a transaction share the time, so that it ends however many
/// it loads.
fn load_time_max(ctx: &Context<'_>) -> Duration {
    if ctx.runs_alone {
        return LOAD_TIME_MAX;
    }
    // Its time stands still.
    let ran_ms = ctx.server.engine.clock().unix_ms().saturating_sub(ctx.now_ms);
    LOAD_TIME_MAX.saturating_sub(Duration::from_millis(ran_ms))
}

fn add(
    ctx: &mut Context<'_>,
    libraries: &[Arc<Library>],
    collision: Collision,
    reply: &mut Reply<'_>,
    answer: impl FnOnce(&mut Reply<'_>),
) -> SessionResult {
    let scripts = &ctx.server.scripts;
    match scripts.add_libraries(libraries, collision, changing(ctx)) {
        Ok(added) => added?,
        Err(held) => return Ok(Flow::Wait(Wait::from(held))),
    }
    answer(reply);
    Ok(Flow::Done)
}

fn changing<'a>(ctx: &'a mut Context<'_>) -> Changing<'a> {
    Changing { engine: &ctx.server.engine, wait: ctx.lock_wait, gate: &mut ctx.session.gate }
}
