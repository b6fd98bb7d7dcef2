//! How many responses a connection was given, by class.
//!
//! Replies are ended by whatever thread runs the request, which need not be the connection's own;
//! so they are counted with the connection, and its thread adds them to its counters when it sends
//! them.

use basalt_http1::Status;
use basalt_observe::counters::{Counter, RESPONSE_CLASSES};
use std::cell::Cell;

/// See the head of this file.
#[derive(Debug, Default)]
pub(crate) struct Tally([Cell<u64>; RESPONSE_CLASSES]);

impl Tally {
    /// A response with this status is written.
    #[inline]
    pub(crate) fn note(&self, status: Status) {
        let class = usize::from(status.code() / 100);
        if let Some(count) = class.checked_sub(1).and_then(|index| self.0.get(index)) {
            count.set(count.get() + 1);
        }
    }

    /// Adds what has been counted since this was called last to these counters.
    #[inline]
    pub(crate) fn hand_over(&self, counters: &[Counter; RESPONSE_CLASSES]) {
        for (count, counter) in self.0.iter().zip(counters) {
            match count.take() {
                0 => {}
                count => counter.add(count),
            }
        }
    }
}
