//! Every order in which threads may run: `RUSTFLAGS="--cfg loom" cargo test -p basalt-stdx --test
//! loom --release`. Each protocol has a canary: without the step that it depends on, loom finds an
//! order in which it fails.

#![cfg(loom)]

use basalt_stdx::loan::{Loan, Step};
use basalt_stdx::mail::Mail;
use basalt_stdx::short_lock::{LockWait, ShortLock};
use basalt_stdx::sleeper::{Sleeper, WakeOn};
use basalt_stdx::watch_flag::{Watch, WatchFlag};
use loom::sync::Arc;
use loom::sync::Mutex;
use loom::sync::atomic::{AtomicU32, Ordering};
use loom::thread;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// Tries all orders with at most this many preemptions: with three, more take minutes.
fn check(protocol: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(protocol);
}

/// Whether loom finds an order in which it fails.
fn fails(protocol: impl Fn() + Sync + Send + 'static) -> bool {
    catch_unwind(AssertUnwindSafe(|| check(protocol))).is_err()
}

/// Two threads add to a count by a load and a store, each under the lock if `locks` says so. What
/// one has stored the other sees only if the lock orders the two.
fn add_under_a_lock(locks: [bool; 2]) {
    let shared = Arc::new((ShortLock::new(), AtomicU32::new(0)));
    let threads = locks.map(|locks| {
        let shared = Arc::clone(&shared);
        thread::spawn(move || {
            let (lock, count) = &*shared;
            if locks {
                lock.lock();
            }
            count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            if locks {
                lock.unlock();
            }
        })
    });
    threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
    assert_eq!(shared.1.load(Ordering::Relaxed), 2, "an addition is lost");
}

#[test]
fn a_short_lock_orders_its_holders() {
    check(|| add_under_a_lock([true, true]));
    assert!(fails(|| add_under_a_lock([true, false])), "loom loses no addition");
}

#[test]
fn a_thread_that_gives_up_has_no_lock() {
    check(|| {
        let lock = Arc::new(ShortLock::new());
        let other = Arc::clone(&lock);
        let thread = thread::spawn(move || {
            if other.lock_within(LockWait::Spinning) {
                other.unlock();
            }
        });
        if lock.lock_within(LockWait::Spinning) {
            lock.unlock();
        }
        thread.join().expect("no panic");
        assert!(lock.try_lock(), "it was let go of");
    });
}

/// A thread takes two pieces of work, sleeping when it sees none; another one puts them. Without
/// the second look a piece is missed, and the thread sleeps for ever.
fn sleep_between_work(looks_again: bool) {
    let (sleeper, work) = (Arc::new(Sleeper::default()), Arc::new(Mutex::new(0)));
    sleeper.adopt(&thread::current());
    let (putter, place) = (Arc::clone(&sleeper), Arc::clone(&work));
    let putting = thread::spawn(move || {
        for _ in 0..2 {
            *place.lock().unwrap() += 1;
            putter.after_work();
        }
    });
    let take = || std::mem::take(&mut *work.lock().unwrap());
    let mut taken = take();
    while taken < 2 {
        sleeper.announce(WakeOn::Work);
        let found = if looks_again { take() } else { 0 };
        if found > 0 {
            sleeper.stay_awake();
        } else {
            sleeper.sleep(Duration::MAX);
        }
        taken += found + take();
    }
    putting.join().expect("no panic");
}

#[test]
fn no_work_is_slept_through() {
    check(|| sleep_between_work(true));
    assert!(fails(|| sleep_between_work(false)), "loom sees no sleep that nobody ends");
}

/// A thread waits until a mark has moved. Without a flag that is set before its look it may see the
/// old mark and never hear of the new one.
fn wait_for_a_mark(watches_first: bool) {
    let shared = Arc::new((WatchFlag::default(), AtomicU32::new(0), Mutex::new(false)));
    let publisher = Arc::clone(&shared);
    let publishing = thread::spawn(move || {
        let (flag, mark, told) = &*publisher;
        mark.store(1, Ordering::Relaxed);
        if flag.has_to_tell() {
            *told.lock().unwrap() = true;
        }
    });
    let (flag, mark, told) = &*shared;
    let seen = if watches_first {
        assert_eq!(flag.watch(), Watch::Begins);
        mark.load(Ordering::Relaxed)
    } else {
        let seen = mark.load(Ordering::Relaxed);
        flag.watch();
        seen
    };
    publishing.join().expect("no panic");
    assert!(seen == 1 || *told.lock().unwrap(), "it has neither seen it nor been told");
}

