//! The order in which locks are taken, asserted in debug builds.
//!
//! Every lock has a rank, and those of one rank have numbers. A thread waits for a lock only if
//! that lock's rank, or its number in the same rank, is higher than those of all that the thread
//! holds; then no circle of waiting threads can close. A thread keeps account of what it holds by
//! itself, in a list that is rarely longer than three, and panics at a lock that comes too late,
//! whether or not anybody competes for it. So any test that takes the path finds the fault, and not
//! one run in a million.
//!
//! In release builds a [`Held`] has no size and no code.

use parking_lot::{Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::ops::{Deref, DerefMut};

#[cfg(debug_assertions)]
use std::cell::RefCell;

/// The place of a kind of locks in the order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Rank(pub u8);

impl Rank {
    /// Under a lock of this rank no other is taken.
    pub const LEAF: Rank = Rank(u8::MAX);
}

#[cfg(debug_assertions)]
thread_local! {
    /// Ranks and highest numbers of the locks that this thread holds.
    static HELD: RefCell<Vec<(Rank, u32)>> = const { RefCell::new(Vec::new()) };
}

/// This thread holds a lock, or some of one rank, until this is dropped.
#[must_use]
#[derive(Debug)]
pub struct Held {
    #[cfg(debug_assertions)]
    entry: Option<(Rank, u32)>,
}

impl Held {
    /// Enters locks of one rank, to be called before the thread waits for the first of them: they
    /// are taken in ascending order of their numbers, from `first` to `last`.
    ///
    /// # Panics
    /// In debug builds, if the thread holds a lock that comes after the first.
    #[inline]
    pub fn before_waiting(rank: Rank, first: u32, last: u32) -> Held {
        #[cfg(debug_assertions)]
        account(|held| {
            if let Some(later) = held.iter().find(|&&later| later >= (rank, first)) {
                panic!("a lock of {rank:?} number {first} is taken while {later:?} is held");
            }
        });
        Held::without_waiting(rank, first, last)
    }

    /// Enters locks that the thread got without waiting, which needs no order.
    #[inline]
    #[cfg_attr(not(debug_assertions), expect(unused_variables, reason = "nobody keeps account"))]
    pub fn without_waiting(rank: Rank, first: u32, last: u32) -> Held {
        #[cfg(debug_assertions)]
        account(|held| held.push((rank, last.max(first))));
        Held {
            #[cfg(debug_assertions)]
            entry: Some((rank, last.max(first))),
        }
    }

    /// Somebody else answers for the locks.
    #[inline]
    pub fn nothing() -> Held {
        Held {
            #[cfg(debug_assertions)]
            entry: None,
        }
    }
}

#[cfg(debug_assertions)]
impl Drop for Held {
    fn drop(&mut self) {
        let Some(entry) = self.entry else { return };
        account(|held| {
            if let Some(index) = held.iter().rposition(|&other| other == entry) {
                held.swap_remove(index);
            }
        });
    }
}

/// Looks at what this thread holds. A thread that ends has no list any more; what it locks then, as
/// it drops its other thread locals, is not looked at.
#[cfg(debug_assertions)]
fn account(look: impl FnOnce(&mut Vec<(Rank, u32)>)) {
    let _ = HELD.try_with(|held| look(&mut held.borrow_mut()));
}

/// A mutex with a rank; without one, a leaf, under which no other lock is taken.
#[derive(Debug, Default)]
pub struct RankedMutex<T, const RANK: u8 = { Rank::LEAF.0 }> {
    mutex: Mutex<T>,
    #[cfg(debug_assertions)]
    number: u32,
}

/// The lock of a [`RankedMutex`], until dropped.
#[derive(Debug)]
pub struct RankedGuard<'a, T> {
    guard: MutexGuard<'a, T>,
    _held: Held,
}

impl<T, const RANK: u8> RankedMutex<T, RANK> {
    /// The only mutex of its rank that a thread holds at a time.
    pub const fn new(value: T) -> RankedMutex<T, RANK> {
        RankedMutex::numbered(value, 0)
    }

    /// A mutex with this number among those of its rank.
    #[cfg_attr(not(debug_assertions), expect(unused_variables, reason = "nobody keeps account"))]
    pub const fn numbered(value: T, number: u32) -> RankedMutex<T, RANK> {
        RankedMutex {
            mutex: Mutex::new(value),
            #[cfg(debug_assertions)]
            number,
        }
    }

