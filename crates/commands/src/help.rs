//! HELP of containers, made of the specs of their subcommands.

use basalt_call::context::Context;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::session::{Flow, SessionResult};

/// `CLIENT HELP` and its like: a heading, then each subcommand with its arguments and its summary.
pub fn help(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let table = &ctx.server.table;
    let mut lines = Vec::new();
    for sub in table.lookup(args.word(0)).into_iter().flat_map(|c| table.subcommands_of(c)) {
        let Some((_, name)) = sub.spec.container_and_name() else { continue };
        if name != "help" {
            lines.push(format!("{} {}", name.to_uppercase(), sub.spec.synopsis));
            lines.push(format!("    {}", sub.spec.summary));
        }
    }
    help_lines(args, &lines, reply);
    Ok(Flow::Done)
}

/// Lines of help between Redis' heading and its end.
pub fn help_lines(args: &Args<'_>, lines: &[impl AsRef<str>], reply: &mut Reply<'_>) {
    let container = String::from_utf8_lossy(args.word(0)).to_uppercase();
    reply.array(lines.len() + 3);
    reply.simple(format!("{container} <subcommand> [<arg> [value] [opt] ...]. Subcommands are:"));
    lines.iter().for_each(|line| reply.simple(line.as_ref().trim_end()));
    reply.simple("HELP");
    reply.simple("    Prints this help.");
}

/// What a container does when it is called with a subcommand that it does not have; without one the
/// arity has already refused it.
pub fn container(_: &mut Context<'_>, args: &Args<'_>, _: &mut Reply<'_>) -> SessionResult {
    Err(basalt_call::unknown::unknown_subcommand(args))
}
