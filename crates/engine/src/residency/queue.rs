//! What is to be read for commands that wait.
//!
//! ```text
//! a command misses keys ▸ Fetch: how many of them are still to come, and what then
//!   a key that is being read for somebody already ▸ joined
//! keys that will be missed soon ▸ the same units, which nobody waits for yet
//!   the others ▸ units of up to 8 neighbours
//!     ▸ a ring, if there is one, which has many reads under way (`ring.rs`)
//!     ▸ else, or what it cannot read: as many threads at once as there are units
//! what rows begin with ▸ units of its own, for one command that waits for all of them
//! ```
//! One read a key, however many wait for it. Whole partitions, which
//! take long, stand behind keys, and are read by an eighth of the threads.

use crate::error::EngineError;
use crate::residency::head_units::HeadUnit;
use crate::residency::rows_read::{RowsWanted, WalkedRows};
use basalt_change::place::PartitionId;
use basalt_env::{Instant, RingWaker};
use basalt_observe::histogram::{Distribution, Histogram};
use basalt_observe::log_limit::LogLimit;
use basalt_stdx::lock_rank::RankedMutex;
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// Called when a fetch is over, from a thread of the pool.
pub type Done = Box<dyn FnOnce(Result<(), EngineError>) + Send>;

/// Called when rows have been read for a walk, from a thread of the pool.
pub type RowsDone = Box<dyn FnOnce(Result<WalkedRows, EngineError>) + Send>;

/// Neighbours that are read together.
pub(super) const KEYS_A_UNIT: usize = 8;
/// Units in the queue from which on no keys are read that nobody waits for.
const MUCH_UNITS: usize = 4_096;
/// Of this many threads one reads whole partitions.
const PARTITIONS_ONE_IN: usize = 8;
/// Of this many threads one reads rows of keys that were put unread.
const UNREAD_ONE_IN: usize = 2;

/// Keys that have to be fetched before their command can run.
#[derive(Debug)]
pub struct Missing {
    pub(super) misses: Vec<Miss>,
}

#[derive(Clone, Debug)]
pub(crate) struct Miss {
    pub(crate) partition: PartitionId,
    pub(crate) db: u8,
    pub(crate) cold_version: u64,
    pub(crate) hash: u64,
    pub(crate) row_key: Vec<u8>,
}

/// What somebody waits for.
pub(super) struct Fetch {
    /// Keys or partitions that are still to come.
    left: usize,
    result: Result<(), EngineError>,
    done: Option<Done>,
}

pub(super) type Fetching = Arc<Mutex<Fetch>>;

/// What one thread does at a time.
pub(super) enum Unit {
    /// Reads these keys, which are of one partition.
    Keys(Vec<Miss>),
    /// Reads what rows begin with.
    Heads(HeadUnit),
    /// Reads a whole partition, for somebody.
    Partition(PartitionId, Fetching),
    /// Reads the rows of a partition's keys that were put unread.
    Unread(PartitionId),
    /// Reads rows for a walk.
    Rows(RowsWanted, RowsDone),
}

/// What the pool has done, and what it still has to do.
#[derive(Clone, Debug, Default)]
pub struct MissStats {
    /// Reads that wait for a thread.
    pub queued: usize,
    /// Keys that were read.
    pub keys: u64,
    /// Keys that were read by somebody already when another asked for them.
    pub joined: u64,
    /// Keys whose rows were read after they had been put unread.
    pub settled: u64,
    /// How long the reads took, each from when a thread took it.
    pub durations: Distribution,
}

/// Work for the pool.
#[derive(Default)]
pub(crate) struct MissQueue {
    pub(super) work: Mutex<Work>,
    pub(super) added: Condvar,
    pub(super) failures: Mutex<LogLimit>,
    /// How long reads took; several threads read, so it has a lock.
    pub(super) durations: RankedMutex<Histogram>,
}

