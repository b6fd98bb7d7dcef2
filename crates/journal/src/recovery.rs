//! The way back: from segment files to records, positions and the place where the log goes on.
//!
//! Segments are read in the order of their ids, groups in the order of their numbers, and a group
//! counts whole or not at all. The log ends at the first group that cannot be read; `evidence`
//! decides whether that is a torn tail, which is cut, or damage, which stops the start. Cutting
//! destroys whatever headers follow, so that no later log can grow into them. Whatever was read is
//! then synced: a killed process may have left it in the page cache only, and from here on it
//! counts as durable.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use basalt_env::{Disk, DiskFile, Env};

use crate::clean_end::{CleanEnd, path_in};
use crate::error::{OpenError, ReplayError};
use crate::evidence::{Evidence, search};
use crate::format::{Lineage, PAGE_BYTES, SegmentHeader};
use crate::frames::{
    Beginning, FrameFault, FrameHeader, FrameKind, FrameVisitor, ReplaySink, split_record,
    visit_frames,
};
use crate::group_reader::GroupReader;
use crate::ledger::{CompleteSegment, History, Ledger};
use crate::options::Options;
use crate::segment_file::{Start, create, id_of, path_of, read_start};
use crate::segments::PreparedFile;
use crate::types::{JournalId, Seq, StreamId};
use crate::writer::ActiveSegment;

/// No honest counter reaches this; a file that says so is refused before arithmetic can overflow.
const COUNTER_MAX: u64 = 1 << 62;

/// Where the log goes on.
pub(crate) struct Recovered {
    pub(crate) journal: JournalId,
    /// Why the log would not have been opened if that had not been asked for.
    pub(crate) accepted_loss: Option<OpenError>,
    pub(crate) active: ActiveSegment,
    pub(crate) ledger: Ledger,
    pub(crate) history: History,
    pub(crate) prepared: VecDeque<PreparedFile>,
    pub(crate) next_id: u64,
    /// The last group of the log, and its checksum.
    pub(crate) group: u64,
    pub(crate) checksum: u32,
}

/// A segment file as it was found.
struct FoundFile {
    id: u64,
    path: PathBuf,
    bytes: u64,
    start: Start,
}

struct Recovery<'a> {
    env: &'a Env,
    disk: &'a dyn Disk,
    dir: &'a Path,
    options: &'a Options,
    replay: &'a mut dyn ReplaySink,
    journal: JournalId,
    clean_end: Option<CleanEnd>,
    accepted_loss: Option<OpenError>,
    ledger: Ledger,
    history: History,
    /// The last group that was accepted, and its checksum.
    group: u64,
    checksum: u32,
    /// The highest group that any header read so far calls durable.
    durable: u64,
    buffer: Vec<u8>,
}

/// Reads the log in a directory, or begins one.
pub(crate) fn recover(
    env: &Env,
    disk: &dyn Disk,
    dir: &Path,
    options: &Options,
    replay: &mut dyn ReplaySink,
) -> Result<Recovered, OpenError> {
    let files = find_files(disk, dir)?;
    let clean_end = CleanEnd::read(disk, dir).map_err(OpenError::io("read", path_in(dir)))?;
    let named = files.iter().find_map(|file| Some(file.lineage()?.journal));
    let named = named.or(clean_end.map(|end| end.journal)).or(options.adopt);
    let recovery = Recovery {
        env,
        disk,
        dir,
        options,
        replay,
        journal: named.unwrap_or_else(|| JournalId::new(&*env.entropy)),
        clean_end,
        accepted_loss: None,
        ledger: Ledger::default(),
        history: History::default(),
        group: 0,
        checksum: 0,
        durable: 0,
        buffer: Vec::new(),
    };
    if files.iter().any(|file| matches!(file.start, Start::Begun(..))) {
        recovery.read_log(files)
    } else {
        recovery.begin_log(&files)
    }
}

