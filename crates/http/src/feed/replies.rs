//! What the client is told: replies to commands of the feed's own and to its own, and messages.

use super::note::Note;
use super::orders::Command;
use super::request::{Asked, Request};
use super::{Feed, channel, socket};
use crate::problem::Problem;
use crate::response::Circumstances;
use crate::walk::Walk;
use basalt_config::HttpSettings;
use basalt_dispatch::Then;
use basalt_env::Instant;
use basalt_net::Beat;
use basalt_resp::Output;

impl Feed {
    /// Its command has been answered; `None` if the reply is too large to be sent on.
    pub(crate) fn answered(
        &mut self,
        reply: Option<Vec<u8>>,
        out: &mut Output,
        circumstances: Circumstances<'_>,
    ) -> Then {
        let Some(Request { asked, .. }) = self.request.take() else { return Then::Closes };
        if asked == Asked::Release {
            let is_over = self.parting.as_ref().is_none_or(Vec::is_empty);
            return if is_over { Then::Closes } else { Then::GoesOn };
        }
        let problem = match &reply {
            None if self.subject.takes_less() => return Then::GoesOn,
            None => Some(Problem::reply_too_large(circumstances.json_bytes_max)),
            Some(reply) => reply
                .strip_prefix(b"-")
                .map(|text| Problem::of_error(text.strip_suffix(b"\r\n").unwrap_or(text))),
        };
        let reply = reply.unwrap_or_default();
        match (asked, problem) {
            (Asked::Order(command), Some(problem)) => self.reply(&command.failure(&problem), out),
            (Asked::Order(command), None) => {
                self.obeyed(&command);
                self.reply(&command.answer(&reply), out);
            }
            (_, Some(problem)) => return self.fail(problem, out, circumstances),
            (asked, None) => return self.tell(&asked, &reply, out, circumstances),
        }
        Then::GoesOn
    }

    /// Tells the client what the reply to a command of the feed's own says.
    fn tell(
        &mut self,
        asked: &Asked,
        reply: &[u8],
        out: &mut Output,
        circumstances: Circumstances<'_>,
    ) -> Then {
        let Feed { form, subject, .. } = self;
        let mut sent = Vec::new();
        let mut each = |note: Note<'_>| form.write(&note, &mut sent);
        let taken = match asked {
            Asked::Opening => subject.opened(reply, &mut each),
            _ => subject.take(reply, &mut each),
        };
        if taken.is_none() {
            let problem = Problem::bad_request("the command has answered something else");
            return self.fail(problem, out, circumstances);
        }
        if !self.is_open {
            self.is_open = true;
            self.form.begin(&self.server, self.ending, out, circumstances);
        }
        self.send(&sent, out);
        Then::GoesOn
    }

    /// A command that the client has asked for has run.
    fn obeyed(&mut self, command: &Command) {
        let Some(queue) = self.subject.queue() else { return };
        match command {
            Command::Ack(token) | Command::Nack(token) => queue.let_go(token.as_bytes()),
            Command::Extend | Command::Put | Command::Publish => {}
        }
    }

    /// Answers what the client has asked for.
    fn reply(&mut self, text: &[u8], out: &mut Output) {
        let mut sent = Vec::new();
        socket::write_text(text, &mut sent);
        self.send(&sent, out);
    }

    /// Writes what [`Feed::next`] has found to answer.
    pub(crate) fn answer(&mut self, out: &mut Output) {
        let answer = std::mem::take(&mut self.answer);
        self.send(&answer, out);
    }

    /// A message of pub/sub has come.
    pub(crate) fn deliver(&mut self, message: &[u8], out: &mut Output) {
        let (Feed { form, .. }, mut sent) = (&mut *self, Vec::new());
        let mut each = |note: Note<'_>| form.write(&note, &mut sent);
        if channel::message(&mut Walk::new(message), &mut each).is_some() && self.is_open {
            self.send(&sent, out);
        }
    }

    /// Does what is due: a client has been told nothing for long.
    pub(crate) fn beat(
        &mut self,
        now: Instant,
        owed_bytes: usize,
        (settings, out): (&HttpSettings, &mut Output),
    ) -> Beat {
        if !self.is_open || owed_bytes > 0 {
            return Beat::Nothing;
        }
        let mut sent = Vec::new();
        let is_there = self.form.ask((now, self.silent_since), settings, &mut sent);
        if !is_there {
            return Beat::Closes;
        }
        let is_silent = sent.is_empty();
        self.send(&sent, out);
        if is_silent { Beat::Nothing } else { Beat::Wrote }
    }
}
