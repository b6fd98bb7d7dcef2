//! The random walk: commands, clock jumps, checkpoints with other commands in their midst, slow
//! reads, full disks, power cuts; the model beside it, and comparisons.
//!
//! The seed decides what is done. How much of what is not yet synced a power cut leaves also
//! depends on how far the journal's own threads have come, so a seed reproduces a violation nearly
//! always, not always.

use crate::access::Fetching;
use crate::choice::Keys;
use crate::stage::{Point, RowsOf, TierFaults};
use crate::state::State;
use crate::violation::Violation;
use crate::world::{Acknowledging, OpenCold, Setting, World};
use basalt_engine::Version;
use basalt_env::random::Random;
use basalt_journal::FsyncPolicy;
use basalt_value::FormLimits;
use basalt_value::limits::PackedLimits;
use std::collections::{BTreeMap, BTreeSet};

/// Something broken on purpose, which a run must notice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Canary {
    /// The log acknowledges before it has synced.
    AcknowledgesEarly,
    /// The cold tier forgets deletions.
    DropsDeletes,
    /// The cold tier forgets some rows of objects.
    DropsRows,
    /// The cold tier forgets some rows of elements.
    DropsElementRows,
    /// The cold tier forgets deletions of ranges.
    DropsRanges,
    /// The log forgets some changes of elements.
    DropsEdits,
    /// The log forgets some versions.
    DropsVersions,
    /// The log forgets some versions of sets' members.
    DropsAttributes,
    /// The log has earlier versions in place of those that time has moved.
    RepeatsVersions,
}

/// How long to walk, and what is broken.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Steps, each a command or more.
    pub steps: u32,
    /// What is broken, if anything.
    pub canary: Option<Canary>,
}

/// What a run has done.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Report {
    /// Commands that could write.
    pub writes: u64,
    /// Power cuts and restarts that were recovered from.
    pub recoveries: u64,
    /// Checkpoints that completed.
    pub checkpoints: u64,
    /// Checkpoints that failed, or said so, as they should.
    pub checkpoints_failed: u64,
    /// Commands that were refused because the disk was full.
    pub refused: u64,
    /// Times that everything was compared.
    pub comparisons: u64,
    /// Reads that were held up while other things happened.
    pub slow_reads: u64,
    /// Collections that were changed or put.
    pub collections: u64,
    /// Those of them that had a thousand elements or more.
    pub large_collections: u64,
    /// Strings that were put or edited and are longer than a piece.
    pub strings_in_pieces: u64,
    /// Times that all rows were seen to belong to something.
    pub sweeps: u64,
    /// Keys that left memory for want of room.
    pub evicted: u64,
    /// Keys that were put without a look at the cold tier that might have them.
    pub unread_puts: u64,
    /// Keys that a command has removed which were on disk only.
    pub unread_deletes: u64,
    /// Keys that had expired on disk and were removed there.
    pub reaped: u64,
}

impl Report {
    /// Adds another run's numbers.
    pub fn add(&mut self, other: &Report) {
        self.writes += other.writes;
        self.recoveries += other.recoveries;
        self.checkpoints += other.checkpoints;
        self.checkpoints_failed += other.checkpoints_failed;
        self.refused += other.refused;
        self.comparisons += other.comparisons;
        self.slow_reads += other.slow_reads;
        self.collections += other.collections;
        self.large_collections += other.large_collections;
        self.strings_in_pieces += other.strings_in_pieces;
        self.sweeps += other.sweeps;
        self.evicted += other.evicted;
        self.unread_puts += other.unread_puts;
        self.unread_deletes += other.unread_deletes;
        self.reaped += other.reaped;
    }
}

/// Walks once; everything follows from `seed`. `open_cold` opens the cold tier, an empty one at
/// first and the same one again each time.
///
/// # Errors
/// What the engine did wrong.
pub fn run(seed: u64, plan: &Plan, open_cold: OpenCold<'_>) -> Result<Report, Violation> {
    let mut driver = Driver::new(seed, plan, open_cold)?;
    for step in 0..plan.steps {
        driver
            .step()
            .map_err(|violation| Violation(format!("seed {seed}, step {step}: {violation}")))?;
    }
    driver.finish().map_err(|violation| Violation(format!("seed {seed}, end: {violation}")))?;
    Ok(driver.report)
}

/// Limits that collections cross again and again.
fn few() -> FormLimits {
    let packed = PackedLimits { entries_max: 5, value_bytes_max: 20 };
    FormLimits {
        list_node: 5,
        intset_entries_max: 4,
        set: packed,
        sorted_set: packed,
        hash: packed,
        stream_node_bytes_max: 300,
        stream_node_entries_max: 7,
        ..FormLimits::default()
    }
}

/// A read that is held up.
pub(crate) struct Slow {
    pub(crate) point: Point,
    pub(crate) fetching: Fetching,
}

