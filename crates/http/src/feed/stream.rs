//! The entries of a stream, from behind an ID on: XREAD.

use super::note::{Each, Note, Words, words};
use crate::shape::begin;
use crate::walk::Walk;

/// Entries that are read at once. The first is read alone: then it is known how large they are.
const ENTRIES_MAX: usize = 64;
/// Bytes that a reply is to have, going by the one before: a millisecond of work.
const REPLY_BYTES: usize = 256 << 10;

/// See the head of this file.
#[derive(Debug)]
pub(super) struct StreamFeed {
    key: Vec<u8>,
    /// The ID that is read from; `None` while it is to be found out which is the last.
    after: Option<Vec<u8>>,
    /// Entries that are read next.
    entries_max: usize,
}

impl StreamFeed {
    /// From behind `after` on, or from what comes now on.
    pub(super) fn new(key: Vec<u8>, after: Option<Vec<u8>>) -> StreamFeed {
        StreamFeed { key, after, entries_max: 1 }
    }

    /// What is known by its ID is read at once. Where the stream ends is asked for: `$` would mean
    /// another ID each time that the standing command begins to wait.
    pub(super) fn opening(&self) -> Words {
        let count = self.entries_max.to_string();
        match &self.after {
            Some(after) => words("XREAD COUNT", &[count.as_bytes(), b"STREAMS", &self.key, after]),
            None => words("XREVRANGE", &[&self.key, b"+", b"-", b"COUNT", b"1"]),
        }
    }

    pub(super) fn opened(&mut self, reply: &[u8], each: Each<'_>) -> Option<()> {
        if self.after.is_some() {
            return self.take(reply, each);
        }
        let mut walk = Walk::new(reply);
        let after = match walk.array()? {
            0 => b"0-0".to_vec(),
            _ => {
                walk.array()?;
                walk.bulk()?.to_vec()
            }
        };
        self.after = Some(after);
        Some(())
    }

    pub(super) fn standing(&self) -> Words {
        let after = self.after.as_deref().unwrap_or(b"$");
        let count = self.entries_max.to_string();
        let rest = [count.as_bytes(), b"BLOCK", b"0", b"STREAMS", &self.key, after];
        words("XREAD COUNT", &rest)
    }

    pub(super) fn take(&mut self, reply: &[u8], each: Each<'_>) -> Option<()> {
        if reply.starts_with(b"_") {
            return Some(());
        }
        let mut walk = Walk::new(reply);
        // One stream: its key, and its entries.
        walk.map()?;
        walk.value()?;
        let entries = walk.array()?;
        self.entries_max = (REPLY_BYTES * entries / reply.len().max(1)).clamp(1, ENTRIES_MAX);
        for _ in 0..entries {
            walk.array()?;
            let id = walk.bulk()?;
            let count = walk.array()? / 2;
            let (mut fields, mut data) = (Vec::new(), None);
            begin(&mut fields, count);
            for _ in 0..count {
                let (name, value) = (walk.value()?, walk.value()?);
                fields.extend_from_slice(name);
                fields.extend_from_slice(value);
                if count == 1 && Walk::new(name).bulk()? == b"data" {
                    data = Some(Walk::new(value).bulk()?);
                }
            }
            each(Note::Entry { id, data, fields: &fields });
            self.after = Some(id.to_vec());
        }
        Some(())
    }

    pub(super) fn takes_less(&mut self) -> bool {
        std::mem::replace(&mut self.entries_max, 1) > 1
    }
}
