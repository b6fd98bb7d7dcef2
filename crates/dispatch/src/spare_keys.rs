//! HOT PATH
//! Room for the keys of a call, used again for the next one: an allocation for each call takes 140
//! instructions.

use basalt_engine::Key;

/// Room for more keys is not kept.
const KEYS_KEPT_MAX: usize = 64;

/// See the head of this file.
#[derive(Default)]
pub(super) struct SpareKeys(Vec<Key<'static>>);

impl SpareKeys {
    /// Takes the room, which is empty.
    pub(super) fn take<'k>(&mut self) -> Vec<Key<'k>> {
        std::mem::take(&mut self.0)
    }

    /// Takes the room back.
    pub(super) fn put_back(&mut self, mut keys: Vec<Key<'_>>) {
        keys.clear();
        if keys.capacity() <= KEYS_KEPT_MAX {
            // Nothing is left to be mapped: only the room passes over.
            self.0 = keys.into_iter().map(|_| unreachable!("it is empty")).collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use basalt_change::place::PartitionId;

    #[test]
    fn room_is_used_again_and_empty_and_much_of_it_is_not_kept() {
        let key = Key { bytes: b"key", hash: 1, partition: PartitionId::default() };
        for (count, is_kept) in [(1, true), (KEYS_KEPT_MAX, true), (KEYS_KEPT_MAX + 1, false)] {
            let mut spare = SpareKeys::default();
            let mut keys = spare.take();
            keys.reserve_exact(count);
            keys.push(key);
            let place = keys.as_ptr().addr();
            spare.put_back(keys);
            let again = spare.take();
            assert!(again.is_empty());
            assert_eq!(again.capacity() > 0 && again.as_ptr().addr() == place, is_kept, "{count}");
        }
    }
}
