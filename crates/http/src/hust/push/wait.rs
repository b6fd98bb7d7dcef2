//! `evsub`: the item at an index, as soon as there is one.
//!
//! ```text
//! read ─▶ there it is ─▶ 200
//!   ▲ └─▶ not there, or over ─▶ look at the window ─▶ outside, or over ─▶ 403 with Index
//!   │                             ▲    │    └─▶ it has come in between ─┐
//!   └─────────────────────────────┼────┼────────────────────────────────┘
//!                                 │    └─▶ it is the next one ─▶ wait ─▶ there it is ─▶ 200
//!                                 └────────── another one has come ◀─┘└─▶ nothing has ─▶ 404
//! ```
//! All who wait for an index are called by the command that adds it.

use super::item::Item;
use super::window::Window;
use super::words::{Started, command, id, info};
use crate::hust::answer::Answered;
use crate::hust::given::Given;
use crate::hust::talk::{Command, Heard, Talk, WAIT_MS};
use basalt_http1::Status;
use basalt_resp::Value;

/// Looks at the window after which it is given up: each but the first follows a change by others.
const LOOKS_MAX: u32 = 16;

/// `evsub queue idx`
pub(in crate::hust) fn wait(given: &Given<'_>) -> Started {
    let queue = given.name("queue")?;
    given.value("idx")?;
    let index = given.count("idx")?;
    let stage = Stage::Reads;
    Ok(Box::new(Wait { queue, index, now_ms: given.now_ms, stage, is_over: false, looks: 0 }))
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Reads,
    Looks,
    /// For what comes behind this index.
    Waits(u64),
}

/// See the head of this file.
#[derive(Debug)]
struct Wait {
    queue: Vec<u8>,
    index: u64,
    now_ms: u64,
    stage: Stage,
    /// The item is there, and its time has passed.
    is_over: bool,
    looks: u32,
}

impl Wait {
    fn hear_item(&mut self, reply: Value) -> Result<Stage, Answered> {
        let entries = match reply {
            Value::Map(streams) => streams.into_iter().next().map(|(_, entries)| entries),
            Value::Null | Value::NullArray if self.stage != Stage::Reads => {
                return Err(Answered::failed(Status::NotFound, "ERR nothing has come in time"));
            }
            Value::Null | Value::NullArray => None,
            Value::Error(text) => return Err(Answered::of_error(&text)),
            _ => return Err(Answered::unexpected()),
        };
        let entry = match entries {
            Some(Value::Array(entries)) => entries.into_iter().next(),
            _ => None,
        };
        let item = entry.and_then(Item::of_entry).filter(|item| item.index == self.index);
        let Some(item) = item else { return Ok(Stage::Looks) };
        if let Some(body) = item.into_body(self.now_ms) {
            return Err(Answered::body(body));
        }
        self.is_over = true;
        Ok(Stage::Looks)
    }

    fn hear_window(&mut self, reply: Value) -> Result<Stage, Answered> {
        self.looks += 1;
        // Whatever comes first tells where the window is.
        let Some(window) = Window::of_info(reply)? else { return Ok(Stage::Waits(0)) };
        if self.index == window.newest.saturating_add(1) {
            return Ok(Stage::Waits(window.newest));
        }
        match window.has(self.index) {
            true if self.is_over => Err(outside(window.field_behind(self.index))),
            true if self.looks < LOOKS_MAX => Ok(Stage::Reads),
            // Another client has removed it from the middle.
            true => Err(outside(window.field_behind(self.index))),
            false => Err(outside(window.field())),
        }
    }
}

/// The subscriber goes on behind the first number of `Index`.
fn outside(index: (&'static str, String)) -> Answered {
    let mut answered = Answered::failed(Status::Forbidden, "ERR idx is outside of the window");
    answered.fields.push(index);
    answered.of_front()
}

impl Talk for Wait {
    fn command(&self) -> Command {
        let after = match self.stage {
            Stage::Looks => return info(&self.queue),
            Stage::Reads => self.index.saturating_sub(1),
            Stage::Waits(after) => after,
        };
        let mut words = vec!["XREAD COUNT 1".into()];
        if self.stage != Stage::Reads {
            words.extend(["BLOCK".into(), WAIT_MS.into()]);
        }
        words.extend(["STREAMS".into(), self.queue.clone().into(), id(after)]);
        command(words)
    }

    fn is_last(&self) -> bool {
        false
    }

    fn hear(&mut self, reply: Value) -> Heard {
        let next = match self.stage {
            Stage::Looks => self.hear_window(reply),
            Stage::Reads | Stage::Waits(_) => self.hear_item(reply),
        };
        match next {
            Ok(stage) => {
                self.stage = stage;
                Heard::Again
            }
            Err(answered) => Heard::Answer(answered),
        }
    }
}
