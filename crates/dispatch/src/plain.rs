//! HOT PATH
//! A row of commands that change their one key.
//!
//! Each runs as [`super::execute`] runs it: under the lock of its key, with a transaction of its
//! own. The first that needs more than to be run, or that may leave something to be done, ends the
//! row.

use super::admission::Admission;
use super::execute::{count_sharing, end_obstructed};
use super::keys::{key_session, write_one};
use super::long::{is_large, some_may_take_long};
use super::outcome;
use super::prepare::Incoming;
use super::request::Request;
use super::row::{Alike, Row};
use super::worker::Worker;
use basalt_call::entry::WriteFn;
use basalt_engine::Key;
use basalt_resp::{Output, Reply};
use basalt_service::session::{Flow, Session};

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
    let Alike { server, id, call, words } = alike;
    if call.position_of_one_key(words) == 0 || !call.shares_time || some_may_take_long(call, words)
    {
        return row;
    }
    let key_session = key_session(worker, session);
    let mut reply = Reply::new(out, session.protocol);
    for (incoming, bytes) in requests {
        let Some((request, key)) = request_of(&alike, incoming, bytes) else { break };
        let (before, owed_bytes) = (reply.mark(), reply.bytes_owed());
        let key = (key_session, key);
        let obstacle = write_one(&request, worker, session, key, run, &mut reply);
        let mut flow = Flow::Done;
        if obstacle.is_some() {
            flow = end_obstructed(&request, worker, session, (run, obstacle), &mut reply);
        } else {
            count_sharing(&request, worker, session, reply.bytes_owed() - owed_bytes);
        }
        if reply.is_over() {
            flow = outcome::take_back(server, worker, (Some(id), flow), before, &mut reply);
        }
        let has_logged_much = worker.has_logged_much(server);
        if has_logged_much {
            *admission = Admission::of(server, worker, session);
        }
        let goes_on = matches!(flow, Flow::Done)
            && !has_logged_much
            && !worker.changes.has_called()
            && reply.bytes_owed() <= owed_bytes_max
            && worker.now_ms == key_session.now_ms;
        if !goes_on {
            row.next = Some(flow);
            break;
        }
        row.ran += 1;
    }
    row
}

/// The request and its key, if it is one of the row.
#[inline(always)]
fn request_of<'a>(
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
