//! The writer thread: the group commit.
//!
//! ```text
//! appends ─▶ stream buffers ══ cut ══▶ group n ── one write ─▶ kernel ── one fdatasync ─▶ disk
//!            (n + 1 gathers)                      written = n             durable = n
//! ```
//!
//! The cut takes every stream's lock, in order, swaps the buffers for empty ones and opens the next
//! group before it lets go. So a group is a consistent cut: an atomic append, which holds the locks
//! of its streams together, is in it whole or not at all, and nothing in group n was appended after
//! something in n + 1. While group n is being written and synced, group n + 1 gathers: the slower
//! the disk, the larger the groups. Under `Always` it may gather a little longer, see
//! [`crate::gather`].
//!
//! One thread writes, so the end of the log, its last page and the chain of checksums need no lock.

use std::io::{self, IoSlice};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use basalt_env::{DiskFile, is_disk_full};
use basalt_stdx::sleeper::WakeOn;

use crate::clean_end::CleanEnd;
use crate::error::JournalError;
use crate::format::{
    CHECKSUM_BYTES, GROUP_HEADER_BYTES, GroupHeader, Lineage, PAGE_BYTES, SegmentHeader,
    group_bytes, salted_hasher,
};
use crate::gate::Closed;
use crate::gather::Gathering;
use crate::ledger::{CompleteSegment, Ledger};
use crate::options::FsyncPolicy;
use crate::pace::{over_length, refused_for};
use crate::segments::{PreparedFile, Segments};
use crate::shared::Shared;
use crate::stream::StreamCut;
use crate::sync::{SyncScope, acknowledge_too_early, note_written, sync_files};

/// Under `Always`, records that nobody kicked are written after this time.
const UNKICKED_DELAY: Duration = Duration::from_secs(1);
/// Without traffic the writer sleeps until it is woken; this bounds a sleep only formally.
const IDLE_SLEEP: Duration = Duration::from_secs(3600);
/// How long to wait before a write that found the disk full is tried again.
const FULL_DISK_RETRY: Duration = Duration::from_secs(1);

/// The segment being written.
pub(crate) struct ActiveSegment {
    pub(crate) id: u64,
    pub(crate) salt: u64,
    pub(crate) file: Arc<dyn DiskFile>,
    pub(crate) bytes: u64,
    /// What stands between the last page boundary and the end of the log; written again with the
    /// next group. In a new segment: its header, which goes out with the first group.
    pub(crate) prefix: Vec<u8>,
    /// Where in the file the prefix begins: a multiple of the page size.
    pub(crate) prefix_offset: u64,
}

pub(crate) struct Writer {
    shared: Arc<Shared>,
    active: ActiveSegment,
    ledger: Ledger,
    cuts: Vec<StreamCut>,
    /// The last group that was cut.
    group: u64,
    checksum: u32,
    /// How long the last sync under `Always` took.
    last_sync: Duration,
    /// Since when [`crate::pace`] lets records in.
    accepting_since_ns: u64,
    /// Records up to the last cut and up to the one before, of all streams.
    records_cut: u64,
    records_cut_before: u64,
}

/// What a step has come to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// A group was written.
    Worked,
    /// There was none.
    Idle,
    /// The log is sealed: there is no step after this.
    Sealed,
}

impl ActiveSegment {
    /// A segment of which nothing is written yet, not even its header.
    pub(crate) fn begin(prepared: PreparedFile, header: &SegmentHeader) -> Self {
        Self {
            id: prepared.id,
            salt: header.salt,
            file: prepared.file,
            bytes: prepared.bytes,
            prefix: header.encode(),
            prefix_offset: 0,
        }
    }

    pub(crate) fn end(&self) -> u64 {
        self.prefix_offset + self.prefix.len() as u64
    }

    fn has_room_for(&self, bytes: u64) -> bool {
        self.bytes.saturating_sub(self.end()) >= bytes
    }
}

impl Writer {
    pub(crate) fn new(
        shared: Arc<Shared>,
        active: ActiveSegment,
        ledger: Ledger,
        group: u64,
        checksum: u32,
    ) -> Self {
        let cuts = ledger.streams.iter().map(|_| StreamCut::default()).collect();
        let records = ledger.positions().iter().copied().fold(0, u64::wrapping_add);
        Self {
            shared,
            active,
            ledger,
            cuts,
            group,
            checksum,
            last_sync: Duration::ZERO,
            accepting_since_ns: 0,
            records_cut: records,
            records_cut_before: records,
        }
    }

