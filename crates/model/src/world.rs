//! What the engine lives in: a journal on a disk that loses power, a cold tier on the stage, a
//! clock that is moved by hand. Opening, crashing and opening again.

use crate::log::{Book, Lie, WatchedLog};
use crate::stage::{Point, Stage, StagedTier, TierFaults};
use crate::violation::Violation;
use basalt_change::row;
use basalt_cold::ColdTier;
use basalt_engine::{Background, CommitLog, Engine, Options, RecoveryError, WarmUp};
use basalt_env::{Clock, Entropy, Env, ManualClock, SeededEntropy, SimDisk};
use basalt_journal::FsyncPolicy;
use basalt_journal_log::{JournalLog, Trimming};
use basalt_value::FormLimits;
use basalt_value_log::{ValueOptions, ValueTier};
use std::path::Path;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// When a world begins: 2024-01-01.
pub const START_MS: u64 = 1_704_067_200_000;
/// Several may be held up on the stage at a time, and two of them read whole partitions.
const MISS_THREADS: usize = 16;
/// Reads that a ring has under way; fewer than a unit of keys are as many as that.
const RING_DEPTH: usize = 1;
const SEGMENT_BYTES: u64 = 64 << 10;
const JOURNAL_DIR: &str = "/journal";
const VALUES_DIR: &str = "/cold";

/// What the engine's log keeps, and when it says so.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Acknowledging {
    /// When it is on disk.
    #[default]
    Honestly,
    /// At once: broken on purpose.
    AtOnce,
    /// When it is on disk, without some changes of elements: broken on purpose.
    Forgetfully,
    /// When it is on disk, without some versions: broken on purpose.
    WithoutVersions,
    /// Early or late, but without some versions of sets' members.
    WithoutAttributes,
    /// When it is on disk, with earlier versions in place of those that time has moved: broken on
    /// purpose.
    WithEarlierVersions,
}

impl Acknowledging {
    fn lie(self) -> Option<Lie> {
        match self {
            Acknowledging::Honestly => None,
            Acknowledging::AtOnce => Some(Lie::Early),
            Acknowledging::Forgetfully => Some(Lie::Forgetful),
            Acknowledging::WithoutVersions => Some(Lie::Unversioned),
            Acknowledging::WithoutAttributes => Some(Lie::Unattributed),
            Acknowledging::WithEarlierVersions => Some(Lie::Backward),
        }
    }
}

/// What does not change from crash to crash.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Number of databases.
    pub databases: u8,
    /// When the journal is synced.
    pub policy: FsyncPolicy,
    /// When it says so.
    pub acknowledging: Acknowledging,
    /// Seed of the key hash.
    pub hash_seed: u64,
    /// Up to where collections stay packed.
    pub limits: FormLimits,
    /// Bytes above which a collection has a row for each of its elements.
    pub collection_row_bytes_max: usize,
    /// Bytes above which a string is written in pieces, and those of a piece.
    pub string_piece_bytes: usize,
    /// From where on commands wait until a checkpoint has written a string.
    pub single_string_bytes_min: usize,
    /// Bytes of rows that a checkpoint ingests together.
    pub ingest_bytes: u64,
    /// Bytes from which on values of the cold tier stand in a log beside their rows.
    pub value_bytes_min: usize,
    /// What may be known of keys on disk, in percent of the memory target.
    pub cold_filter_percent: u64,
    /// Opens what has lost data.
    pub accept_data_loss: bool,
}

impl Default for Setting {
    fn default() -> Setting {
        Setting {
            databases: 3,
            policy: FsyncPolicy::Always,
            acknowledging: Acknowledging::Honestly,
            hash_seed: 1,
            limits: FormLimits::default(),
            collection_row_bytes_max: 64 << 10,
            string_piece_bytes: 1 << 20,
            single_string_bytes_min: usize::MAX,
            ingest_bytes: 64 << 20,
            value_bytes_min: usize::MAX,
            cold_filter_percent: 5,
            accept_data_loss: false,
        }
    }
}

/// Opens the cold tier, always the same one, after whatever opened it before is gone.
pub type OpenCold<'a> = &'a dyn Fn() -> Arc<dyn ColdTier>;

/// See the head of this file.
pub struct World<'a> {
    /// How the engine is set up.
    pub setting: Setting,
    /// The journal's disk.
    pub disk: SimDisk,
    /// The engine's clock.
    pub clock: Arc<ManualClock>,
    /// No life of an engine has the seeds of another.
    entropy: Arc<dyn Entropy>,
    /// Where the cold tier can be stopped.
    pub stage: Arc<Stage>,
    /// The versions that its keys are given, in any life.
    pub(crate) book: Arc<Book>,
    open_cold: OpenCold<'a>,
    life: Option<Life>,
}

/// One life of an engine.
struct Life {
    engine: Arc<Engine>,
    journal: Weak<JournalLog>,
    background: Background,
}

impl<'a> World<'a> {
    /// A world with an engine in it.
    ///
    /// # Errors
    /// If the engine does not open.
    pub fn new(setting: Setting, open_cold: OpenCold<'a>) -> Result<World<'a>, Violation> {
        let mut world = World {
            setting,
            disk: SimDisk::new(),
            clock: Arc::new(ManualClock::at_unix_ms(START_MS)),
            entropy: Arc::new(SeededEntropy::new(setting.hash_seed)),
            stage: Arc::default(),
            book: Arc::default(),
            open_cold,
            life: None,
        };
        world.open()?;
        Ok(world)
    }

    /// The engine.
    ///
    /// # Panics
    /// If there is none.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.life.as_ref().expect("the world has an engine").engine
    }

