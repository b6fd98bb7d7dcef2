//! HOT PATH
//! What a network thread sees to once a second: clients that are silent or late, memory that lies
//! idle.

use super::{CARE_EVERY, ROOM_EVERY, Reactor};
use crate::connection::{Room, State};
use crate::mailbox::ConnectionId;
use crate::turn::Turn;
use std::sync::atomic::Ordering;

/// How many connections are looked at in one turn, and how many of these are answered or closed,
/// each of which takes system calls. Thousands that are late at once are spread over as many turns
/// as that takes: in one turn, 5,000 had the other clients wait for 20 ms.
const CARED_FOR_A_TURN: usize = 512;
const ANSWERED_A_TURN: usize = 4;
/// How many that wait for room are asked in one turn, and how many of these are turned away.
const ROOM_FOR_A_TURN: usize = 16;
const TURNED_AWAY_A_TURN: usize = 4;

impl Reactor {
    /// Counts the turn's requests. Once a second: clients that have been silent for too long,
    /// memory that lies idle.
    pub(super) fn care(&mut self, turn: &mut Turn) {
        let now = self.clock.now();
        turn.worker.count_requests(now);
        if let Some(from) = self.care_from {
            return self.care_for_some(turn, from);
        }
        if now - self.last_care < CARE_EVERY {
            return;
        }
        self.last_care = now;
        self.pool.age();
        self.care_for_some(turn, 0);
    }

    /// Looks at connections from this one on, as many as a turn may, and notes where to go on.
    fn care_for_some(&mut self, turn: &mut Turn, from: usize) {
        let count = self.connections.len();
        let end = from.saturating_add(CARED_FOR_A_TURN).min(count);
        let mut answered = 0;
        let mut index = from;
        while index < end && answered < ANSWERED_A_TURN {
            answered += usize::from(self.care_for(turn, index));
            index += 1;
        }
        self.care_from = (index < count).then_some(index);
    }

    /// Looks at one connection; returns true if it was answered or closed.
    fn care_for(&mut self, turn: &mut Turn, index: usize) -> bool {
        let now_ms = turn.worker.now_ms;
        let timeout_ms = turn.worker.settings.clients.idle_timeout_s * 1000;
        let Some(connection) = &mut self.connections[index] else { return false };
        let active_ms = connection.session.client.active_ms.load(Ordering::Relaxed);
        let idle_ms = now_ms.saturating_sub(active_ms);
        if idle_ms > 2000 {
            connection.input.shrink();
        }
        if connection.is_crowded() {
            return false;
        }
        let idle = connection.state == State::Open
            && idle_ms > connection.idle_max_ms(timeout_ms)
            && !connection.session.is_subscribed();
        if idle || connection.closes_for_too_long(self.last_care) {
            self.bury(turn, index);
            return true;
        }
        let has_replies = connection.refuses_late_request(self.last_care)
            | connection.beat(self.last_care)
            || connection.owes();
        if has_replies {
            turn.finish(self, index);
            self.after_turn(turn, index);
        }
        has_replies
    }

    /// The connection's request waits for room that others take.
    #[cold]
    pub(crate) fn await_room(&mut self, index: usize) {
        if let Some(connection) = &self.connections[index] {
            let id = ConnectionId { index, generation: connection.generation };
            self.crowded.push_back(id);
        }
    }

    /// Requests that wait for room go on if there is some, and are turned away if they have waited
    /// for too long.
    #[inline]
    pub(super) fn make_room(&mut self, turn: &mut Turn) {
        if !self.crowded.is_empty() {
            self.make_room_for_some(turn);
        }
    }

    #[cold]
    fn make_room_for_some(&mut self, turn: &mut Turn) {
        let now = self.clock.now();
        if now - self.last_room < ROOM_EVERY {
            return;
        }
        self.last_room = now;
        self.pool.drop_large();
        let mut turned_away = 0;
        for _ in 0..self.crowded.len().min(ROOM_FOR_A_TURN) {
            if turned_away == TURNED_AWAY_A_TURN {
                return;
            }
            let Some(id) = self.crowded.pop_front() else { return };
            let Some(connection) = self.connection(id) else { continue };
            let room = match (connection.is_crowded(), connection.is_crowded) {
                (true, _) => connection.take_room(now),
                // It waits for something else, and comes back to this.
                (false, true) => Room::NotYet,
                (false, false) => continue,
            };
            match room {
                Room::Taken => self.schedule(id.index),
                Room::NotYet => self.crowded.push_back(id),
                Room::None => {
                    turned_away += 1;
                    turn.turn_away(self, id.index);
                    turn.finish(self, id.index);
                    self.after_turn(turn, id.index);
                }
            }
        }
    }
}
