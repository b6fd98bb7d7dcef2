//! HOT PATH
//! What a thread has published in its turn, until it hands it over.
//!
//! Each sink gets all of a turn's messages at once: one lock and at most one wake-up a turn,
//! however many messages. A thread hands over before it sends replies: a client that has been told
//! that a message is published, and has something else published elsewhere then, is not overtaken.
//!
//! Bytes that follow one another to the same subscribers may be gathered into one message. That is
//! closed when something else is published, when somebody subscribes, when it is large, or when it
//! is handed over; so gathering changes neither the order of anything nor who gets it.

use crate::audience::{Party, SinkId, Subscription};
use crate::registry::{Kind, PubSub};
use std::mem::take;
use std::sync::Arc;

/// Deliveries that an outbox holds before they are handed over, turn or not.
const DELIVERIES_MAX: usize = 256;

/// A message that is gathered is closed when it has this many bytes: some hundred lines, so that
/// each one's share of what a message costs is small.
const GATHERED_BYTES_MAX: usize = 32 << 10;
/// Room that is made for a message that is gathered: it suffices unless the last line is long.
const GATHERED_BYTES_ROOM: usize = GATHERED_BYTES_MAX + (8 << 10);

/// A message on its way to subscribers of one sink.
#[derive(Debug)]
pub struct Delivery<M> {
    /// What they have subscribed to.
    pub kind: Kind,
    /// Its name: the channel or the pattern.
    pub name: Arc<[u8]>,
    /// The subscribers when it was published. Some may be gone by now.
    pub subscribers: Arc<Vec<Subscription>>,
    /// The message.
    pub body: Arc<M>,
}

/// A thread that has subscribers.
pub trait Sink<M>: Send + Sync {
    /// Takes deliveries, in order, and leaves `deliveries` empty. It must neither block nor
    /// publish.
    fn take(&self, deliveries: &mut Vec<Delivery<M>>);

    /// Whether it is so far behind that publishers should wait.
    fn is_congested(&self) -> bool;

    /// Bytes of messages that it has taken and not yet passed on, about; 0 if it does not count
    /// them.
    fn waiting_bytes(&self) -> usize {
        0
    }
}

/// A sink is so far behind that nothing may be published to it now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Congested;

/// What to do about a sink that is behind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WhenFull {
    /// Publish nothing; the publisher tries again later.
    Refuse,
    /// Publish all the same: what has happened cannot wait.
    Exceed,
}

/// What one thread has published and not yet handed over.
pub struct Outbox<M> {
    /// By number of the sink.
    sinks: Vec<Pending<M>>,
    /// Those that wait, and one for a message that is being gathered.
    deliveries: usize,
    gathering: Option<Gathering<M>>,
    /// What is gathered.
    gathered: Vec<u8>,
    /// Room for the parties of one message, kept from one to the next.
    pub(crate) parties: Vec<Party>,
}

struct Pending<M> {
    sink: Option<Arc<dyn Sink<M>>>,
    deliveries: Vec<Delivery<M>>,
}

/// A message that is being gathered.
pub(crate) struct Gathering<M> {
    pub(crate) kind: Kind,
    pub(crate) name: Arc<[u8]>,
    pub(crate) parties: Vec<Party>,
    /// Subscriptions that had been made when its subscribers were looked up, or more.
    pub(crate) made_before: u64,
    pub(crate) wrap: fn(Vec<u8>) -> M,
}

impl<M> Default for Outbox<M> {
    fn default() -> Outbox<M> {
        Outbox {
            sinks: Vec::new(),
            deliveries: 0,
            gathering: None,
            gathered: Vec::new(),
            parties: Vec::new(),
        }
    }
}

impl<M> Outbox<M> {
    /// Nothing is to be handed over.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.deliveries == 0
    }

    /// Puts a delivery behind what is there.
    pub(crate) fn put(&mut self, sink: SinkId, delivery: Delivery<M>) {
        self.close_gathered();
        self.push(sink, delivery);
    }

    /// Whether more may be added to the message that is being gathered, for the subscribers of this
    /// channel, to whom none has come since these `made` subscriptions.
    #[inline]
    pub(crate) fn gathers(&self, kind: Kind, channel: &[u8], made: u64) -> bool {
        let is_it =
            |it: &Gathering<M>| it.kind == kind && it.made_before == made && *it.name == *channel;
        self.gathered.len() < GATHERED_BYTES_MAX && self.gathering.as_ref().is_some_and(is_it)
    }

    /// Begins to gather a message.
    pub(crate) fn gather(&mut self, gathering: Gathering<M>) {
        self.close_gathered();
        self.gathered.reserve(GATHERED_BYTES_ROOM);
        self.deliveries += 1;
        self.gathering = Some(gathering);
    }

    /// The bytes that are gathered.
    #[inline]
    pub(crate) fn gathered(&mut self) -> &mut Vec<u8> {
        &mut self.gathered
    }

    /// The message that is being gathered is whole.
    pub(crate) fn close_gathered(&mut self) {
        let Some(Gathering { kind, name, parties, wrap, .. }) = self.gathering.take() else {
            return;
        };
        self.deliveries -= 1;
        // One that fills its room takes it along; what others have is copied out of it.
        let bytes = if self.gathered.len() >= GATHERED_BYTES_MAX {
            take(&mut self.gathered)
        } else {
            let bytes = self.gathered.to_vec();
            self.gathered.clear();
            bytes
        };
        let body = Arc::new(wrap(bytes));
        for Party { sink, subscribers } in parties {
            let (name, body) = (Arc::clone(&name), Arc::clone(&body));
            self.push(sink, Delivery { kind, name, subscribers, body });
        }
    }

    fn push(&mut self, sink: SinkId, delivery: Delivery<M>) {
        if sink == SinkId::NOWHERE {
            return;
        }
        let index = usize::from(sink.0);
        if index >= self.sinks.len() {
            self.sinks.resize_with(index + 1, || Pending { sink: None, deliveries: Vec::new() });
        }
        self.sinks[index].deliveries.push(delivery);
        self.deliveries += 1;
    }

    /// Whether a sink is behind.
    pub(crate) fn is_congested(&self, pubsub: &PubSub<M>, sink: SinkId) -> bool {
        let known = self.sinks.get(usize::from(sink.0)).and_then(|pending| pending.sink.as_ref());
        match known {
            Some(sink) => sink.is_congested(),
            None => pubsub.sink(sink).is_some_and(|sink| sink.is_congested()),
        }
    }

    pub(crate) fn flush_if_full(&mut self, pubsub: &PubSub<M>) {
        if self.deliveries >= DELIVERIES_MAX {
            self.flush(pubsub);
        }
    }

    /// Hands everything over.
    #[inline]
    pub fn flush(&mut self, pubsub: &PubSub<M>) {
        if !self.is_empty() {
            self.flush_some(pubsub);
        }
    }

    fn flush_some(&mut self, pubsub: &PubSub<M>) {
        self.close_gathered();
        for (index, pending) in self.sinks.iter_mut().enumerate() {
            if pending.deliveries.is_empty() {
                continue;
            }
            if pending.sink.is_none() {
                pending.sink = pubsub.sink(SinkId(index as u16));
            }
            if let Some(sink) = &pending.sink {
                sink.take(&mut pending.deliveries);
            }
            pending.deliveries.clear();
        }
        self.deliveries = 0;
    }
}
