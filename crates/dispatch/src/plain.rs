//! HOT PATH
//! A row of commands that change their one key.
//!
//! Each runs as [`super::execute`] runs it: under the lock of its key, with a transaction of its
//! own. The first that needs more than to be run, or that may leave something to be done, ends the
//! row.

use super::admission::Admission;
use super::alike::{Alike, Row};
use super::execute::{count_sharing, end_obstructed};
use super::keys::{Obstacle, key_session, write_one};
use super::long::{is_large, some_may_take_long};
use super::outcome;
use super::prepare::Incoming;
use super::request::Request;
use super::worker::Worker;
use basalt_call::calls::Call;
use basalt_call::entry::WriteFn;
use basalt_engine::Key;
use basalt_resp::{Output, Reply, ReplyMark};
use basalt_service::session::{Flow, Session};

/// What the requests of a row have in common while they run.
pub(super) struct Plain<'a> {
    pub(super) alike: Alike<'a>,
    pub(super) run: WriteFn,
    pub(super) now_ms: u64,
    pub(super) owed_bytes_max: usize,
}

/// What ending a request takes.
pub(super) struct Ending {
    /// Where its reply begins.
    before: ReplyMark,
    owed_bytes: usize,
    /// What has kept it from being done with.
    pub(super) obstacle: Obstacle,
}

impl Ending {
    /// Of a request that is about to run.
    #[inline(always)]
    pub(super) fn of(reply: &Reply<'_>) -> Ending {
        Ending { before: reply.mark(), owed_bytes: reply.bytes_owed(), obstacle: None }
    }

    /// Bytes of its reply.
    #[inline(always)]
    pub(super) fn replied(&self, reply: &Reply<'_>) -> usize {
        reply.bytes_owed() - self.owed_bytes
    }
}

/// Whether some calls of a command with this many words may run as a row.
#[inline(always)]
pub(super) fn is_open_to(call: &Call, words: usize) -> bool {
    call.may_have_one_key(words) && call.shares_time && !some_may_take_long(call, words)
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
    (requests, owed_bytes_max): (impl Iterator<Item = (Incoming<'a>, usize)>, usize),
    out: &mut Output,
) -> Row {
    let mut row = Row::NONE;
    if !is_open_to(alike.call, alike.words) {
        return row;
    }
    let key_session = key_session(worker, session);
    let plain = Plain { alike, run, now_ms: key_session.now_ms, owed_bytes_max };
    let mut reply = Reply::new(out, session.protocol);
    for (incoming, bytes) in requests {
        let Some((request, key)) = request_of(&alike, incoming, bytes) else { break };
        let mut ending = Ending::of(&reply);
        let key = (key_session, key);
        ending.obstacle = write_one(&request, worker, session, key, run, &mut reply);
        row.next = plain.end(&request, ending, worker, session, admission, &mut reply);
        if row.next.is_some() {
            break;
        }
        row.ran += 1;
    }
    row
}

impl Plain<'_> {
    /// Ends a request that has begun to run; returns what has become of it if the row does not go
    /// on behind it.
    #[inline(always)]
    pub(super) fn end(
        &self,
        request: &Request<'_>,
        ending: Ending,
        worker: &mut Worker,
        session: &mut Session,
        admission: &mut Admission,
        reply: &mut Reply<'_>,
    ) -> Option<Flow> {
        let Alike { server, id, .. } = self.alike;
        let mut flow = Flow::Done;
        if ending.obstacle.is_some() {
            let obstructed = (self.run, ending.obstacle);
            flow = end_obstructed(request, worker, session, obstructed, reply);
        } else {
            count_sharing(request, worker, session, ending.replied(reply));
        }
        if reply.is_over() {
            flow = outcome::take_back(server, worker, (Some(id), flow), ending.before, reply);
        }
        let has_logged_much = worker.has_logged_much(server);
        if has_logged_much {
            *admission = Admission::of(server, worker, session);
        }
        let goes_on = matches!(flow, Flow::Done)
            && !has_logged_much
            && !worker.changes.has_called()
            && reply.bytes_owed() <= self.owed_bytes_max
            && worker.now_ms == self.now_ms;
        (!goes_on).then_some(flow)
    }
}

/// The request and its key, if it is one of the row.
#[inline(always)]
pub(super) fn request_of<'a>(
    alike: &Alike<'a>,
    incoming: Incoming<'a>,
    bytes: usize,
) -> Option<(Request<'a>, Key<'a>)> {
    if is_large(bytes) {
        return None;
    }
    let key = alike.key_of(incoming)?;
    let (Alike { server, id, call, .. }, Incoming { prepared, buffer, words }) = (*alike, incoming);
    Some((Request { server, id, call, buffer, words, prepared }, key))
}
