//! MODULE: this server loads none, and has none to list.

use crate::help::{container, help};
use basalt_call::context::Context;
use basalt_call::entry::{Entry, Run};
use basalt_config::Permission;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_service::session::{Flow, SessionResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, Subcommands};

pub(super) const MODULE: Entry = Entry {
    spec: CommandSpec {
        name: "module",
        group: Group::Server,
        subcommands: Subcommands::Required,
        since: "4.0.0",
        complexity: "Depends on the subcommand",
        summary: "The container of commands about modules.",
        examples: &["MODULE NOSUCH => (error) ERR unknown subcommand 'NOSUCH'. Try MODULE HELP."],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(container),
    ..Entry::DEFAULT
};
const HELP: &[&str] = &[
    "LIST",
    "    List the modules, of which there are none.",
    "LOAD <path> [<arg> ...]",
    "    Refused: this server loads no modules.",
    "LOADEX <path> [[CONFIG NAME VALUE] [CONFIG NAME VALUE]] [ARGS ...]",
    "    Refused: this server loads no modules.",
    "UNLOAD <name>",
    "    Refused: there is no module.",
];

pub(super) const MODULE_HELP: Entry = Entry {
    spec: CommandSpec {
        name: "module|help",
        group: Group::Server,
        flags: Flags::of(&[Flag::Loading, Flag::Stale]),
        since: "5.0.0",
        complexity: "O(1)",
        summary: "Lists the subcommands of MODULE.",
        examples: &["MODULE HELP => (any)"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(|_, args, reply| help(args, HELP, reply)),
    ..Entry::DEFAULT
};
pub(super) const MODULE_LIST: Entry = Entry {
    spec: CommandSpec {
        name: "module|list",
        group: Group::Server,
        flags: Flags::of(&[Flag::Admin, Flag::Noscript]),
        since: "4.0.0",
        complexity: "O(N) where N is the number of loaded modules.",
        summary: "Lists the modules, of which there are none.",
        examples: &["MODULE LIST => []"],
        tips: &["nondeterministic_output_order"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(list),
    ..Entry::DEFAULT
};
pub(super) const MODULE_LOAD: Entry = Entry {
    spec: CommandSpec {
        name: "module|load",
        synopsis: "path [arg [arg ...]]",
        group: Group::Server,
        flags: Flags::of(&[Flag::Admin, Flag::Noscript, Flag::NoAsyncLoading]),
        since: "4.0.0",
        complexity: "O(1)",
        summary: "Loads a module, which this server does not do.",
        examples: &["MODULE LOAD /x.so => (error) ERR ..."],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(load),
    ..Entry::DEFAULT
};
pub(super) const MODULE_LOADEX: Entry = Entry {
    spec: CommandSpec {
        name: "module|loadex",
        synopsis: "path [CONFIG name value [CONFIG name value ...]] [ARGS arg [arg ...]]",
        group: Group::Server,
        flags: Flags::of(&[Flag::Admin, Flag::Noscript, Flag::NoAsyncLoading]),
        since: "7.0.0",
        complexity: "O(1)",
        summary: "Loads a module with options, which this server does not do.",
        examples: &["MODULE LOADEX /x.so => (error) ERR ..."],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(load),
    ..Entry::DEFAULT
};
pub(super) const MODULE_UNLOAD: Entry = Entry {
    spec: CommandSpec {
        name: "module|unload",
        synopsis: "name",
        group: Group::Server,
        flags: Flags::of(&[Flag::Admin, Flag::Noscript, Flag::NoAsyncLoading]),
        since: "4.0.0",
        complexity: "O(1)",
        summary: "Unloads a module, of which there are none.",
        examples: &["MODULE UNLOAD x => (error) ERR ..."],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(unload),
    ..Entry::DEFAULT
};

fn list(_: &mut Context<'_>, _: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    reply.array(0);
    Ok(Flow::Done)
}

fn load(ctx: &mut Context<'_>, _: &Args<'_>, _: &mut Reply<'_>) -> SessionResult {
    check(ctx)?;
    Err(CommandError::fixed("ERR Error loading the extension: this server does not load modules"))
}

fn unload(ctx: &mut Context<'_>, _: &Args<'_>, _: &mut Reply<'_>) -> SessionResult {
    check(ctx)?;
    Err(CommandError::fixed("ERR Error unloading module: no such module with that name"))
}

/// Whether `enable-module-command` lets the client ask at all.
fn check(ctx: &Context<'_>) -> Result<(), CommandError> {
    let is_allowed = match ctx.settings.clients.module_command {
        Permission::Everybody => true,
        Permission::Local => ctx.session.client.is_local(),
        Permission::Nobody => false,
    };
    if is_allowed {
        return Ok(());
    }
    Err(CommandError::fixed(
        "ERR MODULE command not allowed. If the enable-module-command option is set to \"local\", \
         you can run it from a local connection, otherwise you need to set this option in the \
         configuration file, and then restart the server.",
    ))
}
