//! A cold tier with a stage director: it stops at chosen points and waits to be told how to go on,
//! so that what happens in between is decided, not left to chance; and it can be made to lie.

use basalt_change::element::name_in;
use basalt_change::row::{Mark, split_object_key};
use basalt_change::version::Version;
use basalt_cold::{
    Beginning, CheckpointWriter, ColdError, ColdStats, ColdTier, Collecting, KeyRange,
    PreparedCheckpoint, Pressure, Probe, RowPlace, Visit, VisitHead,
};
use basalt_env::ReadRing;
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::borrow::Cow;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::thread::ThreadId;
use std::time::{Duration, Instant};

/// Longest that anything on the stage may take.
const WAIT_MAX: Duration = Duration::from_secs(120);

/// Where the cold tier can be stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Point {
    /// Rows have been read for a miss and are not handed over yet.
    Read,
    /// Rows of a scan have been read and are not handed over yet.
    Scan,
    /// A checkpoint's rows have been collected.
    Prepare,
    /// A checkpoint is prepared, the log is synced, nothing is visible.
    Commit,
    /// A checkpoint is visible; the engine does not know.
    Committed,
    /// A checkpoint is about to write a row of an element or a piece.
    Element,
}

const POINTS: usize = 6;
/// What the keys of partitions' marks begin with.
const MARKS: &[u8] = &[0xFF, 0xFF, 0];

/// How to go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cue {
    /// As if nothing had been.
    GoOn,
    /// With an error: the disk is full.
    NoSpace,
}

/// What the tier answers untruthfully.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TierFaults {
    /// Every probe says "unknown", as a filter that is always wrong would.
    pub filters_are_wrong: bool,
    /// A checkpoint claims to be huge, so that every partition becomes an ingest of its own.
    pub checkpoints_look_huge: bool,
    /// Broken on purpose: deletions of rows are forgotten.
    pub drops_deletes: bool,
    /// Broken on purpose: deletions of ranges are forgotten.
    pub drops_ranges: bool,
    /// Broken on purpose: one row in eight of these is forgotten.
    pub drops_rows_of: Option<RowsOf>,
    /// Broken on purpose: marks do not say which version was the last.
    pub drops_last_versions: bool,
}

/// What a row is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RowsOf {
    /// A key's object: all of it, or the head of a spread collection or of a string in pieces.
    Objects,
    /// An element of a spread collection, or a piece of a string.
    Elements,
}

impl RowsOf {
    fn has(self, row_key: &[u8]) -> bool {
        match self {
            RowsOf::Objects => split_object_key(row_key).is_some(),
            RowsOf::Elements => name_in(row_key).is_some(),
        }
    }
}

/// The director's desk.
#[derive(Default)]
pub struct Stage {
    state: Mutex<StageState>,
    changed: Condvar,
}

#[derive(Default)]
struct StageState {
    faults: TierFaults,
    points: [PointState; POINTS],
}

#[derive(Clone, Copy, Default)]
struct PointState {
    armed: bool,
    /// The thread that stands here.
    waiting: Option<ThreadId>,
    cue: Option<Cue>,
}

impl Stage {
    /// Chooses how truthful the tier is from now on.
    pub fn set_faults(&self, faults: TierFaults) {
        self.state.lock().faults = faults;
    }

    /// The next thread that comes to this point stops there.
    pub fn arm(&self, point: Point) {
        self.state.lock().points[point as usize].armed = true;
    }

