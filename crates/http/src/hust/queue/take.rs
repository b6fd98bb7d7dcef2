//! `get` and `evget`: a message is taken, as there is one or as soon as there is.

use super::{Started, command, exists, token};
use crate::hust::answer::Answered;
use crate::hust::given::Given;
use crate::hust::talk::{Command, Heard, Profile, Talk, WAIT_MS, Word};
use basalt_http1::Status;
use basalt_resp::Value;

/// Of the front: which of its nodes has delivered the message.
const PEER: &str = "0";

/// `get queue worker [ack]`
pub(in crate::hust) fn get(given: &Given<'_>) -> Started {
    take(given, Vec::new())
}

/// `evget queue worker [ack]`
pub(in crate::hust) fn evget(given: &Given<'_>) -> Started {
    take(given, vec!["BLOCK".into(), WAIT_MS.into()])
}

fn take(given: &Given<'_>, waits: Vec<Word>) -> Started {
    let queue = given.name("queue")?;
    let worker = given.value("worker")?;
    if !(5..=32).contains(&worker.len()) {
        return Err(Answered::wrong("ERR worker must have 5 to 32 bytes"));
    }
    let is_done = given.optional("ack")?.is_none() || given.switch("ack")?;
    let mut words = vec!["Q.GET".into(), "WORKER".into(), worker.into()];
    words.extend(is_done.then_some("NOACK".into()));
    words.extend(waits);
    words.extend(["QUEUES".into(), queue.clone().into()]);
    let (take, exists, profile) = (command(words), exists(queue), given.profile);
    Ok(Box::new(Take { take, exists, is_asking: false, is_done, profile }))
}

/// A message is taken; if there is none, it is asked whether there is a queue.
#[derive(Debug)]
struct Take {
    take: Command,
    exists: Command,
    is_asking: bool,
    /// The message is gone with the answer: there is nothing to acknowledge.
    is_done: bool,
    profile: Profile,
}

impl Take {
    fn message(&self, reply: Value) -> Option<Answered> {
        let Value::Array(messages) = reply else { return None };
        let Value::Array(message) = messages.into_iter().next()? else { return None };
        let mut parts = message.into_iter().skip(1);
        let (Value::Bulk(token), Value::Bulk(body)) = (parts.next()?, parts.next()?) else {
            return None;
        };
        let mut answered = Answered::body(body);
        if !self.is_done {
            answered.fields.push(("Ack-Token", token::of_hust(&token)?));
            if self.profile == Profile::Front {
                answered.fields.push(("Ack-Peer", PEER.to_owned()));
            }
        }
        Some(answered)
    }
}

impl Talk for Take {
    fn command(&self) -> Command {
        if self.is_asking { self.exists.clone() } else { self.take.clone() }
    }

    fn is_last(&self) -> bool {
        self.is_asking
    }

    fn hear(&mut self, reply: Value) -> Heard {
        Heard::Answer(match reply {
            Value::Error(text) => Answered::of_error(&text),
            Value::Integer(0) => Answered::no_queue(),
            Value::Integer(_) => Answered::new(Status::NotFound),
            Value::Null | Value::NullArray => {
                self.is_asking = true;
                return Heard::Again;
            }
            reply => self.message(reply).unwrap_or_else(Answered::unexpected),
        })
    }
}
