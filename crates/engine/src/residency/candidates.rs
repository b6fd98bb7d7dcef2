//! Keys that may be deleted for lack of memory: what one is worth, and the least worth of those
//! that were seen.

use crate::residency::policy::First;
use basalt_change::place::PartitionId;
use basalt_keyspace::entry::Entry;
use basalt_keyspace::table::Table;

/// Keys that are kept of those that were seen.
pub(super) const CANDIDATES_MAX: usize = 16;

/// A key that was seen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Candidate {
    /// The higher, the sooner it goes.
    pub(super) score: u64,
    pub(super) partition: PartitionId,
    pub(super) db: u8,
    pub(super) key: Box<[u8]>,
    /// Of memory.
    pub(super) bytes: u64,
}

/// The keys with the highest scores of those that were offered, each once.
#[derive(Default)]
pub(super) struct Candidates {
    /// The highest first.
    highest: Vec<Candidate>,
}

impl Candidates {
    pub(super) fn offer(
        &mut self,
        first: First,
        now_s: u32,
        place: (PartitionId, u8),
        entry: Entry<'_>,
    ) {
        let (score, (partition, db)) = (score(first, entry, now_s), place);
        let is_full = self.highest.len() == CANDIDATES_MAX;
        if is_full && self.highest.last().is_some_and(|last| last.score >= score) {
            return;
        }
        let is_known =
            |known: &Candidate| (known.partition, known.db) == place && *known.key == *entry.key();
        if self.highest.iter().any(is_known) {
            return;
        }
        let bytes = (entry.bytes() + entry.apart_bytes()) as u64;
        let at = self.highest.partition_point(|other| other.score >= score);
        let candidate = Candidate { score, partition, db, key: entry.key().into(), bytes };
        self.highest.insert(at, candidate);
        self.highest.truncate(CANDIDATES_MAX);
    }

    /// Takes as many as make up `bytes`, the highest first, and forgets the others. Those of one
    /// place stand together.
    pub(super) fn take(&mut self, bytes: u64) -> Vec<Candidate> {
        let mut taken = std::mem::take(&mut self.highest);
        let mut before = 0;
        let needed = taken.iter().take_while(|candidate| {
            let is_needed = before < bytes;
            before += candidate.bytes;
            is_needed
        });
        taken.truncate(needed.count());
        taken.sort_by_key(|candidate| (candidate.partition, candidate.db));
        taken
    }
}

/// How soon an entry goes: the higher, the sooner.
pub(super) fn score(first: First, entry: Entry<'_>, now_s: u32) -> u64 {
    let idle_s = || u64::from(entry.access().idle_seconds(now_s));
    match first {
        First::LeastRecent => idle_s(),
        // Of those that are used alike, the one that has not been used for the longest time.
        First::LeastFrequent => {
            let rarity = u64::from(u8::MAX - entry.access().frequency(now_s));
            rarity << u32::BITS | idle_s()
        }
        First::Soonest => u64::MAX - entry.expire_ms(),
        First::Any => 0,
    }
}

/// How far a look at a table goes.
#[derive(Clone, Copy)]
pub(super) struct Look {
    /// What the references of the entries have that count.
    pub(super) flags: u64,
    /// Entries; those of one bucket are all shown.
    pub(super) entries: usize,
    /// Buckets.
    pub(super) buckets: usize,
}

/// Shows some entries of a table that are not tombstones from a hash on, and at its end from the
/// first. Returns how many.
pub(super) fn look_at_some(
    table: &Table,
    start: u64,
    look: Look,
    mut visit: impl FnMut(Entry<'_>),
) -> usize {
    let (mut at, mut is_second_part, mut seen) = (start, false, 0);
    for _ in 0..look.buckets {
        let next = table.scan_flagged(at, 1, look.flags, |entry| {
            if !entry.is_tombstone() {
                seen += 1;
                visit(entry);
            }
        });
        if seen >= look.entries {
            break;
        }
        match next {
            Some(next) if is_second_part && next >= start => break,
            Some(next) => at = next,
            None if is_second_part => break,
            None => (at, is_second_part) = (0, true),
        }
    }
    seen
}
