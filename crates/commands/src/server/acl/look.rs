//! ACL CAT, DRYRUN, GENPASS and WHOAMI.

use super::facts::{OF_ANYBODY, OF_OPERATORS};
use basalt_call::context::Context;
use basalt_call::entry::{Entry, Run};
use basalt_number::parse_i64;
use basalt_resp::Reply;
use basalt_service::access::denial_in_full;
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_service::session::{Flow, SessionResult};
use basalt_spec::{Category, CommandSpec, Found, Group};

pub(in super::super) const ACL_CAT: Entry = Entry {
    spec: CommandSpec {
        name: "acl|cat",
        synopsis: "[categoryname]",
        group: Group::Server,
        flags: OF_ANYBODY,
        since: "6.0.0",
        complexity: "O(N) with N commands",
        summary: "Lists the categories of commands, or the commands of one.",
        examples: &[
            "ACL CAT => (any)",
            "ACL CAT hyperloglog => (any)",
            "ACL CAT nosuch => (error) ERR Unknown category 'nosuch'",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(categories),
    ..Entry::DEFAULT
};
pub(in super::super) const ACL_DRYRUN: Entry = Entry {
    spec: CommandSpec {
        name: "acl|dryrun",
        synopsis: "username command [arg [arg ...]]",
        group: Group::Server,
        flags: OF_OPERATORS,
        since: "7.0.0",
        complexity: "O(1)",
        summary: "Tells whether a user may make a call, without making it.",
        examples: &[
            "ACL DRYRUN default GET k => OK",
            "ACL DRYRUN nosuch GET k => (error) ERR User 'nosuch' not found",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(dry_run),
    ..Entry::DEFAULT
};
pub(in super::super) const ACL_GENPASS: Entry = Entry {
    spec: CommandSpec {
        name: "acl|genpass",
        synopsis: "[bits]",
        group: Group::Server,
        flags: OF_ANYBODY,
        since: "6.0.0",
        complexity: "O(1)",
        summary: "Makes a password that nobody can guess.",
        examples: &["ACL GENPASS => (any)", "ACL GENPASS 32 => (any)"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(generate_password),
    ..Entry::DEFAULT
};
pub(in super::super) const ACL_WHOAMI: Entry = Entry {
    spec: CommandSpec {
        name: "acl|whoami",
        group: Group::Server,
        flags: OF_ANYBODY,
        since: "6.0.0",
        complexity: "O(1)",
        summary: "Returns the name of the connection's user.",
        examples: &[r#"ACL WHOAMI => "default""#],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(who_am_i),
    ..Entry::DEFAULT
};

/// Bits of a password that is asked for without a length, and at most.
const PASSWORD_BITS: i64 = 256;
const PASSWORD_BITS_MAX: i64 = 4096;

fn categories(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    match args.len() {
        2 => {
            reply.array(Category::ALL.len());
            Category::ALL.iter().for_each(|(category, _)| reply.bulk(category.name().as_bytes()));
        }
        3 => {
            let category = Category::from_name(args.word(2)).ok_or_else(|| {
                let name = String::from_utf8_lossy(args.word(2));
                CommandError::new(format!("ERR Unknown category '{name}'"))
            })?;
            let all = ctx.server.table.all().iter();
            let names: Vec<&str> = all
                .filter(|command| command.categories.has(category))
                .map(|command| command.spec.name)
                .collect();
            reply.array(names.len());
            names.iter().for_each(|name| reply.bulk(name.as_bytes()));
        }
        _ => return Err(basalt_call::unknown::wrong_subcommand(args)),
    }
    Ok(Flow::Done)
}

fn dry_run(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let named = |word: &[u8]| String::from_utf8_lossy(word).into_owned();
    let Some(user) = ctx.server.access.user(args.word(2)) else {
        let name = named(args.word(2));
        return Err(CommandError::new(format!("ERR User '{name}' not found")));
    };
    let call: Vec<&[u8]> = args.from(3).collect();
    let found = ctx.server.table.resolve(call[0], call.get(1).copied());
    let Found::Command(command) = found else {
        let name = named(call[0]);
        return Err(CommandError::new(format!("ERR Command '{name}' not found")));
    };
    if !command.accepts_words(call.len()) {
        return Err(CommandError::wrong_arity(command.spec.name));
    }
    match user.check(command, &call[..]) {
        Ok(()) => reply.ok(),
        Err(denied) => reply.bulk(&denial_in_full(denied, (&user, command), &call[..])),
    }
    Ok(Flow::Done)
}

fn generate_password(
    ctx: &mut Context<'_>,
    args: &Args<'_>,
    reply: &mut Reply<'_>,
) -> SessionResult {
    let bits = match args.len() {
        2 => PASSWORD_BITS,
        3 => parse_i64(args.word(2)).ok_or(CommandError::NOT_INTEGER)?,
        _ => return Err(basalt_call::unknown::wrong_subcommand(args)),
    };
    if !(1..=PASSWORD_BITS_MAX).contains(&bits) {
        return Err(CommandError::fixed(
            "ERR ACL GENPASS argument must be the number of bits for the output password, a \
             positive number up to 4096",
        ));
    }
    let digits = bits.unsigned_abs().div_ceil(4) as usize;
    let mut password = String::with_capacity(digits + 16);
    while password.len() < digits {
        password.push_str(&format!("{:016x}", ctx.server.env.entropy.seed()));
    }
    password.truncate(digits);
    reply.bulk(password.as_bytes());
    Ok(Flow::Done)
}

fn who_am_i(ctx: &mut Context<'_>, _: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    reply.bulk(ctx.session.rights.user().name());
    Ok(Flow::Done)
}
