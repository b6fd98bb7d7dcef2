//! ACL SETUSER, GETUSER, LIST, USERS and DELUSER.

use super::facts::{OF_OPERATORS, SECRET};
use basalt_acl::{DEFAULT_USER, Selector};
use basalt_call::context::Context;
use basalt_call::entry::{Entry, Run, Traits};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_service::session::{Flow, SessionResult};
use basalt_spec::{CommandSpec, Group, at};

pub(in super::super) const ACL_SETUSER: Entry = Entry {
    spec: CommandSpec {
        name: "acl|setuser",
        synopsis: "username [rule [rule ...]]",
        group: Group::Server,
        flags: OF_OPERATORS,
        since: "6.0.0",
        complexity: "O(N) with N rules",
        summary: "Changes the rights of a user, or makes a user.",
        examples: &[
            "ACL SETUSER alice on >secret ~a:* +@read => OK",
            "ACL SETUSER alice +nosuch => (error) ERR Error in ACL SETUSER modifier '+nosuch': ...",
            "ACL DELUSER alice => (integer) 1",
        ],
        history: &[
            ("6.2.0", "Patterns of channels."),
            ("7.0.0", "Selectors, and permissions to read and to write keys."),
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(set_user),
    traits: SECRET,
    ..Entry::DEFAULT
};
pub(in super::super) const ACL_GETUSER: Entry = Entry {
    spec: CommandSpec {
        name: "acl|getuser",
        synopsis: "username",
        group: Group::Server,
        flags: OF_OPERATORS,
        since: "6.0.0",
        complexity: "O(N) with N passwords and rules of the user",
        summary: "Describes a user.",
        examples: &["ACL GETUSER nosuch => (nil)"],
        history: &[
            ("6.2.0", "Patterns of channels."),
            ("7.0.0", "Selectors; keys and channels as rules."),
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(get_user),
    traits: SECRET,
    ..Entry::DEFAULT
};
pub(in super::super) const ACL_LIST: Entry = Entry {
    spec: CommandSpec {
        name: "acl|list",
        group: Group::Server,
        flags: OF_OPERATORS,
        since: "6.0.0",
        complexity: "O(N) with N users",
        summary: "Lists the users as lines of a file of users.",
        examples: &["ACL LIST => (any)"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(list),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};
pub(in super::super) const ACL_USERS: Entry = Entry {
    spec: CommandSpec {
        name: "acl|users",
        group: Group::Server,
        flags: OF_OPERATORS,
        since: "6.0.0",
        complexity: "O(N) with N users",
        summary: "Lists the names of the users.",
        examples: &[r#"ACL USERS => ["default"]"#],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(names),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};
pub(in super::super) const ACL_DELUSER: Entry = Entry {
    spec: CommandSpec {
        name: "acl|deluser",
        synopsis: "username [username ...]",
        group: Group::Server,
        flags: OF_OPERATORS,
        overrides: &[at("username").named("username")],
        since: "6.0.0",
        complexity: "O(N) with N connections",
        summary: "Removes users and closes their connections.",
        examples: &[
            "ACL DELUSER nosuch => (integer) 0",
            "ACL DELUSER default => (error) ERR The 'default' user cannot be removed",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(delete_users),
    traits: SECRET,
    ..Entry::DEFAULT
};

fn set_user(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let (name, rules): (_, Vec<&[u8]>) = (args.word(2), args.from(3).collect());
    ctx.server.access.set_user(ctx.settings, name, &rules).map_err(CommandError::because)?;
    for client in ctx.server.clients.all() {
        if *name == *client.user() {
            client.review_subscriptions();
        }
    }
    reply.ok();
    Ok(Flow::Done)
}

fn get_user(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let Some(user) = ctx.server.access.user(args.word(2)) else {
        reply.null();
        return Ok(Flow::Done);
    };
    reply.map(6);
    reply.bulk(b"flags");
    reply.set(user.flags().count());
    user.flags().for_each(|flag| reply.bulk(flag.as_bytes()));
    reply.bulk(b"passwords");
    reply.array(user.passwords().len());
    user.passwords().iter().for_each(|hash| reply.bulk(hash.to_hex().as_bytes()));
    describe(user.root(), reply);
    reply.bulk(b"selectors");
    reply.array(user.selectors().len());
    for selector in user.selectors() {
        reply.map(3);
        describe(selector, reply);
    }
    Ok(Flow::Done)
}

/// Three entries of a map.
fn describe(selector: &Selector, reply: &mut Reply<'_>) {
    reply.bulk(b"commands");
    reply.bulk(selector.describe_commands().as_bytes());
    reply.bulk(b"keys");
    reply.bulk(&selector.describe_keys());
    reply.bulk(b"channels");
    reply.bulk(&selector.describe_channels());
}

fn list(ctx: &mut Context<'_>, _: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let lines = ctx.server.access.lines();
    reply.array(lines.len());
    lines.iter().for_each(|line| reply.bulk(line));
    Ok(Flow::Done)
}

fn names(ctx: &mut Context<'_>, _: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let users = ctx.server.access.users();
    reply.array(users.len());
    users.iter().for_each(|user| reply.bulk(user.name()));
    Ok(Flow::Done)
}

fn delete_users(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    if args.from(2).any(|name| name == DEFAULT_USER) {
        return Err(CommandError::fixed("ERR The 'default' user cannot be removed"));
    }
    let (mut count, mut flow) = (0, Flow::Done);
    for name in args.from(2).filter(|name| ctx.server.access.remove_user(name)) {
        count += 1;
        flow = close_clients_of(ctx, name, flow);
    }
    reply.integer(count);
    Ok(flow)
}

/// Closes the connections of a user who has gone; the one that asks once it has its answer.
pub(super) fn close_clients_of(ctx: &Context<'_>, name: &[u8], mut flow: Flow) -> Flow {
    for client in ctx.server.clients.all() {
        if *name != *client.user() {
            continue;
        }
        if client.id == ctx.session.client.id {
            flow = Flow::Close;
        } else {
            client.kill(&ctx.server.engine, ctx.lock_wait);
        }
    }
    flow
}