#[test]
fn what_moves_is_seen_or_told() {
    check(|| wait_for_a_mark(true));
    assert!(fails(|| wait_for_a_mark(false)), "loom sees no mark that is missed");
}

/// Adds to a count by a load and a store: an addition is lost if nothing orders it after the other.
struct Adding<'a>(&'a AtomicU32);

impl Step for Adding<'_> {
    fn step(&mut self) {
        self.0.store(self.0.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }
}

/// A thread lends twice and uses what it lends between and afterwards; another one uses it while it
/// is lent, if `asks` for it, or when it sees that it is.
fn use_what_is_lent(asks: bool) {
    let shared = Arc::new((Loan::default(), AtomicU32::new(0)));
    let borrower = Arc::clone(&shared);
    let borrowing = thread::spawn(move || {
        let (loan, count) = &*borrower;
        if asks {
            return u32::from(loan.step());
        }
        let is_lent = loan.count() % 2 == 1;
        if is_lent {
            Adding(count).step();
        }
        u32::from(is_lent)
    });
    let (loan, count) = &*shared;
    for _ in 0..2 {
        loan.during(&mut Adding(count), thread::yield_now);
        Adding(count).step();
    }
    let steps = borrowing.join().expect("no panic");
    assert_eq!(count.load(Ordering::Relaxed), 2 + steps, "two have used it at a time");
}

#[test]
fn what_is_lent_is_used_by_one_thread_at_a_time() {
    check(|| use_what_is_lent(true));
    assert!(fails(|| use_what_is_lent(false)), "loom sees no use beside the owner's");
}

/// A thread sleeps until something is lent, as long as it has seen no loan. Without the count of
/// its last look it does not notice one that has come and gone since, and sleeps for ever.
fn sleep_until_a_loan(tells_its_last_look: bool) {
    // Loom's own may not be dropped by a thread that is found to sleep for ever.
    let loan = std::sync::Arc::new(Loan::default());
    let borrower = std::sync::Arc::clone(&loan);
    let sleeping = thread::spawn(move || {
        while borrower.count() == 0 {
            let last_look = if tells_its_last_look { 0 } else { borrower.count() };
            if borrower.wakes(&thread::current(), last_look) {
                thread::park();
            }
        }
    });
    let uses = AtomicU32::new(0);
    loan.during(&mut Adding(&uses), || ());
    sleeping.join().expect("no panic");
    assert_eq!(loan.count(), 2, "it begins and ends once");
}

#[test]
fn no_loan_is_slept_through() {
    check(|| sleep_until_a_loan(true));
    assert!(fails(|| sleep_until_a_loan(false)), "loom sees no loan that is slept through");
}

/// Two senders and a receiver that sleeps until it has been woken. If one of them relies on the
/// other's wake-up though that may have been for an earlier round, it sleeps for ever.
fn send_and_sleep(all_wake: bool) {
    let mail = std::sync::Arc::new(Mail::default());
    let inbox = std::sync::Arc::clone(&mail);
    let receiving = thread::spawn(move || {
        let mut received = 0;
        while received < 2 {
            received += inbox.take().len();
            if received < 2 {
                thread::park();
            }
        }
    });
    let receiver = receiving.thread().clone();
    let outbox = std::sync::Arc::clone(&mail);
    let other = receiver.clone();
    let sending = thread::spawn(move || outbox.send((), || other.unpark()));
    mail.send((), || {
        if all_wake {
            receiver.unpark();
        }
    });
    sending.join().expect("no panic");
    receiving.join().expect("no panic");
}

#[test]
fn no_item_waits_for_a_receiver_that_sleeps() {
    check(|| send_and_sleep(true));
    assert!(fails(|| send_and_sleep(false)), "loom finds a receiver that nobody wakes");
}
