//! SCRIPT KILL and FUNCTION KILL.

use basalt_call::context::Context;
use basalt_engine::{Attempt, Gate};
use basalt_resp::Reply;
use basalt_service::error::CommandError;
use basalt_service::scripts::RunKind;
use basalt_service::session::{Flow, SessionResult};
use basalt_service::wait::Wait;
use std::time::Duration;

/// After which time it is looked first whether a script has become busy or has ended …
const FIRST_LOOK_AFTER: Duration = Duration::from_millis(10);
/// … and then each time that the wait has become longer by this part: thousands that wait take
/// their thread less than a tenth of its time.
const LONGER_BY: u32 = 8;

/// Ends what is busy. In Redis the command is read when the script that runs has become busy or has
/// ended; here it waits for that.
pub(super) fn kill(ctx: &mut Context<'_>, kind: RunKind, reply: &mut Reply<'_>) -> SessionResult {
    let killed = ctx.server.scripts.kill(kind);
    if killed == Err(CommandError::NOT_BUSY)
        && let Some(pause) = pause(ctx)
    {
        return Ok(Flow::Wait(Wait::Pause(pause)));
    }
    ctx.session.end_standing_by();
    killed?;
    reply.ok();
    Ok(Flow::Done)
}

/// When to look again, if something runs that ran when the command came, and may become busy.
fn pause(ctx: &mut Context<'_>) -> Option<Duration> {
    let clock = ctx.server.engine.clock();
    if !ctx.runs_alone || ctx.session.attempt(clock) == Attempt::Last {
        return None;
    }
    // What ran then is busy by that time.
    let busy_after = Duration::from_millis(ctx.settings.server.script_busy_after_ms);
    let time = busy_after + FIRST_LOOK_AFTER;
    let time = ctx.session.key_wait_max.map_or(time, |most| most.min(time));
    let Wait::Ready(Some(left)) = ctx.session.stand_by(clock, Some(time), Gate::default()) else {
        return None;
    };
    let waited = time.saturating_sub(left);
    let pause = FIRST_LOOK_AFTER.max(waited / LONGER_BY).min(left);
    ctx.server.scripts.any_has_run_for(waited).then_some(pause)
}
