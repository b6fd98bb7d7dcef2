//! AUTH.

use super::ALWAYS_ALLOWED;
use basalt_call::context::Context;
use basalt_call::entry::{Entry, Run, Secrets, Traits};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_service::session::{Flow, SessionResult};
use basalt_spec::{CommandSpec, Group, at};

pub(super) const AUTH: Entry = Entry {
    spec: CommandSpec {
        name: "auth",
        synopsis: "[username] password",
        group: Group::Connection,
        flags: ALWAYS_ALLOWED,
        overrides: &[at("username").since("6.0.0")],
        since: "1.0.0",
        complexity: "O(N) with N passwords of the user",
        summary: "Proves who the client is.",
        examples: &["AUTH nobody secret => (error) WRONGPASS ..."],
        history: &[("6.0.0", "A name of a user before the password.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(auth),
    traits: Traits { is_about_connection: true, secrets: Secrets::AllWords, ..Traits::NONE },
    ..Entry::DEFAULT
};

/// The only user.
pub(super) const DEFAULT_USER: &[u8] = b"default";

const WRONG_PASSWORD: CommandError =
    CommandError::fixed("WRONGPASS invalid username-password pair or user is disabled.");
const NO_PASSWORD: CommandError = CommandError::fixed(
    "ERR AUTH <password> called without any password configured for the default user. \
     Are you sure your configuration is correct?",
);

fn auth(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    match args.len() {
        2 if ctx.settings.clients.password.is_none() => return Err(NO_PASSWORD),
        2 => authenticate(ctx, DEFAULT_USER, args.word(1))?,
        3 => authenticate(ctx, args.word(1), args.word(2))?,
        _ => return Err(CommandError::SYNTAX),
    }
    reply.ok();
    Ok(Flow::Done)
}

/// Lets the connection in, if the password is right or there is none.
pub(super) fn authenticate(
    ctx: &mut Context<'_>,
    user: &[u8],
    given: &[u8],
) -> Result<(), CommandError> {
    let password = ctx.settings.clients.password.as_ref();
    let is_right = password.is_none_or(|password| password.is(given));
    if user != DEFAULT_USER || !is_right {
        return Err(WRONG_PASSWORD);
    }
    ctx.session.authenticated = true;
    Ok(())
}
