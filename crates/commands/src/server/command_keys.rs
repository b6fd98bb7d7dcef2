//! COMMAND GETKEYS and GETKEYSANDFLAGS.

use basalt_call::context::Context;
use basalt_call::entry::{Entry, Run};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_service::session::{Flow, SessionResult};
use basalt_spec::{
    Categories, Category, CommandSpec, Flag, Flags, Found, Group, KeyFlag, KeyFlags,
};

pub(super) const COMMAND_GETKEYS: Entry = Entry {
    spec: CommandSpec {
        name: "command|getkeys",
        group: Group::Server,
        flags: Flags::of(&[Flag::Loading, Flag::Stale]),
        acl: Some(Categories::of(&[Category::Connection])),
        arity: Some(-4),
        since: "2.8.13",
        complexity: "O(N) with N words",
        summary: "Returns the keys in a call of another command.",
        examples: &[
            r#"COMMAND GETKEYS SET k v => ["k"]"#,
            "COMMAND GETKEYS nosuch x => (error) ERR Invalid command specified",
            "COMMAND GETKEYS ECHO x => (error) ERR The command has no key arguments",
            "COMMAND GETKEYS GET => (error) ERR wrong number of arguments ...",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(get_keys),
    ..Entry::DEFAULT
};
pub(super) const COMMAND_GETKEYSANDFLAGS: Entry = Entry {
    spec: CommandSpec {
        name: "command|getkeysandflags",
        group: Group::Server,
        flags: Flags::of(&[Flag::Loading, Flag::Stale]),
        acl: Some(Categories::of(&[Category::Connection])),
        arity: Some(-4),
        since: "7.0.0",
        complexity: "O(N) with N words",
        summary: "Returns the keys in a call of another command, each with what would be done to it.",
        examples: &[r#"COMMAND GETKEYSANDFLAGS GET k => [["k", {RO, access}]]"#],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(get_keys_and_flags),
    ..Entry::DEFAULT
};

fn get_keys(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let keys = keys_of_call(ctx, args)?;
    reply.array(keys.len());
    keys.iter().for_each(|(key, _)| reply.bulk(key));
    Ok(Flow::Done)
}

fn get_keys_and_flags(
    ctx: &mut Context<'_>,
    args: &Args<'_>,
    reply: &mut Reply<'_>,
) -> SessionResult {
    let keys = keys_of_call(ctx, args)?;
    reply.array(keys.len());
    for (key, flags) in keys {
        reply.array(2);
        reply.bulk(key);
        reply.set(flags.names().count());
        flags.names().for_each(|name| reply.simple(name));
    }
    Ok(Flow::Done)
}

/// The keys in the call that stands behind the subcommand.
fn keys_of_call<'a>(
    ctx: &Context<'_>,
    args: &Args<'a>,
) -> Result<Vec<(&'a [u8], KeyFlags)>, CommandError> {
    let table = &ctx.server.table;
    let call: Vec<&[u8]> = args.from(2).collect();
    let Found::Command(command) = table.resolve(call[0], call.get(1).copied()) else {
        return Err(CommandError::fixed("ERR Invalid command specified"));
    };
    if command.key_specs.iter().all(|spec| spec.flags.has(KeyFlag::NotKey)) {
        return Err(CommandError::fixed("ERR The command has no key arguments"));
    }
    if !command.accepts_words(call.len()) {
        return Err(CommandError::fixed("ERR Invalid number of arguments specified for command"));
    }
    let varying = command.spec.key_flags.map(|of| of(&call));
    let mut keys = Vec::new();
    let visited = command.visit_keys(&call[..], |position, flags| {
        keys.push((call[position], varying.unwrap_or(flags)));
    });
    match visited {
        Ok(()) => Ok(keys),
        // Like Redis, takes a number of keys that is wrong for none where there may be none.
        Err(_) if command.flags.has(Flag::NoMandatoryKeys) => Ok(Vec::new()),
        Err(error) => Err(CommandError::because(error)),
    }
}
