//! HOT PATH
//! Replies become responses.
//!
//! A string stays where the command has written it: room was left before it, over which its head is
//! written, and over the length that stands before it.
//!
//! ```text
//! │ room                │ $1024\r\n │ value │ \r\n
//! HTTP/1.1 200 OK … Content-Length:    1024\r\n\r\n value
//! ```
//! Everything else is short, or becomes JSON: it is taken out, and a response written in its place.

use crate::console::{self, Served};
use crate::general::Spelling;
use crate::hust::answer::Answered;
use crate::hust::talk::Profile;
use crate::hust::talks::Talks;
use crate::json;
use crate::metrics::{OF_OPEN_METRICS, OF_PROMETHEUS};
use crate::plan::{Answer, Ending, Plan};
use crate::problem::Problem;
use crate::series::Outcome;
use crate::shape::{Shape, Shaped};
use crate::tagged::Wanted;
use crate::tally::Tally;
use basalt_dispatch::Then;
use basalt_http1::{
    ByteRange, Connection, ContentRange, Date, ResponseHead, Status, Value, WEBSOCKET_LINES,
};
use basalt_resp::{Output, Protocol, Reply, ReplyMark};
use std::io::IoSlice;
use std::ops::Range;

/// Room for the head of a plain value, and for one with more fields.
const ROOM: usize = 336;
const ROOM_MAX: usize = 528;
const SPACES: [u8; ROOM_MAX] = [b' '; ROOM_MAX];

const OF_VALUES: &str = "Content-Type: application/octet-stream\r\nX-Content-Type-Options: nosniff\r\n\
                         Cache-Control: no-cache\r\nAccept-Ranges: bytes\r\n";
/// Of a value that a browser would show as a page: it is kept, and runs nothing.
const OF_DOCUMENTS: &str = "Content-Type: application/octet-stream\r\nX-Content-Type-Options: nosniff\r\n\
     Cache-Control: no-cache\r\nAccept-Ranges: bytes\r\n\
     Content-Disposition: attachment\r\nContent-Security-Policy: sandbox\r\n";
pub(crate) const OF_JSON: &str = "Content-Type: application/json\r\nX-Content-Type-Options: nosniff\r\n\
                       Cache-Control: no-store\r\n";
const OF_PROBLEMS: &str = "Content-Type: application/problem+json\r\n\
                           X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n";
const OF_TEXTS: &str = "Content-Type: text/plain\r\nX-Content-Type-Options: nosniff\r\n\
                        Cache-Control: no-store\r\n";
/// Fields that a page with a listed origin may send, and see.
const SENT_BY_PAGES: &[u8] =
    b"Authorization, Content-Type, If-Match, If-None-Match, If-Range, Last-Event-ID, Range, X-Basalt";
const SHOWN_TO_PAGES: &[u8] =
    b"Accept-Ranges, Allow, Basalt-Ttl-Ms, Content-Range, ETag, Location, Retry-After";
/// How long a browser need not ask again what they may send.
const PREFLIGHT_SECONDS: u64 = 600;
/// Of events, which proxies are to pass on as they come.
const OF_EVENTS: &str = "Content-Type: text/event-stream; charset=utf-8\r\n\
                         X-Content-Type-Options: nosniff\r\n\
                         Cache-Control: no-store\r\nX-Accel-Buffering: no\r\n";
pub(crate) const OF_NOTHING: &str = "Cache-Control: no-cache\r\n";

/// A response without a command's reply.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Own {
    Problem(Problem),
    /// A short text.
    Text(&'static [u8]),
    /// JSON.
    Json(Vec<u8>),
    /// What a page with a listed origin may send: the methods of the target.
    Preflight(String),
    /// The document of the interface.
    Document(&'static [u8]),
    /// A file of the console.
    File(Served),
    /// The methods of the target.
    Methods(String),
    /// An answer of huststore's interface.
    Hust(Box<Answered>, Profile),
    /// The client may send the body.
    Continue,
}

/// What the head of a value says beside its length.
pub(crate) fn lines_of(is_document: bool) -> &'static str {
    if is_document { OF_DOCUMENTS } else { OF_VALUES }
}