/// What is to be read, and what is being read.
#[derive(Default)]
pub(super) struct Work {
    keys: VecDeque<Vec<Miss>>,
    /// What the ring could not read.
    left: VecDeque<Vec<Miss>>,
    /// Wakes the ring, if there is one: it is the first to take keys.
    pub(super) ring: Option<RingWaker>,
    /// The ring waits for what is under way, and is to be told of more.
    pub(super) ring_waits: bool,
    pub(super) heads: VecDeque<HeadUnit>,
    partitions: VecDeque<(PartitionId, Fetching)>,
    walks: VecDeque<(RowsWanted, RowsDone)>,
    /// Threads that read partitions.
    reading_partitions: usize,
    /// Partitions with keys that were put unread, each once.
    unread: VecDeque<PartitionId>,
    /// Threads that read the rows of such keys.
    reading_unread: usize,
    /// What waits for a key, by its row.
    waiting: HashMap<Vec<u8>, Vec<Fetching>>,
    joined: u64,
    read: u64,
    settled: u64,
}

impl Fetch {
    pub(super) fn of(count: usize, done: Done) -> Fetching {
        Arc::new(Mutex::new(Fetch { left: count, result: Ok(()), done: Some(done) }))
    }

    /// One of what it waits for is there, or cannot be had. Returns what is to be called if that
    /// was the last.
    fn arrive(
        fetching: &Fetching,
        result: &Result<(), EngineError>,
    ) -> Option<(Done, Result<(), EngineError>)> {
        let mut fetch = fetching.lock();
        if fetch.result.is_ok() {
            fetch.result = result.clone();
        }
        fetch.left -= 1;
        if fetch.left > 0 {
            return None;
        }
        let result = fetch.result.clone();
        fetch.done.take().map(|done| (done, result))
    }
}

impl Work {
    /// Units and partitions that wait for a thread.
    fn queued(&self) -> usize {
        let keys = self.keys.len() + self.left.len();
        keys + self.heads.len() + self.walks.len() + self.partitions.len()
    }

    /// Takes keys in, which somebody waits for or nobody yet; returns how many units they have
    /// become.
    fn add_keys(&mut self, mut misses: Vec<Miss>, fetching: Option<&Fetching>) -> usize {
        misses.sort_unstable_by(|a, b| a.row_key.cmp(&b.row_key));
        let before = self.keys.len();
        let mut unit: Vec<Miss> = Vec::new();
        for miss in misses {
            if let Some(waiting) = self.waiting.get_mut(&miss.row_key) {
                waiting.extend(fetching.cloned());
                self.joined += u64::from(fetching.is_some());
                continue;
            }
            self.waiting.insert(miss.row_key.clone(), fetching.cloned().into_iter().collect());
            let goes_along = unit.first().is_none_or(|first| first.partition == miss.partition);
            if !goes_along || unit.len() == KEYS_A_UNIT {
                self.keys.push_back(std::mem::take(&mut unit));
            }
            unit.push(miss);
        }
        if !unit.is_empty() {
            self.keys.push_back(unit);
        }
        self.keys.len() - before
    }

    /// Keys that nobody has looked for yet.
    pub(super) fn take_keys(&mut self) -> Option<Vec<Miss>> {
        let keys = self.keys.pop_front()?;
        self.read += keys.len() as u64;
        Some(keys)
    }

    /// What a thread does next, in a pool of this many.
    pub(super) fn take(&mut self, threads: usize) -> Option<Unit> {
        if let Some(keys) = self.left.pop_front() {
            return Some(Unit::Keys(keys));
        }
        if self.ring.is_none()
            && let Some(keys) = self.take_keys()
        {
            return Some(Unit::Keys(keys));
        }
        if let Some(unit) = self.heads.pop_front() {
            return Some(Unit::Heads(unit));
        }
        if let Some((wanted, done)) = self.walks.pop_front() {
            return Some(Unit::Rows(wanted, done));
        }
        if self.reading_unread < (threads / UNREAD_ONE_IN).max(1)
            && let Some(id) = self.unread.pop_front()
        {
            self.reading_unread += 1;
            return Some(Unit::Unread(id));
        }
        if self.reading_partitions >= (threads / PARTITIONS_ONE_IN).max(1) {
            return None;
        }
        let (id, fetching) = self.partitions.pop_front()?;
        self.reading_partitions += 1;
        Some(Unit::Partition(id, fetching))
    }
}

impl MissQueue {
    /// Has keys read.
    pub(super) fn add_keys(&self, misses: Vec<Miss>, done: Done) {
        let fetching = Fetch::of(misses.len(), done);
        let mut work = self.work.lock();
        let units = work.add_keys(misses, Some(&fetching));
        self.tell_of_keys(work, units);
    }

