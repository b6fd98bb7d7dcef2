//! Counting what is in queues.
//!
//! Partitions are counted one after the other, some queues under each lock: the sums are not one
//! moment's truth. Messages whose time has come count as what they were until the housekeeping has
//! settled them, which is a tenth of a second as a rule.

use crate::engine::Engine;
use crate::store::held::Held;
use basalt_change::place::PartitionId;
use basalt_keyspace::interest::KeyId;
use basalt_stdx::short_lock::LockWait;
use basalt_value::Queue;
use basalt_value::queue::Totals;
use std::cmp::Reverse;

/// Queues that are counted under one lock: about 50 µs.
const QUEUES_A_LOCK: usize = 128;
/// Longer names are not shown.
const NAME_BYTES_MAX: usize = 128;

/// What is in a queue, or in several.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct QueueFigures {
    /// Ready messages.
    pub ready: u64,
    /// Messages that are held back.
    pub delayed: u64,
    /// Messages that consumers hold.
    pub leased: u64,
    /// Dead messages.
    pub dead: u64,
    /// How long ago the oldest of those was put that come first in their lanes, in milliseconds.
    pub oldest_ready_ms: u64,
    /// Clients that wait for a message.
    pub waiters: u64,
    /// What has happened to its messages.
    pub totals: Totals,
}

/// A queue by its name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedQueue {
    /// Number of its database.
    pub db: u8,
    /// Its key.
    pub name: String,
    /// What is in it.
    pub figures: QueueFigures,
}

/// What is in all queues that are in memory.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct QueueCensus {
    /// How many there are.
    pub count: u64,
    /// The largest, by their messages; a queue whose name is long or no text is not among them.
    pub largest: Vec<NamedQueue>,
    /// All others together.
    pub others: QueueFigures,
}

impl QueueFigures {
    fn of(queue: &Queue, now_ms: u64) -> QueueFigures {
        let (counts, oldest_ms) = queue.counts_settled();
        QueueFigures {
            ready: counts.all_ready(),
            delayed: counts.delayed,
            leased: counts.leased,
            dead: counts.dead,
            oldest_ready_ms: oldest_ms.map_or(0, |put_ms| now_ms.saturating_sub(put_ms)),
            waiters: 0,
            totals: *queue.totals(),
        }
    }

    fn messages(&self) -> u64 {
        self.ready + self.delayed + self.leased + self.dead
    }

    fn add(&mut self, other: &QueueFigures) {
        self.ready += other.ready;
        self.delayed += other.delayed;
        self.leased += other.leased;
        self.dead += other.dead;
        self.oldest_ready_ms = self.oldest_ready_ms.max(other.oldest_ready_ms);
        self.waiters += other.waiters;
        self.totals.add(&other.totals);
    }
}

impl QueueCensus {
    fn count(&mut self, db: u8, key: &[u8], figures: QueueFigures) {
        self.count += 1;
        match std::str::from_utf8(key) {
            Ok(name) if name.len() <= NAME_BYTES_MAX => {
                self.largest.push(NamedQueue { db, name: name.to_owned(), figures });
            }
            _ => self.others.add(&figures),
        }
    }

    /// Keeps that many by name. Of equally large ones those that come first by name, so that they
    /// are the same each time.
    fn keep(&mut self, max: usize) {
        let rank = |queue: &NamedQueue| Reverse(queue.figures.messages());
        self.largest
            .sort_unstable_by(|a, b| (rank(a), a.db, &a.name).cmp(&(rank(b), b.db, &b.name)));
        for queue in self.largest.drain(max.min(self.largest.len())..) {
            self.others.add(&queue.figures);
        }
    }
}

impl Engine {
    /// What is in the queues that are in memory, at most `largest_max` by name.
    ///
    /// # Errors
    /// Somebody holds a partition for longer than the thread waits.
    pub fn queue_census(&self, largest_max: usize, wait: LockWait) -> Result<QueueCensus, Held> {
        let mut census = QueueCensus::default();
        for id in PartitionId::all() {
            for db in (0..self.options.databases).filter(|&db| self.is_used(db)) {
                let mut from = Some(0);
                while let Some(hash) = from {
                    from = self.count_queues(id, (db, hash), &mut census, wait)?;
                    if census.largest.len() > 2 * largest_max + QUEUES_A_LOCK {
                        census.keep(largest_max);
                    }
                }
            }
        }
        census.keep(largest_max);
        Ok(census)
    }

    fn count_queues(
        &self,
        id: PartitionId,
        (db, from): (u8, u64),
        census: &mut QueueCensus,
        wait: LockWait,
    ) -> Result<Option<u64>, Held> {
        let hasher = self.keyspace.hasher();
        let now_ms = self.env.clock.unix_ms();
        let mut locked = self.keyspace.lock_within(id, wait).ok_or(Held)?;
        let partition = locked.partition_mut(id);
        let mut seen = Vec::new();
        let next = partition.database_mut(db).visit_queues(
            from,
            QUEUES_A_LOCK,
            hasher,
            &mut |key, queue| seen.push((key.to_vec(), QueueFigures::of(queue, now_ms))),
        );
        for (key, mut figures) in seen {
            if let Some(interest) = &partition.interest {
                let place = KeyId { hash: hasher.hash(&key), db };
                figures.waiters = interest.waiters_of(place) as u64;
            }
            census.count(db, &key, figures);
        }
        Ok(next)
    }
}
