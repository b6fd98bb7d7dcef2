//! FUNCTION LIST, STATS and DUMP: what shows the libraries.

use basalt_call::context::Context;
use basalt_call::entry::{Entry, Run};
use basalt_rdb::encode_functions;
use basalt_resp::Reply;
use basalt_script::Library;
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_service::session::{Flow, SessionResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group};
use basalt_stdx::glob::{Case, Pattern};
use std::sync::Arc;

/// The only language of libraries.
const ENGINE: &[u8] = b"LUA";

pub(super) const FUNCTION_LIST: Entry = Entry {
    spec: CommandSpec {
        name: "function|list",
        synopsis: "[LIBRARYNAME library-name-pattern] [WITHCODE]",
        group: Group::Scripting,
        flags: Flags::of(&[Flag::Noscript]),
        since: "7.0.0",
        complexity: "O(N) with N functions",
        summary: "Tells of the libraries and their functions.",
        examples: &[
            "FUNCTION LIST => []",
            "FUNCTION LIST LIBRARYNAME => (error) ERR library name argument was not given",
            "FUNCTION LIST x => (error) ERR Unknown argument x",
        ],
        tips: &["nondeterministic_output_order"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(list),
    ..Entry::DEFAULT
};

pub(super) const FUNCTION_STATS: Entry = Entry {
    spec: CommandSpec {
        name: "function|stats",
        group: Group::Scripting,
        flags: Flags::of(&[Flag::Noscript, Flag::AllowBusy]),
        since: "7.0.0",
        complexity: "O(1)",
        summary: "Tells of a function that takes long, and counts functions.",
        examples: &["FUNCTION STATS => (any)"],
        tips: &["nondeterministic_output", "request_policy:all_shards", "response_policy:special"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(stats),
    ..Entry::DEFAULT
};

pub(super) const FUNCTION_DUMP: Entry = Entry {
    spec: CommandSpec {
        name: "function|dump",
        group: Group::Scripting,
        flags: Flags::of(&[Flag::Noscript]),
        since: "7.0.0",
        complexity: "O(N) with N functions",
        summary: "Gives all libraries as a payload for FUNCTION RESTORE.",
        examples: &["FUNCTION DUMP => (any)"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(dump),
    ..Entry::DEFAULT
};

fn list(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let (mut pattern, mut with_code, mut at) = (None, false, 2);
    while at < args.len() {
        if !with_code && args.is(at, "withcode") {
            with_code = true;
        } else if pattern.is_none() && args.is(at, "libraryname") {
            at += 1;
            let name = args.opt(at);
            let name =
                name.ok_or(CommandError::fixed("ERR library name argument was not given"))?;
            pattern = Some(Pattern::new(name, Case::Ignored));
        } else {
            let word = String::from_utf8_lossy(args.word(at));
            return Err(CommandError::new(format!("ERR Unknown argument {word}")));
        }
        at += 1;
    }
    ctx.server.engine.gate_reads_of_libraries(&mut ctx.session.gate);
    let now = ctx.server.scripts.functions.now();
    let is_listed = |library: &&Arc<Library>| {
        let name = library.source.name.as_bytes();
        pattern.as_ref().is_none_or(|pattern| pattern.matches(name))
    };
    let listed: Vec<_> = now.libraries().filter(is_listed).collect();
    reply.array(listed.len());
    for library in listed {
        reply_library(library, with_code, reply);
    }
    Ok(Flow::Done)
}

fn reply_library(library: &Library, with_code: bool, reply: &mut Reply<'_>) {
    reply.map(if with_code { 4 } else { 3 });
    reply.bulk(b"library_name");
    reply.bulk(library.source.name.as_bytes());
    reply.bulk(b"engine");
    reply.bulk(ENGINE);
    reply.bulk(b"functions");
    reply.array(library.functions.len());
    for function in &library.functions {
        reply.map(3);
        reply.bulk(b"name");
        reply.bulk(function.name.as_bytes());
        reply.bulk(b"description");
        match &function.description {
            Some(description) => reply.bulk(description),
            None => reply.null(),
        }
        reply.bulk(b"flags");
        reply.set(function.flags.names().count());
        function.flags.names().for_each(|name| reply.simple(name));
    }
    if with_code {
        reply.bulk(b"library_code");
        reply.bulk_shared(Arc::clone(&library.source.code));
    }
}

fn stats(ctx: &mut Context<'_>, _: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let scripts = &ctx.server.scripts;
    let running = scripts.busy_function()?;
    reply.map(2);
    reply.bulk(b"running_script");
    match running {
        None => reply.null(),
        Some(call) => {
            reply.map(3);
            reply.bulk(b"name");
            reply.bulk(call.name.as_bytes());
            reply.bulk(b"command");
            reply.array(call.words.len());
            call.words.iter().for_each(|word| reply.bulk(word));
            reply.bulk(b"duration_ms");
            reply.integer(call.time.as_millis() as i64);
        }
    }
    let now = scripts.functions.now();
    reply.bulk(b"engines");
    reply.map(1);
    reply.bulk(ENGINE);
    reply.map(2);
    reply.bulk(b"libraries_count");
    reply.integer(now.library_count() as i64);
    reply.bulk(b"functions_count");
    reply.integer(now.function_count() as i64);
    Ok(Flow::Done)
}

fn dump(ctx: &mut Context<'_>, _: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    ctx.server.engine.gate_reads_of_libraries(&mut ctx.session.gate);
    let now = ctx.server.scripts.functions.now();
    let mut payload = Vec::new();
    encode_functions(now.libraries().map(|library| &library.source.code[..]), &mut payload);
    reply.bulk_shared(Arc::new(payload));
    Ok(Flow::Done)
}
