//! Keeping the keyspace's memory within its target: what the cold tier has as it is leaves, or keys
//! are deleted, as the policy says.
//!
//! ```text
//! used > 95% of the target ▸ keys leave, from each partition by its share of the bytes
//!        little of it has arrived ▸ a checkpoint
//!        or keys are deleted (`delete.rs`); those on disk only from 85% on (`cold_keys.rs`)
//! half of the target has not been written   ▸ writers are slowed, for longer the more it is
//! used > 102%              ▸ commands that take memory wait
//! nothing has left, and no checkpoint has written anything, for a while ▸ they are refused
//! ```
//! Nothing is lost by what leaves, and no client is told: a command that asks for such a key reads
//! it again.

#[cfg(test)]
mod tests;

use crate::engine::Engine;
use crate::residency::budget::{Exceeded, Room, WAIT_PERCENT};
use crate::residency::cold_keys::ColdKeys;
use crate::residency::delete::{Deleter, Rule};
use crate::residency::policy::{Among, Eviction};
use crate::residency::usage::Usage;
use crate::store::hold::Hold;
use basalt_change::place::{PARTITIONS, PartitionId};
use basalt_env::Instant;
use basalt_keyspace::eviction::{EvictLimits, Evicted};
use basalt_keyspace::partition::Partition;
use basalt_keyspace::retire::{Big, Retire};
use basalt_keyspace::table::COMPACT_CELLS_MAX;
use basalt_stdx::short_lock::LockWait;
use std::cell::RefCell;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Percent of the target from which keys leave.
const BEGIN_PERCENT: u64 = 95;
/// And to which they leave: a little less, so that each round is worth its look at all partitions.
const END_PERCENT: u64 = 94;
/// Percent of the target that may wait for checkpoints, or be on its way to the cold tier: nothing
/// of it can leave. Above, writers are slowed, or they would fill memory at their full speed and
/// then all stand still until a checkpoint has ended; at as many percent more by 100 hundredths.
const UNWRITTEN_PERCENT: u64 = 50;
const UNWRITTEN_PERCENT_BEHIND: u64 = 25;
/// Percent of the keys that may be dirty near the target before a checkpoint is asked for.
const DIRTY_PERCENT: u64 = 20;
/// Percent of the target that tombstones may take before a checkpoint is asked for.
const TOMBSTONES_PERCENT: u64 = 2;
/// After this time without any progress, commands that take memory are refused …
const STUCK_AFTER: Duration = Duration::from_secs(1);
/// … and while a checkpoint is running, after this.
const STUCK_IN_CHECKPOINT_AFTER: Duration = Duration::from_secs(10);
/// How often a checkpoint is asked for at most …
const ASK_EVERY: Duration = Duration::from_millis(50);
/// … and after one that failed.
const ASK_AFTER_FAILURE: Duration = Duration::from_secs(1);
/// How often the thread looks when there is nothing to do …
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// … and when there may soon be.
const LOOK_EVERY_NEAR: Duration = Duration::from_millis(5);
const NEAR_PERCENT: u64 = 85;
/// … and when that is far off: one look at two figures.
const LOOK_EVERY_FAR: Duration = Duration::from_millis(20);
/// Bytes of which nobody writes as many in [`LOOK_EVERY`].
const FAR_BYTES: u64 = 4 << 30;
/// Percent of the target below which the figure of a tenth of a second ago is good enough.
const FAR_PERCENT: u64 = 60;

/// Keys that leave under one lock: some 50 µs.
const KEYS_A_LOCK: usize = 128;
/// Looks under one lock.
const LOOKS_A_LOCK: usize = 512;
/// Partitions in which entries are moved together in a round.
const COMPACTED_A_ROUND: usize = 128;
/// Bytes that leave a partition at least, when it is visited at all.
const BYTES_A_VISIT_MIN: u64 = 1 << 10;

/// What the evictor remembers between its rounds.
pub(crate) struct Evictor {
    /// The partition that is next.
    next: usize,
    /// And the one that is compacted next.
    compacted: usize,
    /// When keys left last, or a checkpoint wrote something.
    progress: Instant,
    ingests: u64,
    /// When it asked for a checkpoint last.
    asked: Instant,
    deleter: Deleter,
    cold_keys: ColdKeys,
}

/// What stays whatever it is worth.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spares {
    /// What commands wait for.
    Held,
    /// Nothing: memory is short.
    Nothing,
}

