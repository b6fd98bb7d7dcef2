//! What the client of a WebSocket says, before a command of the feed runs and while it waits.

use super::orders::Order;
use super::request::{Asked, Request};
use super::socket::{self, Heard, Look};
use super::{Feed, Form, opening};
use basalt_config::HttpSettings;
use basalt_http1::CloseCode;
use basalt_net::{Input, Next};
use basalt_resp::Output;

impl Feed {
    /// What the client has said comes first; `None` if a command is to be run.
    pub(super) fn next_of_client(
        &mut self,
        input: &mut Input,
        settings: &HttpSettings,
    ) -> Option<Next> {
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
}
