//! What a client says over a WebSocket, and what it is answered.
//!
//! ```json
//! {"op":"get","credit":5}                        {"op":"get","credit":5}
//! {"op":"ack","token":"0-1-1764000000000"}       {"op":"ack","done":true}
//! {"op":"put","body":"text","priority":5}        {"op":"put","id":"5-1"}
//! {"op":"put","binary":true}, and a binary one   {"op":"put","error":{"code":"QFULL","detail":…}}
//! ```
//! Each is answered, in their order.

use super::note::{Words, words};
use super::subject::Subject;
use crate::problem::Problem;
use crate::walk::Walk;
use basalt_http1::MessageKind;
use serde::Deserialize;
use serde_json::{Value, json};

/// What a client says.
#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "lowercase", deny_unknown_fields)]
enum Said {
    Get { credit: i64 },
    Ack { token: String },
    Nack { token: String, delay_ms: Option<u64>, dead: Option<bool> },
    Extend { token: String, lease_ms: u64 },
    Put(Put),
    Publish { channel: Option<String>, body: Option<String>, binary: Option<bool> },
}

/// A message for a queue.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Put {
    body: Option<String>,
    binary: Option<bool>,
    priority: Option<u8>,
    delay_ms: Option<u64>,
    ttl_ms: Option<u64>,
    dedup: Option<String>,
    window_ms: Option<u64>,
}

/// What is to be done with what a client has said.
#[derive(Debug)]
pub(super) enum Order {
    /// A command.
    Run(Words, Command),
    /// The client wants to hold this number of messages.
    Credit(i64),
    /// The next message is the body of this one.
    Announced(Announced),
}

/// A command whose body comes as a message of its own.
#[derive(Debug)]
pub(super) struct Announced {
    words: Words,
    command: Command,
    /// Which of the words the body is.
    body: usize,
}

/// What a command is that a client has asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Command {
    Ack(String),
    Nack(String),
    Extend,
    Put,
    Publish,
}

impl Order {
    /// Reads a message.
    ///
    /// # Errors
    /// It means nothing here: why.
    pub(super) fn read(
        (kind, payload): (MessageKind, &[u8]),
        announced: Option<Announced>,
        subject: &Subject,
    ) -> Result<Order, String> {
        match (kind, announced) {
            (MessageKind::Binary, Some(Announced { mut words, command, body })) => {
                words[body] = payload.to_vec();
                Ok(Order::Run(words, command))
            }
            (MessageKind::Text, Some(_)) => Err("the body that was announced is binary".to_owned()),
            (MessageKind::Binary, None) => Err("no body was announced".to_owned()),
            (MessageKind::Text, None) => {
                let said = serde_json::from_slice(payload).map_err(|error| error.to_string())?;
                Order::of(said, subject)
            }
        }
    }

    fn of(said: Said, subject: &Subject) -> Result<Order, String> {
        match (said, subject) {
            (Said::Publish { channel, body, binary }, Subject::Channel(own)) => {
                let channel = match channel {
                    Some(channel) => channel.into_bytes(),
                    None if own.is_pattern => return Err("say which channel".to_owned()),
                    None => own.name.clone(),
                };
                let words = words("PUBLISH", &[&channel, b""]);
                with_body(Announced { words, command: Command::Publish, body: 2 }, body, binary)
            }
            (_, Subject::Channel(_)) => Err("a channel takes publish".to_owned()),
            (_, Subject::Stream(_)) => Err("a stream takes nothing here".to_owned()),
            (said, Subject::Queue(queue)) => Order::of_queue(said, &queue.key),
        }
    }

    fn of_queue(said: Said, key: &[u8]) -> Result<Order, String> {
        let run = |fixed, rest: &[&[u8]], command| Ok(Order::Run(words(fixed, rest), command));
        match said {
            Said::Get { credit } => Ok(Order::Credit(credit)),
            Said::Ack { token } => {
                run("Q.ACK", &[key, token.as_bytes()], Command::Ack(token.clone()))
            }
            Said::Nack { token, delay_ms, dead } => {
                let delay = delay_ms.map(|delay_ms| delay_ms.to_string());
                let mut rest = vec![key, token.as_bytes()];
                match (&delay, dead) {
                    (Some(delay), None | Some(false)) => {
                        rest.extend([&b"DELAY"[..], delay.as_bytes()]);
                    }
                    (None, Some(true)) => rest.push(b"DEAD"),
                    (None, _) => {}
                    (Some(_), Some(true)) => return Err("delay_ms or dead".to_owned()),
                }
                run("Q.NACK", &rest, Command::Nack(token.clone()))
            }
            Said::Extend { token, lease_ms } => {
                let lease = lease_ms.to_string();
                run("Q.EXTEND", &[key, token.as_bytes(), lease.as_bytes()], Command::Extend)
            }
            Said::Put(put) => put.order(key),
            Said::Publish { .. } => Err("a queue takes get, ack, nack, extend and put".to_owned()),
        }
    }
}

impl Put {
    fn order(self, key: &[u8]) -> Result<Order, String> {
        let mut words = words("Q.PUT", &[key, b""]);
        let numbers = [
            ("PRIORITY", self.priority.map(u64::from)),
            ("DELAY", self.delay_ms),
            ("TTL", self.ttl_ms),
            ("WINDOW", self.window_ms),
        ];
        for (name, number) in numbers {
            if let Some(number) = number {
                words.extend([name.as_bytes().to_vec(), number.to_string().into_bytes()]);
            }
        }
        if let Some(dedup) = self.dedup {
            words.extend([b"DEDUP".to_vec(), dedup.into_bytes()]);
        }
        with_body(Announced { words, command: Command::Put, body: 2 }, self.body, self.binary)
    }
}

/// What has a body, which is here or is the next message.
fn with_body(
    announced: Announced,
    body: Option<String>,
    binary: Option<bool>,
) -> Result<Order, String> {
    match (body, binary) {
        (Some(body), None | Some(false)) => {
            let Announced { mut words, command, body: place } = announced;
            words[place] = body.into_bytes();
            Ok(Order::Run(words, command))
        }
        (None, Some(true)) => Ok(Order::Announced(announced)),
        _ => Err("body, or binary: true".to_owned()),
    }
}

impl Command {
    fn op(&self) -> &'static str {
        match self {
            Command::Ack(_) => "ack",
            Command::Nack(_) => "nack",
            Command::Extend => "extend",
            Command::Put => "put",
            Command::Publish => "publish",
        }
    }

    /// The answer, where this is the reply.
    pub(super) fn answer(&self, reply: &[u8]) -> Vec<u8> {
        let number = || -> i64 {
            let digits = reply.strip_prefix(b":").and_then(|rest| rest.strip_suffix(b"\r\n"));
            digits.and_then(|digits| str::from_utf8(digits).ok()?.parse().ok()).unwrap_or(0)
        };
        let op = self.op();
        let answer = match self {
            Command::Ack(_) | Command::Nack(_) | Command::Extend => {
                json!({ "op": op, "done": number() > 0 })
            }
            Command::Put => {
                let id = Walk::new(reply).bulk().unwrap_or_default();
                json!({ "op": op, "id": String::from_utf8_lossy(id) })
            }
            Command::Publish => json!({ "op": op, "receivers": number() }),
        };
        answer.to_string().into_bytes()
    }

    /// The answer, where it has failed.
    pub(super) fn failure(&self, problem: &Problem) -> Vec<u8> {
        let error: Value = json!({ "code": problem.code, "detail": problem.detail });
        json!({ "op": self.op(), "error": error }).to_string().into_bytes()
    }
}
