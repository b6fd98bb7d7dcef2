//! The engine: what it consists of, and what concerns it as a whole.

use crate::checkpoint::state::Checkpointing;
use crate::database_set::DatabaseSet;
use crate::limits::LimitsCell;
use crate::log::{CommitLog, Gate, Gating, Ticket};
use crate::recovery::belonging::Belonging;
use crate::recovery::replay::{LogReplay, replay};
use crate::recovery::{RecordApplier, RecoveryError, RecoveryStats};
use crate::residency::budget::MemoryBudget;
use crate::residency::policy::{Eviction, EvictionCell};
use crate::residency::queue::MissQueue;
use crate::residency::unread_partitions::UnreadPartitions;
use crate::retire::Retired;
use crate::store::events::EventSink;
use crate::store::key::Key;
use crate::store::view::access_at;
use crate::timers::Timers;
use crate::tracking::TrackedTotals;
use crate::waiting::left::Leftovers;
use crate::warm_up::file::HotKeysDir;
use crate::warm_up::progress::WarmUpProgress;
use basalt_change::place::PartitionId;
use basalt_change::seed;
use basalt_cold::{ColdError, ColdTier};
use basalt_env::{Clock, Env};
use basalt_keyspace::database::Database;
use basalt_keyspace::entry::Access;
use basalt_keyspace::keyspace::{Keyspace, Locked};
use basalt_keyspace::partition::Partition;
use basalt_keyspace::table::EntryHint;
use basalt_stdx::lock_rank::RankedMutex;
use basalt_stdx::short_lock::LockWait;
use basalt_stdx::sleeper::Sleeper;
use basalt_value::{FormLimits, ValueRef};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// A record of the log: as much as the journal's buffers hold before they refuse more.
const RECORD_BYTES_MAX: usize = 64 << 20;
/// What is lent has to be copied if it is edited before the log has written it. Copying this much
/// takes some 5 µs.
const LENT_BYTES_MIN: usize = 64 << 10;

/// A longer string is written to the cold tier in pieces of this length, and read back so. A row is
/// copied there several times, into blocks, their compressed form and the like: a string of 512 MiB
/// in one row took 3.7 GB. Pieces of this length take a few MiB, and strings that have more than
/// one are rare, so recovery seldom has to look whether it replaces one.
const STRING_PIECE_BYTES: usize = 1 << 20;

/// A command that edits a string of 512 MiB, or makes another in its place, while a checkpoint
/// holds it would have both in memory. It waits for the checkpoint instead, which takes a second or
/// so; a copy of a shorter string is affordable, and made at once.
const SINGLE_STRING_BYTES_MIN: usize = 256 << 20;

/// What is changed at once stands in memory twice until it is written, in the buffer of the command
/// and in that of the log, but for strings that are lent.
const CHANGE_SET_BYTES_MAX: usize = 4 << 30;

/// What does not change while the engine runs.
#[derive(Clone, Debug)]
pub struct Options {
    /// Number of databases (`databases`), 1 to 255.
    pub databases: u8,
    /// Bytes of log to replay that start a checkpoint (`checkpoint-log-size`).
    pub checkpoint_log_bytes: u64,
    /// Threads that read the cold tier for waiting commands (`miss-threads`).
    pub miss_threads: usize,
    /// Reads that a ring has under way for them, where the system has one (`miss-ring-depth`); 0
    /// for no ring.
    pub miss_ring_depth: usize,
    /// Seed of the key hash of a new database, and of that of members. A database keeps the one
    /// that it was made with.
    pub hash_seed: u64,
    /// Up to where collections stay packed.
    pub limits: FormLimits,
    /// Bytes of a collection above which each of its elements has a row of its own in the cold tier
    /// (`collection-row-max`).
    pub collection_row_bytes_max: usize,
    /// Bytes of a string above which it is written to the cold tier in pieces, and those of a
    /// piece. A string of less than 2 KiB, which stands in its entry, is one row in any case.
    pub string_piece_bytes: usize,
    /// Bytes of a string from which a command that would have a second one in its place waits while
    /// a checkpoint holds the first.
    pub single_string_bytes_min: usize,
    /// Bytes of a record of the log from which a command's changes go on in another record of the
    /// same append.
    pub record_bytes_max: usize,
    /// Strings of this size and more are lent to the log, shorter ones are copied; and so are
    /// collections that are put whole, once they are encoded.
    pub lent_bytes_min: usize,
    /// Bytes of changes above which a transaction, a script, or a command that puts whole values
    /// under keys is told that it changes too much at once.
    pub change_set_bytes_max: usize,
    /// Bytes of rows that a checkpoint gathers before it gives them to the cold tier and trims the
    /// log. Less means more files there; more means a longer log.
    pub ingest_bytes: u64,
    /// Bytes of deleted big values that may wait for the housekeeping thread to free them; what is
    /// deleted beyond is freed at once.
    pub retired_bytes_max: usize,
    /// Percent of the memory target that may be taken by what is known of keys on disk. With 0
    /// nothing is known of them.
    pub cold_filter_percent: u64,
    /// Where the keys in use are listed for the next start; `None` lists none.
    pub hot_keys: Option<HotKeysDir>,
    /// Opens a log and a cold tier between which data is known to be lost (`accept-data-loss`).
    pub accept_data_loss: bool,
}

