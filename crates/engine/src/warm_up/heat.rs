//! Which keys are hot, when not all that are used fit the list: those that were used last.
//!
//! How long ago each was used is counted in classes of about 6%, with the bytes that the keys take
//! in the list. That says how old a use may be, without a list of all keys to be sorted. Of the
//! class in which the room ends, a part is taken, by hash: where all was used in the last second,
//! the keys of some partitions would else be taken and those of others not.

/// Classes of an octave.
const STEPS: u32 = 16;
const STEP_BITS: u32 = STEPS.trailing_zeros();
/// An idle time has 24 bits.
const CLASSES: usize = ((24 - STEP_BITS + 1) * STEPS) as usize;
/// What a key takes in the list beside its own bytes, of which it shares some with its neighbour.
pub(super) const KEY_EXTRA_BYTES: u64 = 2;

/// How many bytes of keys there are of each class.
pub(super) struct Heat {
    bytes: [u64; CLASSES],
}

/// The keys that fit the list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Threshold {
    /// Keys of a lower class are hot.
    class: usize,
    /// Keys of this class of which the lower half of the hash is less.
    hashes: u64,
}

impl Heat {
    pub(super) fn new() -> Heat {
        Heat { bytes: [0; CLASSES] }
    }

    /// A key of this length was last used this number of seconds ago.
    pub(super) fn note(&mut self, idle_seconds: u32, key_bytes: usize) {
        self.bytes[class(idle_seconds)] += key_bytes as u64 + KEY_EXTRA_BYTES;
    }

    /// Which of the keys are hot, if these may take this number of bytes.
    pub(super) fn threshold(&self, bytes_max: u64) -> Threshold {
        let mut left = bytes_max;
        for (class, &bytes) in self.bytes.iter().enumerate() {
            if bytes > left {
                let hashes = (u128::from(left) << 32) / u128::from(bytes);
                return Threshold { class, hashes: hashes as u64 };
            }
            left -= bytes;
        }
        Threshold { class: CLASSES, hashes: 0 }
    }
}

impl Threshold {
    pub(super) fn admits(self, idle_seconds: u32, hash: u64) -> bool {
        let class = class(idle_seconds);
        class < self.class || class == self.class && hash & u64::from(u32::MAX) < self.hashes
    }
}

/// Seconds up to [`STEPS`] have a class each.
fn class(idle_seconds: u32) -> usize {
    let idle = idle_seconds.min((1 << 24) - 1);
    if idle < STEPS {
        return idle as usize;
    }
    let octave = idle.ilog2() - STEP_BITS;
    ((octave + 1) * STEPS + (idle >> octave) - STEPS) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_rise_with_time_and_none_is_left_out() {
        let mut last = 0;
        for idle in 0..1 << 24 {
            let class = class(idle);
            assert!(class == last || class == last + 1, "{idle} s");
            last = class;
        }
        assert_eq!((last, class(u32::MAX)), (CLASSES - 1, CLASSES - 1));
    }

    #[test]
    fn what_was_used_last_is_hot_and_of_the_class_on_the_border_a_part() {
        let mut heat = Heat::new();
        for idle in 0..10 {
            (0..100).for_each(|_| heat.note(idle, 8));
        }
        let all = heat.threshold(10_000);
        assert!(all.admits(u32::MAX, u64::MAX));
        let some = heat.threshold(3_500);
        assert!(some.admits(2, u64::MAX) && !some.admits(4, 0));
        assert!(some.admits(3, (1 << 31) - 1) && !some.admits(3, 1 << 31));
        assert!(!heat.threshold(0).admits(0, 0));
    }
}