/// What is needed beside the reply.
#[derive(Clone, Copy)]
pub(crate) struct Circumstances<'a> {
    pub(crate) date: &'a Date,
    /// Largest reply that is written as JSON.
    pub(crate) json_bytes_max: usize,
    /// The origins whose pages may read responses.
    pub(crate) origins: &'a [String],
    /// Where responses are counted.
    pub(crate) tally: &'a Tally,
}

/// Leaves room for the head, where the reply will be a value.
#[inline]
pub(crate) fn leave_room(plan: Option<&Plan>, out: &mut Output) {
    if let Some(room) = plan.map(room_of).filter(|&room| room > 0) {
        Reply::new(out, Protocol::Resp3).raw(&SPACES[..room]);
    }
}

#[inline]
fn room_of(plan: &Plan) -> usize {
    match plan.answer {
        Answer::Value { range: None, is_document: false }
        | Answer::Tagged { range: None, is_document: false } => ROOM,
        Answer::Value { .. } | Answer::Tagged { .. } | Answer::Report { .. } => ROOM_MAX,
        Answer::Hust { has_room: true } => ROOM,
        _ => 0,
    }
}

/// Makes a response of what has been written since the mark; returns what becomes of the client.
pub(crate) fn respond(
    plan: Plan,
    mark: ReplyMark,
    out: &mut Output,
    circumstances: Circumstances<'_>,
) -> Then {
    let mut response = Response { out, mark, ending: plan.ending, circumstances };
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
    let mut response = Response { out, mark, ending: plan.ending, circumstances };
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
    let mark = Reply::new(out, Protocol::Resp3).mark();
    let mut response = Response { out, mark, ending, circumstances };
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
    let mark = Reply::new(out, Protocol::Resp3).mark();
    let mut response = Response { out, mark, ending, circumstances };
    match own {
        Own::Problem(problem) => response.problem(problem),
        Own::Text(text) => response.write(Status::Ok, OF_TEXTS, &[], text),
        Own::Json(body) => response.write(Status::Ok, OF_JSON, &[], body),
        Own::Preflight(methods) => {
            let fields = [
                ("Access-Control-Allow-Methods", Value::Text(methods.as_bytes())),
                ("Access-Control-Allow-Headers", Value::Text(SENT_BY_PAGES)),
                ("Access-Control-Max-Age", Value::Number(PREFLIGHT_SECONDS)),
            ];
            response.write_head(Status::NoContent, OF_NOTHING, &fields, None);
        }
        Own::Document(document) => response.write(Status::Ok, OF_JSON, &[], document),
        Own::File(served) => response.file(*served),
        Own::Methods(methods) => {
            let fields = [("Allow", Value::Text(methods.as_bytes()))];
            response.write_head(Status::NoContent, OF_NOTHING, &fields, None);
        }
        Own::Hust(answered, profile) => {
            response.answered(Answered::clone(answered), *profile);
        }
        Own::Continue => {
            Reply::new(response.out, Protocol::Resp3).raw(basalt_http1::CONTINUE.as_bytes());
        }
    }
}

/// Writes what a response of events begins with; it ends with the connection.
pub(crate) fn begin_events(ending: Ending, out: &mut Output, circumstances: Circumstances<'_>) {
    let mark = Reply::new(out, Protocol::Resp3).mark();
    let mut response = Response { out, mark, ending, circumstances };
    response.write_head(Status::Ok, OF_EVENTS, &[], None);
}

