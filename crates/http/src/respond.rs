//! HOT PATH
//! Replies become responses, as the plans of their requests say.

use crate::flat::flat;
use crate::hust::answer::Answered;
use crate::hust::talks::Talks;
use crate::metrics::{OF_OPEN_METRICS, OF_PROMETHEUS};
use crate::own::Own;
use crate::plan::{Answer, Ending, Plan};
use crate::response::lines::{OF_EVENTS, OF_JSON, OF_NOTHING, OF_TEXTS, lines_of};
use crate::response::tagged::Wanted;
use crate::response::value::room_of;
use crate::response::{Circumstances, Response};
use crate::series::Outcome;
use basalt_dispatch::Then;
use basalt_http1::{Connection, Status, Value, WEBSOCKET_LINES};
use basalt_resp::{Output, Protocol, Reply, ReplyMark};

/// Makes a response of what has been written since the mark; returns what becomes of the client.
pub(crate) fn respond(
    plan: Plan,
    mark: ReplyMark,
    out: &mut Output,
    circumstances: Circumstances<'_>,
) -> Then {
    let mut response = Response::since(mark, plan.ending, out, circumstances);
    if response.is_empty(room_of(&plan)) {
        // The reply has been taken back: the client is about to be disconnected.
        response.cut();
        return Then::Closes;
    }
    match plan.answer {
        Answer::Value { range, is_document } => {
            response.value(room_of(&plan), range, lines_of(is_document));
        }
        Answer::Report { is_open } => {
            let lines = if is_open { OF_OPEN_METRICS } else { OF_PROMETHEUS };
            response.value(room_of(&plan), None, lines);
        }
        Answer::Tagged { range, is_document } => {
            let conditions = plan.conditions.as_deref();
            response.tagged(room_of(&plan), Wanted { range, is_document, conditions });
        }
        answer @ (Answer::Outcome | Answer::Made) => response.outcome(answer),
        Answer::Element => response.element(plan.conditions.as_deref()),
        Answer::Json => response.json(),
        Answer::Raw => response.raw(),
        Answer::Shaped(shape) => response.shaped(shape, plan.general.spelling),
        Answer::Entry => response.entry(&plan),
        Answer::Queued => response.queued(),
        Answer::Called => response.called(),
        answer => response.brief(answer),
    }
    if plan.ending.closes() { Then::Closes } else { Then::GoesOn }
}

/// Takes out the reply of one of several commands; `None` if it is larger than that.
pub(crate) fn take_part(mark: ReplyMark, out: &mut Output, bytes_max: usize) -> Option<Vec<u8>> {
    let taken = Reply::new(out, Protocol::Resp3).split_off(mark);
    (taken.len() <= bytes_max).then(|| flat(taken))
}

/// Hears a reply to a command of huststore's interface. Returns what becomes of the client if it
/// is answered, and `None` if another command comes first.
pub(crate) fn respond_hust(
    plan: &Plan,
    mark: ReplyMark,
    talks: &mut Talks,
    out: &mut Output,
    circumstances: Circumstances<'_>,
) -> Option<Then> {
    let mut response = Response::since(mark, plan.ending, out, circumstances);
    let room = room_of(plan);
    if response.is_empty(room) {
        response.cut();
        return Some(Then::Closes);
    }
    if !response.hust(room, talks) {
        response.cut();
        return None;
    }
    Some(if plan.ending.closes() { Then::Closes } else { Then::GoesOn })
}

/// Answers several commands.
pub(crate) fn respond_together(
    outcome: Outcome,
    ending: Ending,
    out: &mut Output,
    circumstances: Circumstances<'_>,
) -> Then {
    let mut response = Response::behind(out, ending, circumstances);
    match outcome {
        Outcome::Json(body) => response.write_json(body),
        Outcome::Done => response.write_head(Status::NoContent, OF_NOTHING, &[], None),
        Outcome::Problem(problem) => response.problem(&problem),
    }
    if ending.closes() { Then::Closes } else { Then::GoesOn }
}

/// Writes a response of the front's own.
pub(crate) fn respond_self(
    own: &Own,
    ending: Ending,
    out: &mut Output,
    circumstances: Circumstances<'_>,
) {
    let mut response = Response::behind(out, ending, circumstances);
    match own {
        Own::Problem(problem) => response.problem(problem),
        Own::Text(text) => response.write(Status::Ok, OF_TEXTS, &[], text),
        Own::Json(body) => response.write(Status::Ok, OF_JSON, &[], body),
        Own::Preflight(methods) => response.preflight(methods),
        Own::Document(document) => response.write(Status::Ok, OF_JSON, &[], document),
        Own::File(served) => response.file(*served),
        Own::Methods(methods) => {
            let fields = [("Allow", Value::Text(methods.as_bytes()))];
            response.write_head(Status::NoContent, OF_NOTHING, &fields, None);
        }
        Own::Hust(answered, profile) => {
            response.answered(Answered::clone(answered), *profile);
        }
        Own::Continue => response.reply().raw(basalt_http1::CONTINUE.as_bytes()),
    }
}

/// Writes what a response of events begins with; it ends with the connection.
pub(crate) fn begin_events(ending: Ending, out: &mut Output, circumstances: Circumstances<'_>) {
    let mut response = Response::behind(out, ending, circumstances);
    response.write_head(Status::Ok, OF_EVENTS, &[], None);
}

/// Writes the response that makes a WebSocket of a connection.
pub(crate) fn begin_socket(
    accept: &str,
    ending: Ending,
    out: &mut Output,
    circumstances: Circumstances<'_>,
) {
    let ending = Ending { connection: Connection::Unsaid, ..ending };
    let mut response = Response::behind(out, ending, circumstances);
    let fields = [("Sec-WebSocket-Accept", Value::Text(accept.as_bytes()))];
    response.write_head(Status::SwitchingProtocols, WEBSOCKET_LINES, &fields, None);
}