pub(crate) struct Driver<'a> {
    pub(crate) world: World<'a>,
    pub(crate) state: State,
    pub(crate) random: Random,
    pub(crate) keys: Keys,
    pub(crate) report: Report,
    pub(crate) slow: Option<Slow>,
    pub(crate) disk_is_limited: bool,
    /// The versions that each key and element was given, in any database and in any life.
    pub(crate) given: BTreeMap<Vec<u8>, BTreeSet<Version>>,
    canary: Option<Canary>,
}

impl<'a> Driver<'a> {
    fn new(seed: u64, plan: &Plan, open_cold: OpenCold<'a>) -> Result<Driver<'a>, Violation> {
        let mut random = Random::new(seed);
        let policy = match random.below(4) {
            0 | 1 => FsyncPolicy::Always,
            2 => FsyncPolicy::EverySecond,
            _ => FsyncPolicy::Never,
        };
        let (policy, acknowledging) = match plan.canary {
            Some(Canary::AcknowledgesEarly) => (FsyncPolicy::Always, Acknowledging::AtOnce),
            Some(Canary::DropsEdits) => (policy, Acknowledging::Forgetfully),
            Some(Canary::DropsVersions) => (policy, Acknowledging::WithoutVersions),
            Some(Canary::DropsAttributes) => (policy, Acknowledging::WithoutAttributes),
            Some(Canary::RepeatsVersions) => (policy, Acknowledging::WithEarlierVersions),
            Some(
                Canary::DropsDeletes
                | Canary::DropsRows
                | Canary::DropsElementRows
                | Canary::DropsRanges,
            )
            | None => (policy, Acknowledging::Honestly),
        };
        let setting = Setting {
            policy,
            acknowledging,
            hash_seed: random.next_u64(),
            limits: if random.chance(1, 2) { FormLimits::default() } else { few() },
            collection_row_bytes_max: [100, 1_000, 64 << 10][random.below(3) as usize],
            // The first makes hundreds of pieces.
            string_piece_bytes: [20, 1_500, 1 << 20][random.below(3) as usize],
            ingest_bytes: [200, 4_000, 64 << 20][random.below(3) as usize],
            value_bytes_min: [20, 60, usize::MAX][random.below(3) as usize],
            ..Setting::default()
        };
        let mut driver = Driver {
            world: World::new(setting, open_cold)?,
            state: State::new(setting.databases),
            random,
            keys: Keys::new(),
            report: Report::default(),
            slow: None,
            disk_is_limited: false,
            given: BTreeMap::new(),
            canary: plan.canary,
        };
        driver.change_manners();
        Ok(driver)
    }

    /// One step, between which nothing is under way but a slow read.
    fn step(&mut self) -> Result<(), Violation> {
        match self.random.below(100) {
            0..=83 => self.small_step(),
            84..=89 => self.checkpoint(),
            90 | 91 => self.unload(),
            92 => {
                self.change_manners();
                Ok(())
            }
            93 => self.limit_or_free_disk(),
            94 => {
                self.compare_everything()?;
                self.sweep()
            }
            95 => self.restart(),
            96 | 97 => {
                self.let_journal_write();
                self.crash()
            }
            _ => self.sync(),
        }
    }

    /// A step that can also happen in the midst of a checkpoint.
    pub(crate) fn small_step(&mut self) -> Result<(), Violation> {
        match self.random.below(96) {
            84..=89 => self.evict(),
            90 | 91 => self.walk(),
            92..=95 => self.remove(),
            0..=35 => self.write_one(),
            36..=47 => self.write_several(),
            48..=51 => self.transfer(),
            52 => self.flush(),
            53 => self.swap(),
            54..=59 => {
                let ms = self.random.below(700);
                self.world.clock.advance_ms(ms);
                Ok(())
            }
            60..=62 => self.expire(),
            63 | 64 => self.load_partition(),
            65..=69 => self.begin_or_end_slow_read(),
            _ => self.read_one(),
        }
    }

    fn finish(&mut self) -> Result<(), Violation> {
        self.crash()?;
        self.compare_everything()?;
        self.checkpoint()?;
        self.restart()?;
        self.compare_everything()?;
        self.sweep()
    }

    fn change_manners(&mut self) {
        let faults = TierFaults {
            filters_are_wrong: self.random.chance(1, 3),
            checkpoints_look_huge: self.random.chance(1, 3),
            drops_deletes: self.canary == Some(Canary::DropsDeletes),
            drops_rows_of: match self.canary {
                Some(Canary::DropsRows) => Some(RowsOf::Objects),
                Some(Canary::DropsElementRows) => Some(RowsOf::Elements),
                _ => None,
            },
            drops_ranges: self.canary == Some(Canary::DropsRanges),
            drops_last_versions: false,
        };
        self.world.stage.set_faults(faults);
    }

    /// Sometimes leaves the journal time to write what it was not asked to sync.
    fn let_journal_write(&mut self) {
        if self.random.chance(1, 4) {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }
}
