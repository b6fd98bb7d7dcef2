//! SCRIPT DEBUG: there is no debugger, so that its sessions can only be switched off.

use basalt_call::context::Context;
use basalt_call::entry::{Entry, Run};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_service::session::{Flow, SessionResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, around};

pub(super) const SCRIPT_DEBUG: Entry = Entry {
    spec: CommandSpec {
        name: "script|debug",
        synopsis: "<YES | SYNC | NO>",
        group: Group::Scripting,
        flags: Flags::of(&[Flag::Noscript]),
        overrides: &[around("YES").named("mode")],
        since: "3.2.0",
        complexity: "O(1)",
        summary: "Switches the debugger of scripts, which this server does not have.",
        examples: &[
            "SCRIPT DEBUG NO => OK",
            "SCRIPT DEBUG YES => (error) ERR this server has no debugger for scripts",
            "SCRIPT DEBUG MAYBE => (error) ERR Use SCRIPT DEBUG YES/SYNC/NO",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(debug),
    ..Entry::DEFAULT
};

fn debug(_: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    if args.is(2, "no") {
        reply.ok();
        return Ok(Flow::Done);
    }
    Err(CommandError::fixed(match args.is(2, "yes") || args.is(2, "sync") {
        true => "ERR this server has no debugger for scripts",
        false => "ERR Use SCRIPT DEBUG YES/SYNC/NO",
    }))
}