/// Writes the response that makes a WebSocket of a connection.
pub(crate) fn begin_socket(
    accept: &str,
    ending: Ending,
    out: &mut Output,
    circumstances: Circumstances<'_>,
) {
    let mark = Reply::new(out, Protocol::Resp3).mark();
    let ending = Ending { connection: Connection::Unsaid, ..ending };
    let mut response = Response { out, mark, ending, circumstances };
    let fields = [("Sec-WebSocket-Accept", Value::Text(accept.as_bytes()))];
    response.write_head(Status::SwitchingProtocols, WEBSOCKET_LINES, &fields, None);
}

pub(crate) struct Response<'a> {
    out: &'a mut Output,
    pub(crate) mark: ReplyMark,
    ending: Ending,
    pub(crate) circumstances: Circumstances<'a>,
}

/// Where a string stands in what was copied since the mark.
#[derive(Clone, Copy)]
pub(crate) struct Standing {
    pub(crate) at: usize,
    pub(crate) len: usize,
    /// It is copied, too, and not shared.
    pub(crate) is_copied: bool,
}

/// The fields of a response with a value, on the stack.
pub(crate) struct Fields<'a> {
    fields: [(&'static str, Value<'a>); 3],
    count: usize,
}

impl Default for Fields<'_> {
    #[inline]
    fn default() -> Self {
        const NOTHING: (&str, Value<'static>) = ("", Value::Number(0));
        Fields { fields: [NOTHING; 3], count: 0 }
    }
}

impl<'a> Fields<'a> {
    #[inline]
    pub(crate) fn push(&mut self, name: &'static str, value: Value<'a>) {
        self.fields[self.count] = (name, value);
        self.count += 1;
    }

    #[inline]
    pub(crate) fn as_slice(&self) -> &[(&'static str, Value<'a>)] {
        &self.fields[..self.count]
    }
}

/// What a reply is, as its first line says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    Nothing,
    Error(Vec<u8>),
    /// A string of this length, which begins there.
    Bulk(usize, usize),
    Integer(Vec<u8>),
    Double,
    Other,
}

impl Line {
    #[inline]
    pub(crate) fn of(reply: &[u8]) -> Line {
        let Some(end) = reply.iter().position(|&byte| byte == b'\r') else { return Line::Other };
        match reply[0] {
            b'_' => Line::Nothing,
            b'-' => Line::Error(reply[1..end].to_vec()),
            b':' => Line::Integer(reply[1..end].to_vec()),
            b',' => Line::Double,
            b'$' => {
                let len = str::from_utf8(&reply[1..end]).ok().and_then(|text| text.parse().ok());
                len.map_or(Line::Other, |len| Line::Bulk(end + 2, len))
            }
            _ => Line::Other,
        }
    }
}

