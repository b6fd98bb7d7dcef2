//! Which entries of a table leave memory first: a ring of newcomers, a hand over the rest, ghosts.
//!
//! ```text
//! comes ─ known to the ghosts ▸ it stays
//!       └ else ▸ its hash goes into the ring, 5% of the keys
//! room is needed:
//!   the ring is full ▸ its oldest: used since, not clean, or the 16th that is neither ▸ it stays
//!                                  else ▸ gone, and a ghost; then the next oldest
//!   else ▸ the hand, over the table in the order of hashes: used since it came by, not clean ▸ on
//!                                                            else ▸ gone
//! ```
//! `docs/decisions/0029-eviction-policy.md` says why, `0030-eviction.md` what the engine makes of
//! it. An entry notes nothing for this: it has the second of its last use, which is compared with
//! the second in which it came, or in which the hand was there. A hit costs nothing.

use crate::entry::Access;
use crate::ghosts::Ghosts;
use std::collections::VecDeque;

/// Of this many keys the ring holds one.
const RING_ONE_IN: usize = 20;
/// And in a small table this many.
const RING_MIN: usize = 4;
/// Of this many newcomers that go unused, one stays: else what was hot once would stay for ever.
const SPARED_ONE_IN: u32 = 16;
/// Of this many keys there is one ghost.
const GHOSTS_ONE_IN: usize = 2;
/// The parts of the table, all equal, of which is known when the hand was there.
const PARTS: usize = 16;
const PART_SHIFT: u32 = u64::BITS - PARTS.trailing_zeros();

/// See the head of this file.
#[derive(Debug)]
pub(crate) struct Turnover {
    ring: VecDeque<Newcomer>,
    ghosts: Ghosts,
    /// Newcomers that came to the end of the ring unused.
    unused: u32,
    /// The hash at which the hand stands.
    hand: u64,
    /// When the hand was in a part.
    passed: [Option<Access>; PARTS],
}

/// A key that has come of late.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Newcomer {
    pub(crate) hash: u64,
    /// When it came.
    pub(crate) came: Access,
}

impl Default for Turnover {
    fn default() -> Turnover {
        let (ring, ghosts) = (VecDeque::new(), Ghosts::default());
        Turnover { ring, ghosts, unused: 0, hand: 0, passed: [None; PARTS] }
    }
}

impl Turnover {
    /// A key of a table with this many was read from the cold tier, or written there for the first
    /// time.
    pub(crate) fn note(&mut self, hash: u64, came: Access, keys: usize) {
        if self.ghosts.recall(hash) {
            return;
        }
        self.ring.push_back(Newcomer { hash, came });
        while self.ring.len() > Turnover::ring_max(keys) {
            self.ring.pop_front();
        }
    }

    /// The newcomer that has to show what it is worth, if the ring of a table with this many keys
    /// is full.
    pub(crate) fn take_oldest(&mut self, keys: usize) -> Option<Newcomer> {
        if self.ring.len() < Turnover::ring_max(keys) { None } else { self.ring.pop_front() }
    }

    /// Whether a newcomer stays though nobody has used it.
    pub(crate) fn is_spared(&mut self) -> bool {
        self.unused = self.unused.wrapping_add(1);
        self.unused.is_multiple_of(SPARED_ONE_IN)
    }

    /// A newcomer leaves a table with this many keys.
    pub(crate) fn remember(&mut self, hash: u64, keys: usize) {
        self.ghosts.fit(keys / GHOSTS_ONE_IN);
        self.ghosts.remember(hash);
    }

    /// The hash at which the hand stands, and when it was there before.
    pub(crate) fn hand(&self) -> (u64, Option<Access>) {
        (self.hand, self.passed[part(self.hand)])
    }

    /// The hand goes on to this hash, or over the end to the beginning.
    pub(crate) fn move_hand(&mut self, to: Option<u64>, now: Access) {
        let end = to.map_or(PARTS, part);
        for passed in &mut self.passed[part(self.hand).min(end)..end] {
            *passed = Some(now);
        }
        self.hand = to.unwrap_or(0);
    }

    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> usize {
        let ring = self.ring.capacity() * size_of::<Newcomer>();
        size_of::<Turnover>() + ring + self.ghosts.bytes()
    }

    fn ring_max(keys: usize) -> usize {
        (keys / RING_ONE_IN).max(RING_MIN)
    }
}

fn part(hash: u64) -> usize {
    (hash >> PART_SHIFT) as usize
}
