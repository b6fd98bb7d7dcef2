//! SHUTDOWN.

use basalt_call::context::Context;
use basalt_call::entry::{Entry, Run};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_service::server::Shutdown;
use basalt_service::session::{Flow, SessionResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, at};

pub(super) const SHUTDOWN: Entry = Entry {
    spec: CommandSpec {
        name: "shutdown",
        synopsis: "[NOSAVE | SAVE] [NOW] [FORCE] [ABORT]",
        group: Group::Server,
        flags: Flags::of(&[
            Flag::Admin,
            Flag::Noscript,
            Flag::Loading,
            Flag::Stale,
            Flag::NoMulti,
            Flag::AllowBusy,
        ]),
        overrides: &[
            at("NOW").since("7.0.0"),
            at("FORCE").since("7.0.0"),
            at("ABORT").since("7.0.0"),
        ],
        since: "1.0.0",
        complexity: "O(N) with N keys when saving, otherwise O(1)",
        summary: "Stops the server after making everything durable, unless told otherwise.",
        examples: &[
            "SHUTDOWN MAYBE => (error) ERR syntax error",
            "SHUTDOWN ABORT => (error) ERR No shutdown in progress.",
        ],
        history: &[("7.0.0", "Options NOW, FORCE and ABORT.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(shutdown),
    ..Entry::DEFAULT
};

/// Never answers when it succeeds: the connection closes. Whatever the options, the log is synced,
/// so that nothing is lost; NOSAVE spares no more than a checkpoint. FORCE has nothing to force,
/// since no failure keeps the process from ending.
fn shutdown(ctx: &mut Context<'_>, args: &Args<'_>, _: &mut Reply<'_>) -> SessionResult {
    let (mut save, mut nosave, mut now, mut force, mut abort) = Default::default();
    let mut options = [
        ("save", &mut save),
        ("nosave", &mut nosave),
        ("now", &mut now),
        ("force", &mut force),
        ("abort", &mut abort),
    ];
    for at in 1..args.len() {
        let option = options.iter_mut().find(|(name, _)| args.is(at, name));
        let (_, is_set) = option.ok_or(CommandError::SYNTAX)?;
        **is_set = true;
    }
    let others = save || nosave || now || force;
    if (save && nosave) || (abort && others) {
        return Err(CommandError::SYNTAX);
    }
    if abort {
        return Err(CommandError::fixed("ERR No shutdown in progress."));
    }
    ctx.server.host.shut_down(match (save, now) {
        (true, _) => Shutdown::Save,
        (false, true) => Shutdown::Now,
        (false, false) => Shutdown::Normal,
    });
    Ok(Flow::Close)
}
