//! `pub`: an item is added, and what is over at the head is dropped.
//!
//! ```text
//! look ─▶ the oldest is over ─▶ trim it ─▶ look …   at most DROPPED_MAX times
//!   └───▶ it is not ─▶ add
//! ```

use super::item::Life;
use super::window::Window;
use super::words::{Started, command, id, info, no_push_queue};
use crate::hust::answer::Answered;
use crate::hust::given::Given;
use crate::hust::talk::{Command, Heard, Talk, Word};
use basalt_http1::Status;
use basalt_resp::Value;

/// Seconds that an item lives if its publisher does not say, and at most.
const TTL_S: u64 = 900;
const TTL_S_MAX: u64 = 7200;
/// Most items of a queue; of one that has as many nothing is dropped but what is over.
const ITEMS_MAX: u64 = 5_000_000;
/// Items that are dropped by one that is added: it must not take the time of all that have become
/// over since the last one, and more than one, for else they would never be caught up with.
const DROPPED_MAX: u32 = 16;
/// After this number of items by others in between an index ahead is given up.
const TRIES_MAX: u32 = 100;
/// Largest index: what counts in floating point, as JavaScript does, knows it exactly.
const INDEX_MAX: u64 = (1 << 53) - 1;

/// `pub queue item [idx ttl]`
pub(in crate::hust) fn publish(given: &Given<'_>) -> Started {
    let queue = given.name("queue")?;
    let item = given.content("item")?;
    let index = given.count("idx")?;
    if index > INDEX_MAX {
        return Err(Answered::wrong("ERR idx is too large"));
    }
    let seconds = match given.optional("ttl")? {
        None => TTL_S,
        Some(_) => given.count("ttl")?,
    };
    if !(1..=TTL_S_MAX).contains(&seconds) {
        return Err(Answered::wrong("ERR ttl must be 1 to 7200"));
    }
    let now_ms = given.now_ms;
    let life = Life { since_ms: now_ms, seconds };
    let stage = Stage::Looks;
    Ok(Box::new(Publish { queue, item, index, life, now_ms, stage, dropped: 0, tries: 0 }))
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Looks,
    /// Drops all before this index.
    Trims(u64),
    /// At this index, or at the next one.
    Adds(Option<u64>),
}

/// See the head of this file.
#[derive(Debug)]
struct Publish {
    queue: Vec<u8>,
    item: Word,
    /// The index that it is to have if that is ahead; 0 for none.
    index: u64,
    life: Life,
    now_ms: u64,
    stage: Stage,
    dropped: u32,
    tries: u32,
}

impl Publish {
    /// What follows the look at the window.
    fn decide(&self, window: &Window) -> Result<Stage, Answered> {
        if let Some(oldest) = &window.oldest
            && self.dropped < DROPPED_MAX
            && oldest.is_over(self.now_ms)
        {
            return Ok(Stage::Trims(oldest.index.saturating_add(1)));
        }
        if self.index > window.newest.saturating_add(1) {
            return Ok(Stage::Adds(Some(self.index)));
        }
        if window.items >= ITEMS_MAX {
            return Err(Answered::failed(Status::Unauthorized, "QFULL the push queue is full"));
        }
        Ok(Stage::Adds(None))
    }

    fn hear_window(&mut self, reply: Value) -> Result<Stage, Answered> {
        let window = Window::of_info(reply)?.unwrap_or_default();
        self.decide(&window)
    }

    fn hear_added(&mut self, reply: Value) -> Result<Stage, Answered> {
        self.tries += 1;
        match (reply, self.stage) {
            (Value::Bulk(_), _) => Err(Answered::new(Status::Ok)),
            // Somebody has come to the index, or beyond it, since the look.
            (Value::Error(text), Stage::Adds(Some(_)))
                if text.ends_with(b"top item") && self.tries < TRIES_MAX =>
            {
                Ok(Stage::Looks)
            }
            (Value::Error(text), _) if text.ends_with(b"top item") => Err(no_push_queue()),
            (Value::Error(text), _) => Err(Answered::of_error(&text)),
            _ => Err(Answered::unexpected()),
        }
    }
}

