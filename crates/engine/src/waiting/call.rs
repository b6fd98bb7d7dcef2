//! Commands that put a message into a queue and wait for the answer to it.
//!
//! ```text
//! put, wait ▸ … ▸ answered: the client that waits is called, and finds the answer
//!               ▸ its time is over, it goes: the message is taken back, unless somebody holds it
//! ```
//! The message expires with the client's time, so one that cannot be taken back, because its queue
//! cannot be written now or the server has gone meanwhile, does not stay either.

use crate::engine::Engine;
use crate::log::Gate;
use crate::store::changes::ChangeSet;
use crate::store::collections::Absent;
use crate::store::context::CommandContext;
use crate::store::key::Key;
use crate::store::txn::Txn;
use crate::waiting::request::{WaitAnswer, WaitPlace};
use basalt_keyspace::interest::{Called, KeyId};
use basalt_keyspace::keyspace::Locked;
use basalt_keyspace::waiters::Service;
use basalt_value::Queue;
use basalt_value::queue::MessageId;
use std::time::Duration;

impl Txn<'_> {
    /// Has the command run again when the message that it has put into the queue under a key is
    /// answered, or the queue is gone.
    pub fn wait_for_answer(
        &mut self,
        key: &Key<'_>,
        message: MessageId,
        time: Duration,
    ) -> WaitAnswer {
        self.wait(std::slice::from_ref(key), Service::Answer(message), Some(time))
    }

    /// The message of the queue under a key that the command waits to be answered.
    pub fn called_message(&self, key: &Key<'_>) -> Option<MessageId> {
        let interest = self.locked.partition(key.partition).interest.as_ref()?;
        interest.message_of(self.session.client)
    }

    /// The answer that the command waits for, if it is there.
    pub fn take_answer(&mut self, key: &Key<'_>) -> Option<Box<[u8]>> {
        let interest = self.locked.partition_mut(key.partition).interest.as_mut()?;
        interest.take_answer(self.session.client)
    }

    /// Answers a message of the queue under a key; false if no client waits for that.
    pub fn answer(&mut self, key: &Key<'_>, message: MessageId, answer: &[u8]) -> bool {
        let place = KeyId { hash: key.hash, db: self.session.db };
        let called = &mut self.changes.called;
        let interest = self.locked.partition_mut(key.partition).interest.as_mut();
        interest.is_some_and(|interest| interest.answer(place, message, answer, called))
    }
}

impl Engine {
    /// A client that waited for the answer to its message has gone.
    pub(super) fn take_call_back(
        &self,
        locked: Locked<'_>,
        place: &WaitPlace,
        message: MessageId,
        called: &mut Called,
    ) {
        if self.log().admit_removal(place.partition.shard()).is_err() {
            return;
        }
        let mut changes = ChangeSet::default();
        let session = CommandContext::background(place.place.db, self.env.clock.unix_ms());
        let now_ms = session.now_ms;
        let mut txn = Txn::new(self, locked, session, &mut changes);
        let key = Key::new(&place.key, self.keyspace.hasher());
        // Something else under the key has no such message.
        let _ = txn.edit::<Queue, _>(&key, Absent::Skip, |queue, edits| {
            queue.withdraw(message, now_ms, edits)
        });
        txn.commit(&mut Gate::default());
        called.append(&mut changes.take_called());
    }
}
