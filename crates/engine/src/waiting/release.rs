//! Commands that wait until a message is held no more.
//!
//! Whatever ends a lease before its time says so by [`Txn::release`]; the end of the queue is told
//! as any key's is. The end of the lease's time is not: a client waits no longer than that.

use crate::store::ask::Ask;
use crate::store::key::Key;
use crate::store::txn::Txn;
use crate::store::view::View;
use crate::waiting::request::{WaitAnswer, WaitRequest};
use basalt_keyspace::interest::KeyId;
use basalt_keyspace::waiters::Service;
use basalt_value::queue::MessageId;
use std::time::Duration;

impl Txn<'_> {
    /// These messages of the queue under a key may be held by nobody: calls the clients that wait
    /// for that.
    #[inline]
    pub fn release(&mut self, key: &Key<'_>, messages: impl Iterator<Item = MessageId>) {
        let place = KeyId { hash: key.hash, db: self.session.db };
        let called = &mut self.changes.called;
        if let Some(interest) = &mut self.locked.partition_mut(key.partition).interest {
            messages.for_each(|message| interest.release(place, message, called));
        }
    }

    /// All messages of the queue under a key may be held by nobody.
    pub fn release_all(&mut self, key: &Key<'_>) {
        let place = KeyId { hash: key.hash, db: self.session.db };
        let called = &mut self.changes.called;
        if let Some(interest) = &mut self.locked.partition_mut(key.partition).interest {
            interest.release_all(place, called);
        }
    }
}

impl View<'_> {
    /// Has the command run again when one of these messages of the queue under a key may be held
    /// by nobody.
    pub fn wait_for_release(
        &self,
        key: &Key<'_>,
        messages: &[MessageId],
        time: Duration,
    ) -> WaitAnswer {
        let answer = self.wait(std::slice::from_ref(key), Service::Release, Some(time));
        match self.ask.take() {
            Some(Ask::Ready(request)) => {
                let held = messages.into();
                self.ask.set(Some(Ask::Ready(WaitRequest { held, ..request })));
            }
            other => self.ask.set(other),
        }
        answer
    }
}