impl Default for Options {
    /// One small database that checkpoints only when asked to.
    fn default() -> Options {
        Options {
            databases: 1,
            checkpoint_log_bytes: u64::MAX,
            miss_threads: 1,
            miss_ring_depth: 0,
            hash_seed: 1,
            limits: FormLimits::default(),
            collection_row_bytes_max: 64 << 10,
            string_piece_bytes: STRING_PIECE_BYTES,
            single_string_bytes_min: SINGLE_STRING_BYTES_MIN,
            record_bytes_max: RECORD_BYTES_MAX,
            lent_bytes_min: LENT_BYTES_MIN,
            change_set_bytes_max: CHANGE_SET_BYTES_MAX,
            ingest_bytes: 64 << 20,
            retired_bytes_max: 1 << 30,
            cold_filter_percent: 5,
            hot_keys: None,
            accept_data_loss: false,
        }
    }
}

/// The seed of the database's key hash; `None` if it is new.
fn stored_seed(cold: &dyn ColdTier) -> Result<Option<u64>, RecoveryError> {
    let mut key = Vec::new();
    seed::seed_key(&mut key);
    let row = cold.read_many(&[key])?.pop().flatten();
    row.map(|row| seed::decode_seed(&row).map_err(RecoveryError::Seed)).transpose()
}

/// Notes the seed of a new database.
fn store_seed(cold: &dyn ColdTier, new: u64) -> Result<(), ColdError> {
    let (mut key, mut row) = (Vec::new(), Vec::new());
    seed::seed_key(&mut key);
    seed::encode_seed(new, &mut row);
    let mut writer = cold.checkpoint_writer()?;
    writer.put(&key, &row)?;
    writer.prepare()?.commit()
}

/// A database: memory, log and cold tier together.
pub struct Engine {
    pub(crate) keyspace: Keyspace,
    log: Arc<dyn CommitLog>,
    pub(crate) cold: Arc<dyn ColdTier>,
    pub(crate) env: Env,
    pub(crate) options: Options,
    /// The next generation of a flushed database.
    pub(crate) next_generation: AtomicU64,
    pub(crate) misses: MissQueue,
    pub(crate) unread: UnreadPartitions,
    pub(crate) budget: MemoryBudget,
    pub(crate) checkpointing: Checkpointing,
    /// The thread that has the cold tier give space back.
    pub(crate) collector: Sleeper,
    pub(crate) stopping: AtomicBool,
    /// What is on disk is to take less space soon.
    pub(crate) is_short_of_space: AtomicBool,
    /// Databases that were flushed and whose memory a background thread frees.
    pub(crate) flushed: RankedMutex<Vec<Database>>,
    /// What clients have left behind.
    pub(crate) leftovers: Leftovers,
    /// When queues for which clients wait have something for them.
    pub(crate) timers: Timers,
    pub(crate) retired: Retired,
    pub(crate) expired_keys: AtomicU64,
    pub(crate) expired_fields: AtomicU64,
    /// The longest round of expiry since somebody asked, in nanoseconds.
    pub(crate) longest_expiry_round_ns: AtomicU64,
    pub(crate) active_expiry: AtomicBool,
    /// Until when the expiry cycle rests (`CLIENT PAUSE`), in unix milliseconds.
    pub(crate) expiry_paused_until_ms: AtomicU64,
    /// Databases in which a key or a field has or had an expiry, a bit each: the expiry cycle
    /// passes over the others.
    expiring_databases: DatabaseSet,
    /// Databases that any partition has used; one that is flushed goes out. A flush passes over the
    /// others. Set and cleared under the locks of the partitions concerned.
    pub(crate) used_databases: DatabaseSet,
    /// Announces what happens without a command.
    pub(crate) event_sink: OnceLock<Box<dyn EventSink>>,
    /// How many keys clients keep copies of.
    pub(crate) tracked: TrackedTotals,
    recovery: RecoveryStats,
    limits: LimitsCell,
    pub(crate) eviction: EvictionCell,
    pub(crate) warm_up_progress: WarmUpProgress,
    /// Position of the ticket of the latest change of a library of functions, 0 for none.
    pub(crate) libraries_ticket: AtomicU64,
}

