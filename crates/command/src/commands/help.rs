//! The HELP subcommand of every container, made from the specs of its subcommands.

use crate::args::Args;
use crate::dispatch::Context;
use crate::session::{Flow, SessionResult};
use basalt_resp::Reply;

/// Lists the subcommands of the container that was called: of each how it is called and, indented,
/// what it does.
pub fn help(context: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let table = &context.server.commands.table;
    let container = table.lookup(args.word(0)).expect("the command that runs is in the table");
    let mut lines = vec![format!(
        "{} <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
        container.spec.name.to_uppercase()
    )];
    for command in table.subcommands_of(container) {
        let name = command.spec.name.rsplit('|').next().unwrap_or_default().to_uppercase();
        lines.push(format!("{name} {}", command.spec.synopsis).trim_end().to_owned());
        lines.push(format!("    {}", command.spec.summary));
    }
    reply.array(lines.len());
    lines.iter().for_each(|line| reply.simple(line));
    Ok(Flow::Done)
}
