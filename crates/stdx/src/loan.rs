//! A value that one thread uses and lends to another one while it is busy with something else.
//!
//! A thread that begins long work lends what it does not need meanwhile ([`Loan::during`]); another
//! one may use it ([`Loan::step`]) as long as the work goes on. The end of the work waits for a use
//! that is under way, so a use must be short. Where nothing is lent for long, the other thread
//! sleeps until the beginning of a loan wakes it ([`Loan::wakes`]).
//!
//! JUSTIFICATION for `unsafe`: what is borrowed for the time of a call is reached by a thread that
//! was there before, which no scope of threads can express. Moving the event loop of a network
//! thread into the lock and out again instead costs two copies of it for each command.

use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{Mutex, Thread};
use std::ptr::NonNull;

/// What is lent: something that another thread may have do a piece of its work.
pub trait Step: Send {
    /// Does a short piece of work.
    fn step(&mut self);
}

/// What a step adds to the count: steps are in its upper half.
const STEP: u64 = 1 << 32;

/// Where a thread lends a [`Step`].
#[derive(Debug, Default)]
pub struct Loan {
    state: Mutex<State>,
    /// Counts beginnings and ends, so that it is odd while something is lent, and steps. Written
    /// under the lock.
    count: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    lent: Option<Lent>,
    /// Sleeps until something is lent.
    sleeper: Option<Thread>,
}

/// Address of what is lent.
#[derive(Debug)]
struct Lent(NonNull<dyn Step>);

// SAFETY: a `Step` may be used by any thread, and it is reached under the lock only.
#[allow(unsafe_code)]
unsafe impl Send for Lent {}

/// Ends a loan, also when the work panics.
struct End<'a>(&'a Loan);

impl Drop for End<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.lent = None;
        self.0.count_up(1);
    }
}

impl Loan {
    /// Lends `value` until `work` has ended. One thread lends here, one value at a time.
    ///
    /// # Panics
    /// If something is lent already.
    #[allow(unsafe_code)]
    pub fn during<R>(&self, value: &mut (dyn Step + '_), work: impl FnOnce() -> R) -> R {
        let address = NonNull::from(value);
        // SAFETY: only the lifetime changes. The address is forgotten by `End` before this function
        // returns or unwinds, so nobody follows it after `value`'s borrow has ended; until then
        // nothing but `step` uses it, under the lock, since `value` stays borrowed here.
        let address: NonNull<dyn Step> = unsafe { std::mem::transmute(address) };
        let sleeper = {
            let mut state = self.state.lock();
            assert!(state.lent.is_none(), "one value is lent at a time");
            state.lent = Some(Lent(address));
            self.count_up(1);
            state.sleeper.take()
        };
        let _end = End(self);
        if let Some(sleeper) = sleeper {
            sleeper.unpark();
        }
        work()
    }

    /// Has the beginning of the next loan unpark this thread; false if a loan has begun or ended
    /// since [`Loan::count`] was this.
    pub fn wakes(&self, sleeper: &Thread, count: u64) -> bool {
        let mut state = self.state.lock();
        let is_unchanged = self.count() == count;
        if is_unchanged {
            state.sleeper = Some(sleeper.clone());
        }
        is_unchanged
    }

    /// Has what is lent do a piece of its work; false if nothing is lent.
    #[allow(unsafe_code)]
    pub fn step(&self) -> bool {
        let mut state = self.state.lock();
        let Some(Lent(address)) = &mut state.lent else { return false };
        // SAFETY: while the lock is held and the address is there, the value is borrowed by
        // `during` and used by nobody else.
        unsafe { address.as_mut().step() };
        self.count_up(STEP);
        true
    }

    /// Whether two counts are of one loan, between steps of which others may lie.
    pub fn is_same(before: u64, now: u64) -> bool {
        now % 2 == 1 && before % STEP == now % STEP
    }

    /// A number that changes when a loan begins or ends and with each step, and is odd in between:
    /// an odd number that is seen twice is one loan, and nobody has used it meanwhile.
    #[inline]
    pub fn count(&self) -> u64 {
        // Relaxed: a hint; `step` takes the lock.
        self.count.load(Ordering::Relaxed)
    }

    fn count_up(&self, by: u64) {
        // After four billion loans the lower half runs over: only a look that missed as many would
        // take one for another.
        self.count.store(self.count.load(Ordering::Relaxed).wrapping_add(by), Ordering::Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::thread;

    struct Steps<'a>(&'a mut u32);

    impl Step for Steps<'_> {
        fn step(&mut self) {
            *self.0 += 1;
        }
    }

    #[test]
    fn another_thread_uses_what_is_lent_and_nothing_else() {
        let loan = Loan::default();
        let mut steps = 0;
        assert!(!loan.step() && loan.count() == 0);
        thread::scope(|scope| {
            let other = scope.spawn(|| {
                while loan.count().is_multiple_of(2) {
                    thread::yield_now();
                }
                let before = loan.count();
                assert!(loan.step());
                assert!(Loan::is_same(before, loan.count()) && before != loan.count());
            });
            loan.during(&mut Steps(&mut steps), || other.join().unwrap());
        });
        assert!(!loan.step());
        assert_eq!((steps, loan.count()), (1, 2 + STEP));
        assert!(!Loan::is_same(2 + STEP, 2 + STEP), "nothing is lent");
        assert!(!Loan::is_same(1 + STEP, 3 + STEP), "another one has begun");
    }

    #[test]
    fn a_loan_wakes_the_thread_that_sleeps_until_there_is_one() {
        let loan = Loan::default();
        let (mut steps, mut others) = (0, 0);
        thread::scope(|scope| {
            let (asleep, is_asleep) = std::sync::mpsc::channel();
            let loan = &loan;
            let sleeper = scope.spawn(move || {
                for count in [0, 2] {
                    assert!(loan.wakes(&thread::current(), count));
                    asleep.send(()).unwrap();
                    // Waking without a reason is allowed to `park`.
                    while loan.count() == count {
                        thread::park();
                    }
                    // It has begun, and may have ended.
                    assert!(!loan.wakes(&thread::current(), count));
                    while loan.count() < count + 2 {
                        thread::yield_now();
                    }
                }
            });
            for lent in [&mut steps, &mut others] {
                is_asleep.recv().unwrap();
                loan.during(&mut Steps(lent), || ());
            }
            sleeper.join().unwrap();
        });
        assert_eq!((steps, others, loan.count()), (0, 0, 4));
    }

    #[test]
    fn a_loan_ends_when_the_work_panics() {
        let loan = Loan::default();
        let mut steps = 0;
        let mut lent = Steps(&mut steps);
        let panics = || loan.during(&mut lent, || panic!("as it should"));
        assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
        assert!(!loan.step());
        loan.during(&mut lent, || assert!(loan.step()));
        assert_eq!(steps, 1);
    }
}
