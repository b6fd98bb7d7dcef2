//! Basalt's own policy: S3-FIFO without queues of entries. The engine's evictor
//! (`keyspace/src/turnover.rs`) decides as this model does with [`USES_BY_TIME`], and its hand does
//! not know which entries are on probation.
//!
//! ```text
//! missed ─ known to the ghosts ▸ no probation
//!        └ else ▸ probation, and its hash into the ring of newcomers, 5% of the keys
//! room is needed:
//!   the ring is full ▸ its oldest: used, or the 16th that was not ▸ probation ends; the next
//!                                  else ▸ gone, and a ghost
//!   the ring has given nothing ▸ the hand, over the table in the order of hashes:
//!                                on probation ▸ passed over (it is the ring's)
//!                                used         ▸ a use less
//!                                else         ▸ gone
//! ```
//! What is known of an entry is what its access word can hold: the second of its last use, two bits
//! of uses and the bit of probation. A use counts when the second is another than that of the use
//! before, so that a hit writes once a second at most; [`Counts`] has the other ways that were
//! compared. The ghosts are fingerprints ([`Ghosts`]).
//!
//! The 16th stays because the hand would stand still otherwise, as long as nothing new is used
//! before it leaves the ring: what was hot once would stay for ever, and a loop that is larger than
//! the ring would never hit. One in sixteen makes room for it little by little.
//!
//! While there is room, a ring that runs over ends the probation of its oldest: nothing has to go.
//! [`Settings`] hold what the decision page compares; [`Settings::DECIDED`] is what it decides, and
//! what the figures above are of.

use std::collections::VecDeque;

use super::cache::{Cache, Request, hash};
use super::ghosts::Ghosts;
use super::queue::Queue;

/// Uses that two bits count.
pub(super) const USES_MAX: u8 = 3;
/// Uses that can be told from when an entry was last used, against when the hand came by.
pub(super) const USES_BY_TIME: u8 = 1;

/// Which uses count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Counts {
    /// One a second, the second of the installation included.
    Seconds,
    /// As well as those, the first use of a newcomer, even if it is in the second of its
    /// installation: its probation bit makes the word differ, so a hit needs no further test.
    SecondsAndFirst,
    /// All, which would have each hit write.
    All,
}

/// Where the hand goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// Through the table: entries stand by their hashes.
    Hash,
    /// As they came, those that were spared behind the others; that would take a list.
    Arrival,
}

/// What can be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Settings {
    /// Percent of the keys that the ring holds at most.
    pub(super) ring_percent: usize,
    /// Fingerprints of both generations for a hundred keys. Each takes two bytes.
    pub(super) ghosts_percent: usize,
    /// Uses that end a newcomer's probation.
    pub(super) uses_to_stay: u8,
    /// Of this many newcomers that would go unused, one stays, and the hand makes its room. None
    /// does if this is 0.
    pub(super) spares_one_in: u32,
    /// What the hand removes becomes a ghost, too.
    pub(super) hand_leaves_ghosts: bool,
    /// Uses that are counted at most; each is worth a round of the hand.
    pub(super) uses_max: u8,
    pub(super) counts: Counts,
    pub(super) order: Order,
}

impl Settings {
    /// As the design had it before anything was measured.
    pub(super) const DESIGNED: Settings = Settings {
        ring_percent: 10,
        ghosts_percent: 50,
        uses_to_stay: 1,
        spares_one_in: 0,
        hand_leaves_ghosts: false,
        uses_max: USES_MAX,
        counts: Counts::Seconds,
        order: Order::Hash,
    };

    /// As `docs/decisions/0029-eviction-policy.md` decides.
    pub(super) const DECIDED: Settings =
        Settings { ring_percent: 5, spares_one_in: 16, ..Settings::DESIGNED };
}

/// What an access word knows.
#[derive(Debug, Clone, Copy)]
struct Access {
    second: u32,
    uses: u8,
    probation: bool,
}

impl Access {
    fn touch(&mut self, second: u32, counts: Counts, uses_max: u8) {
        let is_counted = match counts {
            Counts::Seconds => self.second != second,
            Counts::SecondsAndFirst => self.second != second || (self.probation && self.uses == 0),
            Counts::All => true,
        };
        self.second = second;
        self.uses = (self.uses + u8::from(is_counted)).min(uses_max);
    }
}

