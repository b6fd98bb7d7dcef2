//! The libraries of functions: kept and logged with one partition, of which the names of keys know
//! nothing. What is in a library is not the engine's business.

use crate::engine::Engine;
use crate::log::{Gate, Ticket};
use crate::store::held::Held;
use basalt_change::op::{self, Op};
use basalt_change::place::PartitionId;
use basalt_stdx::short_lock::LockWait;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A library's name and text. Where it is a change: the text that it has from now on; empty if
/// there is no such library any more.
pub type NamedLibrary = (Vec<u8>, Arc<Vec<u8>>);

impl Engine {
    /// All libraries, in the order of their names.
    pub fn libraries(&self) -> Vec<NamedLibrary> {
        let locked = self.keyspace.lock(PartitionId::LIBRARIES);
        let libraries = &locked.partition(PartitionId::LIBRARIES).libraries;
        let all = libraries.iter().flat_map(|libraries| libraries.iter());
        all.map(|(name, code)| (name.to_vec(), Arc::clone(code))).collect()
    }

    /// Changes libraries, all or none of which survive. The reply waits for `gate`. `decide` says
    /// what is changed, while nobody else changes any, with something for `publish`, which is
    /// called when the changes are in the log.
    ///
    /// # Errors
    /// Outside: somebody holds their partition for longer than the thread waits, and nothing has
    /// been asked. Inside: what `decide` says. Nothing has changed.
    pub fn change_libraries<P, E>(
        &self,
        wait: LockWait,
        gate: &mut Gate,
        decide: impl FnOnce() -> Result<(Vec<NamedLibrary>, P), E>,
        publish: impl FnOnce(P),
    ) -> Result<Result<(), E>, Held> {
        const HOME: PartitionId = PartitionId::LIBRARIES;
        let mut locked = self.keyspace.lock_within(HOME, wait).ok_or(Held)?;
        let (changes, decided) = match decide() {
            Ok(decided) => decided,
            Err(error) => return Ok(Err(error)),
        };
        if changes.is_empty() {
            return Ok(Ok(()));
        }
        let mut record = Vec::new();
        op::begin(&mut record, HOME);
        for (name, code) in &changes {
            Op::Library { name, code }.encode(&mut record);
        }
        let (seq, ticket) = self.log().append(HOME.shard(), &record);
        let partition = locked.partition_mut(HOME);
        partition.advance(seq);
        let libraries = partition.libraries.get_or_insert_default();
        changes.iter().for_each(|(name, code)| libraries.change(name, code));
        // Release, and acquire where it is read: a reply that shows them waits for this ticket.
        self.libraries_ticket.store(ticket.position, Ordering::Release);
        publish(decided);
        drop(locked);
        if self.log().gates_replies() {
            gate.add(ticket);
        } else {
            gate.add_demanded(ticket, self.log());
        }
        self.note_changes(changes.len() as u64);
        self.log().kick();
        Ok(Ok(()))
    }

    /// Adds to `gate` what a reply has to wait for that shows libraries or what they do: their
    /// latest change, if a crash could still take it back.
    pub fn gate_reads_of_libraries(&self, gate: &mut Gate) {
        let position = self.libraries_ticket.load(Ordering::Acquire);
        if position == 0 || !self.log().gates_replies() {
            return;
        }
        let stream = self.log().ticket_stream(PartitionId::LIBRARIES.shard());
        let ticket = Ticket { stream, position };
        if !self.log().is_acknowledged(ticket) {
            gate.add(ticket);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::engine;

    fn change(engine: &Engine, changes: &[(&[u8], &[u8])]) {
        let named = |(name, code): &(&[u8], &[u8])| (name.to_vec(), Arc::new(code.to_vec()));
        let changes = changes.iter().map(named).collect();
        let decide = || Ok::<_, ()>((changes, ()));
        engine
            .change_libraries(LockWait::Endless, &mut Gate::default(), decide, |()| ())
            .expect("nobody holds it")
            .expect("it is decided");
    }

    #[test]
    fn libraries_are_seen_at_once_and_shown_when_they_are_acknowledged() {
        let (engine, _) = engine();
        let mut gate = Gate::default();
        engine.gate_reads_of_libraries(&mut gate);
        assert!(gate.is_open());
        change(&engine, &[(b"b", b"two"), (b"a", b"one")]);
        let names: Vec<Vec<u8>> = engine.libraries().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, [b"a", b"b"]);
        engine.gate_reads_of_libraries(&mut gate);
        assert!(!gate.is_open());
        engine.log().sync_all().expect("a healthy disk");
        let mut gate = Gate::default();
        engine.gate_reads_of_libraries(&mut gate);
        assert!(gate.is_open());
    }

    #[test]
    fn no_flush_removes_them_and_a_checkpoint_writes_them_and_their_end() {
        let (engine, _) = engine();
        let rows = || {
            let (from, to) = basalt_change::library::library_range();
            let mut found = 0;
            let mut count = |_: &[u8], _: &[u8]| {
                found += 1;
                std::ops::ControlFlow::Continue(())
            };
            engine.cold().scan(&from, &to, &mut count).unwrap();
            found
        };
        change(&engine, &[(b"a", b"one"), (b"b", b"two")]);
        engine.flush(0..2, LockWait::Endless, &mut Gate::default()).unwrap();
        assert_eq!(engine.libraries().len(), 2);
        engine.checkpoint().unwrap();
        assert_eq!(rows(), 2);
        change(&engine, &[(b"a", b"")]);
        engine.checkpoint().unwrap();
        assert_eq!((rows(), engine.libraries().len()), (1, 1));
    }
}
