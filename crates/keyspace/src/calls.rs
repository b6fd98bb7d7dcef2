//! The clients that have put a message into a queue and wait for the answer to it (Q.CALL).
//!
//! ```text
//! clients    client ─▶ queue, message, the answer once it is there
//! messages   (queue, message) ─▶ client
//! ```
//! A client waits for one answer at a time. It is called by what concerns its own message or the
//! end of its queue, so an answer costs the same however many wait. An answer stands here from the
//! command that brings it until the client's own command runs, which is at once as a rule; it is no
//! part of the queue, for a client that waits does not outlive the server.

use crate::waiters::{Callable, Called, KeyId, Waiter};
use basalt_value::queue::MessageId;
use std::collections::BTreeMap;
use std::sync::Arc;

/// See the head of this file.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    clients: BTreeMap<u64, Call>,
    messages: BTreeMap<(KeyId, MessageId), u64>,
}

#[derive(Debug)]
struct Call {
    queue: KeyId,
    message: MessageId,
    client: Callable,
    answer: Option<Box<[u8]>>,
}

impl Calls {
    pub(crate) fn is_empty(&self) -> bool {
        self.clients.is_empty()
    }

    /// A client waits for the answer to a message, or still waits.
    pub(crate) fn join(&mut self, queue: KeyId, message: MessageId, waiter: &Arc<dyn Waiter>) {
        if let Some(call) = self.clients.get_mut(&waiter.id()) {
            call.client.note_look();
            return;
        }
        let call = Call { queue, message, client: Callable::new(waiter), answer: None };
        self.messages.insert((queue, message), waiter.id());
        self.clients.insert(waiter.id(), call);
    }

    /// A client waits no longer; returns the message that it waited to be answered.
    pub(crate) fn leave(&mut self, client: u64) -> Option<MessageId> {
        let call = self.clients.remove(&client)?;
        self.messages.remove(&(call.queue, call.message));
        Some(call.message)
    }

    /// The message that a client waits to be answered.
    pub(crate) fn message_of(&self, client: u64) -> Option<MessageId> {
        self.clients.get(&client).map(|call| call.message)
    }

    /// The answer that a client waits for, if it is there.
    pub(crate) fn take_answer(&mut self, client: u64) -> Option<Box<[u8]>> {
        self.clients.get_mut(&client)?.answer.take()
    }

    /// Answers a message; false if nobody waits for that.
    pub(crate) fn answer(
        &mut self,
        queue: KeyId,
        message: MessageId,
        answer: &[u8],
        called: &mut Called,
    ) -> bool {
        let client = self.messages.get(&(queue, message));
        let Some(call) = client.and_then(|client| self.clients.get_mut(client)) else {
            return false;
        };
        call.answer = Some(answer.into());
        call.client.call(called);
        true
    }

    /// Has all clients of a queue look: it may be gone.
    pub(crate) fn call_all_of(&mut self, queue: KeyId, called: &mut Called) {
        let of_queue = (queue, MessageId::FIRST)..=(queue, MessageId::LAST);
        for client in self.messages.range(of_queue).map(|(_, client)| client) {
            if let Some(call) = self.clients.get_mut(client) {
                call.client.call(called);
            }
        }
    }

    /// Has all clients of a database's queues look.
    pub(crate) fn call_all_in(&mut self, db: u8, called: &mut Called) {
        let in_db = self.clients.values_mut().filter(|call| call.queue.db == db);
        in_db.for_each(|call| call.client.call(called));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::waiters::testing::{Client, called};
    use basalt_value::queue::LaneNumber;

    #[test]
    fn an_answer_reaches_the_client_that_called_and_nobody_else() {
        let queue = |hash| KeyId { hash, db: 0 };
        let message = |number| MessageId::new(LaneNumber::default(), number).expect("it is small");
        let mut calls = Calls::default();
        for (client, hash) in [(1, 7), (2, 7), (3, 8)] {
            let waiter: Arc<dyn Waiter> = Arc::new(Client(client));
            calls.join(queue(hash), message(client), &waiter);
        }
        let mut answer = |hash, number, called: &mut Called| {
            calls.answer(queue(hash), message(number), b"yes", called)
        };
        assert_eq!(called(|called| assert!(answer(7, 2, called))), [2]);
        assert_eq!(called(|called| assert!(!answer(7, 3, called) && !answer(9, 1, called))), []);
        // It has been called, so the end of its queue calls the other one.
        assert_eq!(called(|called| calls.call_all_of(queue(7), called)), [1]);
        assert_eq!(called(|called| calls.call_all_in(1, called)), []);
        assert_eq!(called(|called| calls.call_all_in(0, called)), [3]);
        assert_eq!((calls.take_answer(1), calls.take_answer(2)), (None, Some(b"yes"[..].into())));
        assert_eq!(calls.message_of(2), Some(message(2)));
        assert_eq!(
            [1, 2, 3, 3].map(|client| calls.leave(client).is_some()),
            [true, true, true, false]
        );
        assert!(calls.is_empty() && calls.messages.is_empty());
    }
}
