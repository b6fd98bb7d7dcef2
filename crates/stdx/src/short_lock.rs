//! HOT PATH
//! A lock for what is held for nanoseconds: one atomic exchange to take it, one plain
//! store to let go.
//!
//! A lock that wakes its waiters must, when it is let go, find out whether there are any, and that
//! costs an atomic read-modify-write: as much as taking it, and as much as a quarter of a GET when
//! a command does it three times. Here nobody is woken. A thread that finds the lock taken spins
//! for about a microsecond, which is longer than the lock is normally held; then gives its core
//! away a few times, in case the holder needs it; then sleeps a little longer each time, up to
//! `SLEEP_MAX`, which bounds what a holder of a long piece of work can cost a waiter on top.
//!
//! A thread that has others to serve does not wait for a holder that takes very long: it says how
//! long it waits at most ([`LockWait`]) and is told that it has not got the lock. A holder that has
//! found out that it takes long says so ([`ShortLock::hold_for_long`]), and is not waited for.
//!
//! It deliberately covers no data, knows no owner, and is not fair. Not for anything that is held
//! across a system call as a rule.

use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{sleep, spin_loop, yield_now};
use std::time::Duration;

/// Pauses before a waiter gives its core away.
const SPINS: u32 = if cfg!(loom) { 1 } else { 100 };
/// Rounds after which a waiter sleeps instead.
const ROUNDS_AWAKE: u32 = SPINS + if cfg!(loom) { 1 } else { 10 };
/// Rounds after which a thread that waits briefly gives up: ten sleeps, some 1.3 ms.
const ROUNDS_BRIEF: u32 = ROUNDS_AWAKE + 10;
const SLEEP_MIN: Duration = Duration::from_micros(10);
/// Longest sleep between two looks at the lock.
const SLEEP_MAX: Duration = Duration::from_micros(200);

/// How long a thread waits for a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LockWait {
    /// Until it gets the lock.
    Endless,
    /// About a millisecond, which is longer than anything but a script holds a lock; not at all if
    /// the holder has said that it takes long.
    Brief,
    /// About a millisecond, whatever the holder has said.
    Patient,
    /// About a microsecond, without a sleep.
    Spinning,
}

/// See the head of this file.
#[derive(Debug, Default)]
pub struct ShortLock {
    taken: AtomicBool,
    /// Its holder takes long. A hint: nobody concludes from it that the lock is held.
    for_long: AtomicBool,
}

impl ShortLock {
    /// A lock that nobody holds.
    #[cfg(not(loom))]
    pub const fn new() -> ShortLock {
        ShortLock { taken: AtomicBool::new(false), for_long: AtomicBool::new(false) }
    }

    /// A lock that nobody holds.
    #[cfg(loom)]
    pub fn new() -> ShortLock {
        ShortLock { taken: AtomicBool::new(false), for_long: AtomicBool::new(false) }
    }

    /// Takes the lock, waiting for it if need be.
    #[inline]
    pub fn lock(&self) {
        if !self.try_lock() {
            self.wait(LockWait::Endless);
        }
    }

    /// Takes the lock unless that takes too long; returns true if it did.
    #[inline]
    pub fn lock_within(&self, wait: LockWait) -> bool {
        self.try_lock() || self.wait(wait)
    }

    /// Takes the lock if nobody holds it; returns true if it did.
    #[inline]
    pub fn try_lock(&self) -> bool {
        // Acquire: sees everything that the last holder did before its Release in `unlock`.
        !self.taken.swap(true, Ordering::Acquire)
    }

    /// Lets go of the lock. Only its holder may call this.
    #[inline]
    pub fn unlock(&self) {
        #[cfg(not(loom))]
        self.taken.store(false, Ordering::Release);
        // Loom has a plain store fall before an exchange that read what the store follows; by the
        // memory model nothing comes between what an exchange reads and what it writes.
        #[cfg(loom)]
        self.taken.swap(false, Ordering::Release);
    }

    /// Has those not wait for the lock that wait briefly. Only its holder may call this, and says
    /// [`ShortLock::unlock_after_long`] in the end.
    pub fn hold_for_long(&self) {
        self.for_long.store(true, Ordering::Relaxed);
    }

    /// As [`ShortLock::unlock`], for a holder that may have said that it takes long.
    pub fn unlock_after_long(&self) {
        self.for_long.store(false, Ordering::Relaxed);
        self.unlock();
    }

    #[cold]
    #[inline(never)]
    fn wait(&self, wait: LockWait) -> bool {
        let rounds = match wait {
            LockWait::Endless => u32::MAX,
            LockWait::Brief | LockWait::Patient => ROUNDS_BRIEF,
            LockWait::Spinning => SPINS,
        };
        let (mut pause, mut round) = (SLEEP_MIN, 0_u32);
        while round < rounds || wait == LockWait::Endless {
            match round {
                0..SPINS => spin_loop(),
                SPINS..ROUNDS_AWAKE => yield_now(),
                _ => {
                    sleep(pause);
                    pause = (pause * 2).min(SLEEP_MAX);
                }
            }
            // Looks before it writes, so that the waiters share the line while they wait.
            if !self.taken.load(Ordering::Relaxed) && self.try_lock() {
                return true;
            }
            if wait == LockWait::Brief && self.for_long.load(Ordering::Relaxed) {
                return false;
            }
            round = round.saturating_add(1);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;
    use std::sync::mpsc::channel;
    use std::time::Instant;

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
    fn a_thread_that_does_not_wait_for_ever_gives_up() {
        let lock = ShortLock::new();
        assert!(lock.lock_within(LockWait::Spinning));
        assert!(!lock.lock_within(LockWait::Spinning) && !lock.lock_within(LockWait::Brief));
        lock.unlock();
        assert!(lock.lock_within(LockWait::Brief));
    }

    #[test]
    fn who_holds_it_for_long_is_not_waited_for_briefly() {
        let lock = ShortLock::new();
        // The shortest of some times: this thread may not have its core all the time.
        let shortest = |wait| {
            let waited = |_| {
                let begun = Instant::now();
                assert!(!lock.lock_within(wait));
                begun.elapsed()
            };
            (0..5).map(waited).min().unwrap()
        };
        const LONG: Duration = Duration::from_millis(1);
        lock.lock();
        assert!(shortest(LockWait::Brief) >= LONG);
        lock.hold_for_long();
        assert!(shortest(LockWait::Brief) < LONG);
        assert!(shortest(LockWait::Patient) >= LONG);
        lock.unlock_after_long();
        assert!(lock.lock_within(LockWait::Brief));
        assert!(shortest(LockWait::Brief) >= LONG);
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
