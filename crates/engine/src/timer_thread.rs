//! The thread that looks at queues for which clients wait, when their time has come
//! (`timers.rs`).

use crate::engine::Engine;
use crate::log::Gate;
use crate::store::changes::ChangeSet;
use crate::store::context::CommandContext;
use crate::store::key::Key;
use crate::store::txn::Txn;
use crate::waiting::request::WaitPlace;
use std::time::Duration;

/// The thread looks at the clock at least this often: it may have been set.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Messages that one lock settles, about.
pub(crate) const MESSAGES_A_LOCK: usize = 256;

impl Engine {
    pub(crate) fn run_timer_thread(&self) {
        self.timers.wake_this_thread();
        let mut changes = ChangeSet::default();
        while !self.is_stopping() {
            let now_ms = self.env.clock.unix_ms();
            while let Some(due) = self.timers.take_due(now_ms) {
                self.look_at_queue(&due, &mut changes);
            }
            let left = self.timers.next_ms().saturating_sub(self.env.clock.unix_ms());
            std::thread::park_timeout(Duration::from_millis(left).min(LOOK_EVERY));
        }
    }

    /// Settles a queue for which clients wait, and calls the first of them if it has something.
    fn look_at_queue(&self, due: &WaitPlace, changes: &mut ChangeSet) {
        let locked = self.keyspace.lock(due.partition);
        let interest = locked.partition(due.partition).interest.as_deref();
        if interest.is_none_or(|interest| !interest.is_waited_for(due.place)) {
            return;
        }
        let session = CommandContext::background(due.place.db, self.env.clock.unix_ms());
        let mut txn = Txn::new(self, locked, session, changes);
        let key = Key::new(&due.key, self.keyspace.hasher());
        // If nothing may be written now, the client that is called sees what time has done, and
        // waits until it may.
        let may_write =
            self.may_remove_expired() && self.log().admit_removal(due.partition.shard()).is_ok();
        if may_write {
            txn.settle_queue(&key, MESSAGES_A_LOCK);
        }
        txn.signal_waiters_of_queue(&key);
        txn.commit(&mut Gate::default());
        self.wake_called(changes.take_called());
        self.log().kick();
    }
}
