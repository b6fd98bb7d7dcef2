//! Waiting for memory: while keys are leaving it, what would take more waits for them, so that a
//! writer that is faster than the disk becomes as slow as the disk, and is not refused.

use super::request::Request;
use basalt_call::entry::Run;
use basalt_service::session::Session;
use basalt_spec::Flag;

/// Whether a command is to wait until keys have left memory. What is queued waits with its EXEC,
/// and a client that waits for keys already keeps its place.
#[cold]
pub(super) fn waits(request: &Request<'_>, session: &Session) -> bool {
    let queue = session.transaction.as_ref();
    let takes_memory = match request.call.run {
        Run::Exec => queue.is_some_and(|queue| queue.needs_memory() || queue.has_scripts()),
        _ if session.is_queueing() => false,
        Run::Script(_) => !request.command().flags.has(Flag::Readonly),
        _ => request.call.takes_memory,
    };
    takes_memory && session.waiting.is_none()
}