fn find_files(disk: &dyn Disk, dir: &Path) -> Result<Vec<FoundFile>, OpenError> {
    let names = disk.list(dir).map_err(OpenError::io("list", dir))?;
    let mut ids: Vec<u64> = names.iter().filter_map(|name| id_of(name)).collect();
    ids.sort_unstable();
    let mut files = Vec::with_capacity(ids.len());
    for id in ids {
        let path = path_of(dir, id);
        let file = disk.open(&path).map_err(OpenError::io("open", &path))?;
        let bytes = file.bytes().map_err(OpenError::io("measure", &path))?;
        let start = read_start(&*file, id).map_err(OpenError::io("read", &path))?;
        files.push(FoundFile { id, path, bytes, start });
    }
    Ok(files)
}

impl FoundFile {
    fn open(&self, disk: &dyn Disk) -> Result<Arc<dyn DiskFile>, OpenError> {
        disk.open(&self.path).map_err(OpenError::io("open", &self.path))
    }

    /// Of a segment of format 2.
    fn lineage(&self) -> Option<Lineage> {
        match &self.start {
            Start::Begun(header, _) => header.lineage,
            Start::Unused | Start::Unreadable => None,
        }
    }

    fn corrupt(&self, offset: u64, detail: impl Into<String>) -> OpenError {
        OpenError::Corrupt { file: self.path.clone(), offset, detail: detail.into() }
    }

    fn search(&self, disk: &dyn Disk, from: u64, salt: Option<u64>) -> Result<Evidence, OpenError> {
        let file = self.open(disk)?;
        search(&*file, from, self.id, salt).map_err(OpenError::io("read", &self.path))
    }

    fn remove(&self, disk: &dyn Disk) -> Result<(), OpenError> {
        disk.remove(&self.path).map_err(OpenError::io("remove", &self.path))
    }
}

