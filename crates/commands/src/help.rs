//! HELP of containers, in the form that Redis gives it and clients compare.

use basalt_call::context::Context;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::session::{Flow, SessionResult};

/// `CLIENT HELP` and its like: Redis' heading, the container's lines, and HELP itself. Each
/// subcommand is a line of syntax, which is Redis' own, and lines that explain it, which begin
/// with four blanks.
pub fn help(args: &Args<'_>, lines: &[&str], reply: &mut Reply<'_>) -> SessionResult {
    let container = String::from_utf8_lossy(args.word(0)).to_uppercase();
    reply.array(lines.len() + 3);
    reply.simple(format!("{container} <subcommand> [<arg> [value] [opt] ...]. Subcommands are:"));
    lines.iter().for_each(|line| reply.simple(line));
    reply.simple("HELP");
    reply.simple("    Prints this help.");
    Ok(Flow::Done)
}

/// What a container does when it is called with a subcommand that it does not have; without one the
/// arity has already refused it.
pub fn container(_: &mut Context<'_>, args: &Args<'_>, _: &mut Reply<'_>) -> SessionResult {
    Err(basalt_call::unknown::unknown_subcommand(args))
}