/// A partition of the engine, as far as eviction goes.
#[derive(Debug)]
pub(super) struct Newcomers {
    capacity: usize,
    settings: Settings,
    table: Queue<Access>,
    ring: VecDeque<u64>,
    ghosts: Ghosts,
    /// Newcomers that left the ring unused.
    unused: u32,
    /// Where in the table the hand goes on.
    hand: u64,
}

impl Newcomers {
    pub(super) fn new(capacity: usize, settings: Settings) -> Newcomers {
        Newcomers {
            capacity,
            settings,
            table: Queue::default(),
            ring: VecDeque::new(),
            ghosts: Ghosts::new(capacity * settings.ghosts_percent / 100),
            unused: 0,
            hand: 0,
        }
    }

    fn ring_max(&self) -> usize {
        (self.table.len() * self.settings.ring_percent / 100).max(1)
    }

    /// Removes one key.
    fn evict(&mut self) {
        while self.ring.len() >= self.ring_max() {
            if self.evict_newcomer() {
                return;
            }
        }
        if self.ring.len() == self.table.len() {
            // All are newcomers: the hand would go round for ever.
            self.remove_newcomer();
        } else {
            self.evict_by_hand();
        }
    }

    /// Takes the oldest newcomer out of the ring; returns false if it stays in the table.
    fn evict_newcomer(&mut self) -> bool {
        let Some(&key) = self.ring.front() else { return false };
        let uses = self.table.get(key).map_or(0, |access| access.uses);
        if uses >= self.settings.uses_to_stay || self.is_spared() {
            self.end_probation();
            return false;
        }
        self.remove_newcomer()
    }

    /// Whether the newcomer that leaves the ring unused stays all the same.
    fn is_spared(&mut self) -> bool {
        self.unused = self.unused.wrapping_add(1);
        let one_in = self.settings.spares_one_in;
        one_in > 0 && self.unused.is_multiple_of(one_in)
    }

    /// Removes the oldest newcomer and remembers it.
    fn remove_newcomer(&mut self) -> bool {
        let Some(key) = self.ring.pop_front() else { return false };
        self.table.remove(key);
        self.ghosts.remember(hash(key));
        true
    }

    /// The oldest newcomer is one no longer.
    fn end_probation(&mut self) {
        let Some(key) = self.ring.pop_front() else { return };
        if let Some(access) = self.table.get(key) {
            access.probation = false;
        }
        if self.settings.order == Order::Arrival {
            self.table.renew(key);
        }
    }

    /// There is a key that is on probation no longer.
    fn evict_by_hand(&mut self) {
        while let Some((place, key)) = self.table.at_or_behind(self.hand) {
            let Some(access) = self.table.get(key) else { return };
            let goes = !access.probation && access.uses == 0;
            if !access.probation {
                access.uses = access.uses.saturating_sub(1);
            }
            match self.settings.order {
                Order::Hash => self.hand = place.wrapping_add(1),
                Order::Arrival => self.table.renew(key),
            }
            if goes {
                self.table.remove(key);
                if self.settings.hand_leaves_ghosts {
                    self.ghosts.remember(hash(key));
                }
                return;
            }
        }
    }

    fn install(&mut self, key: u64, second: u32) {
        let hash = hash(key);
        let probation = !self.ghosts.recall(hash);
        let access = Access { second, uses: 0, probation };
        match self.settings.order {
            Order::Hash => self.table.insert(key, hash, access),
            Order::Arrival => self.table.push(key, access),
        }
        if probation {
            self.ring.push_back(key);
            while self.ring.len() > self.ring_max() {
                self.end_probation();
            }
        }
    }
}

impl Cache for Newcomers {
    fn request(&mut self, Request { key, second }: Request) -> bool {
        if let Some(access) = self.table.get(key) {
            access.touch(second, self.settings.counts, self.settings.uses_max);
            return true;
        }
        if self.table.len() == self.capacity {
            self.evict();
        }
        self.install(key, second);
        false
    }

    fn len(&self) -> usize {
        self.table.len()
    }
}

#[cfg(test)]
mod tests {
    use super::super::naive::{NaiveNewcomers, agree};
    use super::*;