impl Engine {
    /// Opens the database: the cold tier as it is, then the log's tail on top of it.
    ///
    /// `open_log` gets, per shard, the position from which new records must go on at least, and
    /// feeds every record that the log still has to the [`LogReplay`].
    pub fn open<E>(
        options: Options,
        cold: Arc<dyn ColdTier>,
        env: Env,
        open_log: impl FnOnce(&[u64], &mut LogReplay<'_, '_>) -> Result<Arc<dyn CommitLog>, E>,
    ) -> Result<Engine, RecoveryError>
    where
        RecoveryError: From<E>,
    {
        let seed = stored_seed(&*cold)?;
        let keyspace =
            Keyspace::new(usize::from(options.databases), seed.unwrap_or(options.hash_seed));
        basalt_value::seed::seed_members(options.hash_seed);
        let limits = LimitsCell::new(options.limits);
        let (accepts_loss, retired) =
            (options.accept_data_loss, Retired::new(options.retired_bytes_max));
        let opening = env.clock.now();
        let begun = (options.limits, access_at(env.clock.unix_ms()));
        let mut applier = RecordApplier::begin(&keyspace, &*cold, begun, accepts_loss)?;
        // Not before it is known that the rows can be read.
        if seed.is_none() {
            store_seed(&*cold, options.hash_seed)?;
        }
        let marks_read_in = env.clock.since(opening);
        let floor = applier.floor();
        let belonging = Belonging::read(&*cold, floor.clone(), accepts_loss)?;
        let start = env.clock.now();
        let feed = |replay: &mut LogReplay<'_, '_>| open_log(&floor, replay);
        let (log, belonging) = replay(&mut applier, belonging, feed)?;
        let log_mark = belonging.settle(&*cold)?;
        let (next_generation, mut recovery) = applier.end(&env);
        recovery.marks_read_in = marks_read_in;
        recovery.log_replayed_in = env.clock.since(start);
        let engine = Engine {
            keyspace,
            log,
            cold,
            env,
            options,
            next_generation: AtomicU64::new(next_generation),
            misses: MissQueue::default(),
            unread: UnreadPartitions::default(),
            budget: MemoryBudget::default(),
            checkpointing: Checkpointing::after(log_mark),
            collector: Sleeper::default(),
            stopping: AtomicBool::new(false),
            is_short_of_space: AtomicBool::new(false),
            flushed: RankedMutex::default(),
            leftovers: Leftovers::default(),
            timers: Timers::default(),
            retired,
            expired_keys: AtomicU64::new(0),
            expired_fields: AtomicU64::new(0),
            longest_expiry_round_ns: AtomicU64::new(0),
            active_expiry: AtomicBool::new(true),
            expiry_paused_until_ms: AtomicU64::new(0),
            expiring_databases: DatabaseSet::default(),
            used_databases: DatabaseSet::default(),
            event_sink: OnceLock::new(),
            tracked: TrackedTotals::default(),
            recovery,
            limits,
            eviction: EvictionCell::default(),
            warm_up_progress: WarmUpProgress::default(),
            libraries_ticket: AtomicU64::new(0),
        };
        engine.note_databases();
        engine.note_changes(recovery.records_applied);
        Ok(engine)
    }

    /// The log.
    #[inline]
    pub fn log(&self) -> &dyn CommitLog {
        &*self.log
    }

    /// Up to where collections stay packed.
    #[inline]
    pub fn limits(&self) -> FormLimits {
        self.limits.get()
    }

    /// Changes up to where collections stay packed. What is native already stays so.
    pub fn set_limits(&self, limits: FormLimits) {
        self.limits.set(limits);
    }

    /// What becomes of keys that memory has no room for.
    pub fn eviction(&self) -> Eviction {
        self.eviction.policy()
    }

