//! HOT PATH
//! Values, which stay where the command has written them: room was left before each, over which
//! its head is written, and over the length that stands before it.
//!
//! ```text
//! │ room                │ $1024\r\n │ value │ \r\n
//! HTTP/1.1 200 OK … Content-Length:    1024\r\n\r\n value
//! ```
//! A value is taken out, and written behind its head, if it does not lie together with its room or
//! if its head is longer than that.

use super::Response;
use super::fields::Fields;
use super::first_line::Line;
use super::stencil::{self, ROOM};
use crate::plan::{Answer, Plan};
use crate::problem::Problem;
use basalt_http1::{ByteRange, ContentRange, ResponseHead, Status, Value};
use basalt_resp::{Output, Protocol, Reply};
use std::ops::Range;

/// Room for the head of a value with more fields than a plain one.
const ROOM_MAX: usize = 528;
const SPACES: [u8; ROOM_MAX] = [b' '; ROOM_MAX];

/// Leaves room for the head, where the reply will be a value.
#[inline]
pub(crate) fn leave_room(plan: Option<&Plan>, out: &mut Output) {
    if plan.is_some_and(stencil::is_for) {
        return stencil::begin(out);
    }
    if let Some(room) = plan.map(room_of).filter(|&room| room > 0) {
        Reply::new(out, Protocol::Resp3).raw(&SPACES[..room]);
    }
}

/// How much room is left before its reply.
#[inline]
pub(crate) fn room_of(plan: &Plan) -> usize {
    match plan.answer {
        Answer::Value { range: None, is_document: false }
        | Answer::Tagged { range: None, is_document: false } => ROOM,
        Answer::Value { .. } | Answer::Tagged { .. } | Answer::Report { .. } => ROOM_MAX,
        Answer::Hust { has_room: true } => ROOM,
        _ => 0,
    }
}

/// Where a string stands in what was copied since the mark.
#[derive(Clone, Copy)]
pub(crate) struct Standing {
    pub(crate) at: usize,
    pub(crate) len: usize,
    /// It is copied, too, and not shared.
    pub(crate) is_copied: bool,
}

impl Response<'_> {
    /// A string, where it stands.
    #[inline]
    pub(crate) fn value(&mut self, room: usize, range: Option<ByteRange>, lines: &'static str) {
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
    pub(crate) fn value_elsewhere(
        &mut self,
        room: usize,
        range: Option<ByteRange>,
        lines: &'static str,
    ) {
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
        if !self.ending.is_without_body {
            self.reply().raw(body);
        }
    }

    pub(crate) fn no_such_part(&mut self, len: usize) {
        let problem = Problem::no_such_part(len);
        let range = ContentRange::Unsatisfied { length: len as u64 };
        self.problem_with(&problem, &[("Content-Range", Value::ContentRange(range))]);
    }
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
    use crate::metrics::{OF_OPEN_METRICS, OF_PROMETHEUS};
    use crate::plan::Ending;
    use crate::response::Circumstances;
    use crate::response::lines::{OF_DOCUMENTS, OF_VALUES};
    use crate::tally::Tally;
    use basalt_http1::{Connection, Date, ETag};

    /// Whatever the lengths: the `$` line of the reply is more room still.
    #[test]
    fn every_head_fits_its_room() {
        let (mut out, date, tally) = (Output::new(), Date::new(0), Tally::default());
        let ending = Ending { connection: Connection::Kept, is_without_body: false, origin: None };
        let circumstances =
            Circumstances { date: &date, json_bytes_max: 0, origins: &[], tally: &tally };
        let response = Response::behind(&mut out, ending, circumstances);
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
