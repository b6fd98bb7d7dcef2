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
use std::sync::atomic::{AtomicBool, Ordering};

/// All subscriptions of the server.
pub type PubSub = basalt_pubsub::PubSub<Push>;
/// What a thread has published and not yet handed over.
pub type Outbox = basalt_pubsub::Outbox<Push>;
/// A message on its way.
pub type Delivery = basalt_pubsub::Delivery<Push>;

/// An encoded message.
#[derive(Debug)]
pub struct Push {
    content: Content,
    gate: Gate,
}

#[derive(Debug)]
enum Content {
    /// A message to a channel.
    Message {
        /// All of it in RESP2, but for a payload that is kept apart.
        head: Vec<u8>,
        payload: Option<Arc<Vec<u8>>>,
    },
    /// What clients do, for one that monitors: lines that are the same in both protocols.
    Lines(Arc<Vec<u8>>),
    /// Copies of keys are out of date.
    Outdated {
        /// The keys, an encoded array; `None` for all.
        keys: Option<Vec<u8>>,
        /// They are told to the client that gets the messages of the one that keeps them.
        is_redirected: bool,
        /// Set until the message is written.
        until_written: Option<Arc<AtomicBool>>,
    },
    /// The client that was to hear of such copies has gone.
    BrokenRedirection(u64),
}

/// The channel through which a client in RESP2 hears of another one's copies.
const INVALIDATIONS: &[u8] = b"__redis__:invalidate";

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
            return Push { content: Content::Message { head, payload: None }, gate };
        }
        encode_request(&words[..words.len() - 1], &mut head);
        // The count of elements, which is one digit, includes the payload.
        head[1] += 1;
        let payload = Some(Arc::new(payload.to_vec()));
        Push { content: Content::Message { head, payload }, gate }
    }

    /// Copies of these keys are out of date; of all keys if there is `None`.
    pub(crate) fn outdated(keys: Option<&[&[u8]]>, is_redirected: bool, gate: Gate) -> Push {
        let keys = keys.map(|keys| {
            let mut encoded = Vec::new();
            encode_request(keys, &mut encoded);
            encoded
        });
        let content = Content::Outdated { keys, is_redirected, until_written: None };
        Push { content, gate }
    }

    /// Has the message clear `flag` when it is written or thrown away.
    pub(crate) fn ending(mut self, flag: &Arc<AtomicBool>) -> Push {
        if let Content::Outdated { until_written, .. } = &mut self.content {
            *until_written = Some(Arc::clone(flag));
        }
        self
    }

    /// The client of this number, which was to hear of copies that are out of date, has gone.
    pub(crate) fn broken_redirection(client: u64, gate: Gate) -> Push {
        Push { content: Content::BrokenRedirection(client), gate }
    }

    /// What a client that monitors is told: encoded replies, each a line.
    pub fn lines(lines: Vec<u8>) -> Push {
        Push { content: Content::Lines(Arc::new(lines)), gate: Gate::default() }
    }

    /// Bytes of it, about.
    pub fn bytes(&self) -> usize {
        match &self.content {
            Content::Message { head, payload } => {
                head.len() + payload.as_ref().map_or(0, |payload| payload.len())
            }
            Content::Lines(lines) => lines.len(),
            Content::Outdated { keys, .. } => keys.as_ref().map_or(0, Vec::len),
            Content::BrokenRedirection(_) => 0,
        }
    }

    fn write(&self, reply: &mut Reply<'_>) {
        match &self.content {
            Content::Message { head, payload } => {
                match reply.protocol() {
                    Protocol::Resp2 => reply.raw(head),
                    Protocol::Resp3 => {
                        reply.raw(b">");
                        reply.raw(&head[1..]);
                    }
                }
                if let Some(payload) = payload {
                    reply.bulk_shared(Arc::clone(payload));
                }
            }
            Content::Outdated { keys, .. } => {
                match reply.protocol() {
                    Protocol::Resp2 => {
                        reply.array(3);
                        reply.bulk(b"message");
                        reply.bulk(INVALIDATIONS);
                    }
                    Protocol::Resp3 => {
                        reply.push(2);
                        reply.bulk(b"invalidate");
                    }
                }
                match keys {
                    Some(keys) => reply.raw(keys),
                    None => reply.null(),
                }
            }
            Content::BrokenRedirection(client) => {
                reply.push(2);
                reply.bulk(b"tracking-redir-broken");
                reply.integer(*client as i64);
            }
            Content::Lines(lines) => reply.raw_shared(lines),
        }
    }

    /// Whether a client can be told this: only in RESP3, or if it has another client's messages and
    /// has subscribed.
    fn is_for(&self, session: &Session) -> bool {
        match &self.content {
            Content::Message { .. } | Content::Lines(_) => false,
            _ if session.client.front.is_some() => false,
            _ if session.protocol == Protocol::Resp3 => true,
            Content::Outdated { is_redirected, .. } => *is_redirected && session.is_subscribed(),
            Content::BrokenRedirection(_) => false,
        }
    }
}

impl Drop for Push {
    fn drop(&mut self) {
        if let Content::Outdated { until_written: Some(flag), .. } = &self.content {
            flag.store(false, Ordering::Release);
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
        if delivery.kind == Kind::Direct {
            return self.receive_directly(delivery, serial, out);
        }
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

    /// Writes a message that is for this session, if it can be told.
    #[cold]
    fn receive_directly(
        &mut self,
        delivery: &Delivery,
        serial: Serial,
        out: &mut Output,
    ) -> Receipt {
        if serial != Serial::of_subscriber(self.client.id) {
            return Receipt::TooLate;
        }
        if let Content::Outdated { until_written: Some(flag), .. } = &delivery.body.content {
            // Before it is written: what comes up from here on is told once more.
            flag.store(false, Ordering::Release);
        }
        if !delivery.body.is_for(self) {
            return Receipt::TooLate;
        }
        self.gate.merge(&delivery.body.gate);
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
