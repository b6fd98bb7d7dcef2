//! HOT PATH
//! The digests of long values that this thread has sent, by which a value that is asked for again
//! is not read through again: that took longer than all else that a response of 64 KiB costs, since
//! the value has to come from memory for it.
//!
//! ```text
//! place of the value ▸ set of four ▸ Weak (place) ▸ digest
//! ```
//! A value is known by its place, and its place is held by a `Weak`: as long as there is one, the
//! place is given to no other value, and the one that is there is not changed in it. A command that
//! edits a string has `Arc::make_mut` move it to another place first, which moves the three words
//! of its vector and not its bytes. So nobody has to say that a value has changed, and no value
//! takes a byte for it. What a `Weak` keeps when its value is gone is these words and two counts,
//! until another digest takes its place.
//!
//! Rejected: a digest beside each long value, which would serve more values than there are places
//! here, for eight bytes each, and which all that edits strings would have to take back.

use basalt_stdx::digest::Digest;
use std::cell::RefCell;
use std::sync::{Arc, Weak};

/// Digests that a thread keeps: at most 256 KiB here, and 48 bytes each in places.
const SETS: usize = 1 << 12;
const WAYS: usize = 4;
/// 2^64 by the golden ratio: places differ in their middle bits.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

thread_local! {
    static OF_THREAD: RefCell<Digests> = RefCell::default();
}

/// The digest of a value.
#[inline]
pub(crate) fn digest_of(value: &Arc<Vec<u8>>) -> Digest {
    OF_THREAD.with_borrow_mut(|digests| digests.of(value))
}

/// See the head of this file.
#[derive(Debug, Default)]
struct Digests {
    /// None before the first one is asked for; in a set the latest comes first.
    sets: Vec<[Known; WAYS]>,
}

#[derive(Debug, Default)]
struct Known {
    value: Weak<Vec<u8>>,
    digest: Digest,
}

impl Digests {
    #[inline]
    fn of(&mut self, value: &Arc<Vec<u8>>) -> Digest {
        self.known(value).unwrap_or_else(|| self.learn(value))
    }

    #[inline]
    fn known(&self, value: &Arc<Vec<u8>>) -> Option<Digest> {
        let place = Arc::as_ptr(value);
        let set = self.sets.get(set_of(place))?;
        let known = set.iter().find(|known| known.value.as_ptr() == place)?;
        Some(known.digest)
    }

    #[cold]
    fn learn(&mut self, value: &Arc<Vec<u8>>) -> Digest {
        if self.sets.is_empty() {
            self.sets.resize_with(SETS, Default::default);
        }
        let digest = Digest::of(value);
        let set = &mut self.sets[set_of(Arc::as_ptr(value))];
        set.rotate_right(1);
        set[0] = Known { value: Arc::downgrade(value), digest };
        digest
    }
}

#[inline]
fn set_of(place: *const Vec<u8>) -> usize {
    let spread = (place.addr() as u64).wrapping_mul(SPREAD);
    (spread >> (u64::BITS - SETS.ilog2())) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_read_once_and_again_when_it_has_changed() {
        let mut digests = Digests::default();
        let mut value = Arc::new(vec![b'x'; 20_000]);
        assert_eq!(digests.known(&value), None);
        for round in 0..10 {
            let digest = Digest::of(&value);
            assert_eq!(digests.of(&value), digest);
            assert_eq!(digests.known(&value), Some(digest));
            let bytes = value.as_ptr();
            Arc::make_mut(&mut value)[round] = b'y';
            assert_eq!(
                (value.as_ptr(), digests.known(&value)),
                (bytes, None),
                "in its bytes' place"
            );
            assert_ne!(digests.of(&value), digest);
        }
    }

    /// Places are given again when values have gone.
    #[test]
    fn no_value_has_the_digest_of_another_one() {
        let mut digests = Digests::default();
        for number in 0..4 * (SETS * WAYS) as u64 {
            let value = Arc::new(number.to_le_bytes().to_vec());
            assert_eq!(digests.of(&value), Digest::of(&value));
            let other = Arc::try_unwrap(value).map(|bytes| Arc::new([bytes, vec![0]].concat()));
            let other = other.expect("it has one owner");
            assert_eq!(digests.of(&other), Digest::of(&other));
        }
    }

    #[test]
    fn as_many_are_known_as_there_is_room_for() {
        let mut digests = Digests::default();
        let values: Vec<_> =
            (0..1000u64).map(|number| Arc::new(number.to_le_bytes().to_vec())).collect();
        for value in &values {
            digests.of(value);
        }
        assert!(values.iter().all(|value| digests.known(value).is_some()));
    }
}
