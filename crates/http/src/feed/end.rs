//! How a feed ends: by its client, by the server, or by a problem.

use super::{Feed, Form, queue, socket};
use crate::own::Own;
use crate::problem::Problem;
use crate::respond::respond_self;
use crate::response::Circumstances;
use basalt_dispatch::Then;
use basalt_http1::CloseCode;
use basalt_net::Input;
use basalt_resp::Output;

impl Feed {
    /// Ends the feed with a problem: the response, if there is none yet.
    pub(crate) fn fail(
        &mut self,
        problem: Problem,
        out: &mut Output,
        circumstances: Circumstances<'_>,
    ) -> Then {
        if self.is_open {
            self.send(&self.form.problem(&problem), out);
        } else {
            respond_self(&Own::Problem(problem.closing()), self.ending, out, circumstances);
        }
        Then::Closes
    }

    /// Says why it ends: the client has ended it, or has done what nobody may.
    pub(crate) fn refuse(&mut self, out: &mut Output) {
        if let Some((code, reason)) = self.end.take() {
            let mut sent = Vec::new();
            socket::write_end(code, &reason, &mut sent);
            self.send(&sent, out);
        }
    }

    /// The server stops.
    pub(crate) fn say_goodbye(&mut self, out: &mut Output) {
        if self.is_open && matches!(self.form, Form::Socket(_)) {
            self.end = Some((CloseCode::GOING_AWAY, "the server stops".to_owned()));
            self.refuse(out);
        }
    }

    /// Its client has gone: returns true if it held something that is to be handed back.
    pub(crate) fn part(&mut self, input: &mut Input) -> bool {
        self.request = None;
        input.remove(input.parsed()..input.bytes().len());
        let tokens = self.subject.queue().map(queue::QueueFeed::release);
        let parting = self.parting.insert(tokens.unwrap_or_default());
        !parting.is_empty()
    }

    /// Its command was answered when the client was going.
    pub(crate) fn miss(&mut self, reply: &[u8]) {
        let Some(queue) = self.subject.queue() else { return };
        if queue.take(reply, &mut |_| ()).is_some()
            && let Some(tokens) = &mut self.parting
        {
            tokens.extend(queue.release());
        }
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        if self.is_open {
            self.form.end(&self.server);
        }
    }
}