impl Recovery<'_> {
    /// There is no log yet: begins one. A first header is synced before any group follows, so a
    /// file with groups and without a header is damaged, not new.
    fn begin_log(mut self, files: &[FoundFile]) -> Result<Recovered, OpenError> {
        for file in files.iter().filter(|file| file.start == Start::Unreadable) {
            if file.search(self.disk, 0, None)?.headers > 0 {
                return Err(file.corrupt(0, "the segment header is unreadable"));
            }
        }
        if let Some(end) = self.clean_end {
            self.lose(OpenError::Corrupt {
                file: path_of(self.dir, end.segment),
                offset: 0,
                detail: format!(
                    "the file is missing: the log was closed after its group {}",
                    end.group
                ),
            })?;
            self.journal = JournalId::new(&*self.env.entropy);
        }
        let missing_through = vec![Seq(0); usize::from(self.options.streams)];
        self.replay.begin(&Beginning {
            journal: self.journal,
            is_named: true,
            is_new: true,
            file: self.dir,
            missing_through: &missing_through,
        })?;
        for file in files {
            file.remove(self.disk)?;
        }
        let id = files.last().map_or(1, |file| file.id.saturating_add(1));
        let path = path_of(self.dir, id);
        let bytes = self.options.segment_bytes;
        let made = create(self.disk, self.dir, id, bytes);
        let file = made.map_err(OpenError::io("create", &path))?;
        let header = SegmentHeader {
            id,
            salt: self.env.entropy.seed(),
            first_group: 1,
            durable: 0,
            previous_checksum: 0,
            lineage: Some(Lineage { journal: self.journal, previous: 0 }),
            streams: vec![Default::default(); usize::from(self.options.streams)],
        };
        let active = ActiveSegment::begin(PreparedFile { id, file, bytes }, &header);
        let pages = [IoSlice::new(&active.prefix)];
        active.file.write_all_at(&pages, 0).map_err(OpenError::io("write", &path))?;
        active.file.sync_data().map_err(OpenError::io("sync", &path))?;
        self.ledger = Ledger::at(&header.streams);
        self.history = History::beginning_at(self.ledger.positions());
        Ok(self.done(active, VecDeque::new(), id + 1))
    }

    fn read_log(mut self, files: Vec<FoundFile>) -> Result<Recovered, OpenError> {
        let first = &files[0];
        let Start::Begun(header, _) = &first.start else {
            return Err(first.corrupt(0, "the segment header is unreadable"));
        };
        self.take_first_header(first, header)?;
        self.check_lineages(&files)?;
        let missing: Vec<Seq> = self.history.missing_through.iter().copied().map(Seq).collect();
        self.replay.begin(&Beginning {
            journal: self.journal,
            is_named: header.lineage.is_some(),
            is_new: false,
            file: &first.path,
            missing_through: &missing,
        })?;
        let mut index = 0;
        loop {
            let end = self.read_segment(&files[index])?;
            let next = files.get(index + 1);
            if let Some(Start::Begun(header, _)) = next.map(|next| &next.start)
                && header.first_group == self.group + 1
                && header.previous_checksum == self.checksum
            {
                self.go_on(&files[index], end, header)?;
                index += 1;
                continue;
            }
            self.judge_tail(&files[index..], end)?;
            return self.settle(files, index, end);
        }
    }

    fn take_first_header(
        &mut self,
        file: &FoundFile,
        header: &SegmentHeader,
    ) -> Result<(), OpenError> {
        let (found, wanted) = (header.streams.len(), self.options.streams);
        if found != usize::from(wanted) {
            return Err(OpenError::StreamsDiffer { found: found as u16, wanted });
        }
        let counters = header.streams.iter().map(|stream| stream.last);
        let highest = counters.chain([header.first_group, header.id]).max().unwrap_or(0);
        if header.first_group == 0 || highest >= COUNTER_MAX {
            return Err(file.corrupt(0, "the segment header holds impossible numbers"));
        }
        self.group = header.first_group - 1;
        self.checksum = header.previous_checksum;
        self.ledger = Ledger::at(&header.streams);
        self.history = History::beginning_at(self.ledger.positions());
        Ok(())
    }

    /// All segments must be of one journal, and none between them may be missing. Segments of
    /// format 1 do not say.
    fn check_lineages(&mut self, files: &[FoundFile]) -> Result<(), OpenError> {
        for (index, file) in files.iter().enumerate() {
            let Some(lineage) = file.lineage() else { continue };
            if lineage.journal != self.journal {
                let detail = format!(
                    "the segment belongs to another journal, {}, than the others, {}",
                    lineage.journal, self.journal
                );
                return Err(file.corrupt(0, detail));
            }
            if index > 0 && files.iter().all(|before| before.id != lineage.previous) {
                self.lose(OpenError::Corrupt {
                    file: path_of(self.dir, lineage.previous),
                    offset: 0,
                    detail: format!("the file is missing: segment {:016x} follows it", file.id),
                })?;
            }
        }
        match self.clean_end {
            Some(end) if end.journal != self.journal => Err(OpenError::Corrupt {
                file: path_in(self.dir),
                offset: 0,
                detail: "the file belongs to another journal than the segments".to_owned(),
            }),
            _ => Ok(()),
        }
    }

    /// Something that had been made durable is gone: an error, unless that is accepted.
    fn lose(&mut self, error: OpenError) -> Result<(), OpenError> {
        if !self.options.accept_loss {
            return Err(error);
        }
        self.accepted_loss.get_or_insert(error);
        CleanEnd::remove(self.disk, self.dir).map_err(OpenError::io("remove", path_in(self.dir)))
    }

    /// Replays a segment; returns where its readable groups end.
    fn read_segment(&mut self, found: &FoundFile) -> Result<u64, OpenError> {
        let &Start::Begun(ref header, mut offset) = &found.start else {
            return Err(found.corrupt(0, "the segment header is unreadable"));
        };
        self.durable = self.durable.max(header.durable);
        let file = found.open(self.disk)?;
        let buffer = std::mem::take(&mut self.buffer);
        let mut reader = GroupReader::new(file, found.bytes, buffer);
        loop {
            let read = reader.group(offset, header.id, header.salt);
            let group = match read.map_err(OpenError::io("read", &found.path))? {
                Some(group) if self.is_next(&group.header) => group,
                _ => break,
            };
            let mut applier = FrameApplier {
                ledger: &mut self.ledger,
                history: &mut self.history,
                replay: self.replay,
            };
            visit_frames(group.body, &mut applier).map_err(|fault| fault.at(found, offset))?;
            self.group = group.header.number;
            self.checksum = group.checksum;
            self.durable = self.durable.max(group.header.durable);
            offset += group.bytes;
        }
        self.buffer = reader.into_buffer();
        Ok(offset)
    }

    fn is_next(&self, header: &crate::format::GroupHeader) -> bool {
        header.number == self.group + 1
            && header.previous_checksum == self.checksum
            && header.durable <= self.group
    }

    fn go_on(
        &mut self,
        ended: &FoundFile,
        end: u64,
        next: &SegmentHeader,
    ) -> Result<(), OpenError> {
        if next.streams != self.ledger.states() {
            let detail = "the next segment's header contradicts the groups up to here";
            return Err(ended.corrupt(end, detail));
        }
        let complete = CompleteSegment {
            id: ended.id,
            file_bytes: ended.bytes,
            used_bytes: end,
            highest: self.ledger.end_segment(),
            next_group: next.first_group,
        };
        self.history.go_on(complete, self.ledger.positions());
        Ok(())
    }

    /// The log ends in the first of these files: an error if something says that it should not.
    fn judge_tail(&mut self, files: &[FoundFile], end_of_log: u64) -> Result<(), OpenError> {
        let missing = self.group + 1;
        let mut durable = self.durable;
        for (index, file) in files.iter().enumerate() {
            let from = if index == 0 { end_of_log } else { 0 };
            match &file.start {
                Start::Begun(header, _) => {
                    let evidence = file.search(self.disk, from, Some(header.salt))?;
                    durable = durable.max(header.durable).max(evidence.durable);
                }
                Start::Unreadable => {
                    durable = durable.max(file.search(self.disk, from, None)?.durable);
                }
                Start::Unused => {}
            }
        }
        if let Some(end) = self.clean_end.filter(|end| durable < missing && end.group >= missing) {
            let detail = format!(
                "group {missing} is missing, and the log was closed after group {} in segment {:016x}",
                end.group, end.segment
            );
            return self.lose(files[0].corrupt(end_of_log, detail));
        }
        if durable < missing {
            return Ok(());
        }
        let detail = format!(
            "group {missing} is unreadable, and later headers say that everything through group \
             {durable} was on disk"
        );
        self.lose(files[0].corrupt(end_of_log, detail))
    }

    /// Cuts the tail, keeps what can be used again, and makes everything that was read durable.
    fn settle(
        self,
        mut files: Vec<FoundFile>,
        index: usize,
        end: u64,
    ) -> Result<Recovered, OpenError> {
        let later = files.split_off(index + 1);
        let next_id = later.last().unwrap_or(&files[index]).id.saturating_add(1);
        let prepared = self.keep_unused(&later)?;
        for segment in &self.history.complete {
            // A header further on may be durable although this segment's last groups never were
            // synced.
            if segment.next_group > self.durable + 1 {
                let path = path_of(self.dir, segment.id);
                let file = self.disk.open(&path).map_err(OpenError::io("open", &path))?;
                file.sync_data().map_err(OpenError::io("sync", &path))?;
            }
        }
        let tail = &files[index];
        let Start::Begun(header, _) = &tail.start else {
            return Err(tail.corrupt(0, "the segment header is unreadable"));
        };
        let evidence = tail.search(self.disk, end, Some(header.salt))?;
        let file = tail.open(self.disk)?;
        if evidence.headers > 0 {
            erase(&*file, end, evidence.end).map_err(OpenError::io("write", &tail.path))?;
        }
        file.sync_data().map_err(OpenError::io("sync", &tail.path))?;
        let prefix_offset = end - end % PAGE_BYTES;
        let mut prefix = vec![0; (end - prefix_offset) as usize];
        let read =
            file.read_at(&mut prefix, prefix_offset).map_err(OpenError::io("read", &tail.path))?;
        if read < prefix.len() {
            return Err(tail.corrupt(prefix_offset, "the file became shorter while it was read"));
        }
        let (id, salt, bytes) = (tail.id, header.salt, tail.bytes);
        let active = ActiveSegment { id, salt, file, bytes, prefix, prefix_offset };
        Ok(self.done(active, prepared, next_id))
    }

    /// Of the files behind the end of the log, keeps those that were never begun and removes the
    /// others: all that they hold is groups that were never durable.
    fn keep_unused(&self, later: &[FoundFile]) -> Result<VecDeque<PreparedFile>, OpenError> {
        let mut prepared = VecDeque::new();
        // From the back, so that a crash in between leaves no gap that looks like a lost segment.
        for file in later.iter().rev() {
            let (id, bytes) = (file.id, file.bytes);
            if file.start == Start::Unused && bytes == self.options.segment_bytes {
                prepared.push_front(PreparedFile { id, file: file.open(self.disk)?, bytes });
            } else {
                file.remove(self.disk)?;
            }
        }
        self.disk.sync_dir(self.dir).map_err(OpenError::io("sync", self.dir))?;
        Ok(prepared)
    }

    fn done(
        self,
        active: ActiveSegment,
        prepared: VecDeque<PreparedFile>,
        next_id: u64,
    ) -> Recovered {
        Recovered {
            journal: self.journal,
            accepted_loss: self.accepted_loss,
            active,
            ledger: self.ledger,
            history: self.history,
            prepared,
            next_id,
            group: self.group,
            checksum: self.checksum,
        }
    }
}