    /// Has keys read that nobody waits for yet.
    pub(super) fn add_expected(&self, misses: Vec<Miss>) {
        let mut work = self.work.lock();
        let units = work.add_keys(misses, None);
        self.tell_of_keys(work, units);
    }

    /// Tells the ring of more units, or as many threads.
    fn tell_of_keys(&self, mut work: MutexGuard<'_, Work>, units: usize) {
        if work.ring.is_none() {
            drop(work);
            for _ in 0..units {
                self.added.notify_one();
            }
        } else if units > 0 && std::mem::take(&mut work.ring_waits) {
            let ring = work.ring.clone();
            drop(work);
            ring.iter().for_each(|wake| wake());
        }
    }

    /// The ring could not read these.
    pub(super) fn leave(&self, misses: Vec<Miss>) {
        self.work.lock().left.push_back(misses);
        self.added.notify_one();
    }

    /// So much waits for a thread that nothing is read ahead.
    pub(super) fn has_much(&self) -> bool {
        self.work.lock().queued() >= MUCH_UNITS
    }

    /// Has whole partitions read.
    pub(super) fn add_partitions(&self, ids: Vec<PartitionId>, done: Done) {
        if ids.is_empty() {
            return done(Ok(()));
        }
        let fetching = Fetch::of(ids.len(), done);
        let units = ids.into_iter().map(|id| (id, Arc::clone(&fetching)));
        self.work.lock().partitions.extend(units);
        self.added.notify_one();
    }

    /// Has the rows of these partitions' keys read that were put unread.
    pub(super) fn add_unread(&self, ids: &[PartitionId]) {
        let mut work = self.work.lock();
        let before = work.unread.len();
        for &id in ids {
            if !work.unread.contains(&id) {
                work.unread.push_back(id);
            }
        }
        let added = work.unread.len() - before;
        drop(work);
        for _ in 0..added {
            self.added.notify_one();
        }
    }

    /// This number of rows of such keys has been read.
    pub(super) fn note_settled(&self, count: usize) {
        self.work.lock().settled += count as u64;
    }

    /// A thread has read the rows of such keys.
    pub(super) fn finish_unread(&self) {
        self.work.lock().reading_unread -= 1;
        // Somebody may have left the next one for want of threads that may read them.
        self.added.notify_one();
    }

    /// Has rows read for a walk.
    pub(super) fn add_walk(&self, wanted: RowsWanted, done: RowsDone) {
        self.work.lock().walks.push_back((wanted, done));
        self.added.notify_one();
    }

    /// Keys have been read and are in memory, or could not be.
    pub(super) fn finish_keys(&self, misses: &[Miss], result: &Result<(), EngineError>) {
        let mut work = self.work.lock();
        let waiting: Vec<Fetching> = misses
            .iter()
            .flat_map(|miss| work.waiting.remove(&miss.row_key).unwrap_or_default())
            .collect();
        drop(work);
        MissQueue::finish(&waiting, result);
    }

    /// A partition has been read, or could not be.
    pub(super) fn finish_partition(&self, fetching: Fetching, result: &Result<(), EngineError>) {
        self.work.lock().reading_partitions -= 1;
        // Somebody may have left the next one for want of threads that may read them.
        self.added.notify_one();
        MissQueue::finish(&[fetching], result);
    }

    pub(super) fn finish(waiting: &[Fetching], result: &Result<(), EngineError>) {
        for fetching in waiting {
            if let Some((done, result)) = Fetch::arrive(fetching, result) {
                done(result);
            }
        }
    }

    /// How long a read took.
    pub(super) fn note_duration(&self, nanoseconds: u64) {
        self.durations.lock().add(nanoseconds, 1);
    }

    /// How long reads took, in nanoseconds.
    pub(super) fn note_durations(&self, reads: &[u64]) {
        let durations = self.durations.lock();
        reads.iter().for_each(|&nanoseconds| durations.add(nanoseconds, 1));
    }

    /// How often to say that keys cannot be read: every command that needs a damaged file comes
    /// here.
    pub(super) fn admit_failure(&self, now: Instant) -> Option<u64> {
        self.failures.lock().admit(now)
    }

