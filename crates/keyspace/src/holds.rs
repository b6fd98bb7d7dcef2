//! The clients that wait until a message that they hold is held no more (Q.HELD).
//!
//! ```text
//! clients    client ─▶ queue, messages
//! messages   (queue, message, client)
//! ```
//! A client is called by what happens to one of its own messages or by the end of its queue, so an
//! acknowledgement costs the same however many wait. What it asks for can only become true, and it
//! takes nothing: nobody has a turn. That a lease ends calls nobody, for the client waits no longer
//! than that.

use crate::waiters::{Callable, Called, KeyId, Waiter};
use basalt_value::queue::MessageId;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// See the head of this file.
#[derive(Debug, Default)]
pub(crate) struct Holds {
    clients: BTreeMap<u64, Hold>,
    messages: BTreeSet<(KeyId, MessageId, u64)>,
}

#[derive(Debug)]
struct Hold {
    queue: KeyId,
    messages: Box<[MessageId]>,
    client: Callable,
}

impl Holds {
    pub(crate) fn is_empty(&self) -> bool {
        self.clients.is_empty()
    }

    /// A client waits until one of these messages is released, or still waits.
    pub(crate) fn join(&mut self, queue: KeyId, messages: &[MessageId], waiter: &Arc<dyn Waiter>) {
        let client = waiter.id();
        if let Some(hold) = self.clients.get_mut(&client) {
            hold.client.note_look();
            return;
        }
        self.messages.extend(messages.iter().map(|&message| (queue, message, client)));
        let hold = Hold { queue, messages: messages.into(), client: Callable::new(waiter) };
        self.clients.insert(client, hold);
    }

    /// A client waits no longer.
    pub(crate) fn leave(&mut self, client: u64) {
        let Some(hold) = self.clients.remove(&client) else { return };
        for &message in &hold.messages {
            self.messages.remove(&(hold.queue, message, client));
        }
    }

    /// A message is held by nobody.
    pub(crate) fn release(&mut self, queue: KeyId, message: MessageId, called: &mut Called) {
        let of_message = (queue, message, 0)..=(queue, message, u64::MAX);
        for (_, _, client) in self.messages.range(of_message) {
            if let Some(hold) = self.clients.get_mut(client) {
                hold.client.call(called);
            }
        }
    }

    /// Has all clients of a queue look: it may be gone.
    pub(crate) fn call_all_of(&mut self, queue: KeyId, called: &mut Called) {
        let of_queue = (queue, MessageId::FIRST, 0)..=(queue, MessageId::LAST, u64::MAX);
        for (_, _, client) in self.messages.range(of_queue) {
            if let Some(hold) = self.clients.get_mut(client) {
                hold.client.call(called);
            }
        }
    }

    /// Has all clients of a database's queues look.
    pub(crate) fn call_all_in(&mut self, db: u8, called: &mut Called) {
        let in_db = self.clients.values_mut().filter(|hold| hold.queue.db == db);
        in_db.for_each(|hold| hold.client.call(called));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::waiters::testing::{Client, called};
    use basalt_value::queue::LaneNumber;

    #[test]
    fn a_release_calls_those_that_hold_the_message_once() {
        let queue = |hash| KeyId { hash, db: 0 };
        let message = |number| MessageId::new(LaneNumber::default(), number).expect("it is small");
        let mut holds = Holds::default();
        let join = |holds: &mut Holds, client, hash, messages: &[u64]| {
            let waiter: Arc<dyn Waiter> = Arc::new(Client(client));
            let messages: Vec<MessageId> = messages.iter().map(|&it| message(it)).collect();
            holds.join(queue(hash), &messages, &waiter);
        };
        join(&mut holds, 1, 7, &[1, 2]);
        join(&mut holds, 2, 7, &[2, 3]);
        join(&mut holds, 3, 8, &[1, 2]);
        assert_eq!(called(|called| holds.release(queue(7), message(4), called)), []);
        assert_eq!(called(|called| holds.release(queue(7), message(1), called)), [1]);
        // The first has been called and has not looked.
        assert_eq!(called(|called| holds.release(queue(7), message(2), called)), [2]);
        join(&mut holds, 1, 7, &[1, 2]);
        assert_eq!(called(|called| holds.call_all_of(queue(7), called)), [1]);
        assert_eq!(called(|called| holds.call_all_in(1, called)), []);
        assert_eq!(called(|called| holds.call_all_in(0, called)), [3]);
        [1, 2, 3, 3].into_iter().for_each(|client| holds.leave(client));
        assert!(holds.is_empty() && holds.messages.is_empty());
    }
}