    /// Nobody stops here any more; a thread that stands here goes on.
    pub fn release(&self, point: Point) {
        let mut state = self.state.lock();
        let at = &mut state.points[point as usize];
        at.armed = false;
        if at.waiting.is_some() {
            at.cue = Some(Cue::GoOn);
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Whether a thread stands here.
    pub fn is_waiting(&self, point: Point) -> bool {
        let at = self.state.lock().points[point as usize];
        at.waiting.is_some() && at.cue.is_none()
    }

    /// Whether this thread stands here, and not another one: the engine's own threads come by, too.
    pub fn is_waiting_here(&self, thread: ThreadId, point: Point) -> bool {
        self.state.lock().points[point as usize].waiting == Some(thread)
    }

    /// Waits until a thread stands at one of these points; `None` once `is_over` says that none
    /// will come.
    ///
    /// # Panics
    /// If neither happens for two minutes.
    pub fn wait(&self, points: &[Point], is_over: &dyn Fn() -> bool) -> Option<Point> {
        let start = Instant::now();
        loop {
            // Asked first: what is over before nobody stands here stays so.
            let over = is_over();
            if let Some(&point) = points.iter().find(|&&point| self.is_waiting(point)) {
                return Some(point);
            }
            if over {
                return None;
            }
            assert!(start.elapsed() < WAIT_MAX, "nobody came to {points:?}");
            let mut state = self.state.lock();
            self.changed.wait_for(&mut state, Duration::from_micros(200));
        }
    }

    /// Lets the thread that stands here go on.
    pub fn cue(&self, point: Point, cue: Cue) {
        self.state.lock().points[point as usize].cue = Some(cue);
        self.changed.notify_all();
    }

    fn pass(&self, point: Point) -> Cue {
        let mut state = self.state.lock();
        let index = point as usize;
        if !std::mem::take(&mut state.points[index].armed) {
            return Cue::GoOn;
        }
        state.points[index].waiting = Some(std::thread::current().id());
        self.changed.notify_all();
        self.await_cue(&mut state, index)
    }

    fn await_cue(&self, state: &mut MutexGuard<'_, StageState>, index: usize) -> Cue {
        loop {
            if let Some(cue) = state.points[index].cue.take() {
                state.points[index].waiting = None;
                return cue;
            }
            let late = self.changed.wait_for(state, WAIT_MAX).timed_out();
            assert!(!late, "nobody gave a cue");
        }
    }

    fn faults(&self) -> TierFaults {
        self.state.lock().faults
    }
}

/// A cold tier on the stage.
pub struct StagedTier {
    inner: Arc<dyn ColdTier>,
    stage: Arc<Stage>,
}

impl StagedTier {
    /// Puts a cold tier on the stage.
    pub fn new(inner: Arc<dyn ColdTier>, stage: &Arc<Stage>) -> StagedTier {
        StagedTier { inner, stage: Arc::clone(stage) }
    }
}

impl ColdTier for StagedTier {
    fn probe(&self, key: &[u8]) -> Probe {
        if self.stage.faults().filters_are_wrong { Probe::Unknown } else { self.inner.probe(key) }
    }

    fn read_many(&self, keys: &[Vec<u8>]) -> Result<Vec<Option<Vec<u8>>>, ColdError> {
        let rows = self.inner.read_many(keys)?;
        self.stage.pass(Point::Read);
        Ok(rows)
    }

    fn locate(&self, key: &[u8]) -> Option<RowPlace> {
        self.inner.locate(key)
    }

    fn row_at<'bytes>(
        &self,
        key: &[u8],
        place: &RowPlace,
        bytes: &'bytes [u8],
    ) -> Option<Cow<'bytes, [u8]>> {
        let row = self.inner.row_at(key, place, bytes);
        self.stage.pass(Point::Read);
        row
    }

    fn read_ring(&self, depth: usize) -> io::Result<Box<dyn ReadRing>> {
        self.inner.read_ring(depth)
    }

