//! HOT PATH
//! The subscribers of one channel or pattern, by the sink at which they are.
//!
//! A sink's subscribers are a shared list: a message takes a reference to it along and need not
//! copy it, however many there are. A list that a message is holding on to is copied before it
//! changes.

use std::sync::Arc;

/// Number of a sink: of a thread that has subscribers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SinkId(pub(crate) u16);

impl SinkId {
    /// No sink: what is sent there is lost.
    pub const NOWHERE: SinkId = SinkId(u16::MAX);
}

/// Where a subscriber is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Address {
    /// At which sink.
    pub sink: SinkId,
    /// Which place there; its meaning is the sink's.
    pub place: u32,
}

impl Address {
    /// The address of a subscriber that gets nothing.
    pub const NOWHERE: Address = Address { sink: SinkId::NOWHERE, place: 0 };
}

/// Number of a subscription, never used again. It tells a message for an earlier subscription, or
/// for an earlier subscriber at the same place, from one for this.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Serial(pub(crate) u64);

impl Serial {
    /// For messages to one subscriber, which it gets without a subscription: its number.
    pub fn of_subscriber(number: u64) -> Serial {
        Serial(number)
    }
}

/// One subscriber of a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Subscription {
    /// Its place at the sink.
    pub place: u32,
    /// The subscription's number.
    pub serial: Serial,
}

/// Subscribers of one sink, in the order in which they subscribed.
#[derive(Clone, Debug)]
pub(crate) struct Party {
    pub(crate) sink: SinkId,
    pub(crate) subscribers: Arc<Vec<Subscription>>,
}

/// All subscribers of a channel or pattern.
#[derive(Debug, Default)]
pub(crate) struct Audience(Vec<Party>);

impl Audience {
    /// Adds a subscription. Serials come in ascending order.
    pub(crate) fn add(&mut self, address: Address, serial: Serial) {
        let subscription = Subscription { place: address.place, serial };
        match self.0.iter_mut().find(|party| party.sink == address.sink) {
            Some(party) => Arc::make_mut(&mut party.subscribers).push(subscription),
            None => {
                // Most channels have one subscriber: no room for more is made in advance.
                self.0.reserve_exact(1);
                let subscribers = Arc::new(vec![subscription]);
                self.0.push(Party { sink: address.sink, subscribers });
            }
        }
    }

    /// Removes a subscription.
    pub(crate) fn remove(&mut self, sink: SinkId, serial: Serial) {
        let Some(index) = self.0.iter().position(|party| party.sink == sink) else { return };
        let list = &mut self.0[index].subscribers;
        let Ok(at) = list.binary_search_by_key(&serial, |subscription| subscription.serial) else {
            return;
        };
        if list.len() == 1 {
            self.0.swap_remove(index);
            return;
        }
        let list = Arc::make_mut(list);
        list.remove(at);
        if list.len() < list.capacity() / 4 {
            list.shrink_to(list.len() * 2);
        }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.0.iter().map(|party| party.subscribers.len()).sum()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[inline]
    pub(crate) fn parties(&self) -> &[Party] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_on_its_way_does_not_change() {
        let mut audience = Audience::default();
        let at = |place| Address { sink: SinkId(0), place };
        (1..=3).for_each(|serial| audience.add(at(serial as u32), Serial(serial)));
        let on_its_way = audience.parties()[0].clone();
        audience.remove(SinkId(0), Serial(2));
        audience.remove(SinkId(0), Serial(9));
        audience.remove(SinkId(1), Serial(1));
        let serials = |party: &Party| party.subscribers.iter().map(|s| s.serial.0).collect();
        let (before, after): (Vec<_>, Vec<_>) =
            (serials(&on_its_way), serials(&audience.parties()[0]));
        assert_eq!((before, after), (vec![1, 2, 3], vec![1, 3]));
        audience.remove(SinkId(0), Serial(1));
        audience.remove(SinkId(0), Serial(3));
        assert!(audience.is_empty());
    }
}
