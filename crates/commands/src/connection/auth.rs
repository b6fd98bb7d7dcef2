//! AUTH.

use super::ALWAYS_ALLOWED;
use basalt_acl::{self as acl, DEFAULT_USER, Occurrence, Reason};
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

const WRONG_PASSWORD: CommandError =
    CommandError::fixed("WRONGPASS invalid username-password pair or user is disabled.");
const NO_PASSWORD: CommandError = CommandError::fixed(
    "ERR AUTH <password> called without any password configured for the default user. \
     Are you sure your configuration is correct?",
);

fn auth(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let (user, password) = match args.len() {
        2 => {
            let default = ctx.server.access.user(DEFAULT_USER);
            if default.is_some_and(|user| user.needs_no_password()) {
                return Err(NO_PASSWORD);
            }
            (DEFAULT_USER, args.word(1))
        }
        3 => (args.word(1), args.word(2)),
        _ => return Err(CommandError::SYNTAX),
    };
    authenticate(ctx, args, (user, password))?;
    reply.ok();
    Ok(Flow::Done)
}

/// Lets the connection in as this user, if the password is right.
pub(super) fn authenticate(
    ctx: &mut Context<'_>,
    args: &Args<'_>,
    (user, password): (&[u8], &[u8]),
) -> Result<(), CommandError> {
    if let Some(rights) = ctx.server.access.authenticate(user, password) {
        ctx.session.log_in(rights);
        return Ok(());
    }
    let is_queued = ctx.transaction.is_some() || ctx.session.is_queueing();
    let mut client = String::new();
    let tracker = ctx.server.trackers.by_id(ctx.session.client.id);
    ctx.session.client.describe(tracker.as_deref(), (ctx.now_ms, &ctx.server.table), &mut client);
    let occurrence = Occurrence {
        reason: Reason::Auth,
        context: if is_queued { acl::Context::Multi } else { acl::Context::TopLevel },
        object: args.word(0).to_vec(),
        username: user.to_vec(),
        client,
        now_ms: ctx.now_ms,
    };
    ctx.server.access.note(ctx.settings, occurrence);
    Err(WRONG_PASSWORD)
}
