//! CLIENT REPLY: running commands whose replies nobody wants.
//!
//! ```text
//!            SKIP                  next command begins
//!   On ────────────▶ SkipNext ────────────────────────▶ Skip ──▶ On   when it has run
//!   any ── OFF ──▶ Off     any ── ON ──▶ On (and +OK is sent)
//! ```
//! A command under `Skip` or `Off` writes its reply into a buffer that is thrown away, unless it
//! switched replies on: then that reply is the first to be sent. Confirmations of subscriptions are
//! sent in any case, as messages are.

use super::worker::Worker;
use basalt_resp::{Output, Reply};
use basalt_service::error::CommandError;
use basalt_service::session::{Flow, Replies, Session};
use basalt_service::wait::Afterwards;

/// Runs a command of a client whose replies are not simply sent.
#[cold]
pub(super) fn execute(
    worker: &mut Worker,
    session: &mut Session,
    out: &mut Output,
    run: impl FnOnce(&mut Worker, &mut Session, &mut Output) -> Flow,
) -> Flow {
    if session.replies == Replies::SkipNext {
        session.replies = Replies::Skip;
    }
    let mut unwanted = std::mem::take(&mut worker.discarded);
    session.insists = false;
    let flow = run(worker, session, &mut unwanted);
    if session.replies == Replies::On || session.insists {
        Reply::new(out, session.protocol).append(std::mem::take(&mut unwanted));
    }
    if !matches!(flow, Flow::Wait(_) | Flow::RunApart) {
        end_skip(session);
    }
    unwanted.clear();
    worker.discarded = unwanted;
    flow
}

/// Answers a command that waited for more than its own rerun, or that will not run again because of
/// an error. What does not run again has not been counted as a call yet.
pub fn finish_wait(
    worker: &Worker,
    session: &mut Session,
    (afterwards, result): (Afterwards, Result<(), CommandError>),
    out: &mut Output,
) {
    session.held_since = None;
    session.has_given_way = false;
    session.script_runs = None;
    session.has_told_monitors = false;
    if let Err(error) = &result {
        let counters = &worker.counters;
        counters.count_error(error.text());
        if let Some(index) = session.client.last_command_index() {
            let command = &counters.by_command[index];
            command.failed.add(1);
            if afterwards == Afterwards::RunAgain {
                counters.commands.add(1);
                command.calls.add(1);
            }
        }
    }
    if session.replies != Replies::On {
        return end_skip(session);
    }
    let mut reply = Reply::new(out, session.protocol);
    match result {
        Ok(()) => reply.ok(),
        Err(error) => reply.error(error.text()),
    }
}

/// The command whose reply was to be skipped is over.
fn end_skip(session: &mut Session) {
    if session.replies == Replies::Skip {
        session.replies = Replies::On;
    }
}
