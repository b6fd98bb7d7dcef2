//! ACL LOAD and ACL SAVE.

use super::facts::OF_OPERATORS;
use super::users::close_clients_of;
use basalt_call::context::Context;
use basalt_call::entry::{Entry, Run};
use basalt_config::Config;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_service::session::{Flow, SessionResult};
use basalt_spec::{CommandSpec, Group};
use std::path::Path;

pub(in super::super) const ACL_LOAD: Entry = Entry {
    spec: CommandSpec {
        name: "acl|load",
        group: Group::Server,
        flags: OF_OPERATORS,
        since: "6.0.0",
        complexity: "O(N) with N users and connections",
        summary: "Replaces the users by those of the file of users.",
        examples: &["ACL LOAD => (error) ERR This Redis instance is not configured to use ..."],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(load),
    ..Entry::DEFAULT
};
pub(in super::super) const ACL_SAVE: Entry = Entry {
    spec: CommandSpec {
        name: "acl|save",
        group: Group::Server,
        flags: OF_OPERATORS,
        since: "6.0.0",
        complexity: "O(N) with N users",
        summary: "Writes the users to the file of users.",
        examples: &["ACL SAVE => (error) ERR This Redis instance is not configured to use ..."],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(save),
    ..Entry::DEFAULT
};

const NO_FILE: CommandError = CommandError::fixed(
    "ERR This Redis instance is not configured to use an ACL file. You may want to specify users via \
     the ACL SETUSER command and then issue a CONFIG REWRITE (assuming you have a Redis configuration \
     file set) in order to store users in the Redis configuration.",
);

fn file<'a>(ctx: &Context<'a>) -> Result<&'a Path, CommandError> {
    ctx.settings.clients.acl_file.as_deref().ok_or(NO_FILE)
}

fn load(ctx: &mut Context<'_>, _: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let path = file(ctx)?;
    let text = Config::read_acl_file(path).map_err(|error| {
        let path = path.display();
        CommandError::new(format!("ERR Error loading ACLs, opening file '{path}': {error}"))
    })?;
    let access = &ctx.server.access;
    let before = access.users();
    access.load(ctx.settings, (&path.to_string_lossy(), &text)).map_err(CommandError::because)?;
    let mut flow = Flow::Done;
    for user in before.iter().filter(|user| access.user(user.name()).is_none()) {
        flow = close_clients_of(ctx, user.name(), flow);
    }
    ctx.server.clients.all().iter().for_each(|client| client.review_subscriptions());
    reply.ok();
    Ok(flow)
}

fn save(ctx: &mut Context<'_>, _: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let path = file(ctx)?;
    Config::write_acl_file(path, &ctx.server.access.text()).map_err(|error| {
        tracing::warn!("saving the users to {} has failed: {error}", path.display());
        CommandError::fixed(
            "ERR There was an error trying to save the ACLs. Please check the server logs for more \
             information",
        )
    })?;
    reply.ok();
    Ok(Flow::Done)
}
