//! How long the next group gathers under `Always`.
//!
//! After a sync, those whose records it covered are told and may send more, and those who came
//! meanwhile are here. Cutting at once makes two groups of them that take turns at the disk, each
//! waiting for the other's sync: with 256 clients and a sync of 4 ms, 128 records in 4 ms instead
//! of 256 in little more. So the writer waits for as many as both, but only as long as more come
//! from one look to the next, and at most for as long as the last sync took. (Half of that, in four
//! looks, made a third more groups of clients with pipelines of 50, for which the machine paid.)
//!
//! So it does with the first that come after a sync that covered all: they would make a small
//! group, whose sync the others wait for. So the writer waits for as many as the last group had.
//!
//! A client alone is never kept waiting: one record is as many as its last group had.

use std::time::Duration;

/// Looks in the time that gathering may take.
const LOOKS: u32 = 3;
/// Looks are not closer than this: a sleep takes as long to begin and to end.
const LOOK_MIN: Duration = Duration::from_micros(50);

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
        let limit = last_sync;
        let look_every = (limit / LOOKS).max(LOOK_MIN);
        ((1..enough).contains(&waiting) && limit >= look_every).then_some(Self {
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
}