    /// Changes [`Engine::eviction`], and how many keys are compared for one that is deleted: at
    /// least one, and no more than 64.
    pub fn set_eviction(&self, eviction: Eviction, samples: u32) {
        self.eviction.set(eviction, samples);
    }

    /// Whether replies wait for the log now.
    pub fn gating(&self) -> Gating {
        if self.log.gates_replies() { Gating::On } else { Gating::Off }
    }

    /// The cold tier.
    pub fn cold(&self) -> &dyn ColdTier {
        &*self.cold
    }

    /// What recovery found.
    pub fn recovery(&self) -> RecoveryStats {
        self.recovery
    }

    /// Bytes of big values that are deleted and not yet freed.
    pub fn retired_bytes(&self) -> usize {
        self.retired.bytes()
    }

    /// Number of databases.
    pub fn databases(&self) -> u8 {
        self.options.databases
    }

    /// Its clock and its source of seeds.
    pub fn env(&self) -> &Env {
        &self.env
    }

    /// The clock.
    pub fn clock(&self) -> &dyn Clock {
        &*self.env.clock
    }

    /// What a key has that is used now.
    pub(crate) fn access_now(&self) -> Access {
        access_at(self.env.clock.unix_ms())
    }

    /// Computes what is needed to find a key.
    #[inline(always)]
    pub fn key<'a>(&self, bytes: &'a [u8]) -> Key<'a> {
        Key::new(bytes, self.keyspace.hasher())
    }

    /// Locks the partitions of these keys, waiting for them as long as it takes.
    pub fn lock(&self, keys: &[Key<'_>]) -> Locked<'_> {
        self.lock_within(keys, LockWait::Endless).expect("an endless wait ends with the locks")
    }

    /// Locks the partitions of these keys; `None` if somebody holds one of them for longer than
    /// this thread waits.
    #[inline]
    pub fn lock_within(&self, keys: &[Key<'_>], wait: LockWait) -> Option<Locked<'_>> {
        match keys {
            [one] => self.keyspace.lock_within(one.partition, wait),
            _ => self.lock_set(keys, wait),
        }
    }

    #[inline(never)]
    fn lock_set(&self, keys: &[Key<'_>], wait: LockWait) -> Option<Locked<'_>> {
        let mut set = basalt_keyspace::keyspace::PartitionSet::EMPTY;
        keys.iter().for_each(|key| set.insert(key.partition));
        self.keyspace.lock_many_within(&set, wait)
    }

    /// Whether somebody holds a partition at this moment.
    pub fn is_held(&self, partition: PartitionId) -> bool {
        self.keyspace.try_look(partition, |_| ()).is_none()
    }

    /// Brings a key's bucket into the cache, without a lock.
    #[inline]
    pub fn prefetch_bucket(&self, db: u8, hash: u64, partition: PartitionId) {
        self.keyspace.prefetch_bucket(partition, db, hash);
    }

    /// Brings into the cache where it is noted what of a partition the log has not acknowledged,
    /// without a lock.
    #[inline]
    pub fn prefetch_unacknowledged(&self, partition: PartitionId) {
        self.keyspace.prefetch_unacknowledged(partition);
    }

    /// Brings the entry of a key into the cache, without waiting for its partition; says where it
    /// was seen.
    #[inline]
    pub fn prefetch_entry(&self, db: u8, hash: u64, partition: PartitionId) -> EntryHint {
        self.keyspace.prefetch_entry(partition, db, hash)
    }

    /// Looks at the collection under a key if there is one and its partition is free; in order to
    /// prefetch what a command on it will touch.
    #[inline]
    pub fn try_look_at<R>(
        &self,
        db: u8,
        key: &Key<'_>,
        look: impl FnOnce(ValueRef<'_>) -> R,
    ) -> Option<R> {
        self.keyspace.try_look_at(key.partition, db, (key.hash, key.bytes), look)
    }

    /// Looks at a long string under a key, as [`Engine::try_look_at`] does at a collection.
    #[inline]
    pub fn try_look_at_string<R>(
        &self,
        db: u8,
        key: &Key<'_>,
        look: impl FnOnce(&[u8]) -> R,
    ) -> Option<R> {
        self.keyspace.try_look_at_string(key.partition, db, (key.hash, key.bytes), look)
    }

    /// Adds to `gate` what a reply that read these keys has to wait for: a change of one of them
    /// that a crash could still take back.
    #[inline]
    pub fn gate_reads(&self, locked: &mut Locked<'_>, keys: &[Key<'_>], gate: &mut Gate) {
        for key in keys {
            let partition = locked.partition_mut(key.partition);
            if !partition.guard().is_clear() {
                self.gate_read(partition, key, gate);
            }
        }
    }

    /// Adds to `gate` what a reply that read this key has to wait for, where the partition may have
    /// changes that the log has not acknowledged.
    #[inline(never)]
    pub(crate) fn gate_read(&self, partition: &mut Partition, key: &Key<'_>, gate: &mut Gate) {
        let is_acknowledged =
            |position| self.log.is_acknowledged(self.ticket(key.partition, position));
        partition.forget_acknowledged(is_acknowledged);
        if let Some(position) = partition.unacknowledged(key.hash)
            && !is_acknowledged(position)
        {
            gate.add(self.ticket(key.partition, position));
        }
    }

    /// Notes that a key, or every key, of a partition has a change that the log acknowledges with
    /// this ticket.
    pub(crate) fn note_unacknowledged(
        &self,
        id: PartitionId,
        partition: &mut Partition,
        hash: u64,
        ticket: Ticket,
    ) {
        partition.note_unacknowledged(hash, ticket.position, |position| {
            self.log.is_acknowledged(self.ticket(id, position))
        });
    }

    fn ticket(&self, partition: PartitionId, position: u64) -> Ticket {
        Ticket { stream: self.log.ticket_stream(partition.shard()), position }
    }

    /// Keys that were removed because they had expired.
    pub fn expired_keys(&self) -> u64 {
        self.expired_keys.load(Ordering::Relaxed)
    }

    /// How long the longest round of the expiry cycle was since this was asked last.
    pub fn take_longest_expiry_round(&self) -> Duration {
        Duration::from_nanos(self.longest_expiry_round_ns.swap(0, Ordering::Relaxed))
    }

    /// Counts expired keys and fields from zero again (`CONFIG RESETSTAT`).
    pub fn reset_expired_keys(&self) {
        self.expired_keys.store(0, Ordering::Relaxed);
        self.expired_fields.store(0, Ordering::Relaxed);
    }

    /// Switches the active expiry cycle (`DEBUG SET-ACTIVE-EXPIRE`).
    pub fn set_active_expiry(&self, active: bool) {
        self.active_expiry.store(active, Ordering::Relaxed);
    }

    /// Has the active expiry cycle rest, and nothing deleted for lack of memory, until a moment in
    /// unix milliseconds; 0 ends that.
    pub fn pause_expiry(&self, until_ms: u64) {
        self.expiry_paused_until_ms.store(until_ms, Ordering::Relaxed);
    }

    /// Whether the active expiry cycles may go on. Asked under each lock: what is set after they
    /// have been switched off or paused does not go by itself.
    pub(crate) fn may_remove_expired(&self) -> bool {
        self.active_expiry.load(Ordering::Relaxed) && !self.are_removals_paused()
    }

    /// Nothing is to go by itself now (`CLIENT PAUSE`).
    pub(crate) fn are_removals_paused(&self) -> bool {
        self.env.clock.unix_ms() < self.expiry_paused_until_ms.load(Ordering::Relaxed)
    }

    /// A key may be put into this database; a partition of it is held. The first database counts as
    /// used always.
    #[inline(always)]
    pub(crate) fn note_used(&self, db: u8) {
        if db != 0 {
            self.used_databases.insert(db);
        }
    }

    /// A key of this database may expire.
    #[inline]
    pub(crate) fn note_expiring(&self, db: u8) {
        // The cycle may see it a round later.
        self.expiring_databases.insert(db);
    }

    /// Whether a key of this database may expire.
    pub(crate) fn may_expire(&self, db: u8) -> bool {
        self.expiring_databases.contains(db)
    }

    /// Whether there may be something that time removes: a walk over the partitions finds nothing
    /// else.
    pub(crate) fn may_expire_at_all(&self) -> bool {
        !self.expiring_databases.is_empty()
    }

    /// After recovery, which noted nothing: finds the databases that are used, those with keys that
    /// expire, and the partitions with keys that the log says were put unread.
    fn note_databases(&self) {
        for id in PartitionId::all() {
            let locked = self.keyspace.lock(id);
            for (db, database) in (0..).zip(locked.partition(id).databases()) {
                if database.earliest_expiry_ms() != u64::MAX {
                    self.note_expiring(db);
                }
                if !database.is_untouched() {
                    self.used_databases.insert(db);
                }
            }
        }
        self.note_all_unread();
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }
}