impl Talk for Publish {
    fn command(&self) -> Command {
        let queue = || self.queue.clone().into();
        let words = match self.stage {
            Stage::Looks => return info(&self.queue),
            Stage::Trims(before) => {
                return command(vec!["XTRIM".into(), queue(), "MINID".into(), id(before)]);
            }
            Stage::Adds(Some(index)) => {
                vec!["XADD".into(), queue(), "MAXLEN 1".into(), id(index), "item".into()]
            }
            Stage::Adds(None) => vec!["XADD".into(), queue(), "0-* item".into()],
        };
        let rest = [self.item.clone(), "at".into(), self.life.text().into()];
        command(words.into_iter().chain(rest).collect())
    }

    fn is_last(&self) -> bool {
        false
    }

    fn hear(&mut self, reply: Value) -> Heard {
        let next = match (self.stage, reply) {
            (Stage::Looks, reply) => self.hear_window(reply),
            (Stage::Trims(_), Value::Error(text)) => Err(Answered::of_error(&text)),
            (Stage::Trims(_), _) => {
                self.dropped += 1;
                Ok(Stage::Looks)
            }
            (Stage::Adds(_), reply) => self.hear_added(reply),
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

#[cfg(test)]
mod tests {
    use super::super::item::entry;
    use super::*;

    const NOW_MS: u64 = 10_000;

    fn publish(index: u64) -> Publish {
        Publish {
            queue: b"q".to_vec(),
            item: Word::Body,
            index,
            life: Life { since_ms: NOW_MS, seconds: TTL_S },
            now_ms: NOW_MS,
            stage: Stage::Looks,
            dropped: 0,
            tries: 0,
        }
    }

    /// A window whose oldest item is over, or is not.
    fn window(newest: u64, items: u64, is_over: bool) -> Value {
        let bulk = |text: &str| Value::Bulk(text.as_bytes().to_vec());
        let at = if is_over { "1000.1" } else { "1000.10" };
        Value::Map(vec![
            (bulk("last-generated-id"), bulk(&format!("0-{newest}"))),
            (bulk("length"), Value::Integer(items.cast_signed())),
            (bulk("first-entry"), entry("0-3", &["item", "a", "at", at])),
        ])
    }

    fn answered(heard: Heard) -> Option<u16> {
        match heard {
            Heard::Again => None,
            Heard::Answer(answered) => Some(answered.status.code()),
        }
    }

    #[test]
    fn an_index_that_others_have_come_to_is_no_longer_ahead() {
        let taken =
            || Value::Error("ERR … equal or smaller than the target stream top item".into());
        let mut publish = publish(9);
        assert_eq!(answered(publish.hear(window(5, 1, false))), None);
        assert_eq!(publish.stage, Stage::Adds(Some(9)));
        assert_eq!(answered(publish.hear(taken())), None);
        assert_eq!(answered(publish.hear(window(8, 1, false))), None);
        assert_eq!(publish.stage, Stage::Adds(None), "it is the next one");
        assert_eq!(answered(publish.hear(taken())), Some(412), "other IDs");
    }

    #[test]
    fn an_item_drops_a_few_that_are_over() {
        let mut publish = publish(0);
        for _ in 0..DROPPED_MAX {
            assert_eq!(answered(publish.hear(window(5, 3, true))), None);
            assert_eq!(publish.stage, Stage::Trims(4));
            assert_eq!(answered(publish.hear(Value::Integer(1))), None);
        }
        assert_eq!(answered(publish.hear(window(5, 3, true))), None);
        assert_eq!(publish.stage, Stage::Adds(None));
        assert_eq!(answered(publish.hear(Value::Bulk(b"0-6".to_vec()))), Some(200));
    }

    #[test]
    fn a_push_queue_has_a_limit() {
        let full = |index| answered(publish(index).hear(window(5, ITEMS_MAX, false)));
        assert_eq!(full(0), Some(401));
        assert_eq!(full(100), None, "one ahead is the only one that is left");
        assert_eq!(answered(publish(0).hear(window(5, ITEMS_MAX - 1, false))), None);
        let mut over = publish(0);
        assert_eq!(answered(over.hear(window(5, ITEMS_MAX, true))), None, "it makes room");
        assert_eq!(over.stage, Stage::Trims(4));
    }
}
