//! HOT PATH
//! A row of commands that change their one key, where requests that follow one another name the
//! same key.
//!
//! Such requests run under one lock, each as [`super::plain`] runs it, and what they change is one
//! record of the log: a crash takes back all of them or none, and none is answered before that
//! record is in the log. To short commands the lock, the transaction and the record cost as much as
//! what they do. Commands that change one key in little time run like this
//! ([`basalt_call::calls::Call::runs_together`]).
//!
//! What keeps the first of them from running is not looked into here: the row ends before it, and
//! the long way meets it again. After what has run for the last of them something may be to be
//! done; nothing is after the others.

use super::admission::Admission;
use super::alike::{Alike, Row};
use super::execute::{SLIGHT_REPLY_BYTES_MAX, count_sharing};
use super::keys::{failed, key_session, settled};
use super::plain::{Ending, Plain, is_open_to, request_of};
use super::prepare::Incoming;
use super::request::Request;
use super::worker::Worker;
use basalt_call::calls::Call;
use basalt_call::entry::WriteFn;
use basalt_engine::{CommandContext, Gating, Key, Txn};
use basalt_resp::{Output, Reply};
use basalt_service::session::Session;

/// Requests under one lock at most: others wait for it meanwhile, about 10 µs.
const TOGETHER_MAX: usize = 16;

/// A request of a row, and its key.
type Keyed<'a> = (Request<'a>, Key<'a>);

/// Requests that have run under one lock.
struct Ran<'a> {
    /// How many have before the last one; each has replied little.
    others: usize,
    last: Request<'a>,
    ending: Ending,
}

/// Whether calls of this many words run together.
#[inline]
pub(super) fn is_for(call: &Call, words: usize) -> bool {
    call.runs_together && words <= usize::from(call.slight_words_max)
}

/// Runs the requests, each of which comes with its bytes, until the client is owed more than it may
/// be.
#[inline(never)]
pub(super) fn run<'a>(
    alike: Alike<'a>,
    run: WriteFn,
    worker: &mut Worker,
    session: &mut Session,
    admission: &mut Admission,
    (mut requests, owed_bytes_max): (impl Iterator<Item = (Incoming<'a>, usize)>, usize),
    out: &mut Output,
) -> Row {
    let mut row = Row::NONE;
    if !is_open_to(alike.call, alike.words) {
        return row;
    }
    let context = key_session(worker, session);
    let plain = Plain { alike, run, now_ms: context.now_ms, owed_bytes_max };
    let mut reply = Reply::new(out, session.protocol);
    let mut upcoming = requests.next();
    while let Some(first) = upcoming.and_then(|one| request_of(&alike, one.0, one.1)) {
        upcoming = requests.next();
        let mut follow = || {
            let (incoming, bytes) = upcoming.filter(|(one, _)| one.prepared.repeats)?;
            let following = request_of(&alike, incoming, bytes)?;
            upcoming = requests.next();
            Some(following)
        };
        let first = (context, first);
        let ran = run_under_lock(&plain, worker, session, first, &mut follow, &mut reply);
        let Some(Ran { others, last, ending }) = ran else { break };
        for _ in 0..others {
            count_sharing(&last, worker, session, 0);
        }
        row.ran += others;
        row.next = plain.end(&last, ending, worker, session, admission, &mut reply);
        if row.next.is_some() {
            break;
        }
        row.ran += 1;
    }
    row
}

/// Runs a request and those that follow it and name the same key; `None` if the first cannot run
/// now.
#[inline(always)]
fn run_under_lock<'a>(
    plain: &Plain<'a>,
    worker: &mut Worker,
    session: &mut Session,
    (context, (mut request, key)): (CommandContext, Keyed<'a>),
    follow: &mut impl FnMut() -> Option<Keyed<'a>>,
    reply: &mut Reply<'_>,
) -> Option<Ran<'a>> {
    let engine = &*request.server.engine;
    let (shard, keys) = (key.partition.shard(), [key]);
    worker.admit_changes(request.server, shard).ok()?;
    engine.log().prefetch(shard);
    let locked = engine.lock_within(&keys, context.lock_wait)?;
    let gating = worker.gating;
    let mut txn = Txn::with_gating(engine, locked, context, &mut worker.changes, gating);
    // What is in memory stays there as long as the lock is held.
    if txn.missing(&keys).is_some() {
        return None;
    }
    if gating == Gating::On {
        txn.gate_reads(&keys, &mut session.gate);
    }
    let mut others = 0;
    loop {
        let mut ending = Ending::of(reply);
        let outcome = (plain.run)(&mut txn, &request.args(&keys), reply);
        if txn.has_to_settle() {
            // It has changed nothing yet; those before it have.
            txn.append(&mut session.gate);
            let obstacle = outcome.err().and_then(failed);
            let settle = |client: &_, places: &_, gate: &mut _| txn.settle(client, places, gate);
            ending.obstacle = settled(&request, &worker.counters, session, obstacle, settle);
            return Some(Ran { others, last: request, ending });
        }
        let goes_on = outcome.is_ok()
            && others + 1 < TOGETHER_MAX
            && txn.may_be_shared()
            && ending.replied(reply) <= SLIGHT_REPLY_BYTES_MAX
            && reply.bytes_owed() <= plain.owed_bytes_max
            && !reply.is_over();
        if goes_on && let Some((following, _)) = follow() {
            request = following;
            others += 1;
            continue;
        }
        // Even after an error: what has changed in memory must be in the log.
        txn.append(&mut session.gate);
        ending.obstacle = outcome.err().and_then(failed);
        return Some(Ran { others, last: request, ending });
    }
}
