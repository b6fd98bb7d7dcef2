//! HOT PATH
//! A lock for what is held for nanoseconds: one atomic exchange to take it, one plain store to let go.
//!
//! A lock that wakes its waiters must, when it is let go, find out whether there are any, and that
//! costs an atomic read-modify-write: as much as taking it, and as much as a quarter of a GET when
//! a command does it three times. Here nobody is woken. Who finds the lock taken spins for about a
//! microsecond, which is longer than the lock is normally held; then gives its core away a few
//! times, in case the holder needs it; then sleeps a little longer each time, up to
//! [`SLEEP_MAX`], which bounds what a holder of a long piece of work can cost a waiter on top.
//!
//! It deliberately covers no data, knows no owner, and is not fair. Not for anything that is held
//! across a system call as a rule.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Pauses before a waiter gives its core away.
const SPINS: u32 = 100;
/// Rounds after which a waiter sleeps instead.
const ROUNDS_AWAKE: u32 = SPINS + 10;
const SLEEP_MIN: Duration = Duration::from_micros(10);
/// Longest sleep between two looks at the lock.
const SLEEP_MAX: Duration = Duration::from_micros(200);

/// See the head of this file.
#[derive(Debug, Default)]
pub struct ShortLock {
    taken: AtomicBool,
}

impl ShortLock {
    /// A lock that nobody holds.
    pub const fn new() -> ShortLock {
        ShortLock { taken: AtomicBool::new(false) }
    }

    /// Takes the lock, waiting for it if need be.
    #[inline]
    pub fn lock(&self) {
        if !self.try_lock() {
            self.wait();
        }
    }

    /// Takes the lock if nobody holds it; says whether it did.
    #[inline]
    pub fn try_lock(&self) -> bool {
        // Acquire: sees everything that the last holder did before its Release in `unlock`.
        !self.taken.swap(true, Ordering::Acquire)
    }

    /// Lets go of the lock. Only who holds it may call this.
    #[inline]
    pub fn unlock(&self) {
        self.taken.store(false, Ordering::Release);
    }

    #[cold]
    #[inline(never)]
    fn wait(&self) {
        let mut sleep = SLEEP_MIN;
        for round in 0_u32.. {
            match round {
                0..SPINS => std::hint::spin_loop(),
                SPINS..ROUNDS_AWAKE => std::thread::yield_now(),
                _ => {
                    std::thread::sleep(sleep);
                    sleep = (sleep * 2).min(SLEEP_MAX);
                }
            }
            // Looks before it writes, so that the waiters share the line while they wait.
            if !self.taken.load(Ordering::Relaxed) && self.try_lock() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;
    use std::sync::mpsc::channel;

    #[test]
    fn one_thread_at_a_time_holds_it() {
        const ROUNDS: u64 = if cfg!(miri) { 50 } else { 20_000 };
        let (lock, count) = (ShortLock::new(), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..ROUNDS {
                        lock.lock();
                        // Not an atomic addition: without the lock, additions would be lost.
                        count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                        lock.unlock();
                    }
                });
            }
        });
        assert_eq!(count.into_inner(), 4 * ROUNDS);
    }

    #[test]
    fn a_waiter_that_sleeps_gets_it_in_the_end() {
        let lock = ShortLock::new();
        lock.lock();
        assert!(!lock.try_lock());
        std::thread::scope(|scope| {
            let (waits, waiting) = channel();
            let (got, taken) = channel();
            let lock = &lock;
            scope.spawn(move || {
                waits.send(()).unwrap();
                lock.lock();
                got.send(()).unwrap();
                lock.unlock();
            });
            waiting.recv().unwrap();
            // Longer than it spins and yields: nothing arrives while the lock is held.
            assert!(taken.recv_timeout(Duration::from_millis(2)).is_err());
            lock.unlock();
            taken.recv().unwrap();
        });
    }
}
