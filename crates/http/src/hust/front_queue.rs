//! Queues as the front of huststore has them: what is otherwise than on a node.

use super::answer::Answered;
use super::given::Given;
use super::queue::{self, command};
use super::reply::text;
use super::talk::{Command, Heard, Talk};
use basalt_http1::Status;
use basalt_resp::Value;

type Started = Result<Box<dyn Talk>, Answered>;

/// `ack queue peer token`: the answer is that of the node.
pub(super) fn ack(given: &Given<'_>) -> Started {
    given.value("peer")?;
    if given.count("peer")? > 0 {
        return Err(Answered::failed(Status::NotFound, "ERR there is one node: peer=0"));
    }
    match queue::ack(given) {
        Ok(talk) => Ok(Box::new(OfNode(talk))),
        Err(answered) => Err(answered.of_front()),
    }
}

/// `max queue num`: not of a queue that is locked.
pub(super) fn max(given: &Given<'_>) -> Started {
    let settings = command(vec!["Q.CONFIG GET".into(), given.name("queue")?.into()]);
    Ok(Box::new(Guarded { settings, change: queue::max(given)?, is_looking: true }))
}

/// `worker queue`: 404 if there is none.
pub(super) fn worker(given: &Given<'_>) -> Started {
    Ok(Box::new(NotEmpty(queue::worker(given)?)))
}

/// `autost`: what is told of queues is what there is now, without being asked to.
pub(super) fn autost(_: &Given<'_>) -> Started {
    Err(Answered::new(Status::Ok))
}

/// A talk whose answers the front hands on as they are.
#[derive(Debug)]
struct OfNode(Box<dyn Talk>);

impl Talk for OfNode {
    fn command(&self) -> Command {
        self.0.command()
    }

    fn is_last(&self) -> bool {
        self.0.is_last()
    }

    fn hear(&mut self, reply: Value) -> Heard {
        match self.0.hear(reply) {
            Heard::Answer(answered) => Heard::Answer(answered.of_front()),
            Heard::Again => Heard::Again,
        }
    }
}

/// A talk whose answer is nothing if its list is empty.
#[derive(Debug)]
struct NotEmpty(Box<dyn Talk>);

impl Talk for NotEmpty {
    fn command(&self) -> Command {
        self.0.command()
    }

    fn is_last(&self) -> bool {
        self.0.is_last()
    }

    fn hear(&mut self, reply: Value) -> Heard {
        match self.0.hear(reply) {
            Heard::Answer(answered) if answered.body == b"[]" => {
                Heard::Answer(Answered::new(Status::NotFound))
            }
            heard => heard,
        }
    }
}

/// A change of a queue that is not locked.
#[derive(Debug)]
struct Guarded {
    settings: Command,
    change: Box<dyn Talk>,
    is_looking: bool,
}

impl Talk for Guarded {
    fn command(&self) -> Command {
        if self.is_looking { self.settings.clone() } else { self.change.command() }
    }

    fn is_last(&self) -> bool {
        false
    }

    fn hear(&mut self, reply: Value) -> Heard {
        if !std::mem::take(&mut self.is_looking) {
            return self.change.hear(reply);
        }
        match reply {
            Value::Error(text) => Heard::Answer(Answered::of_error(&text)),
            Value::Null => Heard::Answer(Answered::no_queue()),
            settings if ["put", "all"].contains(&text(&settings, "paused").as_str()) => {
                Heard::Answer(Answered::failed(Status::NotFound, "ERR the queue is locked"))
            }
            _ => Heard::Again,
        }
    }
}
