//! Replies that are shown as JSON.

use super::Response;
use super::brief::is_about_nothing;
use super::first_line::Line;
use super::lines::{OF_JSON, OF_NOTHING, OF_VALUES};
use crate::general::Spelling;
use crate::json;
use crate::problem::Problem;
use crate::shape::{Shape, Shaped};
use basalt_http1::Status;

impl Response<'_> {
    /// A reply as it is.
    pub(crate) fn json(&mut self) {
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
    pub(crate) fn shaped(&mut self, shape: Shape, spelling: Spelling) {
        if self.is_too_large() {
            return;
        }
        let reply = self.take();
        match Line::of(&reply) {
            Line::Error(text) if is_about_nothing(&text) => {
                return self.problem(&Problem::no_key());
            }
            Line::Error(text) => return self.problem(&Problem::of_error(&text)),
            _ => {}
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

    /// A string as its bytes, any other reply as JSON.
    pub(crate) fn raw(&mut self) {
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

    /// A body that may be large.
    pub(crate) fn write_json(&mut self, body: Vec<u8>) {
        self.write_head(Status::Ok, OF_JSON, &[], Some(body.len() as u64));
        if !self.ending.is_without_body {
            self.reply().raw_owned(body);
        }
    }
}
