//! The lists of a thread whose command takes long, while its other clients are served beside it.

use super::{Absent, Reactor};
use crate::mailbox::ConnectionId;
use crate::turn::Turn;

impl Reactor {
    /// Others are served while a command takes long.
    pub(crate) fn is_lent(&self) -> bool {
        self.absent.is_some()
    }

    /// A command of this connection takes long: the others are served without it. Requests of
    /// theirs that have been parsed but have not run are parsed again.
    pub(crate) fn leave(&mut self, index: usize, parsed: &mut dyn Iterator<Item = u32>) {
        for other in parsed {
            if let Some(connection) = &mut self.connections[other as usize] {
                connection.rewind();
            }
        }
        let others = self.serving.drain(..).filter(|&other| other != index).collect();
        self.sort_out(others);
        self.absent = Some(Absent { index, late: Vec::new() });
        self.behind.begin(self.clock.now());
    }

    /// The connection is back; it alone is left to be served in this turn.
    pub(crate) fn come_back(&mut self, index: usize) {
        let absent = self.absent.take();
        if let Some(connection) = &mut self.connections[index] {
            // Its events have been passed over.
            connection.readable = true;
            connection.unblock();
            if self.stopping.is_some() {
                connection.close_without_lingering();
            }
        }
        self.write_deliveries(&absent.map(|absent| absent.late).unwrap_or_default());
        self.ready.retain(|&ready| ready != index);
        self.serving.push(index);
    }

    /// The connection's request waits for the end of the command beside which it cannot run.
    pub(super) fn wait_behind(&mut self, id: ConnectionId) {
        self.behind.add(id);
        self.begin_waiting(id, None);
    }

    /// Of connections that were to be served in the turn that is interrupted, those wait on that
    /// have waited behind the command before; the others are ready.
    fn sort_out(&mut self, others: Vec<usize>) {
        let mut waited = Vec::new();
        for index in others {
            let Some(connection) = &mut self.connections[index] else { continue };
            if !connection.has_waited_for_held() {
                self.ready.push(index);
                continue;
            }
            connection.scheduled = false;
            let id = ConnectionId { index, generation: connection.generation };
            waited.push(id);
            self.begin_waiting(id, None);
        }
        self.behind.put_back(waited);
    }

    /// Some of those that wait behind a command are ready again, and first of all.
    #[inline]
    pub(super) fn have_some_try(&mut self, turn: &mut Turn) {
        if !self.behind.is_empty() {
            self.have_waiting_try(turn);
        }
    }

    #[cold]
    fn have_waiting_try(&mut self, turn: &mut Turn) {
        let before = self.ready.len();
        for id in self.behind.next(self.is_lent(), self.clock.now()) {
            self.run_again(turn, id);
        }
        let count = self.ready.len() - before;
        self.ready.rotate_right(count);
        if self.put_off > 0 {
            self.put_off += count;
        }
    }
}