impl Evictor {
    pub(crate) fn new(engine: &Engine) -> Evictor {
        let seed = || engine.env.entropy.seed();
        Evictor {
            next: 0,
            compacted: 0,
            progress: engine.env.clock.now(),
            ingests: 0,
            asked: Instant::default(),
            deleter: Deleter::new(seed()),
            cold_keys: ColdKeys::new(seed()),
        }
    }

    /// Has as much leave memory as the target asks for, if that can be had; returns when to look
    /// again.
    pub(crate) fn round(&mut self, engine: &Engine) -> Duration {
        engine.budget.holds.end_due(engine.env.clock.now());
        let Some(target) = engine.memory_target() else {
            engine.budget.set_room(Room::Free);
            engine.note_unwritten(0, 0);
            engine.budget.note_exceeded(Exceeded::No, engine.env.clock.monotonic_ns());
            return LOOK_EVERY;
        };
        let seen = engine.budget.seen().max(engine.page_bytes());
        if seen < target / 100 * FAR_PERCENT {
            // Not added up once more only to see that nothing is to be done.
            engine.budget.set_room(Room::Free);
            engine.note_unwritten(0, 0);
            engine.budget.note_exceeded(Exceeded::No, engine.env.clock.monotonic_ns());
            self.progress = engine.env.clock.now();
            let is_very_far = target / 100 * NEAR_PERCENT > seen + FAR_BYTES;
            return if is_very_far { LOOK_EVERY } else { LOOK_EVERY_FAR };
        }
        let usage = engine.usage();
        engine.note_unwritten(engine.unwritten_bytes(&usage), target);
        let are_full = usage.filter_bytes > target / 100 * engine.options.cold_filter_percent;
        engine.budget.are_filters_full.store(are_full, Ordering::Relaxed);
        let exceeded = if usage.bytes > target { Exceeded::Yes } else { Exceeded::No };
        engine.budget.note_exceeded(exceeded, engine.env.clock.monotonic_ns());
        let percent = |percent: u64| target / 100 * percent;
        if usage.bytes + usage.slack_bytes > percent(NEAR_PERCENT) {
            self.compact(engine, &usage);
        }
        if usage.bytes > percent(NEAR_PERCENT) {
            self.delete_cold_keys(engine, &usage, percent(TOMBSTONES_PERCENT));
        }
        if usage.bytes <= percent(BEGIN_PERCENT) {
            self.progress = engine.env.clock.now();
            engine.budget.set_room(Room::Free);
            return if usage.bytes > percent(NEAR_PERCENT) { LOOK_EVERY_NEAR } else { LOOK_EVERY };
        }
        let wanted = usage.bytes - percent(END_PERCENT);
        let left = match engine.eviction() {
            Eviction::Demote => self.demote(engine, &usage, wanted, target),
            Eviction::Delete(among, first) => {
                self.delete(engine, Rule { among, first }, &usage, wanted, target)
            }
        };
        self.note_progress(engine, left);
        let is_over = usage.bytes.saturating_sub(left) > percent(WAIT_PERCENT);
        engine.budget.set_room(match is_over {
            false => Room::Free,
            true if self.is_stuck(engine) => Room::Full,
            true => Room::Later,
        });
        if left > 0 && is_over { Duration::ZERO } else { LOOK_EVERY_NEAR }
    }

    /// Has `wanted` bytes leave memory, if they are clean, and asks for a checkpoint if not;
    /// returns how many have left.
    fn demote(&mut self, engine: &Engine, usage: &Usage, wanted: u64, target: u64) -> u64 {
        let is_short = usage.bytes > target / 100 * WAIT_PERCENT;
        let spares = if is_short { Spares::Nothing } else { Spares::Held };
        let left = self.evict(engine, usage, wanted, spares);
        let is_mostly_dirty = usage.dirty_keys * 100 > usage.keys * DIRTY_PERCENT;
        if usage.dirty_keys > 0 && (is_mostly_dirty || left < wanted) {
            self.ask_for_checkpoint(engine);
        }
        left
    }

    /// Deletes keys of `wanted` bytes; returns how many have gone. Where keys without an expiry are
    /// spared and no others are found, they leave memory.
    fn delete(
        &mut self,
        engine: &Engine,
        rule: Rule,
        usage: &Usage,
        wanted: u64,
        target: u64,
    ) -> u64 {
        if engine.are_removals_paused() {
            // Clients that are paused are not to be refused.
            self.progress = engine.env.clock.now();
            return 0;
        }
        let tombstones = self.deleter.bytes_of_tombstones(usage.tombstones);
        // They go with the next checkpoint, unless those fail.
        let has_failed = engine.checkpointing.under_way().has_failed;
        let going = if has_failed { 0 } else { tombstones };
        let left = self.deleter.round(engine, rule, wanted.saturating_sub(going));
        if left == 0 || tombstones > target / 100 * TOMBSTONES_PERCENT {
            self.ask_for_checkpoint(engine);
        }
        match rule.among {
            Among::Expiring if left == 0 && going < wanted => {
                self.demote(engine, usage, wanted, target)
            }
            _ => left,
        }
    }

