//! HELLO.

use super::{ALWAYS_ALLOWED, auth, client_names};
use basalt_call::context::Context;
use basalt_call::entry::{Entry, Run, Secrets, Traits};
use basalt_number::parse_i64;
use basalt_resp::{Protocol, Reply};
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_service::server::REDIS_VERSION;
use basalt_service::session::{Flow, SessionResult};
use basalt_spec::{CommandSpec, Group, around};

pub(super) const HELLO: Entry = Entry {
    spec: CommandSpec {
        name: "hello",
        synopsis: "[protover [AUTH username password] [SETNAME clientname]]",
        group: Group::Connection,
        flags: ALWAYS_ALLOWED,
        overrides: &[around("protover").named("arguments")],
        since: "6.0.0",
        complexity: "O(1)",
        summary: "Agrees on the version of the protocol, and may authenticate and name the connection; tells about the server.",
        examples: &[
            "HELLO => (any)",
            "HELLO 2 => (any)",
            "HELLO 2 SETNAME me => (any)",
            r#"CLIENT GETNAME => "me""#,
            "HELLO 9 => (error) NOPROTO ...",
        ],
        history: &[("6.2.0", "May be called without a version, to ask only.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(hello),
    traits: Traits { is_about_connection: true, secrets: Secrets::AfterAuth, ..Traits::NONE },
    ..Entry::DEFAULT
};

const NOT_AUTHENTICATED: CommandError = CommandError::fixed(
    "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO AUTH \
     <user> <pass> option can be used to authenticate the client and select the RESP protocol \
     version at the same time",
);

fn hello(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let protocol = args.opt(1).map(protocol).transpose()?;
    let mut at = 2;
    while at < args.len() {
        let more = args.len() - at - 1;
        if args.is(at, "auth") && more >= 2 {
            auth::authenticate(ctx, args, (args.word(at + 1), args.word(at + 2)))?;
            at += 3;
        } else if args.is(at, "setname") && more >= 1 {
            client_names::set_name(ctx, args.word(at + 1))?;
            at += 2;
        } else {
            let option = String::from_utf8_lossy(args.word(at));
            return Err(CommandError::new(format!("ERR Syntax error in HELLO option '{option}'")));
        }
    }
    if !ctx.session.rights.is_admitted() {
        return Err(NOT_AUTHENTICATED);
    }
    if let Some(protocol) = protocol {
        ctx.session.speak(protocol);
        reply.set_protocol(protocol);
    }
    describe(ctx, reply);
    Ok(Flow::Done)
}

fn protocol(word: &[u8]) -> Result<Protocol, CommandError> {
    match parse_i64(word) {
        Some(2) => Ok(Protocol::Resp2),
        Some(3) => Ok(Protocol::Resp3),
        Some(_) => Err(CommandError::fixed("NOPROTO unsupported protocol version")),
        None => Err(CommandError::fixed("ERR Protocol version is not an integer or out of range")),
    }
}

fn describe(ctx: &Context<'_>, reply: &mut Reply<'_>) {
    reply.map(7);
    reply.bulk(b"server");
    // Clients look at this name to know what they may use.
    reply.bulk(b"redis");
    reply.bulk(b"version");
    reply.bulk(REDIS_VERSION.as_bytes());
    reply.bulk(b"proto");
    reply.integer(match ctx.session.protocol {
        Protocol::Resp2 => 2,
        Protocol::Resp3 => 3,
    });
    reply.bulk(b"id");
    reply.integer(ctx.session.client.id as i64);
    reply.bulk(b"mode");
    reply.bulk(b"standalone");
    reply.bulk(b"role");
    reply.bulk(b"master");
    reply.bulk(b"modules");
    reply.array(0);
}