impl Response<'_> {
    pub(crate) fn reply(&mut self) -> Reply<'_> {
        Reply::new(self.out, Protocol::Resp3)
    }

    fn cut(&mut self) {
        let mark = self.mark;
        self.reply().cut(mark);
    }

    /// Whether nothing was written but the room for a head.
    fn is_empty(&mut self, room: usize) -> bool {
        let mark = self.mark;
        self.reply().copied_since(mark).is_some_and(|copied| copied.len() <= room)
    }

    /// The head has fields for a page of another origin, and is longer than its room.
    #[inline]
    pub(crate) fn is_for_page(&self) -> bool {
        self.ending.origin.is_some()
    }

    /// A string, where it stands.
    #[inline]
    fn value(&mut self, room: usize, range: Option<ByteRange>, lines: &'static str) {
        if self.is_for_page() {
            return self.value_elsewhere(room, range, lines);
        }
        let mark = self.mark;
        let mut reply = self.reply();
        let Some(copied) = reply.copied_since(mark) else {
            return self.value_elsewhere(room, range, lines);
        };
        let Line::Bulk(at, len) = Line::of(&copied[room..]) else {
            return self.value_elsewhere(room, range, lines);
        };
        let at = room + at;
        let standing = Standing { at, len, is_copied: copied.len() == at + len + 2 };
        self.send(standing, range, lines, Fields::default());
    }

    /// Sends a string where it stands, or a part of it, with these fields.
    #[inline]
    pub(crate) fn send(
        &mut self,
        standing: Standing,
        range: Option<ByteRange>,
        lines: &'static str,
        mut fields: Fields<'_>,
    ) {
        let Standing { at, len, is_copied } = standing;
        let Some(part) = part_of(len, range) else { return self.no_such_part(len) };
        if self.ending.is_without_body {
            return self.write_value(part, len, lines, fields, &[]);
        }
        let is_whole = part.len() == len;
        if !is_whole {
            fields.push("Content-Range", content_range(&part, len));
        }
        let head = self.head_of_value(&part, len, lines, fields.as_slice());
        let mark = self.mark;
        let mut reply = Reply::new(self.out, Protocol::Resp3);
        let Some(copied) = reply.copied_since(mark) else { return };
        let fits = head.write_over(&mut copied[..at]);
        assert!(fits, "the room is as large as the longest head");
        if is_whole {
            return reply.shorten(2);
        }
        if is_copied {
            copied.copy_within(at + part.start..at + part.end, at);
            reply.shorten(len - part.len() + 2);
        } else {
            reply.shorten(2);
            reply.narrow_shared(mark, part);
        }
    }

    /// A string that does not lie together with its room, or something else.
    #[cold]
    fn value_elsewhere(&mut self, room: usize, range: Option<ByteRange>, lines: &'static str) {
        let bytes = self.take();
        let reply = &bytes[room..];
        match Line::of(reply) {
            Line::Bulk(at, len) => match part_of(len, range) {
                Some(part) => {
                    let body = &reply[at + part.start..at + part.end];
                    self.write_value(part, len, lines, Fields::default(), body);
                }
                None => self.no_such_part(len),
            },
            line => self.unexpected(line),
        }
    }

    fn head_of_value<'b>(
        &self,
        part: &Range<usize>,
        len: usize,
        lines: &'static str,
        fields: &'b [(&'static str, Value<'b>)],
    ) -> ResponseHead<'b>
    where
        Self: 'b,
    {
        let status = if part.len() == len { Status::Ok } else { Status::PartialContent };
        self.circumstances.tally.note(status);
        ResponseHead {
            status,
            lines,
            fields,
            connection: self.ending.connection,
            date: self.circumstances.date,
            content_length: Some(part.len() as u64),
        }
    }

    /// Writes a string, or a part of it.
    pub(crate) fn write_value(
        &mut self,
        part: Range<usize>,
        len: usize,
        lines: &'static str,
        fields: Fields<'_>,
        body: &[u8],
    ) {
        let mut all = self.for_page();
        all.extend_from_slice(fields.as_slice());
        if part.len() != len {
            all.push(("Content-Range", content_range(&part, len)));
        }
        let mut head = Vec::with_capacity(ROOM_MAX);
        self.head_of_value(&part, len, lines, &all).write(&mut head);
        self.cut();
        self.reply().raw(&head);
        self.reply().raw(body);
    }

    pub(crate) fn no_such_part(&mut self, len: usize) {
        let problem = Problem::no_such_part(len);
        let range = ContentRange::Unsatisfied { length: len as u64 };
        self.problem_with(&problem, &[("Content-Range", Value::ContentRange(range))]);
    }

    /// A reply of which the first line says all.
    fn brief(&mut self, answer: Answer) {
        let line = self.first_line();
        match (answer, line) {
            (Answer::Done | Answer::Renamed, Line::Error(text)) if is_about_nothing(&text) => {
                self.problem(&Problem::no_key());
            }
            (_, Line::Error(text)) => self.problem(&Problem::of_error(&text)),
            (Answer::NotModified, Line::Bulk(..)) => {
                self.write_head(Status::NotModified, OF_NOTHING, &[], None);
            }
            (Answer::Put, Line::Nothing) => self.write(Status::Created, OF_NOTHING, &[], b""),
            (Answer::Added, Line::Integer(added)) if added == b"1" => {
                self.write(Status::Created, OF_NOTHING, &[], b"");
            }
            (Answer::Found, Line::Integer(found)) if found == b"0" => {
                self.problem(&Problem::no_key());
            }
            (Answer::Renamed, Line::Integer(renamed)) if renamed == b"0" => {
                self.problem(&Problem::key_exists());
            }
            (Answer::Added | Answer::Found | Answer::Renamed, Line::Integer(_))
            | (Answer::Done | Answer::Renamed, Line::Other) => {
                self.write_head(Status::NoContent, OF_NOTHING, &[], None);
            }
            (Answer::Removed, Line::Bulk(..)) | (Answer::Put, _) => {
                self.write_head(Status::NoContent, OF_NOTHING, &[], None);
            }
            (Answer::Member(name), Line::Integer(number)) => self.member(name, &number),
            (Answer::Number, Line::Integer(number)) => {
                let number = json::of_reply(&[b":", &number[..], b"\r\n"].concat(), usize::MAX);
                self.member("value", &number.unwrap_or_default());
            }
            // ZINCRBY writes a double.
            (Answer::Number, Line::Double) => {
                let number = json::of_reply(&self.take(), usize::MAX).unwrap_or_default();
                self.member("value", &number);
            }
            // INCRBYFLOAT writes its number as a string.
            (Answer::Number, Line::Bulk(..)) => {
                let reply = self.take();
                let (Some(start), Some(end)) = (
                    reply.iter().position(|&byte| byte == b'\n').map(|at| at + 1),
                    reply.len().checked_sub(2),
                ) else {
                    return self.unexpected(Line::Other);
                };
                self.member("value", &reply[start..end]);
            }
            (_, line) => self.unexpected(line),
        }
    }

    /// The first line of the reply.
    #[inline]
    pub(crate) fn first_line(&mut self) -> Line {
        let mark = self.mark;
        if let Some(copied) = self.reply().copied_since(mark) {
            return Line::of(copied);
        }
        let bytes = self.take();
        let line = Line::of(&bytes);
        self.reply().raw(&bytes);
        line
    }

    fn member(&mut self, name: &str, number: &[u8]) {
        let body = [b"{\"", name.as_bytes(), b"\":", number, b"}"].concat();
        self.write(Status::Ok, OF_JSON, &[], &body);
    }

    pub(crate) fn unexpected(&mut self, line: Line) {
        match line {
            Line::Nothing => self.problem(&Problem::no_key()),
            Line::Error(text) => self.problem(&Problem::of_error(&text)),
            _ => self.problem(&Problem::bad_request("the command has answered something else")),
        }
    }

    fn json(&mut self) {
        if self.is_too_large() {
            return;
        }
        let reply = self.take();
        match json::of_reply(&reply, self.circumstances.json_bytes_max) {
            Ok(body) => self.write_json(body),
            Err(problem) => self.problem(&problem),
        }
    }

    /// A reply of a shape.
    fn shaped(&mut self, shape: Shape, spelling: Spelling) {
        if self.is_too_large() {
            return;
        }
        let reply = self.take();
        if let Line::Error(text) = Line::of(&reply) {
            return self.problem(&Problem::of_error(&text));
        }
        match shape.of(&reply, spelling) {
            Some(Shaped::Reply(reply)) => {
                match json::of_reply(&reply, self.circumstances.json_bytes_max) {
                    Ok(body) => self.write_json(body),
                    Err(problem) => self.problem(&problem),
                }
            }
            Some(Shaped::Nothing) => self.write_head(Status::NoContent, OF_NOTHING, &[], None),
            Some(Shaped::Missing) => self.problem(&Problem::no_key()),
            None => self.unexpected(Line::Other),
        }
    }

    /// The ID of an entry that was added.
    fn entry(&mut self, plan: &Plan) {
        let reply = self.take();
        let (Line::Bulk(at, len), Some(location)) = (Line::of(&reply), &plan.location) else {
            return self.unexpected(Line::of(&reply));
        };
        let id = &reply[at..at + len];
        let location = plan.general.location(location, id);
        let body = [b"{\"id\":\"", id, b"\"}"].concat();
        let fields = [("Location", Value::Text(location.as_bytes()))];
        self.write(Status::Created, OF_JSON, &fields, &body);
    }

    /// A message has an id, but nothing is under it: a delivery has a token.
    fn queued(&mut self) {
        let reply = self.take();
        let Line::Bulk(at, len) = Line::of(&reply) else {
            return self.unexpected(Line::of(&reply));
        };
        let body = [b"{\"id\":\"", &reply[at..at + len], b"\"}"].concat();
        self.write(Status::Created, OF_JSON, &[], &body);
    }

    fn called(&mut self) {
        match self.first_line() {
            Line::Bulk(..) => self.value_elsewhere(0, None, OF_VALUES),
            Line::Nothing => {
                self.cut();
                self.write_head(Status::NoContent, OF_NOTHING, &[], None);
            }
            line => {
                self.cut();
                self.unexpected(line);
            }
        }
    }

    fn raw(&mut self) {
        match self.first_line() {
            Line::Bulk(..) => self.value_elsewhere(0, None, OF_VALUES),
            _ => self.json(),
        }
    }

    /// Refuses a reply that is too large to be made JSON of; returns true if it is.
    fn is_too_large(&mut self) -> bool {
        let mark = self.mark;
        let taken = self.reply().split_off(mark);
        let most = self.circumstances.json_bytes_max;
        if taken.len() > most {
            self.problem(&Problem::reply_too_large(most));
            return true;
        }
        self.reply().append(taken);
        false
    }

    /// Takes out all of the reply.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        let mark = self.mark;
        flat(self.reply().split_off(mark))
    }

    pub(crate) fn problem(&mut self, problem: &Problem) {
        self.problem_with(problem, &[]);
    }

    pub(crate) fn problem_with(&mut self, problem: &Problem, more: &[(&'static str, Value<'_>)]) {
        let mut fields = more.to_vec();
        if let Some(methods) = &problem.allow {
            fields.push(("Allow", Value::Text(methods.as_bytes())));
        }
        if problem.challenges {
            let challenge = b"Basic realm=\"Basalt\", charset=\"UTF-8\"";
            fields.push(("WWW-Authenticate", Value::Text(challenge)));
        }
        if problem.status == Status::ServiceUnavailable {
            fields.push(("Retry-After", Value::Number(1)));
        }
        if problem.closes {
            self.ending.connection = Connection::Closes;
        }
        self.write(problem.status, OF_PROBLEMS, &fields, &problem.body());
    }

    /// What a browser must be told so that it shows the response to the page that has asked.
    fn for_page<'b>(&self) -> Vec<(&'static str, Value<'b>)>
    where
        Self: 'b,
    {
        let origins = self.circumstances.origins;
        let origin = self.ending.origin.and_then(|at| origins.get(usize::from(at)));
        origin.map_or_else(Vec::new, |origin| {
            vec![
                ("Access-Control-Allow-Origin", Value::Text(origin.as_bytes())),
                ("Access-Control-Expose-Headers", Value::Text(SHOWN_TO_PAGES)),
                ("Vary", Value::Text(b"Origin")),
            ]
        })
    }

    fn file(&mut self, served: Served) {
        let Served { file, is_known } = served;
        let tag = ("ETag", Value::ETag(served.tag()));
        if is_known {
            return self.write_head(Status::NotModified, console::FIELDS, &[tag], None);
        }
        let fields = [("Content-Type", Value::Text(file.media_type.as_bytes())), tag];
        self.write(Status::Ok, console::FIELDS, &fields, file.bytes);
    }

    /// Writes a response in the place of the reply.
    pub(crate) fn write(
        &mut self,
        status: Status,
        lines: &'static str,
        fields: &[(&'static str, Value<'_>)],
        body: &[u8],
    ) {
        self.write_head(status, lines, fields, Some(body.len() as u64));
        if !self.ending.is_without_body {
            self.reply().raw(body);
        }
    }

    /// A body that may be large.
    fn write_json(&mut self, body: Vec<u8>) {
        self.write_head(Status::Ok, OF_JSON, &[], Some(body.len() as u64));
        if !self.ending.is_without_body {
            self.reply().raw_owned(body);
        }
    }

    pub(crate) fn write_head(
        &mut self,
        status: Status,
        lines: &'static str,
        fields: &[(&'static str, Value<'_>)],
        content_length: Option<u64>,
    ) {
        let mut all = self.for_page();
        all.extend_from_slice(fields);
        self.circumstances.tally.note(status);
        let head = ResponseHead {
            status,
            lines,
            fields: &all,
            connection: self.ending.connection,
            date: self.circumstances.date,
            content_length,
        };
        let mut bytes = Vec::with_capacity(ROOM_MAX);
        head.write(&mut bytes);
        self.cut();
        self.reply().raw(&bytes);
    }
}