    /// Somebody waits for a thread.
    pub(crate) fn is_behind(&self) -> bool {
        self.work.lock().queued() > 0
    }

    pub(super) fn stats(&self) -> MissStats {
        let work = self.work.lock();
        let (queued, keys, joined) = (work.queued(), work.read, work.joined);
        let settled = work.settled;
        drop(work);
        MissStats { queued, keys, joined, settled, durations: self.durations.lock().distribution() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn miss(partition: u16, key: u8) -> Miss {
        let partition = PartitionId::new(partition).expect("below the count");
        let row_key = vec![partition.number() as u8, key];
        Miss { partition, db: 0, cold_version: 0, hash: key.into(), row_key }
    }

    fn counting(count: &Arc<AtomicUsize>) -> Done {
        let count = Arc::clone(count);
        Box::new(move |result| {
            count.fetch_add(if result.is_ok() { 1 } else { 100 }, Ordering::Relaxed);
        })
    }

    fn take_keys(queue: &MissQueue) -> Vec<Miss> {
        match queue.work.lock().take(8) {
            Some(Unit::Keys(keys)) => keys,
            Some(_) => panic!("others come behind keys"),
            None => Vec::new(),
        }
    }

    #[test]
    fn a_key_is_read_once_however_many_wait_for_it() {
        let (queue, over) = (MissQueue::default(), Arc::new(AtomicUsize::new(0)));
        queue.add_keys(vec![miss(1, 1), miss(2, 1)], counting(&over));
        queue.add_keys(vec![miss(1, 1)], counting(&over));
        // The same key twice.
        queue.add_keys(vec![miss(3, 1), miss(3, 1)], counting(&over));
        let units: Vec<Vec<Miss>> = (0..4).map(|_| take_keys(&queue)).collect();
        assert_eq!(units.iter().map(Vec::len).collect::<Vec<_>>(), [1, 1, 1, 0]);
        assert_eq!(queue.stats().joined, 2);
        queue.finish_keys(&units[0], &Ok(()));
        assert_eq!(over.load(Ordering::Relaxed), 1);
        queue.finish_keys(&units[2], &Ok(()));
        assert_eq!(over.load(Ordering::Relaxed), 2);
        queue.finish_keys(&units[1], &Err(EngineError::Stopping));
        assert_eq!(over.load(Ordering::Relaxed), 102);
        // A command that asks after that has it read again.
        queue.add_keys(vec![miss(1, 1)], counting(&over));
        assert_eq!(take_keys(&queue).len(), 1);
    }

    #[test]
    fn a_command_that_needs_an_expected_key_joins() {
        let (queue, over) = (MissQueue::default(), Arc::new(AtomicUsize::new(0)));
        queue.add_expected(vec![miss(1, 1), miss(1, 2)]);
        queue.add_expected(vec![miss(1, 1)]);
        queue.add_keys(vec![miss(1, 2)], counting(&over));
        let unit = take_keys(&queue);
        assert_eq!((unit.len(), take_keys(&queue).len()), (2, 0));
        assert_eq!(queue.stats().joined, 1, "who expects does not wait");
        queue.finish_keys(&unit, &Ok(()));
        assert_eq!(over.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn neighbours_go_together_and_partitions_come_last() {
        let (queue, over) = (MissQueue::default(), Arc::new(AtomicUsize::new(0)));
        let partition = |number| PartitionId::new(number).expect("below the count");
        queue.add_partitions(vec![partition(5), partition(6)], counting(&over));
        queue.add_keys((0..20).map(|key| miss(1, key)).collect(), counting(&over));
        let lens = [0; 3].map(|_| take_keys(&queue).len());
        assert_eq!(lens, [8, 8, 4]);
        let Some(Unit::Partition(id, fetching)) = queue.work.lock().take(8) else {
            panic!("a partition is to be read");
        };
        assert_eq!(id, partition(5));
        assert!(queue.work.lock().take(8).is_none(), "one thread of eight reads partitions");
        queue.finish_partition(fetching, &Ok(()));
        assert!(
            matches!(queue.work.lock().take(8), Some(Unit::Partition(id, _)) if id == partition(6))
        );
    }
}