    /// Works until the journal is closed or fails.
    pub(crate) fn run(&mut self) -> Result<(), JournalError> {
        loop {
            let flush = self.shared.marks.flush_asked.load(Ordering::SeqCst);
            let step = self.step()?;
            if step == Step::Sealed {
                return Ok(());
            }
            if step == Step::Worked {
                self.pace();
            }
            self.rest(step == Step::Worked, flush)?;
        }
    }

    /// Makes one group of what has gathered, and answers those who asked for that before; seals the
    /// log if the journal is being closed.
    pub(crate) fn step(&mut self) -> Result<Step, JournalError> {
        if let Some(failure) = self.shared.failure() {
            return Err(failure);
        }
        let flush = self.shared.marks.flush_asked.load(Ordering::SeqCst);
        let closing = self.shared.is_closing();
        let found = self.cut();
        if found {
            self.commit()?;
        }
        self.serve_flush(flush)?;
        if closing {
            self.seal()?;
            return Ok(Step::Sealed);
        }
        Ok(if found { Step::Worked } else { Step::Idle })
    }

    /// Moves everything that has gathered into a new group; false if there is nothing.
    fn cut(&mut self) -> bool {
        let mut streams: Vec<_> = self.shared.streams.iter().map(|stream| stream.lock()).collect();
        if streams.iter().all(|stream| stream.is_empty()) {
            // Under all locks nothing is buffered for certain, whatever crossed on the way here.
            self.shared.front.gate.open(Closed::OverBuffer);
            return false;
        }
        self.group += 1;
        let step = self.shared.options.account_step();
        for (stream, cut) in streams.iter_mut().zip(&mut self.cuts) {
            stream.cut(cut, self.group + 1, step);
        }
        self.records_cut_before = self.records_cut;
        self.records_cut = streams.iter().map(|stream| stream.last()).fold(0, u64::wrapping_add);
        true
    }

    /// Writes the group that was cut, and syncs it if the policy says so.
    fn commit(&mut self) -> Result<(), JournalError> {
        acknowledge_too_early(&self.shared, self.group);
        self.write_group()?;
        let reported: usize = self.cuts.iter().map(|cut| cut.reported).sum();
        self.cuts.iter_mut().for_each(StreamCut::recycle);
        note_written(&self.shared, self.active.id, &self.active.file, self.group);
        self.shared.settle_report(reported as u64);
        match self.shared.policy() {
            FsyncPolicy::Always => {
                let start_ns = self.shared.env.clock.monotonic_ns();
                sync_files(&self.shared, SyncScope::All)?;
                let took_ns = self.shared.env.clock.monotonic_ns() - start_ns;
                self.last_sync = Duration::from_nanos(took_ns);
                Ok(())
            }
            FsyncPolicy::EverySecond | FsyncPolicy::Never => Ok(()),
        }
    }

    /// Refuses records for a while if the log has become long, or what it is stored in is behind.
    fn pace(&mut self) {
        let shared = &self.shared;
        let from_bytes = shared.options.pace_from_bytes;
        if from_bytes == u64::MAX {
            return;
        }
        let accepted_ns = shared.env.clock.monotonic_ns() - self.accepting_since_ns;
        let over_length = over_length(shared.segments.log_bytes(), from_bytes);
        let over = over_length.max(shared.backlog.over());
        let refused_for = refused_for(over, Duration::from_nanos(accepted_ns));
        if refused_for > Duration::ZERO {
            shared.close_gate(Closed::Paced);
            shared.front.sleeper.sleep(refused_for);
            shared.open_gate(Closed::Paced);
        }
        self.accepting_since_ns = shared.env.clock.monotonic_ns();
    }

    /// Tells those who asked before the last cut that their records are with the kernel.
    fn serve_flush(&mut self, flush: u64) -> Result<(), JournalError> {
        let marks = &self.shared.marks;
        if marks.flush_done.load(Ordering::Relaxed) == flush {
            return Ok(());
        }
        if self.shared.policy() == FsyncPolicy::Always {
            // The policy may have changed with groups still unsynced.
            sync_files(&self.shared, SyncScope::All)?;
        }
        self.shared.marks.flush_done.store(flush, Ordering::Release);
        self.shared.announce();
        Ok(())
    }

