//! HOT PATH
//! Messages of pub/sub as clients get them, and a session's part in it.
//!
//! A message is encoded once for all who get it. In RESP3 it is a push, in RESP2 an array: their
//! bytes differ in the first one alone. Short messages are copied to each subscriber's output, long
//! payloads are shared.
//!
//! A message may tell of a change that the log has not acknowledged. It carries what it has to wait
//! for, and the subscriber's output waits for it like a reply (`docs/concurrency.md`).

use crate::session::Session;
use basalt_engine::Gate;
use basalt_pubsub::{Kind, Matched, Serial};
use basalt_resp::{Output, Protocol, Reply, SHARED_BYTES_MIN, encode_request};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// All subscriptions of the server.
pub type PubSub = basalt_pubsub::PubSub<Push>;
/// What a thread has published and not yet handed over.
pub type Outbox = basalt_pubsub::Outbox<Push>;
/// A message on its way.
pub type Delivery = basalt_pubsub::Delivery<Push>;

/// An encoded message.
#[derive(Debug)]
pub struct Push {
    /// All of it in RESP2, but for a payload that is kept apart.
    head: Vec<u8>,
    payload: Option<Arc<Vec<u8>>>,
    gate: Gate,
    shape: Shape,
}

/// How a message looks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Shape {
    /// A push in RESP3, an array in RESP2.
    Push,
    /// A simple string in both.
    Line,
}

impl Push {
    /// A message that was published to a channel of a kind, for those who get it because of
    /// `matched`. Nobody gets it before the log has acknowledged what `gate` holds.
    pub fn new(
        kind: Kind,
        channel: &[u8],
        payload: &[u8],
        matched: Matched<'_>,
        gate: Gate,
    ) -> Push {
        let words: &[&[u8]] = match (kind, matched) {
            (_, Matched::Pattern(pattern)) => &[b"pmessage", pattern, channel, payload],
            (Kind::ShardChannel, Matched::Channel) => &[b"smessage", channel, payload],
            (_, Matched::Channel) => &[b"message", channel, payload],
        };
        let mut head = Vec::new();
        if payload.len() < SHARED_BYTES_MIN {
            encode_request(words, &mut head);
            return Push { head, payload: None, gate, shape: Shape::Push };
        }
        encode_request(&words[..words.len() - 1], &mut head);
        // The count of elements, which is one digit, includes the payload.
        head[1] += 1;
        let payload = Some(Arc::new(payload.to_vec()));
        Push { head, payload, gate, shape: Shape::Push }
    }

    /// What a client that monitors is told. The line has no line ends.
    pub fn line(line: &[u8]) -> Push {
        let head = [b"+", line, b"\r\n"].concat();
        Push { head, payload: None, gate: Gate::default(), shape: Shape::Line }
    }

    /// Bytes of it, about.
    pub fn bytes(&self) -> usize {
        self.head.len() + self.payload.as_ref().map_or(0, |payload| payload.len())
    }

    fn write(&self, reply: &mut Reply<'_>) {
        match reply.protocol() {
            Protocol::Resp3 if self.shape == Shape::Push => {
                reply.raw(b">");
                reply.raw(&self.head[1..]);
            }
            _ => reply.raw(&self.head),
        }
        if let Some(payload) = &self.payload {
            reply.bulk_shared(Arc::clone(payload));
        }
    }
}

/// Whether a message was for the session at the place that it was sent to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Receipt {
    /// It was, and is in its output.
    Written,
    /// It was for a subscription that has ended.
    TooLate,
}

impl Session {
    /// Writes a message to the session's output if it is for a subscription that it has.
    #[inline]
    pub fn receive(&mut self, delivery: &Delivery, serial: Serial, out: &mut Output) -> Receipt {
        let held = self.subscriptions.as_ref();
        if !held.is_some_and(|held| held.holds(delivery.kind, &delivery.name, serial)) {
            return Receipt::TooLate;
        }
        if !delivery.body.gate.is_open() {
            self.gate.merge(&delivery.body.gate);
        }
        delivery.body.write(&mut Reply::new(out, self.protocol));
        Receipt::Written
    }

    /// Whether it has subscribed to channels or patterns.
    #[inline]
    pub fn has_channels(&self) -> bool {
        self.subscriptions.as_ref().is_some_and(|held| held.has_channels())
    }

    /// Whether it gets messages: it has subscribed to something, or monitors.
    #[inline]
    pub fn is_subscribed(&self) -> bool {
        self.subscriptions.is_some()
    }

    /// What a message that it publishes has to wait for: its own changes, and those that it has
    /// read, as far as the log has not acknowledged them.
    pub fn gate_of_messages(&self) -> Gate {
        let mut gate = self.gate.clone();
        gate.merge(&self.unacknowledged);
        gate
    }

    /// Subscriptions have changed: forgets that there are any if there are none, and shows their
    /// number to CLIENT LIST.
    pub fn subscriptions_changed(&mut self) {
        if self.subscriptions.as_ref().is_some_and(|held| held.is_empty()) {
            self.subscriptions = None;
        }
        for (kind, shown) in Kind::ALL.into_iter().zip(&self.client.subscriptions) {
            let count = self.subscriptions.as_ref().map_or(0, |held| held.count(kind));
            shown.store(count as u64, Ordering::Relaxed);
        }
    }
}
