//! Items for a thread, which is woken once for all that come before it takes them.
//!
//! The thread that is woken may run at once, in the place of the one that wakes it, which then has
//! to wait for its turn: for milliseconds, if it has a lower priority. So nobody is woken under the
//! lock. And nobody relies on another sender's wake-up that is still to come:
//!
//! ```text
//! sender    lock ▸ push, note the round ▸ unlock ▸ woken in this round? no: wake ▸ woken = round
//! receiver  lock ▸ take all, begin the next round ▸ unlock
//! ```
//! Senders who come between another one's push and its wake-up wake the receiver once more.

use crate::sync::Mutex;
use crate::sync::atomic::{AtomicU64, Ordering};

/// See the head of this file.
#[derive(Debug)]
pub struct Mail<T> {
    waiting: Mutex<Waiting<T>>,
    /// The last round, counted from one, in which somebody has woken the receiver. A late sender
    /// may put an older one here: then the receiver is woken more often than it has to be.
    woken: AtomicU64,
}

#[derive(Debug)]
struct Waiting<T> {
    items: Vec<T>,
    /// Counts how often they were taken, from one.
    round: u64,
}

impl<T> Default for Mail<T> {
    fn default() -> Mail<T> {
        Mail {
            waiting: Mutex::new(Waiting { items: Vec::new(), round: 1 }),
            woken: AtomicU64::new(0),
        }
    }
}

impl<T> Mail<T> {
    /// Adds an item, and wakes the receiver unless somebody has since it took the last ones.
    pub fn send(&self, item: T, wake: impl FnOnce()) {
        self.send_unless(|_| false, item, wake);
    }

    /// As [`Mail::send`], but adds nothing if the last item that waits will do.
    pub fn send_unless(&self, will_do: impl FnOnce(&T) -> bool, item: T, wake: impl FnOnce()) {
        let round = {
            let mut waiting = self.waiting.lock();
            if !waiting.items.last().is_some_and(will_do) {
                waiting.items.push(item);
            }
            waiting.round
        };
        // In its own round: the receiver has been woken and has taken nothing since.
        if self.woken.load(Ordering::Acquire) != round {
            wake();
            self.woken.store(round, Ordering::Release);
        }
    }

    /// Takes all items. The receiver does so each time that it was woken.
    pub fn take(&self) -> Vec<T> {
        let mut waiting = self.waiting.lock();
        waiting.round += 1;
        std::mem::take(&mut waiting.items)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn a_receiver_is_woken_once_for_all_that_come_before_it_takes_them() {
        let (mail, woken) = (Mail::default(), Cell::new(0));
        let wake = || woken.set(woken.get() + 1);
        mail.send(1, wake);
        mail.send(2, wake);
        mail.send_unless(|&last| last == 2, 3, wake);
        assert_eq!((mail.take(), woken.get()), (vec![1, 2], 1));
        mail.send_unless(|&last| last == 2, 3, wake);
        assert_eq!((mail.take(), woken.get()), (vec![3], 2));
    }

    #[test]
    fn nobody_relies_on_a_sender_who_has_not_woken_the_receiver_yet() {
        let (mail, woken) = (Mail::default(), Cell::new(0));
        let wake = || woken.set(woken.get() + 1);
        let late = || {
            mail.send(2, wake);
            assert_eq!((mail.take(), woken.get()), (vec![1, 2], 1));
        };
        mail.send(1, late);
        // What the late one notes now is out of date.
        mail.send(3, wake);
        assert_eq!((mail.take(), woken.get()), (vec![3], 2));
    }
}