    /// Sleeps as the policy allows.
    fn rest(&mut self, found: bool, flush: u64) -> Result<(), JournalError> {
        let shared = Arc::clone(&self.shared);
        let always = shared.policy() == FsyncPolicy::Always;
        let asked = |shared: &Shared| {
            shared.marks.flush_asked.load(Ordering::SeqCst) != flush || shared.is_closing()
        };
        if found {
            match always {
                _ if asked(&shared) => {}
                true => {
                    let waiting = self.records_gathered();
                    self.gather(self.records_covered().saturating_add(waiting), &asked);
                }
                false => shared.front.sleeper.sleep(shared.options.idle_write_delay),
            }
            return Ok(());
        }
        shared.front.sleeper.announce(if always { WakeOn::Kick } else { WakeOn::Work });
        // The second look of the sleeper's protocol, and under `Always` a first one.
        if always && self.records_gathered() > 0 {
            shared.front.sleeper.stay_awake();
            self.gather(self.records_covered(), &asked);
            return Ok(());
        }
        if self.cut() {
            shared.front.sleeper.stay_awake();
            return self.commit();
        }
        if asked(&shared) || shared.failure().is_some() {
            shared.front.sleeper.stay_awake();
            return Ok(());
        }
        shared.front.sleeper.sleep(if always { UNKICKED_DELAY } else { IDLE_SLEEP });
        if always && !asked(&shared) {
            self.gather(self.records_covered(), &asked);
        }
        Ok(())
    }

    /// Under `Always`: lets the next group gather, until it has `enough` records at most.
    fn gather(&self, enough: u64, asked: &dyn Fn(&Shared) -> bool) {
        let gathering = Gathering::begin(self.last_sync, enough, self.records_gathered());
        let Some(mut gathering) = gathering else { return };
        let clock = &self.shared.env.clock;
        let start_ns = clock.monotonic_ns();
        while let Some(look) =
            gathering.next_look(Duration::from_nanos(clock.monotonic_ns() - start_ns))
        {
            self.shared.front.sleeper.sleep(look);
            if asked(&self.shared) || !gathering.goes_on(self.records_gathered()) {
                return;
            }
        }
    }

    /// Records of the last group.
    fn records_covered(&self) -> u64 {
        self.records_cut.wrapping_sub(self.records_cut_before)
    }

    /// Records since the last cut, roughly: a stream that was cut off or raised counts for what it
    /// may.
    fn records_gathered(&self) -> u64 {
        let last = self.shared.streams.iter().map(|stream| stream.lock().last());
        last.fold(0, u64::wrapping_add).wrapping_sub(self.records_cut)
    }

    /// Ends the log cleanly: syncs it and says in an empty group that it is synced, so that damage
    /// to the last groups shows at the next start.
    fn seal(&mut self) -> Result<(), JournalError> {
        sync_files(&self.shared, SyncScope::All)?;
        if self.group == 0 {
            return Ok(());
        }
        if group_bytes(0).is_some_and(|bytes| self.active.has_room_for(bytes)) {
            self.group += 1;
            self.write_group()?;
            note_written(&self.shared, self.active.id, &self.active.file, self.group);
            sync_files(&self.shared, SyncScope::All)?;
        }
        let Segments { disk, dir, journal, .. } = &self.shared.segments;
        let end = CleanEnd { journal: *journal, segment: self.active.id, group: self.group };
        // Without it the next start notices less, and nothing is lost.
        let _ = end.write(&**disk, dir);
        Ok(())
    }

    fn write_group(&mut self) -> Result<(), JournalError> {
        let body_bytes = self.cuts.iter().map(|cut| cut.len() as u64).sum();
        let total = group_bytes(body_bytes).unwrap_or(u64::MAX);
        if !self.active.has_room_for(total) {
            self.next_segment(total)?;
        }
        let header = GroupHeader {
            segment: self.active.id,
            salt: self.active.salt,
            number: self.group,
            durable: self.shared.marks.synced.load(Ordering::Acquire),
            body_bytes,
            previous_checksum: self.checksum,
        };
        let header = header.encode();
        let mut hasher = salted_hasher(self.active.salt);
        hasher.update(&header);
        self.cuts.iter().flat_map(StreamCut::pieces).for_each(|piece| hasher.update(piece));
        let checksum = hasher.finalize();

        let end = self.active.end() + total;
        let framing = (GROUP_HEADER_BYTES + CHECKSUM_BYTES) as u64;
        let mut tail = checksum.to_le_bytes().to_vec();
        let padding = total - framing - body_bytes + (end.next_multiple_of(PAGE_BYTES) - end);
        tail.resize(CHECKSUM_BYTES + padding as usize, 0);
        let parts: Vec<&[u8]> = [&self.active.prefix[..], &header]
            .into_iter()
            .chain(self.cuts.iter().flat_map(StreamCut::pieces))
            .chain([&tail[..]])
            .collect();

        self.write_patiently(&parts)?;
        let next_offset = end - end % PAGE_BYTES;
        let prefix = bytes_between(&parts, self.active.prefix_offset, next_offset, end);
        self.active.prefix = prefix;
        self.active.prefix_offset = next_offset;
        self.checksum = checksum;
        self.note_group(total);
        Ok(())
    }