    /// Under a policy that deletes any key, what is on disk only and does not fit into memory goes.
    fn delete_cold_keys(&mut self, engine: &Engine, usage: &Usage, tombstones_max: u64) {
        if usage.cold_keys == 0 || !matches!(engine.eviction(), Eviction::Delete(Among::All, _)) {
            return;
        }
        if self.deleter.bytes_of_tombstones(usage.tombstones) > tombstones_max {
            self.ask_for_checkpoint(engine);
        } else {
            self.cold_keys.round(engine);
        }
    }

    /// Visits all partitions until `wanted` bytes have left; returns how many have.
    fn evict(&mut self, engine: &Engine, usage: &Usage, wanted: u64, spares: Spares) -> u64 {
        let mut left = 0;
        for _ in 0..PARTITIONS {
            let id = PartitionId::new(self.next as u16).expect("below the count");
            self.next = (self.next + 1) % PARTITIONS;
            if spares == Spares::Nothing || !engine.budget.holds.has(id) {
                left += engine.evict_from(id, wanted, usage.bytes);
            }
            if left >= wanted || engine.is_stopping() {
                break;
            }
        }
        left
    }

    /// Moves entries together in some partitions, if that may give pages back.
    fn compact(&mut self, engine: &Engine, usage: &Usage) {
        if usage.slack_bytes == 0 {
            return;
        }
        for _ in 0..COMPACTED_A_ROUND {
            let id = PartitionId::new(self.compacted as u16).expect("below the count");
            self.compacted = (self.compacted + 1) % PARTITIONS;
            // Somebody holds it: it comes again.
            let _ = engine.keyspace.with_mut(id, LockWait::Brief, |partition| {
                for db in (0..engine.options.databases).filter(|&db| engine.is_used(db)) {
                    partition.database_mut(db).compact(COMPACT_CELLS_MAX);
                }
            });
        }
    }

    fn note_progress(&mut self, engine: &Engine, left: u64) {
        let ingests = engine.checkpointing.ingests();
        if left > 0 || ingests != self.ingests {
            self.ingests = ingests;
            self.progress = engine.env.clock.now();
        }
    }

    /// One at a time, and after one that failed not at once.
    fn ask_for_checkpoint(&mut self, engine: &Engine) {
        let now = engine.env.clock.now();
        let state = engine.checkpointing.under_way();
        let pause = if state.has_failed { ASK_AFTER_FAILURE } else { ASK_EVERY };
        if !state.is_running && !state.is_requested && now - self.asked >= pause {
            self.asked = now;
            engine.request_checkpoint(Box::new(|_| ()));
        }
    }

    fn is_stuck(&self, engine: &Engine) -> bool {
        let patience = match engine.checkpointing.under_way().is_running {
            true => STUCK_IN_CHECKPOINT_AFTER,
            false => STUCK_AFTER,
        };
        engine.env.clock.since(self.progress) > patience
    }
}

impl Engine {
    /// The keyspace takes so much of its target that what nobody has asked for had better stay on
    /// disk.
    pub(crate) fn is_nearly_full(&self) -> bool {
        self.takes_more_than(NEAR_PERCENT)
    }

    /// The keyspace takes more than these percent of its target.
    pub(crate) fn takes_more_than(&self, percent: u64) -> bool {
        self.memory_target().is_some_and(|target| self.usage().bytes > target / 100 * percent)
    }

    /// What waits for a checkpoint, or for the end of one, if all keys take the same.
    fn unwritten_bytes(&self, usage: &Usage) -> u64 {
        let unwritten = usage.dirty_keys + self.checkpointing.in_flight();
        let share = (unwritten as f64 / usage.keys.max(1) as f64).min(1.0);
        (usage.bytes as f64 * share) as u64
    }

    fn note_unwritten(&self, bytes: u64, target: u64) {
        let behind = bytes.saturating_sub(target / 100 * UNWRITTEN_PERCENT);
        let percent = behind.saturating_mul(100) / (target / 100 * UNWRITTEN_PERCENT_BEHIND).max(1);
        let percent = u32::try_from(percent).unwrap_or(u32::MAX);
        // Relaxed: a figure by itself.
        self.budget.checkpoint_behind_percent.store(percent, Ordering::Relaxed);
    }

