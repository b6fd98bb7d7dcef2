//! Commands that ask no more of their keys than what the rows of the cold tier begin with, and
//! those that remove them: of keys that are on disk only they read that, and not the values, which
//! may be large.

use super::keys::{Obstacle, Stop, failed, wait_for};
use super::left_heads::LeftHeads;
use super::request::Request;
use super::worker::Worker;
use basalt_call::entry::{Run, WriteFn};
use basalt_engine::{Gating, Key, KnownHeads, Missing, ReadHeads, Txn, Unknown, View};
use basalt_observe::counters::ThreadCounters;
use basalt_resp::Reply;
use basalt_service::session::Session;
use basalt_service::wait::Wait;
use std::sync::Arc;

/// What a command that removes keys needs of its worker while it has a transaction.
pub(super) struct Means<'w> {
    pub(super) counters: &'w ThreadCounters,
    pub(super) left: &'w mut LeftHeads,
    pub(super) gating: Gating,
}

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
    let (counters, left) = (&worker.counters, &mut worker.left_heads);
    let known = match known(counters, left, session, |read| view.heads_of(missing, read)) {
        Ok(known) => known,
        Err(stop) => return Some(stop),
    };
    let mut view = view.with_heads(&known);
    if worker.gating == Gating::On {
        view.gate_reads(keys, &mut session.gate);
    }
    let result = run.read(&view, &request.args(keys), reply);
    worker.count_lookups(view.hits_and_misses());
    result.err().and_then(failed)
}

/// Runs a command that changes keys and misses some, if it does nothing but remove them and what
/// their rows begin with has been read; else has it, or them, read.
#[cold]
#[inline(never)]
pub(super) fn remove(
    request: &Request<'_>,
    Means { counters, left, gating }: Means<'_>,
    session: &mut Session,
    (txn, missing): (&mut Txn<'_>, Missing),
    (run, keys): (WriteFn, &[Key<'_>]),
    reply: &mut Reply<'_>,
) -> Obstacle {
    if !request.traits().asks_heads {
        return wait_for(counters, missing);
    }
    let known = match known(counters, left, session, |read| txn.heads_of(missing, read)) {
        Ok(known) => known,
        Err(stop) => return Some(stop),
    };
    if gating == Gating::On {
        txn.gate_reads(keys, &mut session.gate);
    }
    let result = txn.knowing(known, |txn| run(txn, &request.args(keys), reply));
    txn.append(&mut session.gate);
    result.err().and_then(failed)
}

/// What is known by what has been read for the client; else it waits for what is not, and what has
/// been read is kept for when it runs again.
fn known(
    counters: &ThreadCounters,
    left: &mut LeftHeads,
    session: &mut Session,
    know: impl FnOnce(Option<&ReadHeads>) -> Result<KnownHeads, Unknown>,
) -> Result<KnownHeads, Box<Stop>> {
    let client = session.client.id;
    let read = session.read_heads.take().or_else(|| left.take(client));
    match know(read.as_deref()) {
        Ok(known) => {
            left.keep(client, read);
            Ok(known)
        }
        Err(Unknown::Heads(missing)) => {
            let read = read.unwrap_or_default();
            session.read_heads = Some(Arc::clone(&read));
            counters.cold_reads.add(1);
            Err(Box::new(Stop::Wait(Wait::Heads(missing, read))))
        }
        Err(Unknown::Values(missing)) => {
            left.keep(client, read);
            counters.cold_reads.add(1);
            Err(Box::new(Stop::Wait(Wait::Keys(missing))))
        }
    }
}
