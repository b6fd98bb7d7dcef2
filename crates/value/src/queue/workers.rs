//! HOT PATH
//! The names of the consumers that have got messages of a queue: each stands here once, however
//! many messages have it.
//!
//! ```text
//! names    by number: the name, and how many *shares* of it there are
//! numbers  hash table: name ─▶ number
//! ```
//! An entry has a share of the name of its consumer. A name goes with its last share; the one that
//! lost it last stays, for a consumer that takes one message after the other comes back.

use crate::seed::hash_member;
use hashbrown::HashTable;

/// The number of a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct WorkerNumber(u32);

impl WorkerNumber {
    /// Of a consumer that gave no name.
    pub(super) const NONE: WorkerNumber = WorkerNumber(u32::MAX);

    #[inline]
    fn index(self) -> usize {
        self.0 as usize
    }
}

struct Name {
    bytes: Box<[u8]>,
    shares: u64,
}

/// See the head of this file.
pub(super) struct WorkerNames {
    names: Vec<Name>,
    numbers: HashTable<WorkerNumber>,
    free: Vec<WorkerNumber>,
    /// The name without a share that stays.
    idle: WorkerNumber,
    /// Of all names.
    bytes: usize,
}

impl WorkerNames {
    pub(super) const EMPTY: WorkerNames = WorkerNames {
        names: Vec::new(),
        numbers: HashTable::new(),
        free: Vec::new(),
        idle: WorkerNumber::NONE,
        bytes: 0,
    };

    /// A share of a name.
    #[inline]
    pub(super) fn share_of(&mut self, name: &[u8]) -> WorkerNumber {
        if name.is_empty() { WorkerNumber::NONE } else { self.share_of_some(name) }
    }

    fn share_of_some(&mut self, name: &[u8]) -> WorkerNumber {
        let hash = hash_member(name);
        let names = &mut self.names;
        let found = self.numbers.find(hash, |number| *names[number.index()].bytes == *name);
        if let Some(&number) = found {
            names[number.index()].shares += 1;
            if number == self.idle {
                self.idle = WorkerNumber::NONE;
            }
            return number;
        }
        let new = Name { bytes: name.into(), shares: 1 };
        let number = match self.free.pop() {
            Some(number) => {
                names[number.index()] = new;
                number
            }
            None => {
                names.push(new);
                WorkerNumber(names.len() as u32 - 1)
            }
        };
        let names = &self.names;
        let hash_of = |number: &WorkerNumber| hash_member(&names[number.index()].bytes);
        self.numbers.insert_unique(hash, number, hash_of);
        self.bytes += name.len();
        number
    }

    /// One more share of a name.
    #[inline]
    pub(super) fn share(&mut self, number: WorkerNumber) -> WorkerNumber {
        if let Some(name) = self.names.get_mut(number.index()) {
            name.shares += 1;
        }
        number
    }

    /// Takes a share back.
    #[inline]
    pub(super) fn release(&mut self, number: WorkerNumber) {
        if let Some(name) = self.names.get_mut(number.index()) {
            name.shares -= 1;
            if name.shares == 0 {
                let idle = std::mem::replace(&mut self.idle, number);
                self.forget(idle);
            }
        }
    }

    fn forget(&mut self, number: WorkerNumber) {
        let Some(name) = self.names.get_mut(number.index()) else { return };
        let bytes = std::mem::take(&mut name.bytes);
        self.bytes -= bytes.len();
        if let Ok(found) = self.numbers.find_entry(hash_member(&bytes), |it| *it == number) {
            found.remove();
        }
        self.free.push(number);
    }

    /// A name, empty if there is none.
    #[inline]
    pub(super) fn name(&self, number: WorkerNumber) -> &[u8] {
        self.names.get(number.index()).map_or(b"", |name| &name.bytes)
    }

    /// Bytes of memory that they take.
    #[inline]
    pub(super) fn heap_bytes(&self) -> usize {
        self.bytes
            + self.names.capacity() * size_of::<Name>()
            + self.numbers.allocation_size()
            + self.free.capacity() * size_of::<WorkerNumber>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_goes_with_its_last_share_when_another_one_does() {
        let mut names = WorkerNames::EMPTY;
        let [a, b] = [names.share_of(b"a"), names.share_of(b"bb")];
        assert_eq!(names.share_of(b"a"), a);
        assert_eq!((names.share(b), names.bytes), (b, 3));
        names.release(a);
        assert_eq!((names.name(a), names.idle), (&b"a"[..], WorkerNumber::NONE));
        // The last share of one, and then of the other.
        names.release(a);
        assert_eq!(names.name(a), b"a");
        assert_eq!(names.share_of(b"a"), a);
        names.release(a);
        [b, b].into_iter().for_each(|number| names.release(number));
        assert_eq!((names.name(a), names.name(b), names.bytes), (&b""[..], &b"bb"[..], 2));
        // Its number is given again.
        assert_eq!((names.share_of(b"c"), names.numbers.len()), (a, 2));
    }

    #[test]
    fn nobody_has_no_name() {
        let mut names = WorkerNames::EMPTY;
        let none = names.share_of(b"");
        names.share(none);
        names.release(none);
        assert_eq!((none, names.name(none), names.heap_bytes()), (WorkerNumber::NONE, &b""[..], 0));
    }
}