    #[test]
    fn it_is_what_plain_vectors_do() {
        let designed = Settings::DESIGNED;
        let mut all = vec![
            Settings { ring_percent: 25, uses_to_stay: 2, ..designed },
            Settings { spares_one_in: 5, hand_leaves_ghosts: true, ..designed },
            Settings { ghosts_percent: 0, ..Settings::DECIDED },
            Settings::DECIDED,
        ];
        for counts in [Counts::Seconds, Counts::SecondsAndFirst, Counts::All] {
            all.push(Settings { counts, ..designed });
        }
        all.extend(
            all.clone().into_iter().map(|settings| Settings { order: Order::Arrival, ..settings }),
        );
        for settings in all {
            for capacity in [1, 2, 10, 60] {
                let mut naive = NaiveNewcomers::new(capacity, settings);
                agree(&mut Newcomers::new(capacity, settings), &mut naive);
            }
        }
    }

    /// A request of each key, all in one second.
    fn at(cache: &mut Newcomers, second: u32, keys: impl IntoIterator<Item = u64>) -> usize {
        keys.into_iter().filter(|&key| cache.request(Request { key, second })).count()
    }

    #[test]
    fn a_scan_goes_through_the_ring_alone() {
        let mut cache = Newcomers::new(100, Settings::DESIGNED);
        at(&mut cache, 1, 0..100);
        at(&mut cache, 2, 0..100);
        // The ring's ten were used and leave it one by one, so the hand makes room for ten, and for
        // one more for each scanned key that the ghosts take for another.
        at(&mut cache, 3, 1_000..2_000);
        let left = (0..100).filter(|&key| cache.table.contains(key)).count();
        assert!((86..=90).contains(&left), "{left}");
        assert_eq!(cache.len(), 100);
    }

    #[test]
    fn a_use_in_the_second_of_the_installation_counts_only_where_it_is_said_to() {
        for (counts, survivors) in
            [(Counts::Seconds, 0), (Counts::SecondsAndFirst, 5), (Counts::All, 5)]
        {
            let mut cache = Newcomers::new(100, Settings { counts, ..Settings::DESIGNED });
            at(&mut cache, 1, 0..100);
            at(&mut cache, 2, 0..90);
            // The ring's ten unused ones make room for five newcomers, which are used at once.
            at(&mut cache, 3, 500..505);
            at(&mut cache, 3, 500..505);
            at(&mut cache, 4, 1_000..1_040);
            assert_eq!(at(&mut cache, 5, 500..505), survivors, "{counts:?}");
        }
    }

    #[test]
    fn a_ghost_that_is_asked_for_outlives_a_scan() {
        let mut cache = Newcomers::new(100, Settings::DESIGNED);
        at(&mut cache, 1, 0..100);
        at(&mut cache, 2, 0..100);
        at(&mut cache, 3, 1_000..1_020);
        // 1000 has gone through the ring; it comes back without probation, 1019 is still there.
        assert_eq!(at(&mut cache, 3, [1_000, 1_019]), 1);
        at(&mut cache, 3, 2_000..2_100);
        assert_eq!(at(&mut cache, 4, [1_000, 1_019]), 1);
    }

    #[test]
    fn the_hand_goes_in_the_order_of_hashes_and_takes_a_use_from_each() {
        let mut cache = Newcomers::new(20, Settings::DESIGNED);
        at(&mut cache, 1, 0..20);
        // All but 7 and 8 were used once more; the ring (two keys) is used, too.
        at(&mut cache, 2, (0..20).filter(|key| ![7, 8].contains(key)));
        let mut by_hash = [7, 8];
        by_hash.sort_by_key(|&key| hash(key));
        at(&mut cache, 3, [100]);
        assert!(!cache.table.contains(by_hash[0]) && cache.table.contains(by_hash[1]));
        let place = hash(by_hash[0]);
        for key in (0..20).filter(|key| ![7, 8].contains(key)) {
            let uses = cache.table.get(key).map(|access| access.uses);
            assert_eq!(uses, Some(u8::from(hash(key) > place)), "{key}");
        }
    }

    #[test]
    fn a_loop_takes_over_what_was_hot_once_if_newcomers_are_spared() {
        let hits_of_loop = |settings| {
            let mut cache = Newcomers::new(100, settings);
            at(&mut cache, 1, 0..100);
            at(&mut cache, 2, 0..100);
            for round in 0..100 {
                at(&mut cache, 3 + round, 1_000..1_150);
            }
            at(&mut cache, 200, 1_000..1_150)
        };
        assert!(hits_of_loop(Settings::DESIGNED) <= 2);
        assert!(hits_of_loop(Settings::DECIDED) >= 60);
    }
}
