//! Changes that no client has asked for: keys that have expired, or for which there is no memory.

use crate::engine::Engine;
use crate::log::Gate;
use crate::store::changes::ChangeSet;
use crate::store::context::CommandContext;
use crate::store::events::EventClasses;
use crate::store::txn::Txn;
use basalt_keyspace::keyspace::Locked;

impl Engine {
    /// Changes keys of a database as a command does, unlocks them, and tells whom it concerns.
    /// Nobody waits for the log, but reads of these keys do, and the news of it; the log is to be
    /// kicked.
    pub(crate) fn change_by_itself<R>(
        &self,
        locked: Locked<'_>,
        (db, now_ms): (u8, u64),
        changes: &mut ChangeSet,
        change: impl FnOnce(&mut Txn<'_>) -> R,
    ) -> R {
        let session = CommandContext::background(db, now_ms);
        let sink = self.event_sink.get();
        changes.listen_for(sink.map_or(EventClasses::NONE, |sink| sink.classes()));
        let mut txn = Txn::new(self, locked, session, changes);
        let result = change(&mut txn);
        let mut after = Gate::default();
        txn.commit(&mut after);
        self.wake_called(changes.take_called());
        if let Some(sink) = sink
            && !changes.events().is_empty()
        {
            sink.publish(changes.events(), &after);
        }
        result
    }
}
