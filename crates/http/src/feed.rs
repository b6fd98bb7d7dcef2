//! A connection on which a client gets what happens without asking for each of it: a feed.
//!
//! ```text
//! GET … ─▶ opening ─▶ standing command ─▶ its reply ─▶ events, or frames ─▶ sent ─┐
//!          once        ▲ waits for something                                      │
//!                      └──────────────────────────────────────────────────────────┘
//! ```
//! The request becomes the opening command, whose reply says whether there is a feed at all. From
//! then on the front runs a standing command whenever the client has taken what it was told: one
//! that waits, such as XREAD with BLOCK. Its words stand in the query buffer, as if the client had
//! sent them, so that to the rest of the server it is a request like any other. What the client of
//! a WebSocket asks for comes before it.
//!
//! One command of a feed runs at a time: what the next one is depends on the reply.

mod channel;
mod events;
mod note;
mod opening;
mod orders;
mod queue;
mod request;
mod socket;
mod speech;
mod stream;
mod subject;

pub(crate) use opening::Opening;
pub(crate) use speech::Form;

use crate::general::General;
use crate::plan::Ending;
use crate::problem::Problem;
use crate::respond::{Circumstances, Own, respond_self};
use crate::walk::Walk;
use basalt_config::HttpSettings;
use basalt_dispatch::{Dispatcher, Then};
use basalt_env::Instant;
use basalt_http1::CloseCode;
use basalt_net::{Beat, Input, Next};
use basalt_resp::{Arg, Output, Protocol, Reply};
use note::Note;
use orders::{Announced, Command, Order};
use request::{Asked, Request};
use socket::{Heard, Look};
use std::sync::Arc;
use subject::Subject;

/// See the head of this file.
pub(crate) struct Feed {
    server: Arc<Dispatcher>,
    subject: Subject,
    form: Form,
    general: General,
    ending: Ending,
    /// The command that is about to run, or waits.
    request: Option<Request>,
    /// The client has been told that there is a feed.
    is_open: bool,
    /// What the client has announced the body of.
    announced: Option<Announced>,
    /// What is to be answered before anything else runs.
    answer: Vec<u8>,
    /// Why it ends, if the client is to be told.
    end: Option<(CloseCode, String)>,
    /// The client has gone: tokens of what it held.
    parting: Option<Vec<Vec<u8>>>,
    /// Since when the client has been told nothing.
    silent_since: Instant,
}

impl Feed {
    /// The feed that a request opens, whose head stands where parsing does.
    pub(crate) fn open(
        opening: Opening,
        (input, head_bytes): (&mut Input, usize),
        server: &Arc<Dispatcher>,
    ) -> Feed {
        let Opening { subject, general, ending, form } = opening;
        let words = subject.opening();
        let request = Request::place(input, head_bytes, &words, Asked::Opening);
        Feed {
            server: Arc::clone(server),
            subject,
            form,
            general,
            ending,
            request: Some(request),
            is_open: false,
            announced: None,
            answer: Vec::new(),
            end: None,
            parting: None,
            silent_since: server.env.clock.now(),
        }
    }

    /// The database that its commands run in.
    pub(crate) fn db(&self) -> u8 {
        self.general.db
    }

    /// Whether it has a command to run.
    pub(crate) fn stands(&self) -> bool {
        self.request.is_none()
            && match &self.parting {
                Some(tokens) => !tokens.is_empty(),
                None => !self.is_open || self.subject.wants(),
            }
    }

    /// Finds what is to run next, as [`basalt_net::Front::next`] does.
    pub(crate) fn next(
        &mut self,
        input: &mut Input,
        words: &mut Vec<Arg>,
        settings: &HttpSettings,
    ) -> Next {
        if self.request.is_none()
            && self.parting.is_none()
            && let Some(next) = self.next_of_client(input, settings)
        {
            return next;
        }
        if self.request.is_none() {
            let Some((said, asked)) = self.own() else {
                return Next::Incomplete { wanted: 1 };
            };
            self.request = Some(Request::place(input, 0, &said, asked));
        }
        match &mut self.request {
            Some(request) => request.next(input.parsed(), words),
            None => Next::Refused,
        }
    }

