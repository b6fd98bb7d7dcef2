//! Commands that ask no more of their keys than what the rows of the cold tier begin with: of those
//! that are on disk only they read that, and not the values, which may be large.

use super::keys::{Obstacle, Stop, failed, wait_for};
use super::request::Request;
use super::worker::Worker;
use basalt_call::entry::Run;
use basalt_engine::{Gating, Key, Missing, Unknown, View};
use basalt_resp::Reply;
use basalt_service::session::Session;
use basalt_service::wait::Wait;
use std::sync::Arc;

/// Runs a command that misses keys, if what their rows begin with has been read; else has it read.
#[cold]
#[inline(never)]
pub(super) fn ask(
    request: &Request<'_>,
    worker: &mut Worker,
    session: &mut Session,
    (view, missing): (View<'_>, Missing),
    (run, keys): (Run, &[Key<'_>]),
    reply: &mut Reply<'_>,
) -> Obstacle {
    let read = session.read_heads.take();
    let known = match view.heads_of(&missing, read.as_deref()) {
        Ok(known) => known,
        Err(Unknown::Value) => return wait_for(&worker.counters, missing),
        Err(Unknown::Head) => {
            let read = Arc::default();
            session.read_heads = Some(Arc::clone(&read));
            worker.counters.cold_reads.add(1);
            return Some(Box::new(Stop::Wait(Wait::Heads(missing, read))));
        }
    };
    let mut view = view.with_heads(&known);
    if worker.gating == Gating::On {
        view.gate_reads(keys, &mut session.gate);
    }
    let result = run.read(&view, &request.args(keys), reply);
    worker.count_lookups(view.hits_and_misses());
    result.err().and_then(failed)
}
