//! CONFIG.

use crate::help::{container, help};
use basalt_call::context::Context;
use basalt_call::entry::{Entry, Run, Secrets, Traits};
use basalt_config::SetOrigin;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_service::eviction;
use basalt_service::limits::limits;
use basalt_service::session::{Flow, SessionResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, Subcommands};

pub(super) const CONFIG: Entry = Entry {
    spec: CommandSpec {
        name: "config",
        group: Group::Server,
        subcommands: Subcommands::Required,
        since: "2.0.0",
        complexity: "Depends on the subcommand",
        summary: "The container of commands about the configuration.",
        examples: &["CONFIG => (error) ERR wrong number of arguments for 'config' command"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(container),
    ..Entry::DEFAULT
};
pub(super) const CONFIG_GET: Entry = Entry {
    spec: CommandSpec {
        name: "config|get",
        synopsis: "(parameter) [...]",
        group: Group::Server,
        flags: Flags::of(&[Flag::Admin, Flag::Noscript, Flag::Loading, Flag::Stale]),
        since: "2.0.0",
        complexity: "O(N) with N patterns",
        summary: "Returns the options whose names match the patterns, each with its value.",
        examples: &["CONFIG GET nosuch => []", "CONFIG GET appendonl? => (any)"],
        history: &[("7.0.0", "Several patterns in one call.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(get),
    ..Entry::DEFAULT
};
pub(super) const CONFIG_SET: Entry = Entry {
    spec: CommandSpec {
        name: "config|set",
        synopsis: "parameter value [parameter value ...]",
        group: Group::Server,
        flags: Flags::of(&[Flag::Admin, Flag::Noscript, Flag::Loading, Flag::Stale]),
        since: "2.0.0",
        complexity: "O(N) with N options",
        summary: "Sets options, all or none of them.",
        examples: &[
            "CONFIG SET slowlog-max-len 100 => OK",
            r#"CONFIG GET slowlog-max-len => ["slowlog-max-len", "100"]"#,
            "CONFIG SET nosuch 1 => (error) ERR Unknown option or number of arguments for CONFIG SET - 'nosuch'",
        ],
        tips: &["request_policy:all_nodes", "response_policy:all_succeeded"],
        history: &[("7.0.0", "Several options in one call.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(set),
    traits: Traits { secrets: Secrets::OptionValues, ..Traits::NONE },
    ..Entry::DEFAULT
};
pub(super) const CONFIG_REWRITE: Entry = Entry {
    spec: CommandSpec {
        name: "config|rewrite",
        group: Group::Server,
        flags: Flags::of(&[Flag::Admin, Flag::Noscript, Flag::Loading, Flag::Stale]),
        since: "2.8.0",
        complexity: "O(1)",
        summary: "Writes the options as they are now into the file that the server was started with.",
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(rewrite),
    ..Entry::DEFAULT
};
pub(super) const CONFIG_RESETSTAT: Entry = Entry {
    spec: CommandSpec {
        name: "config|resetstat",
        group: Group::Server,
        flags: Flags::of(&[Flag::Admin, Flag::Noscript, Flag::Loading, Flag::Stale]),
        since: "2.0.0",
        complexity: "O(1)",
        summary: "Sets the counters that INFO shows to zero.",
        examples: &["CONFIG RESETSTAT => OK"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(reset_statistics),
    ..Entry::DEFAULT
};
const HELP: &[&str] = &[
    "GET <pattern>",
    "    Return the options whose names match <pattern>, and their values.",
    "SET <directive> <value>",
    "    Set an option, or several: all of them or none.",
    "RESETSTAT",
    "    Set the counters of INFO to zero.",
    "REWRITE",
    "    Write the options into the file with which the server was started.",
];

pub(super) const CONFIG_HELP: Entry = Entry {
    spec: CommandSpec {
        name: "config|help",
        group: Group::Server,
        flags: Flags::of(&[Flag::Loading, Flag::Stale]),
        since: "5.0.0",
        complexity: "O(1)",
        summary: "Lists the subcommands of CONFIG.",
        examples: &["CONFIG HELP => (any)"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(|_, args, reply| help(args, HELP, reply)),
    ..Entry::DEFAULT
};

fn get(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let patterns: Vec<&[u8]> = args.from(2).collect();
    let found = ctx.server.config.get(&patterns);
    reply.map(found.len());
    for option in found {
        reply.bulk(&option.name);
        reply.bulk(&option.value);
    }
    Ok(Flow::Done)
}

/// All options or none: checked first, carried out by the process next, and only then visible.
fn set(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let is_local = ctx.session.client.is_local();
    let origin = if is_local { SetOrigin::LocalClient } else { SetOrigin::RemoteClient };
    let pairs: Vec<&[u8]> = args.from(2).collect();
    let prepared = ctx.server.config.prepare_set(&pairs, origin).map_err(CommandError::because)?;
    if let Err((name, reason)) = ctx.server.host.apply(prepared.before(), prepared.after()) {
        return Err(CommandError::because(prepared.refuse(&name, reason)));
    }
    if prepared.before().types != prepared.after().types {
        ctx.server.engine.set_limits(limits(&prepared.after().types));
    }
    eviction::apply(&ctx.server.engine, &prepared.after().memory);
    for notice in prepared.notices() {
        tracing::info!("CONFIG SET: {notice}");
    }
    prepared.commit();
    ctx.server.govern_soon();
    reply.ok();
    Ok(Flow::Done)
}

fn rewrite(ctx: &mut Context<'_>, _: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    // With a file of their own, users are not written here.
    let users = match ctx.settings.clients.acl_file {
        Some(_) => None,
        None => ctx.server.access.directives(ctx.settings, ctx.server.config.users()),
    };
    ctx.server.config.rewrite_with_users(users.as_deref()).map_err(CommandError::because)?;
    reply.ok();
    Ok(Flow::Done)
}

fn reset_statistics(ctx: &mut Context<'_>, _: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    ctx.server.reset_statistics();
    reply.ok();
    Ok(Flow::Done)
}