/// Overwrites a piece of a file with zeros.
fn erase(file: &dyn DiskFile, from: u64, to: u64) -> io::Result<()> {
    let zeros = vec![0; PAGE_BYTES as usize];
    let mut offset = from;
    while offset < to {
        let count = (to - offset).min(PAGE_BYTES) as usize;
        file.write_all_at(&[IoSlice::new(&zeros[..count])], offset)?;
        offset += count as u64;
    }
    Ok(())
}

/// Hands frames to the caller and enters them in the books.
struct FrameApplier<'a> {
    ledger: &'a mut Ledger,
    history: &'a mut History,
    replay: &'a mut dyn ReplaySink,
}

enum ApplyError {
    Contradiction(&'static str),
    Replay(ReplayError),
}

impl From<ReplayError> for ApplyError {
    fn from(error: ReplayError) -> Self {
        Self::Replay(error)
    }
}

impl FrameFault<ApplyError> {
    fn at(self, file: &FoundFile, offset: u64) -> OpenError {
        match self {
            Self::Malformed(detail) | Self::Visitor(ApplyError::Contradiction(detail)) => {
                file.corrupt(offset, detail)
            }
            Self::Visitor(ApplyError::Replay(error)) => OpenError::Replay(error),
        }
    }
}

impl FrameVisitor for FrameApplier<'_> {
    type Error = ApplyError;

