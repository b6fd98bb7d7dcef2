//! How long the next group gathers under `Always`.
//!
//! After a sync, those whose records it covered are told and may send more, and those who came
//! meanwhile are here. Cutting at once makes two groups of them that take turns at the disk, each
//! waiting for the other's sync: with 256 clients and a sync of 4 ms, 128 records in 4 ms instead
//! of 256 in little more. So the writer waits for as many as both, but only as long as more come
//! from one look to the next, and at most for three looks: as long as the last sync took, or three
//! times as long where that is less than a millisecond. Then serving all that come takes longer
//! than a sync, and each group less costs the machine two waits for the disk: with 50 clients of
//! 50 SETs each, three syncs instead of one made groups of 2,256 records in the place of 1,626,
//! and the whole server's CPU 0.91x.
//!
//! So it does with the first that come after a sync that covered all: they would make a small
//! group, whose sync the others wait for. So the writer waits for as many as the last group had.
//!
//! A turn after which there are as many wakes the writer, so that nobody waits for a look then. A
//! client alone is never kept waiting: one record is as many as its last group had.

use std::time::Duration;

/// Looks in the time that gathering may take.
const LOOKS: u32 = 3;
/// Nobody waits for others where a sync is shorter: a sleep takes as long to begin and to end.
const SYNC_MIN: Duration = Duration::from_micros(50);
/// Looks are as far apart as the last sync took, and not much further than this: if nobody comes,
/// those that are here have waited for one look.
const LOOK_LONG: Duration = Duration::from_millis(1);

/// One gathering.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Gathering {
    /// The number of records that may be all that can come.
    enough: u64,
    /// Records at the last look.
    seen: u64,
    limit: Duration,
    look_every: Duration,
}

impl Gathering {
    /// After a sync that took `last_sync`, when `waiting` records are here and `enough` may be all
    /// that can come; `None` if it is not worth the while.
    pub(crate) fn begin(last_sync: Duration, enough: u64, waiting: u64) -> Option<Self> {
        let look_every = last_sync.min(LOOK_LONG.max(last_sync / LOOKS));
        let limit = look_every * LOOKS;
        ((1..enough).contains(&waiting) && last_sync >= SYNC_MIN).then_some(Self {
            enough,
            seen: waiting,
            limit,
            look_every,
        })
    }

    /// How long to sleep until the next look; `None` if the time is up.
    pub(crate) fn next_look(&self, elapsed: Duration) -> Option<Duration> {
        (elapsed + self.look_every <= self.limit).then_some(self.look_every)
    }

    /// Takes note of how many records there are by now; returns true if the caller is to go on.
    pub(crate) fn goes_on(&mut self, records: u64) -> bool {
        let grew = records != std::mem::replace(&mut self.seen, records);
        grew && records < self.enough
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SYNC: Duration = Duration::from_millis(4);

    #[test]
    fn a_client_alone_and_a_fast_disk_wait_for_nobody() {
        assert_eq!(Gathering::begin(SYNC, 1, 0), None);
        assert_eq!(Gathering::begin(SYNC, 1, 1), None);
        assert_eq!(Gathering::begin(Duration::from_micros(45), 256, 128), None);
    }

    #[test]
    fn it_ends_when_all_are_here_when_nobody_comes_and_when_the_time_is_up() {
        let mut gathering = Gathering::begin(SYNC, 228, 100).expect("worth the while");
        let look = gathering.next_look(Duration::ZERO).expect("there is time");
        assert_eq!(look, SYNC / LOOKS);
        assert!(gathering.goes_on(180));
        assert!(!gathering.goes_on(228), "all are here");

        let mut gathering = Gathering::begin(SYNC, 228, 100).expect("worth the while");
        assert!(gathering.goes_on(101));
        assert!(!gathering.goes_on(101), "nobody came");

        assert_eq!(gathering.next_look(look * (LOOKS - 1)), Some(look));
        assert_eq!(gathering.next_look(look * LOOKS), None, "the time is up");
    }

    #[test]
    fn after_a_short_sync_looks_are_a_sync_apart_and_after_a_long_one_a_third() {
        for (sync_us, look_us) in [(50, 50), (300, 300), (1_000, 1_000), (2_000, 1_000)] {
            let sync = Duration::from_micros(sync_us);
            let gathering = Gathering::begin(sync, 256, 128).expect("worth the while");
            let look = Duration::from_micros(look_us);
            assert_eq!(gathering.next_look(look * 2), Some(look), "{sync_us}");
            assert_eq!(gathering.next_look(look * 3), None, "{sync_us}");
        }
        for sync in [SYNC, SYNC * 100] {
            let gathering = Gathering::begin(sync, 256, 128).expect("worth the while");
            let look = gathering.next_look(Duration::ZERO).expect("there is time");
            assert!(look == sync / LOOKS && look * LOOKS <= sync);
        }
    }
}
