//! `sub`: the item at an index, at once.

use super::item::Item;
use super::window::Window;
use super::words::{Started, command, id, info};
use crate::hust::answer::Answered;
use crate::hust::given::Given;
use crate::hust::talk::{Command, Heard, Talk};
use basalt_http1::Status;
use basalt_resp::Value;

/// `sub queue idx`
pub(in crate::hust) fn subscribe(given: &Given<'_>) -> Started {
    let queue = given.name("queue")?;
    given.value("idx")?;
    let index = given.count("idx")?;
    Ok(Box::new(Subscribe { queue, index, now_ms: given.now_ms, has_read: false }))
}

/// The item is read; if there is none, the window says why.
#[derive(Debug)]
struct Subscribe {
    queue: Vec<u8>,
    index: u64,
    now_ms: u64,
    has_read: bool,
}

impl Subscribe {
    /// The answer, unless there is no item.
    fn hear_item(&self, reply: Value) -> Option<Answered> {
        let entries = match reply {
            Value::Array(entries) => entries,
            Value::Error(text) => return Some(Answered::of_error(&text)),
            _ => return Some(Answered::unexpected()),
        };
        let item = Item::of_entry(entries.into_iter().next()?)?;
        let over = || Answered::failed(Status::NotFound, "ERR the item is over");
        Some(item.into_body(self.now_ms).map_or_else(over, Answered::body))
    }

    fn hear_window(&self, reply: Value) -> Answered {
        match Window::of_info(reply) {
            Err(answered) => answered,
            Ok(None) => Answered::no_queue(),
            Ok(Some(window)) if window.items == 0 || window.has(self.index) => {
                Answered::new(Status::NotFound)
            }
            Ok(Some(window)) => {
                let reason = "ERR idx is outside of the window";
                let mut answered = Answered::failed(Status::Unauthorized, reason);
                answered.fields.push(window.field());
                answered
            }
        }
    }
}

impl Talk for Subscribe {
    fn command(&self) -> Command {
        if self.has_read {
            return info(&self.queue);
        }
        let queue = self.queue.clone().into();
        command(vec!["XRANGE".into(), queue, id(self.index), id(self.index)])
    }

    fn is_last(&self) -> bool {
        self.has_read
    }

    fn hear(&mut self, reply: Value) -> Heard {
        if self.has_read {
            return Heard::Answer(self.hear_window(reply));
        }
        match self.hear_item(reply) {
            Some(answered) => Heard::Answer(answered),
            None => {
                self.has_read = true;
                Heard::Again
            }
        }
    }
}
