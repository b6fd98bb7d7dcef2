//! One response, which is written where the reply stands.
//!
//! A file for each kind: [`value`] for what stays where it is, the others for what is short, or
//! becomes JSON: that is taken out, and a response written in its place.

mod added;
mod as_json;
mod brief;
mod element;
pub(crate) mod fields;
pub(crate) mod first_line;
pub(crate) mod lines;
mod pages;
mod problem;
pub(crate) mod stencil;
pub(crate) mod tagged;
pub(crate) mod value;

use crate::console::{self, Served};
use crate::flat::flat;
use crate::plan::Ending;
use crate::tally::Tally;
use basalt_http1::{Date, ResponseHead, Status, Value};
use basalt_resp::{Output, Protocol, Reply, ReplyMark};
use first_line::Line;

/// Room for most heads.
const HEAD_BYTES: usize = 528;

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

/// See the head of this file.
pub(crate) struct Response<'a> {
    out: &'a mut Output,
    pub(crate) mark: ReplyMark,
    ending: Ending,
    pub(crate) circumstances: Circumstances<'a>,
}

impl<'a> Response<'a> {
    /// One in the place of what has been written since the mark.
    #[inline]
    pub(crate) fn since(
        mark: ReplyMark,
        ending: Ending,
        out: &'a mut Output,
        circumstances: Circumstances<'a>,
    ) -> Response<'a> {
        Response { out, mark, ending, circumstances }
    }

    /// One behind all that has been written.
    pub(crate) fn behind(
        out: &'a mut Output,
        ending: Ending,
        circumstances: Circumstances<'a>,
    ) -> Response<'a> {
        let mark = Reply::new(out, Protocol::Resp3).mark();
        Response { out, mark, ending, circumstances }
    }
}

impl Response<'_> {
    pub(crate) fn reply(&mut self) -> Reply<'_> {
        Reply::new(self.out, Protocol::Resp3)
    }

    /// Takes back what has been written since the mark.
    pub(crate) fn cut(&mut self) {
        let mark = self.mark;
        self.reply().cut(mark);
    }

    /// Whether nothing was written but the room for a head.
    pub(crate) fn is_empty(&mut self, room: usize) -> bool {
        let mark = self.mark;
        self.reply().copied_since(mark).is_some_and(|copied| copied.len() <= room)
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

    /// Takes out all of the reply.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        let mark = self.mark;
        flat(self.reply().split_off(mark))
    }

    /// A file of the console.
    pub(crate) fn file(&mut self, served: Served) {
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

    /// Writes a head in the place of the reply.
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
        let mut buffer = [0; HEAD_BYTES];
        if let Some(len) = head.write_to_start(&mut buffer) {
            self.cut();
            return self.reply().raw(&buffer[..len]);
        }
        let mut bytes = Vec::with_capacity(2 * HEAD_BYTES);
        head.write(&mut bytes);
        self.cut();
        self.reply().raw(&bytes);
    }
}