    /// The evictor's thread. Returns when the engine stops.
    pub(crate) fn run_evict_thread(&self) {
        let mut evictor = Evictor::new(self);
        self.budget.evictor.adopt(&std::thread::current());
        self.budget.set_kept(true);
        while !self.is_stopping() {
            let pause = evictor.round(self);
            if !pause.is_zero() {
                self.budget.evictor.sleep(pause);
            }
        }
        self.budget.set_kept(false);
        self.budget.set_room(Room::Free);
    }

    /// Has about this many bytes leave memory, if so much is clean; returns how many have.
    pub fn evict(&self, bytes: u64) -> u64 {
        Evictor::new(self).evict(self, &self.usage(), bytes, Spares::Held)
    }

    /// Has every entry leave memory that the cold tier has as it is, used or not: what comes next
    /// finds it on disk. Returns how many keys left.
    pub fn evict_clean(&self) -> u64 {
        let keys = self.eviction_stats().keys;
        for id in PartitionId::all() {
            // The first look says when the hand was there, the second is one round later.
            while self.evict_from(id, u64::MAX, 1) + self.evict_from(id, u64::MAX, 1) > 0 {}
        }
        self.eviction_stats().keys - keys
    }

    /// Has keys of a partition leave memory: its share of the bytes that are wanted of all that is
    /// used. Returns how many bytes left.
    fn evict_from(&self, id: PartitionId, wanted: u64, used: u64) -> u64 {
        let (mut left, mut share) = (0, None);
        // Big values are freed when the lock is gone.
        let big = Apart::default();
        while share.is_none_or(|share| left < share) {
            let change = |partition: &mut Partition| {
                let hold = Hold::begin(self.clock());
                let bytes = self.bytes_of(partition);
                // Of what it had at first.
                let share = *share.get_or_insert_with(|| share_of(bytes, wanted, used));
                let evicted = self.evict_some(partition, (share - left, bytes), &big);
                self.note_evicted(evicted, &hold);
                evicted.bytes as u64
            };
            // Somebody holds it: it comes again in the next round.
            match self.keyspace.with_mut(id, LockWait::Brief, change) {
                Some(bytes) if bytes > 0 => left += bytes,
                _ => break,
            }
        }
        left
    }

    /// From each database by its share of the partition's bytes.
    fn evict_some(
        &self,
        partition: &mut Partition,
        (wanted, bytes): (u64, u64),
        big: &Apart,
    ) -> Evicted {
        let (mut evicted, now) = (Evicted::default(), self.access_now());
        for db in 0..self.options.databases {
            if !self.is_used(db) {
                continue;
            }
            let database = partition.database_mut(db);
            let counts = database.table().counts();
            let own = (counts.entry_bytes + counts.apart_bytes) as u64;
            let limits = EvictLimits {
                now_ms: self.env.clock.unix_ms(),
                bytes: usize::try_from(share_of(own, wanted, bytes)).unwrap_or(usize::MAX),
                entries: KEYS_A_LOCK,
                looks: LOOKS_A_LOCK,
                may_filter: self.may_note_cold(),
            };
            if own > 0 {
                evicted = evicted.and(database.evict(now, limits, big));
                database.compact(COMPACT_CELLS_MAX);
            }
        }
        evicted
    }

    fn bytes_of(&self, partition: &Partition) -> u64 {
        let bytes = self.used_of(partition).map(|database| {
            let counts = database.table().counts();
            counts.entry_bytes + counts.apart_bytes
        });
        bytes.sum::<usize>() as u64
    }

    fn note_evicted(&self, evicted: Evicted, hold: &Hold) {
        let budget = &self.budget;
        budget.keys.fetch_add(evicted.keys as u64, Ordering::Relaxed);
        budget.newcomers.fetch_add(evicted.newcomers as u64, Ordering::Relaxed);
        budget.bytes.fetch_add(evicted.bytes as u64, Ordering::Relaxed);
        budget.holds_of_partitions.note(self.clock(), hold);
    }
}

fn share_of(part: u64, wanted: u64, whole: u64) -> u64 {
    let share = u128::from(part) * u128::from(wanted) / u128::from(whole.max(1));
    u64::try_from(share).unwrap_or(u64::MAX).max(BYTES_A_VISIT_MIN)
}

/// Big values that wait for the end of a lock.
#[derive(Default)]
struct Apart(RefCell<Vec<Big>>);

impl Retire for Apart {
    fn retire(&self, value: Big, _: usize) {
        self.0.borrow_mut().push(value);
    }
}
