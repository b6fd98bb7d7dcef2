//! CLIENT SETNAME, GETNAME and SETINFO.

use basalt_call::context::Context;
use basalt_call::entry::{Entry, Run, Traits};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_service::session::{Flow, SessionResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, around};

pub(super) const CLIENT_SETNAME: Entry = Entry {
    spec: CommandSpec {
        name: "client|setname",
        synopsis: "connection-name",
        group: Group::Connection,
        flags: Flags::of(&[Flag::Noscript, Flag::Loading, Flag::Stale]),
        since: "2.6.9",
        complexity: "O(1)",
        summary: "Gives the connection a name.",
        examples: &[
            "CLIENT SETNAME me => OK",
            r#"CLIENT GETNAME => "me""#,
            r#"CLIENT SETNAME "a b" => (error) ERR Client names cannot contain spaces, newlines or special characters."#,
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(set),
    traits: Traits { is_about_connection: true, ..Traits::NONE },
    ..Entry::DEFAULT
};
pub(super) const CLIENT_GETNAME: Entry = Entry {
    spec: CommandSpec {
        name: "client|getname",
        group: Group::Connection,
        flags: Flags::of(&[Flag::Noscript, Flag::Loading, Flag::Stale]),
        since: "2.6.9",
        complexity: "O(1)",
        summary: "Returns the name of the connection, nil if it has none.",
        examples: &[
            "CLIENT GETNAME => (nil)",
            "CLIENT SETNAME me => OK",
            r#"CLIENT GETNAME => "me""#,
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(get),
    ..Entry::DEFAULT
};
pub(super) const CLIENT_SETINFO: Entry = Entry {
    spec: CommandSpec {
        name: "client|setinfo",
        synopsis: "<LIB-NAME libname | LIB-VER libver>",
        group: Group::Connection,
        flags: Flags::of(&[Flag::Noscript, Flag::Loading, Flag::Stale]),
        overrides: &[around("LIB-NAME").named("attr")],
        since: "7.2.0",
        complexity: "O(1)",
        summary: "Tells the server which library, or which version of it, the client uses.",
        examples: &[
            "CLIENT SETINFO LIB-NAME mylib => OK",
            "CLIENT SETINFO lib-ver 1.2 => OK",
            "CLIENT SETINFO LIB-COLOR red => (error) ERR Unrecognized option 'LIB-COLOR'",
        ],
        tips: &["request_policy:all_nodes", "response_policy:all_succeeded"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(set_info),
    traits: Traits { is_about_connection: true, ..Traits::NONE },
    ..Entry::DEFAULT
};

fn set(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    set_name(ctx, args.word(2))?;
    reply.ok();
    Ok(Flow::Done)
}

/// Names the connection; an empty name takes the name away.
pub(super) fn set_name(ctx: &Context<'_>, name: &[u8]) -> Result<(), CommandError> {
    if !is_plain(name) {
        return Err(CommandError::fixed(
            "ERR Client names cannot contain spaces, newlines or special characters.",
        ));
    }
    ctx.session.client.names.lock().name = name.to_vec();
    Ok(())
}

fn get(ctx: &mut Context<'_>, _: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    match &ctx.session.client.names.lock().name[..] {
        [] => reply.null(),
        name => reply.bulk(name),
    }
    Ok(Flow::Done)
}

fn set_info(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let (option, value) = (args.word(2), args.word(3));
    let is_name = args.is(2, "lib-name");
    if !is_name && !args.is(2, "lib-ver") {
        let option = String::from_utf8_lossy(option);
        return Err(CommandError::new(format!("ERR Unrecognized option '{option}'")));
    }
    if !is_plain(value) {
        let option = String::from_utf8_lossy(option);
        return Err(CommandError::new(format!(
            "ERR {option} cannot contain spaces, newlines or special characters."
        )));
    }
    let mut names = ctx.session.client.names.lock();
    let place = if is_name { &mut names.lib_name } else { &mut names.lib_version };
    *place = value.to_vec();
    reply.ok();
    Ok(Flow::Done)
}

/// Nothing that would break the lines of CLIENT LIST.
fn is_plain(text: &[u8]) -> bool {
    text.iter().all(u8::is_ascii_graphic)
}
