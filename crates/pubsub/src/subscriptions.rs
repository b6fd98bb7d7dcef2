//! What one subscriber has subscribed to.
//!
//! Both sides know of a subscription: the registry by name, for publishers; the subscriber by
//! name again, for a message that arrives after it has changed its mind.

use crate::audience::{Address, Serial, SinkId};
use crate::registry::{Kind, PubSub};
use std::collections::HashMap;
use std::collections::hash_map::IntoIter;
use std::sync::Arc;

/// What one subscriber has subscribed to. At its end it has to leave.
#[derive(Debug)]
pub struct Subscriptions {
    address: Address,
    by_kind: [HashMap<Arc<[u8]>, Serial>; Kind::ALL.len()],
}

/// A subscriber that has gone, and what is still registered of it. It may be much: it is ended bit
/// by bit. Messages for it find nobody meanwhile.
#[derive(Debug)]
pub struct Leaving {
    sink: SinkId,
    by_kind: [IntoIter<Arc<[u8]>, Serial>; Kind::ALL.len()],
}

/// Whether anything is left of a subscriber that has gone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use = "what is left has to be ended, too"]
pub enum Left {
    /// Nothing is left.
    Nothing,
    /// Something is left.
    Some,
}

impl Subscriptions {
    /// A subscriber to nothing, at an address.
    pub fn new(address: Address) -> Subscriptions {
        Subscriptions { address, by_kind: Default::default() }
    }

    fn names_of(&self, kind: Kind) -> &HashMap<Arc<[u8]>, Serial> {
        &self.by_kind[kind as usize]
    }

    /// Subscribes; returns true if that is new.
    pub fn subscribe<M>(&mut self, pubsub: &PubSub<M>, kind: Kind, name: &[u8]) -> bool {
        if self.names_of(kind).contains_key(name) {
            return false;
        }
        let (name, serial) = pubsub.subscribe(kind, name, self.address);
        self.by_kind[kind as usize].insert(name, serial);
        true
    }

    /// Ends a subscription; returns true if there was one.
    pub fn unsubscribe<M>(&mut self, pubsub: &PubSub<M>, kind: Kind, name: &[u8]) -> bool {
        let Some(serial) = self.by_kind[kind as usize].remove(name) else { return false };
        pubsub.unsubscribe(kind, name, self.address.sink, serial);
        true
    }

    /// All names of a kind, in no order.
    pub fn names(&self, kind: Kind) -> Vec<Arc<[u8]>> {
        self.names_of(kind).keys().cloned().collect()
    }

    /// How many of a kind.
    pub fn count(&self, kind: Kind) -> usize {
        self.names_of(kind).len()
    }

    /// To channels or patterns, of which it is told by messages.
    pub fn has_channels(&self) -> bool {
        let kinds = Kind::ALL.into_iter().filter(|kind| *kind != Kind::Monitor);
        kinds.into_iter().any(|kind| self.count(kind) > 0)
    }

    /// How many in all.
    pub fn len(&self) -> usize {
        self.by_kind.iter().map(HashMap::len).sum()
    }

    /// To nothing at all.
    pub fn is_empty(&self) -> bool {
        self.by_kind.iter().all(HashMap::is_empty)
    }

    /// Whether it holds the subscription for which a message is meant.
    #[inline]
    pub fn holds(&self, kind: Kind, name: &[u8], serial: Serial) -> bool {
        let names = self.by_kind.get(kind as usize);
        names.is_some_and(|names| names.get(name) == Some(&serial))
    }

    /// Begins to end them all.
    pub fn leave(self) -> Leaving {
        Leaving { sink: self.address.sink, by_kind: self.by_kind.map(HashMap::into_iter) }
    }
}

impl Leaving {
    /// Ends at most `count` subscriptions: some 100 ns each.
    pub fn go_on<M>(&mut self, pubsub: &PubSub<M>, count: usize) -> Left {
        let mut left = count;
        for (kind, names) in Kind::ALL.into_iter().zip(&mut self.by_kind) {
            for (name, serial) in names.by_ref().take(left) {
                pubsub.unsubscribe(kind, &name, self.sink, serial);
                left -= 1;
            }
        }
        if self.by_kind.iter().all(|names| names.len() == 0) { Left::Nothing } else { Left::Some }
    }
}