    /// Takes the lock, waiting for it if need be.
    ///
    /// # Panics
    /// In debug builds, if the thread holds a lock that comes after this one.
    #[inline]
    pub fn lock(&self) -> RankedGuard<'_, T> {
        #[cfg(debug_assertions)]
        let held = Held::before_waiting(Rank(RANK), self.number, self.number);
        #[cfg(not(debug_assertions))]
        let held = Held::nothing();
        RankedGuard { guard: self.mutex.lock(), _held: held }
    }

    /// What it covers, of which there is no other reference.
    pub fn inner_mut(&mut self) -> &mut T {
        self.mutex.get_mut()
    }
}

impl<T> Deref for RankedGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T> DerefMut for RankedGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}

/// A leaf with readers. They, too, take no other lock under it: a writer that waits holds up
/// readers that come later, so one that waits for something else could close a circle.
#[derive(Debug, Default)]
pub struct LeafRwLock<T>(RwLock<T>);

/// A lock of a [`LeafRwLock`], until dropped.
#[derive(Debug)]
pub struct LeafGuard<G> {
    guard: G,
    _held: Held,
}

impl<T> LeafRwLock<T> {
    /// An open one.
    pub const fn new(value: T) -> LeafRwLock<T> {
        LeafRwLock(RwLock::new(value))
    }

    /// Takes the lock together with other readers, waiting for it if need be.
    ///
    /// # Panics
    /// In debug builds, if the thread holds another leaf.
    #[inline]
    pub fn read(&self) -> LeafGuard<RwLockReadGuard<'_, T>> {
        let held = Held::before_waiting(Rank::LEAF, 0, 0);
        LeafGuard { guard: self.0.read(), _held: held }
    }

    /// Takes the lock alone, waiting for it if need be.
    ///
    /// # Panics
    /// In debug builds, if the thread holds another leaf.
    #[inline]
    pub fn write(&self) -> LeafGuard<RwLockWriteGuard<'_, T>> {
        let held = Held::before_waiting(Rank::LEAF, 0, 0);
        LeafGuard { guard: self.0.write(), _held: held }
    }
}

impl<G: Deref> Deref for LeafGuard<G> {
    type Target = G::Target;

    #[inline]
    fn deref(&self) -> &G::Target {
        &self.guard
    }
}

impl<G: DerefMut> DerefMut for LeafGuard<G> {
    #[inline]
    fn deref_mut(&mut self) -> &mut G::Target {
        &mut self.guard
    }
}

#[cfg(all(test, debug_assertions))]
mod tests {
    use super::*;

    const LOW: Rank = Rank(1);
    const HIGH: Rank = Rank(2);

    #[test]
    fn ascending_ranks_and_numbers_are_fine() {
        let (low, high) = (RankedMutex::<_, 1>::new(0), RankedMutex::<_, 2>::numbered(0, 5));
        let leaf = <RankedMutex<_>>::new(0);
        for _ in 0..2 {
            let mut first = low.lock();
            let second = high.lock();
            let third = Held::before_waiting(HIGH, 6, 9);
            *first += *second + *leaf.lock();
            // Not in the order in which they were taken.
            drop(first);
            drop(third);
        }
    }

    #[test]
    #[should_panic(expected = "a lock of Rank(1) number 0 is taken while (Rank(2), 5) is held")]
    fn a_lower_rank_panics() {
        let (low, high) = (RankedMutex::<_, 1>::new(()), RankedMutex::<_, 2>::numbered((), 5));
        let _high = high.lock();
        let _low = low.lock();
    }

    #[test]
    #[should_panic(expected = "a lock of Rank(2) number 9 is taken")]
    fn a_number_within_what_is_held_panics() {
        let _held = Held::before_waiting(HIGH, 3, 9);
        let _again = Held::before_waiting(HIGH, 9, 9);
    }

    #[test]
    #[should_panic(expected = "is taken while")]
    fn two_leaves_panic() {
        let (one, other) = (<RankedMutex<_>>::new(()), <RankedMutex<_>>::new(()));
        let _one = one.lock();
        let _other = other.lock();
    }

    #[test]
    #[should_panic(expected = "is taken while")]
    fn a_reader_of_a_leaf_that_takes_another_panics() {
        let (readers, mutex) = (LeafRwLock::new(1), <RankedMutex<_>>::new(()));
        *readers.write() += 1;
        let number = readers.read();
        assert_eq!(*number, 2);
        let _other = mutex.lock();
    }

    #[test]
    fn what_was_got_without_waiting_has_no_order_but_counts() {
        let _high = Held::before_waiting(HIGH, 0, 0);
        let low = Held::without_waiting(LOW, 0, 0);
        let _higher = Held::before_waiting(HIGH, 1, 1);
        drop(low);
        let _next = Held::before_waiting(HIGH, 2, 2);
    }
}