    fn records(&mut self, header: &FrameHeader, mut payload: &[u8]) -> Result<(), ApplyError> {
        let stream = StreamId(header.stream);
        let Some(ledger) = self.ledger.streams.get_mut(stream.index()) else {
            return Err(ApplyError::Contradiction("records of a stream that does not exist"));
        };
        if header.seq != ledger.state.last + 1 {
            return Err(ApplyError::Contradiction("records are missing from a stream"));
        }
        for seq in (header.seq..).take(header.count as usize) {
            let Some((record, rest)) = split_record(payload) else {
                return Err(ApplyError::Contradiction("a record is longer than its frame"));
            };
            self.replay.record(stream, Seq(seq), record)?;
            ledger.appended(seq);
            payload = rest;
        }
        if payload.is_empty() {
            return Ok(());
        }
        Err(ApplyError::Contradiction("a frame is longer than its records"))
    }

    fn control(&mut self, header: &FrameHeader, payload: &[u8]) -> Result<(), ApplyError> {
        let stream = StreamId(header.stream);
        let index = stream.index();
        let Some(ledger) = self.ledger.streams.get_mut(index) else {
            return Err(ApplyError::Contradiction("a change of a stream that does not exist"));
        };
        match header.kind {
            FrameKind::Truncate if header.seq <= ledger.state.last => {
                self.replay.truncate_suffix(stream, Seq(header.seq))?;
                ledger.state.last = header.seq.saturating_sub(1);
                self.history.truncated(index, header.seq);
            }
            FrameKind::Raise if (ledger.state.last..COUNTER_MAX).contains(&header.seq) => {
                self.replay.raise(stream, Seq(header.seq))?;
                ledger.state.last = header.seq;
                self.history.raised(index, header.seq);
            }
            FrameKind::HardState => ledger.state.hard_state = payload.to_vec(),
            FrameKind::Truncate | FrameKind::Raise | FrameKind::Records => {
                return Err(ApplyError::Contradiction("a change that contradicts its stream"));
            }
        }
        Ok(())
    }
}
