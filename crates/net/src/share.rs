//! HOT PATH
//! What all clients of fronts hold together: requests that are not wholly there, or have not run,
//! and responses that have not been taken.
//!
//! Each connection has limits of its own, and ten thousand of them together none. Here each one
//! notes, at the end of a turn, what it holds. Most hold nothing by then, and note nothing.

use crate::seats::{Bounds, Seats};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes that clients of fronts may be owed together. Beyond it one that is owed anything is not
/// served before it has taken that: what a client does not read does not grow.
const OWED_BYTES_MAX: usize = 32 << 20;

/// Bytes that all of them hold.
#[derive(Debug, Default)]
pub(crate) struct Held {
    input: AtomicUsize,
    owed: AtomicUsize,
    /// How many wait for room for a request.
    waiting: AtomicUsize,
    seats: Mutex<Seats>,
}

/// What one connection holds of them.
#[derive(Debug)]
pub(crate) struct Share {
    of: Arc<Held>,
    input: usize,
    owed: usize,
    waiting: usize,
    /// Its place among those whose request is promised to end.
    seat: Option<u64>,
}

impl Share {
    pub(crate) fn of(held: &Arc<Held>) -> Share {
        Share { of: Arc::clone(held), input: 0, owed: 0, waiting: 0, seat: None }
    }

    /// It holds this many bytes of requests, or is about to.
    #[inline]
    pub(crate) fn set_input(&mut self, bytes: usize) {
        note(&self.of.input, &mut self.input, bytes);
    }

    /// It is owed this many bytes.
    #[inline]
    pub(crate) fn set_owed(&mut self, bytes: usize) {
        note(&self.of.owed, &mut self.owed, bytes);
    }

    /// Takes room for this many bytes of a large request of which `rest` more are to come; false if
    /// it has to wait for others to end.
    #[cold]
    pub(crate) fn take_input(&mut self, bytes: usize, rest: usize, max: usize) -> bool {
        let of = Arc::clone(&self.of);
        let mut seats = of.seats.lock();
        let bounds = Bounds { others: self.input_of_others(), max };
        let is_taken = seats.ask(&mut self.seat, (bytes, rest), bounds);
        if is_taken {
            self.set_input(bytes);
        }
        is_taken
    }

    /// It waits for room, or does not any more.
    #[cold]
    pub(crate) fn set_waiting(&mut self, waits: bool) {
        note(&self.of.waiting, &mut self.waiting, usize::from(waits));
    }

    /// Whether somebody waits for room.
    #[cold]
    pub(crate) fn is_waited_for(&self) -> bool {
        self.of.waiting.load(Ordering::Relaxed) > 0
    }

    /// Its request is wholly there, or will never be.
    #[inline]
    pub(crate) fn leave_seat(&mut self) {
        if let Some(seat) = self.seat.take() {
            self.of.seats.lock().leave(seat);
        }
    }

    /// Bytes of requests that the others hold.
    pub(crate) fn input_of_others(&self) -> usize {
        self.of.input.load(Ordering::Relaxed).saturating_sub(self.input)
    }

    /// Whether all together are owed more than they may be.
    #[inline]
    pub(crate) fn is_owed_too_much(&self) -> bool {
        self.of.owed.load(Ordering::Relaxed) > OWED_BYTES_MAX
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.leave_seat();
        self.set_waiting(false);
        self.set_input(0);
        self.set_owed(0);
    }
}

/// Relaxed: each connection takes away what it has added, and the sum need not be that of a moment.
#[inline]
fn note(all: &AtomicUsize, before: &mut usize, now: usize) {
    if now > *before {
        all.fetch_add(now - *before, Ordering::Relaxed);
    } else if now < *before {
        all.fetch_sub(*before - now, Ordering::Relaxed);
    }
    *before = now;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_connection_holds_ends_with_it() {
        let held = Arc::default();
        let (mut one, mut other) = (Share::of(&held), Share::of(&held));
        one.set_input(10);
        one.set_owed(OWED_BYTES_MAX);
        other.set_input(5);
        other.set_owed(1);
        assert_eq!((one.input_of_others(), other.input_of_others()), (5, 10));
        assert!(one.is_owed_too_much());
        one.set_input(3);
        one.set_owed(0);
        assert!(!one.is_owed_too_much());
        assert_eq!(other.input_of_others(), 3);
        drop(one);
        assert_eq!(other.input_of_others(), 0);
    }
}
