//! SCRIPT KILL and FUNCTION KILL.

use basalt_call::context::Context;
use basalt_engine::{Attempt, Gate};
use basalt_resp::Reply;
use basalt_service::error::CommandError;
use basalt_service::scripts::RunKind;
use basalt_service::session::{Flow, SessionResult};
use basalt_service::wait::Wait;
use std::time::Duration;

/// How often it is looked whether a script has become busy or has ended.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Ends what is busy. In Redis the command is read when the script that runs has become busy or has
/// ended; here it waits for that.
pub(super) fn kill(ctx: &mut Context<'_>, kind: RunKind, reply: &mut Reply<'_>) -> SessionResult {
    let scripts = &ctx.server.scripts;
    let killed = scripts.kill(kind);
    let may_wait =
        ctx.runs_alone && ctx.session.attempt(ctx.server.engine.clock()) != Attempt::Last;
    if killed == Err(CommandError::NOT_BUSY) && may_wait && scripts.any_may_become_busy() {
        // What has begun by now is busy then.
        let time = Duration::from_millis(ctx.settings.server.script_busy_after_ms) + LOOK_EVERY;
        ctx.session.stand_by(ctx.server.engine.clock(), Some(time), Gate::default());
        return Ok(Flow::Wait(Wait::Pause(LOOK_EVERY)));
    }
    ctx.session.end_standing_by();
    killed?;
    reply.ok();
    Ok(Flow::Done)
}