    /// What the client has said comes first; `None` if a command is to be run.
    fn next_of_client(&mut self, input: &mut Input, settings: &HttpSettings) -> Option<Next> {
        let there = input.bytes().len() - input.parsed();
        let Form::Socket(socket) = &mut self.form else {
            // Nothing that comes behind the request is ever answered.
            return (there > 0).then_some(Next::Passed { bytes: there });
        };
        if !self.is_open {
            return None;
        }
        let look = socket.look(input, input.parsed(), settings.message_bytes_max);
        if socket.answer_ping(&mut self.answer) {
            return Some(Next::Passed { bytes: 0 });
        }
        match (look, socket.heard.take()) {
            (_, Some(heard)) => self.deal_with(heard, input, settings),
            (Look::Part { .. }, None) if self.subject.wants() => None,
            (Look::Part { wanted }, None) => Some(Next::Incomplete { wanted }),
            (Look::Heard, None) => None,
        }
    }

    /// Deals with what the client has said; `None` if that is a command.
    fn deal_with(
        &mut self,
        heard: Heard,
        input: &mut Input,
        settings: &HttpSettings,
    ) -> Option<Next> {
        let (kind, payload, bytes) = match heard {
            Heard::Message { kind, payload, bytes } => (kind, payload, bytes),
            Heard::End(code) => return Some(self.end_with(code, String::new())),
        };
        let start = input.parsed();
        let payload = &input.bytes()[start + payload.start..start + payload.end];
        match Order::read((kind, payload), self.announced.take(), &self.subject) {
            Ok(Order::Run(words, command)) => {
                let asked = Asked::Order(command);
                self.request = Some(Request::place(input, bytes, &words, asked));
                return None;
            }
            Ok(Order::Credit(wanted)) => match opening::credit(wanted, settings) {
                Ok(credit) => self.grant(credit),
                Err(problem) => {
                    return Some(self.end_with(CloseCode::POLICY, problem.detail.into_owned()));
                }
            },
            Ok(Order::Announced(announced)) => self.announced = Some(announced),
            Err(reason) => return Some(self.end_with(CloseCode::POLICY, reason)),
        }
        Some(Next::Passed { bytes })
    }

    fn grant(&mut self, credit: usize) {
        if let Some(queue) = self.subject.queue() {
            queue.credit = credit;
            let text = serde_json::json!({ "op": "get", "credit": credit }).to_string();
            socket::write_text(text.as_bytes(), &mut self.answer);
        }
    }

    fn end_with(&mut self, code: CloseCode, reason: String) -> Next {
        self.end = Some((code, reason));
        Next::Refused
    }

    /// A command that the client has not asked for.
    fn own(&mut self) -> Option<(Vec<Vec<u8>>, Asked)> {
        if let Some(tokens) = &mut self.parting {
            let (token, queue) = (tokens.pop()?, self.subject.queue()?);
            let words = vec![b"Q.NACK".to_vec(), queue.key.clone(), token];
            return Some((words, Asked::Release));
        }
        if !self.is_open {
            return Some((self.subject.opening(), Asked::Opening));
        }
        Some((self.subject.standing()?, Asked::Standing))
    }

    /// What has not run is parsed again.
    pub(crate) fn rewind(&mut self) {
        if let Some(request) = &mut self.request {
            request.rewind();
        }
    }

    /// Whether its client may speak while its command waits.
    pub(crate) fn listens(&self) -> bool {
        let is_socket = matches!(self.form, Form::Socket(_));
        is_socket && self.request.as_ref().is_some_and(|it| it.asked == Asked::Standing)
    }

    /// Looks at what the client has said while its command waits, as [`basalt_net::Front::hear`].
    pub(crate) fn hear(
        &mut self,
        input: &mut Input,
        (settings, out): (&HttpSettings, &mut Output),
    ) -> bool {
        let (Form::Socket(socket), Some(request)) = (&mut self.form, &self.request) else {
            return false;
        };
        let start = request.end(input.parsed());
        let look = socket.look(input, start, settings.message_bytes_max);
        let mut sent = Vec::new();
        if socket.answer_ping(&mut sent) {
            self.send(&sent, out);
        }
        look == Look::Heard
    }

    /// Takes back the command that waits, if the client has said something meanwhile.
    pub(crate) fn give_up(&mut self, input: &mut Input) -> bool {
        let has_heard = matches!(&self.form, Form::Socket(socket) if socket.heard.is_some());
        if !has_heard || !self.listens() {
            return false;
        }
        if let Some(request) = self.request.take() {
            request.remove(input);
        }
        true
    }

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

    fn send(&mut self, bytes: &[u8], out: &mut Output) {
        if !bytes.is_empty() {
            self.silent_since = self.server.env.clock.now();
            Reply::new(out, Protocol::Resp3).raw(bytes);
        }
    }

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