    /// Files that the journal has ready to go on in.
    pub fn prepared_files(&self) -> u64 {
        let journal = self.life.as_ref().and_then(|life| life.journal.upgrade());
        journal.map_or(0, |journal| journal.stats().prepared_files)
    }

    /// Now.
    pub fn now_ms(&self) -> u64 {
        self.clock.unix_ms()
    }

    /// The cold tier; its large values are on the disk that loses power.
    fn open_values(&self) -> Result<Arc<dyn ColdTier>, Violation> {
        let rows = (self.open_cold)();
        let value_bytes_min = self.setting.value_bytes_min;
        if value_bytes_min == usize::MAX {
            return Ok(rows);
        }
        let options = ValueOptions {
            value_bytes_min,
            segment_bytes_min: SEGMENT_BYTES,
            head_bytes: row::head_bytes,
            ..ValueOptions::default()
        };
        let disk = Arc::new(self.disk.clone());
        let tier = ValueTier::open(rows, disk, Path::new(VALUES_DIR), options);
        let failed = |error| Violation(format!("the log of values does not open: {error}"));
        Ok(Arc::new(tier.map_err(failed)?))
    }

    /// Opens the engine on what the last one left behind.
    ///
    /// # Errors
    /// If it does not open.
    pub fn open(&mut self) -> Result<(), Violation> {
        let setting = self.setting;
        let cold = Arc::new(StagedTier::new(self.open_values()?, &self.stage));
        let options = Options {
            databases: setting.databases,
            miss_threads: MISS_THREADS,
            // In most worlds a ring reads values.
            miss_ring_depth: if setting.hash_seed & 6 == 0 { 0 } else { RING_DEPTH },
            hash_seed: setting.hash_seed,
            collection_row_bytes_max: setting.collection_row_bytes_max,
            string_piece_bytes: setting.string_piece_bytes,
            single_string_bytes_min: setting.single_string_bytes_min,
            ingest_bytes: setting.ingest_bytes,
            limits: setting.limits,
            cold_filter_percent: setting.cold_filter_percent,
            accept_data_loss: setting.accept_data_loss,
            // In half of the worlds the log is lent strings.
            lent_bytes_min: if setting.hash_seed.is_multiple_of(2) { 200 } else { usize::MAX },
            ..Options::default()
        };
        let accept_loss = setting.accept_data_loss;
        let journal = basalt_journal::Options { accept_loss, ..journal_options(setting.policy) };
        let disk = Arc::new(self.disk.clone());
        let env = Env { clock: Arc::clone(&self.clock) as _, entropy: Arc::clone(&self.entropy) };
        let mut opened = Weak::new();
        let engine = Engine::open(options, cold, env, |floor, replay| {
            let dir = Path::new(JOURNAL_DIR);
            let trimming = Trimming::AfterCheckpoint;
            // Its threads sync by the time that passes for them.
            let outside = Env::system();
            let log = JournalLog::open(&outside, disk, dir, journal, trimming, floor, replay)?;
            let log = Arc::new(log);
            opened = Arc::downgrade(&log);
            let log = WatchedLog::new(log, setting.acknowledging.lie(), Arc::clone(&self.book));
            Ok::<Arc<dyn CommitLog>, RecoveryError>(Arc::new(log))
        })
        .map_err(|error| Violation(format!("the engine does not open: {error}")))?;
        // Expiry is done by hand.
        engine.set_active_expiry(false);
        let engine = Arc::new(engine);
        let background = Background::start(&engine, WarmUp::No)
            .map_err(|error| Violation(format!("no threads: {error}")))?;
        self.life = Some(Life { engine, journal: opened, background });
        Ok(())
    }

    /// Cuts the power; what the engine was doing fails. [`World::bury`] next.
    pub fn cut_power(&self, seed: u64) {
        self.disk.crash(seed);
    }

    /// Ends the engine's threads and forgets it. A thread that waits on the stage goes on first.
    pub fn bury(&mut self) {
        for point in [Point::Read, Point::Scan, Point::Prepare, Point::Commit, Point::Committed] {
            self.stage.release(point);
        }
        if let Some(Life { engine, background, .. }) = self.life.take() {
            background.stop();
            drop(engine);
        }
        self.disk.limit_capacity(None);
    }

    /// A power cut between two commands, and a new start.
    ///
    /// # Errors
    /// If the engine does not open again.
    pub fn crash(&mut self, seed: u64) -> Result<(), Violation> {
        self.cut_power(seed);
        self.bury();
        self.open()
    }

    /// An orderly end, and a new start.
    ///
    /// # Errors
    /// If the engine does not open again.
    pub fn restart(&mut self) -> Result<(), Violation> {
        self.bury();
        self.open()
    }

    /// The cold tier lies no more.
    pub fn be_honest(&self) {
        self.stage.set_faults(TierFaults::default());
    }
}

impl Drop for World<'_> {
    fn drop(&mut self) {
        self.bury();
    }
}

fn journal_options(policy: FsyncPolicy) -> basalt_journal::Options {
    basalt_journal::Options {
        segment_bytes: SEGMENT_BYTES,
        policy,
        idle_write_delay: Duration::from_micros(300),
        sync_interval: Duration::from_millis(20),
        ..basalt_journal::Options::default()
    }
}
