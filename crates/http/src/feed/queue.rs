//! The messages of a queue: Q.GET, as long as the client has credit.
//!
//! Credit is how many messages a client may hold at once. It is the client's to give, and begins at
//! 1: what is sent ahead to a client that does not get to it would be kept from all others until
//! its lease ends. A message that is acknowledged, handed back, or held for longer than its lease
//! gives its place to the next one.

use super::note::{Each, Note, Words, words};
use crate::walk::Walk;

/// Messages that are taken at once.
const AT_ONCE_MAX: usize = 16;
/// How long messages are held in a queue that is not there yet: what queues begin with.
const LEASE_MS: u64 = 30_000;

/// See the head of this file.
#[derive(Debug)]
pub(super) struct QueueFeed {
    pub(super) key: Vec<u8>,
    /// How many messages the client may hold.
    pub(super) credit: usize,
    /// For how long it holds each; `None` until it is known what the queue says.
    pub(super) lease_ms: Option<u64>,
    pub(super) worker: Option<Vec<u8>>,
    /// What it gets is gone at once, and it holds nothing.
    pub(super) is_taken: bool,
    held: Vec<Held>,
}

/// A message that the client holds.
#[derive(Debug)]
struct Held {
    token: Vec<u8>,
    /// When its lease ends, in unix milliseconds.
    until_ms: u64,
}

impl QueueFeed {
    pub(super) fn new(key: Vec<u8>, credit: usize) -> QueueFeed {
        QueueFeed { key, credit, lease_ms: None, worker: None, is_taken: false, held: Vec::new() }
    }

    pub(super) fn opening(&self) -> Words {
        words("Q.CONFIG", &[&self.key, b"GET"])
    }

    /// The settings say how long messages are held. From then on it is said with each Q.GET, so
    /// that it is known when a lease ends.
    pub(super) fn opened(&mut self, reply: &[u8]) -> Option<()> {
        if self.lease_ms.is_none() {
            self.lease_ms = Some(lease_ms(reply).unwrap_or(LEASE_MS));
        }
        Some(())
    }

    /// How many more messages the client may hold.
    fn room(&self) -> usize {
        self.credit.saturating_sub(self.held.len())
    }

    pub(super) fn wants(&self) -> bool {
        self.room() > 0
    }

    pub(super) fn standing(&self) -> Option<Words> {
        if !self.wants() {
            return None;
        }
        let count = self.room().min(AT_ONCE_MAX).to_string();
        let lease = self.lease_ms.unwrap_or(LEASE_MS).to_string();
        let mut words =
            words("Q.GET BLOCK 0 COUNT", &[count.as_bytes(), b"LEASE", lease.as_bytes()]);
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
        for _ in 0..walk.array()? {
            walk.array()?;
            walk.value()?;
            let (token, body) = (walk.bulk()?, walk.bulk()?);
            let numbers = [walk.value()?, walk.value()?, walk.value()?];
            if !self.is_taken {
                let stamp = token.rsplit(|&byte| byte == b'-').next()?;
                let stamp_ms: u64 = str::from_utf8(stamp).ok()?.parse().ok()?;
                let until_ms = stamp_ms.saturating_add(self.lease_ms.unwrap_or(LEASE_MS));
                self.held.push(Held { token: token.to_vec(), until_ms });
            }
            each(Note::Delivery { token, body, numbers });
        }
        Some(())
    }

    /// Takes the tokens of all that the client holds: it has gone.
    pub(super) fn release(&mut self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.held).into_iter().map(|held| held.token).collect()
    }

    /// The client does not hold a message any more.
    pub(super) fn let_go(&mut self, token: &[u8]) {
        self.held.retain(|held| held.token != token);
    }

    /// The client holds a message for longer.
    pub(super) fn extend(&mut self, token: &[u8], until_ms: u64) {
        if let Some(held) = self.held.iter_mut().find(|held| held.token == token) {
            held.until_ms = until_ms;
        }
    }

    /// What leases have ended by now.
    pub(super) fn settle(&mut self, now_ms: u64) {
        self.held.retain(|held| held.until_ms > now_ms);
    }
}

/// The lease that the settings of a queue say.
fn lease_ms(settings: &[u8]) -> Option<u64> {
    let mut walk = Walk::new(settings);
    for _ in 0..walk.map()? {
        let (name, value) = (walk.bulk()?, walk.value()?);
        if name == b"lease" {
            let digits = value.strip_prefix(b":")?.strip_suffix(b"\r\n")?;
            return str::from_utf8(digits).ok()?.parse().ok();
        }
    }
    None
}
