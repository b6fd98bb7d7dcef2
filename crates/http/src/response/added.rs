//! What has been added to a stream or a queue, and what a call has brought back.

use super::Response;
use super::first_line::Line;
use super::lines::{OF_JSON, OF_NOTHING, OF_VALUES};
use crate::plan::Plan;
use basalt_http1::{Status, Value};

impl Response<'_> {
    /// The ID of an entry that was added.
    pub(crate) fn entry(&mut self, plan: &Plan) {
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
    pub(crate) fn queued(&mut self) {
        let reply = self.take();
        let Line::Bulk(at, len) = Line::of(&reply) else {
            return self.unexpected(Line::of(&reply));
        };
        let body = [b"{\"id\":\"", &reply[at..at + len], b"\"}"].concat();
        self.write(Status::Created, OF_JSON, &[], &body);
    }

    /// The answer to a message, as its bytes.
    pub(crate) fn called(&mut self) {
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
}
