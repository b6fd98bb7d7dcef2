//! `stat_all`: what `stat` says, of all queues.

use super::answer::Answered;
use super::given::{Given, is_name};
use super::names::Names;
use super::page::too_large;
use super::queue::Stat;
use super::talk::{Command, Database, Heard, Talk};
use basalt_http1::Status;
use basalt_resp::Value;

/// `stat_all`
pub(super) fn stat_all(given: &Given<'_>) -> Result<Box<dyn Talk>, Answered> {
    Ok(Box::new(Stats {
        queues: Names::of(Database::Queues, &["TYPE queue", "TYPE stream"], is_name),
        at_hand: None,
        shown: Vec::new(),
        bytes_max: given.json_bytes_max,
    }))
}

/// Queue by queue, and then push queues; one that has gone meanwhile is left out, and so is a
/// stream that is none.
#[derive(Debug)]
struct Stats {
    queues: Names,
    at_hand: Option<Stat>,
    /// Each behind a comma.
    shown: Vec<u8>,
    bytes_max: usize,
}

impl Stats {
    fn hear_next(&mut self, reply: Value) -> Result<Heard, Answered> {
        let goes_on = match &mut self.at_hand {
            None => self.queues.hear(reply)?,
            Some(stat) => match stat.hear(reply) {
                Heard::Again => return Ok(Heard::Again),
                Heard::Answer(answered) => {
                    self.add(answered)?;
                    self.queues.pass()
                }
            },
        };
        let name = self.queues.current();
        self.at_hand = name.map(|name| Stat::of(name.clone()));
        if goes_on {
            return Ok(Heard::Again);
        }
        let listed = self.shown.get(1..).unwrap_or_default();
        Ok(Heard::Answer(Answered::body([b"[", listed, b"]"].concat())))
    }

    fn add(&mut self, answered: Answered) -> Result<(), Answered> {
        match answered.status {
            Status::Ok => {
                self.shown.push(b',');
                self.shown.extend(answered.body);
            }
            Status::PreconditionFailed => {}
            _ => return Err(answered),
        }
        if self.shown.len() > self.bytes_max { Err(too_large(self.bytes_max)) } else { Ok(()) }
    }
}

impl Talk for Stats {
    fn command(&self) -> Command {
        let found = || self.queues.command();
        let named = || self.at_hand.as_ref().map(Stat::command);
        named()
            .or_else(found)
            .unwrap_or_else(|| Command::new(Database::Queues, vec!["PING".into()]))
    }

    fn is_last(&self) -> bool {
        false
    }

    fn hear(&mut self, reply: Value) -> Heard {
        self.hear_next(reply).unwrap_or_else(Heard::Answer)
    }
}