    fn scan(&self, from: &[u8], to: &[u8], visit: &mut Visit<'_>) -> Result<(), ColdError> {
        let mut rows = Vec::new();
        self.inner.scan(from, to, &mut |key, value| {
            rows.push((key.to_vec(), value.to_vec()));
            ControlFlow::Continue(())
        })?;
        self.stage.pass(Point::Scan);
        for (key, value) in rows {
            if visit(&key, &value).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn scan_heads(
        &self,
        from: &[u8],
        to: &[u8],
        visit: &mut VisitHead<'_>,
    ) -> Result<(), ColdError> {
        // The engine's own threads go over heads at any time: a point is armed for those that
        // read rows.
        self.inner.scan_heads(from, to, visit)
    }

    fn read_heads(&self, keys: &[Vec<u8>]) -> Result<Vec<Option<Beginning>>, ColdError> {
        let heads = self.inner.read_heads(keys)?;
        self.stage.pass(Point::Read);
        Ok(heads)
    }

    fn share_percent(&self, ranges: &[KeyRange]) -> Option<u64> {
        self.inner.share_percent(ranges)
    }

    fn collect(&self, percent_min: u64) -> Result<Collecting, ColdError> {
        self.inner.collect(percent_min)
    }

    fn checkpoint_writer(&self) -> Result<Box<dyn CheckpointWriter<'_> + '_>, ColdError> {
        let inner = self.inner.checkpoint_writer()?;
        Ok(Box::new(StagedWriter { inner, stage: &self.stage, candidates: 0 }))
    }

    fn backup(&self, dir: &Path) -> Result<(), ColdError> {
        self.inner.backup(dir)
    }

    fn stats(&self) -> ColdStats {
        self.inner.stats()
    }

    fn pressure(&self) -> Pressure {
        self.inner.pressure()
    }

    fn close(&self) {
        self.inner.close();
    }
}

struct StagedWriter<'tier> {
    inner: Box<dyn CheckpointWriter<'tier> + 'tier>,
    stage: &'tier Stage,
    /// Rows of the sort of which some are forgotten.
    candidates: usize,
}

impl<'tier> CheckpointWriter<'tier> for StagedWriter<'tier> {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), ColdError> {
        if RowsOf::Elements.has(key) && self.stage.pass(Point::Element) == Cue::NoSpace {
            return Err(no_space());
        }
        if self.stage.faults().drops_rows_of.is_some_and(|rows| rows.has(key)) {
            self.candidates += 1;
            if self.candidates % 8 == 7 {
                return Ok(());
            }
        }
        if self.stage.faults().drops_last_versions
            && key.starts_with(MARKS)
            && let Ok(mark) = Mark::decode(value)
        {
            let mut forgetful = Vec::new();
            Mark { last_version: Version::NONE, ..mark }.encode(&mut forgetful);
            return self.inner.put(key, &forgetful);
        }
        self.inner.put(key, value)
    }

    fn delete(&mut self, key: &[u8]) -> Result<(), ColdError> {
        if self.stage.faults().drops_deletes {
            return Ok(());
        }
        self.inner.delete(key)
    }

    fn delete_range(&mut self, from: &[u8], to: &[u8]) -> Result<(), ColdError> {
        if self.stage.faults().drops_ranges {
            return Ok(());
        }
        self.inner.delete_range(from, to)
    }

    fn begin_file(&mut self) -> Result<(), ColdError> {
        self.inner.begin_file()
    }

    fn bytes(&self) -> u64 {
        if self.stage.faults().checkpoints_look_huge { u64::MAX } else { self.inner.bytes() }
    }

    fn prepare(self: Box<Self>) -> Result<Box<dyn PreparedCheckpoint + 'tier>, ColdError> {
        if self.stage.pass(Point::Prepare) == Cue::NoSpace {
            return Err(no_space());
        }
        let (inner, stage) = (self.inner.prepare()?, self.stage);
        Ok(Box::new(StagedPrepared { inner, stage }))
    }
}

struct StagedPrepared<'tier> {
    inner: Box<dyn PreparedCheckpoint + 'tier>,
    stage: &'tier Stage,
}

impl PreparedCheckpoint for StagedPrepared<'_> {
    fn commit(self: Box<Self>) -> Result<(), ColdError> {
        if self.stage.pass(Point::Commit) == Cue::NoSpace {
            return Err(no_space());
        }
        self.inner.commit()?;
        // It is there, whatever is said of it now: the trait allows that after a failed sync.
        match self.stage.pass(Point::Committed) {
            Cue::GoOn => Ok(()),
            Cue::NoSpace => Err(no_space()),
        }
    }

    fn discard(self: Box<Self>) {
        self.inner.discard();
    }
}

fn no_space() -> ColdError {
    ColdError::NoSpace { detail: "by order of the director".to_owned() }
}