    /// Writes at the end of the log; waits as long as the disk is full.
    fn write_patiently(&self, parts: &[&[u8]]) -> Result<(), JournalError> {
        let slices: Vec<IoSlice<'_>> = parts.iter().map(|part| IoSlice::new(part)).collect();
        let active = &self.active;
        // Writing the same bytes to the same place again is safe; syncing again would not be.
        self.retry_while_full(|| active.file.write_all_at(&slices, active.prefix_offset))
    }

    fn note_group(&mut self, bytes: u64) {
        self.shared.counters.group_written(bytes);
        let mut inner = self.shared.segments.inner.lock();
        inner.active_used_bytes = self.active.end();
        for (index, cut) in self.cuts.iter_mut().enumerate().filter(|(_, cut)| !cut.is_empty()) {
            if let Some(from) = cut.changes.truncated_from {
                inner.history.truncated(index, from);
            }
            if let Some(last) = cut.changes.raised_to {
                inner.history.raised(index, last);
            }
            self.ledger.streams[index].changed(&mut cut.changes);
        }
    }

    /// Goes on in the next segment file; a group larger than that gets it made larger.
    fn next_segment(&mut self, group_bytes: u64) -> Result<(), JournalError> {
        let mut prepared = self.wait_for_prepared()?;
        let header = SegmentHeader {
            id: prepared.id,
            salt: self.shared.env.entropy.seed(),
            first_group: self.group,
            durable: self.shared.marks.synced.load(Ordering::Acquire),
            previous_checksum: self.checksum,
            lineage: Some(Lineage {
                journal: self.shared.segments.journal,
                previous: self.active.id,
            }),
            streams: self.ledger.states(),
        };
        let complete = CompleteSegment {
            id: self.active.id,
            file_bytes: self.active.bytes,
            used_bytes: self.active.end(),
            highest: self.ledger.end_segment(),
            next_group: self.group,
        };
        let needed = (header.encode().len() as u64).saturating_add(group_bytes);
        if needed > prepared.bytes {
            prepared.bytes = needed.next_multiple_of(PAGE_BYTES);
            let (file, bytes) = (Arc::clone(&prepared.file), prepared.bytes);
            self.retry_while_full(|| file.reserve(bytes))?;
        }
        let base = self.ledger.positions();
        self.shared.segments.inner.lock().history.go_on(complete, base);
        self.active = ActiveSegment::begin(prepared, &header);
        self.shared.sync.segment_complete();
        Ok(())
    }

    /// The file that the housekeeper has ready, or will have when the disk has room again.
    fn wait_for_prepared(&self) -> Result<PreparedFile, JournalError> {
        let segments = &self.shared.segments;
        loop {
            let mut inner = segments.inner.lock();
            if let Some(prepared) = inner.prepared.pop_front() {
                drop(inner);
                segments.changed.notify_all();
                self.shared.open_gate(Closed::NoSpaceToWrite);
                return Ok(prepared);
            }
            if let Some(failure) = self.shared.failure() {
                return Err(failure);
            }
            let stands_still = self.shared.front.gate.has(Closed::NoNextSegment);
            if stands_still && self.shared.is_closing() {
                return Err(JournalError::DiskFull);
            }
            if stands_still && !self.shared.front.gate.has(Closed::NoSpaceToWrite) {
                drop(inner);
                self.shared.close_gate(Closed::NoSpaceToWrite);
                continue;
            }
            segments.changed.wait_for(&mut inner, FULL_DISK_RETRY);
        }
    }

    fn retry_while_full(&self, work: impl Fn() -> io::Result<()>) -> Result<(), JournalError> {
        loop {
            match work() {
                Ok(()) => {
                    self.shared.open_gate(Closed::NoSpaceToWrite);
                    return Ok(());
                }
                Err(error) if is_disk_full(&error) => {
                    self.shared.close_gate(Closed::NoSpaceToWrite);
                    if self.shared.is_closing() {
                        return Err(JournalError::DiskFull);
                    }
                    std::thread::park_timeout(FULL_DISK_RETRY);
                }
                Err(error) => {
                    let id = self.active.id;
                    let reason = format!("cannot write segment {id:016x}: {error}");
                    self.shared.fail(reason.clone());
                    return Err(JournalError::Failed(reason));
                }
            }
        }
    }
}

/// The bytes `from..to` of a file in which `parts` stand one after the other from `offset` on.
fn bytes_between(parts: &[&[u8]], offset: u64, from: u64, to: u64) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(PAGE_BYTES as usize);
    let mut start = offset;
    for part in parts {
        let end = start + part.len() as u64;
        if end > from && start < to {
            let first = from.saturating_sub(start) as usize;
            let last = (to.min(end) - start) as usize;
            bytes.extend_from_slice(&part[first..last]);
        }
        start = end;
    }
    bytes
}
