//! The messages of a queue: Q.GET, as long as the client has credit.
//!
//! ```text
//! room for more ──Q.GET──▶ messages ─┐
//!      ▲                             ▼
//!      └──one is held no more──Q.HELD──  as many as the client may hold
//! ```
//! Credit is how many messages a client may hold at once. It is the client's to give, and begins at
//! 1: what is sent ahead to a client that does not get to it would be kept from all others until
//! its lease ends. A message that is acknowledged, handed back, or held for longer than its lease
//! gives its place to the next one, whichever connection did that: only the queue knows. It is
//! asked when there is no room, and its answer waits until one of the messages is free.

use super::note::{Each, Note, Words, words};
use crate::walk::Walk;

/// Messages that are taken at once.
const AT_ONCE_MAX: usize = 16;
/// Messages that Q.HELD names, those that are held longest: it is said again for each message that
/// a client with much credit is done with, and should not cost more than that.
const NAMED_MAX: usize = 128;

/// See the head of this file.
#[derive(Debug)]
pub(super) struct QueueFeed {
    pub(super) key: Vec<u8>,
    /// How many messages the client may hold.
    pub(super) credit: usize,
    /// For how long it holds each, if it has said so.
    pub(super) lease_ms: Option<u64>,
    pub(super) worker: Option<Vec<u8>>,
    /// What it gets is gone at once, and it holds nothing.
    pub(super) is_taken: bool,
    /// Tokens of what the client holds, or has held and is not known to be done with.
    held: Vec<Vec<u8>>,
}

impl QueueFeed {
    pub(super) fn new(key: Vec<u8>, credit: usize) -> QueueFeed {
        QueueFeed { key, credit, lease_ms: None, worker: None, is_taken: false, held: Vec::new() }
    }

    pub(super) fn opening(&self) -> Words {
        words("Q.CONFIG GET", &[&self.key])
    }

    /// How many more messages the client may hold.
    fn room(&self) -> usize {
        self.credit.saturating_sub(self.held.len())
    }

    pub(super) fn wants(&self) -> bool {
        self.room() > 0 || !self.held.is_empty()
    }

    pub(super) fn standing(&self) -> Option<Words> {
        if !self.wants() {
            return None;
        }
        if self.room() == 0 {
            let mut words = words("Q.HELD", &[&self.key, b"BLOCK", b"0", b"TOKENS"]);
            words.extend(self.held.iter().take(NAMED_MAX).cloned());
            return Some(words);
        }
        let count = self.room().min(AT_ONCE_MAX).to_string();
        let mut words = words("Q.GET BLOCK 0 COUNT", &[count.as_bytes()]);
        if let Some(lease_ms) = self.lease_ms {
            words.extend([b"LEASE".to_vec(), lease_ms.to_string().into_bytes()]);
        }
        if let Some(worker) = &self.worker {
            words.extend([b"WORKER".to_vec(), worker.clone()]);
        }
        if self.is_taken {
            words.push(b"NOACK".to_vec());
        }
        words.extend([b"QUEUES".to_vec(), self.key.clone()]);
        Some(words)
    }

    pub(super) fn take(&mut self, reply: &[u8], each: Each<'_>) -> Option<()> {
        if reply.starts_with(b"_") {
            return Some(());
        }
        let mut walk = Walk::new(reply);
        let count = walk.array()?;
        if self.room() == 0 {
            return self.look(count, walk);
        }
        for _ in 0..count {
            walk.array()?;
            walk.value()?;
            let (token, body) = (walk.bulk()?, walk.bulk()?);
            let numbers = [walk.value()?, walk.value()?, walk.value()?];
            if !self.is_taken {
                self.held.push(token.to_vec());
            }
            each(Note::Delivery { token, body, numbers });
        }
        Some(())
    }

    /// Takes the reply to Q.HELD: when each lease ends, 0 for what the client is done with.
    fn look(&mut self, count: usize, mut walk: Walk<'_>) -> Option<()> {
        let mut ends = Vec::with_capacity(count.min(NAMED_MAX));
        for _ in 0..count {
            ends.push(walk.value()?);
        }
        let mut ends = ends.into_iter();
        self.held.retain(|_| ends.next() != Some(b":0\r\n"));
        Some(())
    }

    /// Takes the tokens of all that the client holds, the first one last: it has gone, and a
    /// consumer that waits gets what is handed back first.
    pub(super) fn release(&mut self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.held).into_iter().rev().collect()
    }

    /// The client does not hold a message any more.
    pub(super) fn let_go(&mut self, token: &[u8]) {
        self.held.retain(|held| held != token);
    }
}
