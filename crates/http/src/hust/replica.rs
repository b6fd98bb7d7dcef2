//! Writes that repeat what another node has done (`is_dup=true`): they bring their version along,
//! and win against the same version and lower ones.
//!
//! ```text
//! read ─▶ nothing there, or a version that is not higher ─▶ write if it is still so ─▶ done
//!   ▲                                                                      └─ it is not ─┐
//!   └────────────────────────────────────────────────────────────────────────────────────┘
//! ```

use super::answer::Answered;
use super::reply::{only, outcome, version, written};
use super::talk::{Command, Heard, Talk, Word};
use basalt_http1::Status;
use basalt_resp::Value;

/// After this number of writes by others in between it is given up.
const TRIES_MAX: u32 = 100;

/// What is there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Found {
    Unread,
    Nothing,
    /// 0 is none.
    Version(u64),
}

/// A write.
#[derive(Debug)]
pub(super) struct Replica {
    read: Command,
    write: Command,
    version: u64,
    found: Found,
    tries: u32,
}

/// A removal.
#[derive(Debug)]
pub(super) struct Removal(Replica);

impl Replica {
    /// `read` replies with the version first, perhaps in an array of one; `write` takes conditions
    /// at its end.
    ///
    /// # Errors
    /// A write needs a version.
    pub(super) fn write(
        read: Command,
        write: Command,
        version: u64,
    ) -> Result<Box<dyn Talk>, Answered> {
        if version == 0 {
            let text = "ERR a write of another node brings its version";
            return Err(Answered::failed(Status::Unauthorized, text)
                .with_version(0)
                .with_refusal(false));
        }
        Ok(Box::new(Replica::new(read, write, version)))
    }

    fn new(read: Command, write: Command, version: u64) -> Replica {
        Replica { read, write, version, found: Found::Unread, tries: 0 }
    }

    fn demand(&self) -> Vec<Word> {
        match self.found {
            Found::Version(version @ 1..) => vec!["IF".into(), version.into()],
            Found::Nothing => vec!["NX".into()],
            Found::Unread | Found::Version(_) => Vec::new(),
        }
    }

    /// Hears what is there; returns the answer if that is newer, or no answer to the question.
    fn hear_read(&mut self, reply: Value) -> Option<Answered> {
        self.found = match only(reply) {
            Value::Null | Value::NullArray => Found::Nothing,
            Value::Array(elements) => match elements.first().and_then(version) {
                Some(there) if there > self.version => {
                    let ignored = Answered::new(Status::Ok).with_version(there);
                    return Some(ignored.with_refusal(true));
                }
                Some(there) => Found::Version(there),
                None => return Some(Answered::unexpected()),
            },
            Value::Error(text) => {
                return Some(Answered::of_error(&text).with_version(0).with_refusal(false));
            }
            _ => return Some(Answered::unexpected()),
        };
        None
    }

    /// Hears what has become of the change.
    fn hear_change(&mut self, reply: Value) -> Heard {
        self.tries += 1;
        if outcome(&reply).is_some_and(|(is_done, _)| !is_done) && self.tries < TRIES_MAX {
            self.found = Found::Unread;
            return Heard::Again;
        }
        Heard::Answer(written(reply))
    }
}

impl Talk for Replica {
    fn command(&self) -> Command {
        if self.found == Found::Unread {
            return self.read.clone();
        }
        let mut command = self.write.clone();
        command.words.extend(self.demand());
        command.words.extend(["FORCE".into(), self.version.into()]);
        command
    }

    fn is_last(&self) -> bool {
        false
    }

    fn hear(&mut self, reply: Value) -> Heard {
        if self.found != Found::Unread {
            return self.hear_change(reply);
        }
        self.hear_read(reply).map_or(Heard::Again, Heard::Answer)
    }
}

impl Removal {
    /// `remove` takes a condition at its end.
    pub(super) fn replica(read: Command, remove: Command, version: u64) -> Box<dyn Talk> {
        Box::new(Removal(Replica::new(read, remove, version)))
    }
}

impl Talk for Removal {
    fn command(&self) -> Command {
        let Removal(replica) = self;
        if replica.found == Found::Unread {
            return replica.read.clone();
        }
        let mut command = replica.write.clone();
        command.words.extend(replica.demand());
        command
    }

    fn is_last(&self) -> bool {
        false
    }

    fn hear(&mut self, reply: Value) -> Heard {
        let Removal(replica) = self;
        if replica.found != Found::Unread {
            return replica.hear_change(reply);
        }
        match replica.hear_read(reply) {
            Some(answered) => Heard::Answer(answered),
            None if replica.found == Found::Nothing => {
                Heard::Answer(Answered::nothing().with_refusal(false))
            }
            None => Heard::Again,
        }
    }
}
