//! HOT PATH
//! What all clients of fronts hold together: requests that are not wholly there, or have not run,
//! and responses that have not been taken.
//!
//! Each connection has limits of its own, and ten thousand of them together none. Here each one
//! notes, at the end of a turn, what it holds. Most hold nothing by then, and note nothing.

use crate::seats::{Seats, Wish};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes that clients of fronts may be owed together. Beyond it one that is owed anything is not
/// served before it has taken that: what a client does not read does not grow.
const OWED_BYTES_MAX: usize = 32 << 20;

/// Requests without a seat may hold a quarter of what those with one may, besides that.
const LOOSE_PART: usize = 4;

/// Bytes that all of them hold.
#[derive(Debug, Default)]
pub(crate) struct Held {
    /// Of requests without a seat.
    loose: AtomicUsize,
    /// Of buffers that are kept for large requests.
    idle: AtomicUsize,
    owed: AtomicUsize,
    /// How many wait for room for a request.
    waiting: AtomicUsize,
    /// Large requests.
    seats: Mutex<Seats>,
}

/// What one connection holds of them.
#[derive(Debug)]
pub(crate) struct Share {
    of: Arc<Held>,
    loose: usize,
    idle: usize,
    owed: usize,
    waiting: usize,
    /// Its place among those whose request is promised to end.
    seat: Option<u64>,
}

impl Share {
    pub(crate) fn of(held: &Arc<Held>) -> Share {
        Share { of: Arc::clone(held), loose: 0, idle: 0, owed: 0, waiting: 0, seat: None }
    }

    /// It holds this many bytes of requests, and `rest` more are to come.
    #[inline]
    pub(crate) fn set_input(&mut self, bytes: usize, rest: usize) {
        self.seat = self.seat.filter(|seat| self.of.seats.lock().note(*seat, (bytes, rest)));
        let loose = if self.seat.is_some() { 0 } else { bytes };
        note(&self.of.loose, &mut self.loose, loose);
    }

    /// It keeps this many bytes for large requests.
    #[cold]
    pub(crate) fn set_idle(&mut self, bytes: usize) {
        note(&self.of.idle, &mut self.idle, bytes);
    }

    /// It is owed this many bytes.
    #[inline]
    pub(crate) fn set_owed(&mut self, bytes: usize) {
        note(&self.of.owed, &mut self.owed, bytes);
    }

    /// Takes room for this many bytes of a large request of which `rest` more are to come, if all
    /// large ones may hold `max`; false if it has to wait for others to end.
    #[cold]
    pub(crate) fn take_seat(&mut self, bytes: usize, rest: usize, max: usize) -> bool {
        let idle = self.of.idle.load(Ordering::Relaxed);
        let wish = self.of.seats.lock().ask(&mut self.seat, (bytes, rest), (idle, max));
        match wish {
            Wish::Granted => note(&self.of.loose, &mut self.loose, 0),
            Wish::Refused => {}
            Wish::Unseated => return self.take_loose(bytes, max),
        }
        wish == Wish::Granted
    }

    /// Takes room for this many bytes of a small request.
    #[cold]
    pub(crate) fn take_loose(&mut self, bytes: usize, max: usize) -> bool {
        let fits = self.fits_loose(bytes, max);
        if fits {
            self.set_input(bytes, 0);
        }
        fits
    }

    /// Whether there is room for this many bytes of a small request, or of one that waits.
    #[cold]
    pub(crate) fn fits_loose(&self, bytes: usize, max: usize) -> bool {
        self.loose_of_others().saturating_add(bytes) <= max / LOOSE_PART
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

    /// Bytes that are kept for large requests, by all.
    #[cfg(test)]
    pub(crate) fn idle_of_all(&self) -> usize {
        self.of.idle.load(Ordering::Relaxed)
    }

    /// Bytes without a seat that the others hold.
    fn loose_of_others(&self) -> usize {
        self.of.loose.load(Ordering::Relaxed).saturating_sub(self.loose)
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
        self.set_input(0, 0);
        self.set_idle(0);
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
        const MAX: usize = 400;
        let held = Arc::default();
        let (mut one, mut other) = (Share::of(&held), Share::of(&held));
        one.set_input(10, 0);
        one.set_owed(OWED_BYTES_MAX);
        other.set_input(5, 0);
        other.set_owed(1);
        assert_eq!((one.loose_of_others(), other.loose_of_others()), (5, 10));
        assert!(one.is_owed_too_much());
        one.set_input(3, 0);
        one.set_owed(0);
        assert!(!one.is_owed_too_much());
        assert!(other.take_loose(97, MAX) && !other.take_loose(98, MAX));
        assert!(one.take_seat(300, 100, MAX));
        assert_eq!(other.loose_of_others(), 0);
        assert!(!other.take_seat(97, 4, MAX));
        drop(one);
        assert!(other.take_seat(97, 4, MAX));
    }

    /// What it holds must not go uncounted: it could go on for ever.
    #[test]
    fn whoever_loses_its_seat_counts_among_those_without() {
        const MAX: usize = 4_000;
        const MANY: usize = 65;
        let held = Arc::default();
        let mut shares: Vec<Share> = (0..MANY).map(|_| Share::of(&held)).collect();
        for (index, share) in shares.iter_mut().enumerate() {
            assert!(share.take_seat(index + 1, 0, MAX));
        }
        // The last one has the seat of the first.
        assert_eq!(shares[1].loose_of_others(), 0);
        shares[0].set_input(7, 0);
        assert_eq!(shares[1].loose_of_others(), 7);
        assert!(shares[0].take_seat(1, 0, MAX));
        assert_eq!(shares[1].loose_of_others(), 1);
        shares.truncate(1);
        drop(shares);
        assert_eq!(Share::of(&held).loose_of_others(), 0);
    }
}