/// All of an output as one.
pub(crate) fn flat(mut taken: Output) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(taken.len());
    while !taken.is_empty() {
        let mut slices = [IoSlice::new(&[]); 16];
        let count = taken.io_slices(&mut slices);
        let before = bytes.len();
        slices[..count].iter().for_each(|slice| bytes.extend_from_slice(slice));
        taken.advance(bytes.len() - before);
    }
    bytes
}

/// Whether a command says by an error that what it was to change is not there.
fn is_about_nothing(error: &[u8]) -> bool {
    matches!(error, b"ERR no such key" | b"ERR index out of range")
}

/// The part of a value of this length that is asked for; `None` if none of it is.
pub(crate) fn part_of(len: usize, range: Option<ByteRange>) -> Option<Range<usize>> {
    let Some(range) = range else { return Some(0..len) };
    let part = range.of(len as u64)?;
    Some(part.start as usize..part.end as usize)
}

fn content_range(part: &Range<usize>, len: usize) -> Value<'static> {
    let range = part.start as u64..part.end as u64;
    Value::ContentRange(ContentRange::Part { range, length: len as u64 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use basalt_http1::ETag;

    /// Whatever the lengths: the `$` line of the reply is more room still.
    #[test]
    fn every_head_fits_its_room() {
        let (mut out, date, tally) = (Output::new(), Date::new(0), Tally::default());
        let mark = Reply::new(&mut out, Protocol::Resp3).mark();
        let ending = Ending { connection: Connection::Kept, is_without_body: false, origin: None };
        let circumstances =
            Circumstances { date: &date, json_bytes_max: 0, origins: &[], tally: &tally };
        let response = Response { out: &mut out, mark, ending, circumstances };
        let len = usize::MAX - 1;
        for (part, lines, room) in [
            (0..len, OF_VALUES, ROOM),
            (0..len, OF_DOCUMENTS, ROOM_MAX),
            (1..len, OF_DOCUMENTS, ROOM_MAX),
            (0..len, OF_PROMETHEUS, ROOM_MAX),
            (0..len, OF_OPEN_METRICS, ROOM_MAX),
        ] {
            let mut fields = Fields::default();
            fields.push("ETag", Value::ETag(ETag::Version(u64::MAX)));
            fields.push("Basalt-Ttl-Ms", Value::Number(u64::MAX));
            if part.len() < len {
                fields.push("Content-Range", content_range(&part, len));
            }
            let mut head = Vec::new();
            response.head_of_value(&part, len, lines, fields.as_slice()).write(&mut head);
            assert!(head.len() <= room, "{} bytes in {room}", head.len());
        }
    }
}
