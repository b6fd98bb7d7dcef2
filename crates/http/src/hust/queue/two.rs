//! A command that runs when another one has.

use crate::hust::answer::Answered;
use crate::hust::talk::{Command, Heard, Talk};
use basalt_resp::Value;

/// See the head of this file.
#[derive(Debug)]
pub(in crate::hust) struct Two {
    first: Command,
    second: Command,
    is_second: bool,
    /// The answer that the reply to the first one leads to, without the second one.
    refuse: fn(&Value) -> Option<Answered>,
    read: fn(Value) -> Answered,
}

impl Two {
    pub(in crate::hust) fn talk(
        first: Command,
        second: Command,
        refuse: fn(&Value) -> Option<Answered>,
        read: fn(Value) -> Answered,
    ) -> Box<dyn Talk> {
        Box::new(Two { first, second, is_second: false, refuse, read })
    }
}

impl Talk for Two {
    fn command(&self) -> Command {
        if self.is_second { self.second.clone() } else { self.first.clone() }
    }

    fn is_last(&self) -> bool {
        self.is_second
    }

    fn hear(&mut self, reply: Value) -> Heard {
        if self.is_second {
            return Heard::Answer((self.read)(reply));
        }
        let refused = match &reply {
            Value::Error(text) => Some(Answered::of_error(text)),
            reply => (self.refuse)(reply),
        };
        self.is_second = true;
        refused.map_or(Heard::Again, Heard::Answer)
    }
}
