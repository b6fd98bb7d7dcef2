//! The journal as its callers see it.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use basalt_env::thread::JoinHandle;
use basalt_env::{DirectoryLock, Disk, Env};
use basalt_stdx::lent::Parts;
use parking_lot::Mutex;

use crate::cache_padded::CachePadded;
use crate::error::{JournalError, OpenError};
use crate::frames::ReplaySink;
use crate::gate::Closed;
use crate::housekeeper::Housekeeper;
use crate::options::{Driver, FsyncPolicy, HARD_STATE_BYTES_MAX, Options};
use crate::recovery::recover;
use crate::segments::{Inner, Segments, TrimRequest};
use crate::shared::{Marks, Shared, StreamLock};
use crate::stats::Stats;
use crate::steps::Steps;
use crate::stream::StreamBuffer;
use crate::sync::{SyncScope, Syncer, sync_files};
use crate::types::{Group, Health, JournalId, Seq, StreamId, Wake};
use crate::writer::Writer;

/// A write-ahead log of many streams; see the crate's first page.
///
/// Dropping it writes and syncs what was appended, like [`Journal::close`], but tells nobody
/// whether that went well.
pub struct Journal {
    shared: Arc<Shared>,
    writer: Option<JoinHandle<Result<(), JournalError>>>,
    others: Vec<JoinHandle<Result<(), JournalError>>>,
    /// Under [`Driver::Caller`], in place of the threads.
    steps: Option<Mutex<Steps>>,
    accepted_loss: Option<OpenError>,
    _lock: DirectoryLock,
}

impl Journal {
    /// Opens the journal in a directory, or begins one, and replays what is in it.
    ///
    /// Records come in the order in which they were appended, all streams interleaved. Whatever was
    /// replayed is durable when this returns.
    pub fn open(
        env: &Env,
        disk: Arc<dyn Disk>,
        dir: &Path,
        options: Options,
        replay: &mut dyn ReplaySink,
    ) -> Result<Self, OpenError> {
        let options = options.checked()?;
        disk.create_dir(dir).map_err(OpenError::io("create", dir))?;
        let lock = disk.lock_dir(dir).map_err(|error| match error.kind() {
            std::io::ErrorKind::WouldBlock => OpenError::Locked(dir.to_path_buf()),
            _ => OpenError::io("lock", dir)(error),
        })?;
        let recovered = recover(env, &*disk, dir, &options, replay)?;
        let accepted_loss = recovered.accepted_loss;
        let group = recovered.group;
        let streams = (0..).zip(&recovered.ledger.streams).map(|(stream, ledger)| {
            let (last, state) = (ledger.state.last, ledger.state.hard_state.clone());
            let step = options.account_step();
            let buffer = StreamBuffer::new(stream, last, state, group + 1, step);
            CachePadded(StreamLock::numbered(buffer, u32::from(stream)))
        });
        let streams = streams.collect();
        let inner = Inner {
            history: recovered.history,
            prepared: recovered.prepared,
            next_id: recovered.next_id,
            active_used_bytes: recovered.active.end(),
            trim: TrimRequest::default(),
        };
        let segments = Segments {
            disk,
            dir: dir.to_path_buf(),
            journal: recovered.journal,
            inner: Mutex::new(inner),
            changed: Default::default(),
        };
        let shared = Arc::new(Shared::new(env.clone(), options, streams, segments, group));
        let (active, ledger) = (recovered.active, recovered.ledger);
        let writer = Writer::new(Arc::clone(&shared), active, ledger, group, recovered.checksum);
        let steps = Steps { writer, syncer: Syncer::default(), housekeeper: Housekeeper::new() };
        let (writer, others) = (None, Vec::new());
        let mut journal = Self { shared, writer, others, steps: None, accepted_loss, _lock: lock };
        match journal.shared.options.driver {
            Driver::Caller => journal.steps = Some(Mutex::new(steps)),
            Driver::Threads => {
                journal.start_all(steps).map_err(OpenError::io("start a thread for", dir))?;
            }
        }
        Ok(journal)
    }

    fn start_all(&mut self, steps: Steps) -> std::io::Result<()> {
        let Steps { mut writer, mut syncer, mut housekeeper } = steps;
        let thread = self.start("journal-writer", move |_| writer.run())?;
        self.shared.front.sleeper.adopt(thread.thread());
        self.writer = Some(thread);
        let sync = move |shared: &Shared| {
            syncer.run(shared);
            Ok(())
        };
        self.others.push(self.start("journal-syncer", sync)?);
        let keep_house = move |shared: &Shared| {
            housekeeper.run(shared);
            Ok(())
        };
        self.others.push(self.start("journal-files", keep_house)?);
        Ok(())
    }

    /// Under [`Driver::Caller`]: writes, syncs and tidies up what there is to do now. Returns false
    /// if there was nothing to do, or the disk is too full for it; under [`Driver::Threads`]
    /// always.
    ///
    /// # Errors
    /// The journal has failed.
    pub fn step(&self) -> Result<bool, JournalError> {
        match &self.steps {
            Some(steps) => steps.lock().make(&self.shared),
            None => Ok(false),
        }
    }

    /// Waits until `reached` says so, or makes the steps to it.
    fn wait_until(&self, reached: impl Fn(&Marks) -> bool) -> Result<(), JournalError> {
        if self.steps.is_none() {
            return self.shared.wait_until(reached);
        }
        while !reached(&self.shared.marks) {
            if !self.step()? && !reached(&self.shared.marks) {
                return Err(JournalError::DiskFull);
            }
        }
        Ok(())
    }

    /// The journal's name.
    pub fn id(&self) -> JournalId {
        self.shared.segments.journal
    }

    /// Why it would not have been opened without [`Options::accept_loss`].
    pub fn accepted_loss(&self) -> Option<&OpenError> {
        self.accepted_loss.as_ref()
    }

    /// Where a stream's next append looks first, to be fetched ahead. Nothing is to be read there.
    #[inline]
    pub fn address(&self, stream: StreamId) -> *const u8 {
        (&raw const *self.shared.streams[stream.index()]).cast()
    }

    /// HOT PATH. Appends one record, given in parts, to one stream.
    ///
    /// The order of calls is the order in the stream. The record is durable when
    /// [`Journal::durable`] has reached the returned group. It is taken even when
    /// [`Journal::accepting`] is false: a caller that asked first may finish what it has begun.
    /// After a failure it is dropped, and its group never becomes durable. Panics if the record is
    /// longer than [`crate::RECORD_BYTES_MAX`].
    #[inline]
    pub fn append(&self, stream: StreamId, parts: &[&[u8]]) -> (Seq, Group) {
        let mut buffer = self.shared.streams[stream.index()].lock();
        let seq = buffer.push(parts);
        let group = buffer.group();
        if buffer.owes_report() {
            self.shared.take_report(&mut buffer);
        }
        drop(buffer);
        self.shared.front.sleeper.after_work();
        (Seq(seq), Group(group))
    }

    /// Appends records to several streams so that recovery yields all of them or none.
    ///
    /// The end of a record may be lent: it is not copied, and given back when it is written. Clears
    /// `seqs` and fills it with the position of each record. Without records nothing is appended,
    /// and the group is one that is durable already.
    pub fn append_atomically(
        &self,
        records: &[(StreamId, Parts<'_>)],
        seqs: &mut Vec<Seq>,
    ) -> Group {
        seqs.clear();
        let streams: BTreeSet<StreamId> = records.iter().map(|(stream, _)| *stream).collect();
        let mut buffers: Vec<_> = streams
            .iter()
            .map(|stream| (*stream, self.shared.streams[stream.index()].lock()))
            .collect();
        let Some(group) = buffers.first().map(|(_, buffer)| Group(buffer.group())) else {
            return self.durable();
        };
        for (stream, record) in records {
            if let Ok(index) = buffers.binary_search_by_key(stream, |(stream, _)| *stream) {
                seqs.push(Seq(buffers[index].1.push_parts(*record)));
            }
        }
        for (_, buffer) in &mut buffers {
            if buffer.owes_report() {
                self.shared.take_report(buffer);
            }
        }
        drop(buffers);
        self.shared.front.sleeper.after_work();
        group
    }

    /// The highest group that is on disk: it and all before it survive a power cut.
    #[inline]
    pub fn durable(&self) -> Group {
        Group(self.shared.marks.durable.load(Ordering::Acquire))
    }

    /// The highest group handed to the kernel: it and all before it survive the death of the
    /// process.
    #[inline]
    pub fn written(&self) -> Group {
        Group(self.shared.marks.written.load(Ordering::Acquire))
    }

    /// Ends a turn: wakes the writer if it sleeps. Costs one load if it does not.
    ///
    /// Under `Always` an append alone wakes nobody, so that a turn's records share one group;
    /// records that nobody kicks are written within a second.
    #[inline]
    pub fn kick(&self) {
        self.shared.front.sleeper.kick();
    }

    /// Has `wake` called whenever `durable` has advanced, the health has changed, or the journal
    /// accepts records again: this, with [`Journal::accepting`], is how to wait for room.
    ///
    /// It is called on one of the journal's threads, or of a caller of [`Journal::sync`]; it must
    /// be quick and must not call [`Journal::sync`], [`Journal::wait_durable`] or
    /// [`Journal::trim`].
    pub fn subscribe(&self, wake: Wake) {
        self.shared.subscribe(wake);
    }

    /// Blocks until everything appended before is on disk, whatever the policy.
    ///
    /// Fails with `DiskFull`, rather than wait, when the records cannot be written for want of
    /// space; they stay in memory and are written when there is some.
    pub fn sync(&self) -> Result<Group, JournalError> {
        let ticket = self.ask_flush();
        self.wait_until(|marks| marks.flush_done.load(Ordering::Acquire) >= ticket)?;
        sync_files(&self.shared, SyncScope::All)?;
        Ok(self.durable())
    }

    /// Begins to bring a group to disk, whatever the policy; subscribers are woken when it is
    /// there. Any number of callers share a sync.
    pub fn want_durable(&self, group: Group) {
        self.shared.sync.want(&self.shared.marks, group.0);
    }

    /// Blocks until a group is on disk, whatever the policy; fails as [`Journal::sync`] does.
    pub fn wait_durable(&self, group: Group) -> Result<(), JournalError> {
        while self.durable() < group {
            if self.shared.policy() == FsyncPolicy::Always {
                self.kick();
                let shared = &self.shared;
                self.wait_until(|marks| {
                    marks.durable.load(Ordering::Acquire) >= group.0
                        || shared.policy() != FsyncPolicy::Always
                })?;
            } else if self.written() >= group {
                sync_files(&self.shared, SyncScope::All)?;
            } else {
                self.sync()?;
            }
        }
        Ok(())
    }

    /// Each stream's position: its last record's, written or not.
    pub fn positions(&self) -> Vec<Seq> {
        self.shared.streams.iter().map(|stream| Seq(stream.lock().last())).collect()
    }

    /// Each stream's first position that the log has; from there to the stream's position nothing
    /// is missing. If that is more than one above what a checkpoint covers, records are lost
    /// between the two.
    ///
    /// Counts what the writer has written: a truncation or a raise shows after the next group.
    pub fn first_available(&self) -> Vec<Seq> {
        let inner = self.shared.segments.inner.lock();
        inner.history.missing_through.iter().map(|missing| Seq(missing + 1)).collect()
    }

    /// Frees the segments in which every stream's last record is at or below its position in
    /// `through`; blocks until that is done.
    ///
    /// A segment also stays until the one after it is on disk. Files are kept for reuse up to
    /// `recycle_files_max`, others deleted. Panics if `through` has not one position per stream.
    pub fn trim(&self, through: &[Seq]) -> Result<(), JournalError> {
        assert_eq!(through.len(), self.shared.streams.len(), "one position per stream");
        let segments = &self.shared.segments;
        let mut inner = segments.inner.lock();
        inner.trim.through = through.iter().map(|seq| seq.0).collect();
        inner.trim.asked += 1;
        let ticket = inner.trim.asked;
        segments.changed.notify_all();
        while inner.trim.done < ticket {
            if let Some(failure) = self.shared.failure() {
                return Err(failure);
            }
            if self.steps.is_some() {
                drop(inner);
                self.step()?;
                inner = segments.inner.lock();
            } else {
                segments.changed.wait(&mut inner);
            }
        }
        inner.trim.error.clone().map_or(Ok(()), Err)
    }

    /// Changes when groups are synced. Towards `Always`, what is unsynced is synced at once.
    pub fn set_policy(&self, policy: FsyncPolicy) {
        self.shared.store_policy(policy);
        self.ask_flush();
        self.shared.sync.ask();
        self.shared.announce();
    }

    /// Whether the journal can take and keep records.
    pub fn health(&self) -> Health {
        self.shared.health()
    }

    /// HOT PATH, one load: the journal has failed for good. Groups that are not durable now never
    /// will be.
    #[inline]
    pub fn has_failed(&self) -> bool {
        self.shared.has_failed()
    }

    /// HOT PATH, one load: false while the disk is full, the journal has failed, more than
    /// `buffered_bytes_max` bytes wait to be written, or for a moment because the log is long.
    /// [`Journal::subscribe`] tells when it changes back.
    #[inline]
    pub fn accepting(&self) -> bool {
        self.shared.front.gate.is_open()
    }

    /// Whether the journal takes records that are short and make data smaller: as
    /// [`Journal::accepting`], and also when the disk has no room for the next segment, as long as
    /// the current one has.
    pub fn accepting_removals(&self) -> bool {
        self.shared.front.gate.is_open_for_removals()
    }

    /// Refuses all other records, as a full disk does, or ends that. For callers that keep space
    /// back and have given it up, so that what is stored can get smaller.
    pub fn set_on_reserve(&self, on_reserve: bool) {
        if on_reserve {
            self.shared.close_gate(Closed::OnReserve);
        } else {
            self.shared.open_gate(Closed::OnReserve);
        }
    }

    /// Takes note of how far what the log is stored in is behind with its work, in hundredths of
    /// how far it may be; 0 if it is not. Records are refused for moments, as they are by a log
    /// that is so much longer than it should be.
    pub fn set_backlog(&self, percent: u32) {
        self.shared.backlog.set(percent);
    }

    /// Bytes of log that a recovery would read now; trimming makes it smaller.
    pub fn bytes_since_trim(&self) -> u64 {
        self.shared.segments.log_bytes()
    }

    /// Numbers for the operator.
    pub fn stats(&self) -> Stats {
        let log_bytes = self.bytes_since_trim();
        let buffered_bytes = self.shared.buffered_bytes.load(Ordering::Relaxed);
        let inner = self.shared.segments.inner.lock();
        Stats {
            segments: inner.history.complete.len() as u64 + 1,
            prepared_files: inner.prepared.len() as u64,
            log_bytes,
            buffered_bytes,
            ..self.shared.counters.snapshot()
        }
    }

    /// Takes back a stream's records from `from` on; the next append gets `from` again. Nothing
    /// happens if the stream ends before it. Returns the group in which this becomes durable.
    pub fn truncate_suffix(&self, stream: StreamId, from: Seq) -> Group {
        self.change(stream, |buffer| buffer.truncate_suffix(from.0))
    }

    /// Lets a stream go on after `last`: the next append gets the position behind it. Nothing
    /// happens if the stream is there already.
    ///
    /// For a log that is younger than a checkpoint or a snapshot: positions up to what those cover
    /// must not be given out again.
    pub fn raise_stream(&self, stream: StreamId, last: Seq) -> Group {
        self.change(stream, |buffer| buffer.raise(last.0))
    }

    /// Replaces a stream's hard state, a few bytes that survive every trim. The latest one wins.
    ///
    /// Panics if it is longer than [`HARD_STATE_BYTES_MAX`].
    pub fn set_hard_state(&self, stream: StreamId, state: &[u8]) -> Group {
        assert!(state.len() <= HARD_STATE_BYTES_MAX, "a hard state is at most 4096 bytes");
        self.change(stream, |buffer| buffer.set_hard_state(state))
    }

    /// A stream's hard state, durable or not; empty if none was ever set.
    pub fn hard_state(&self, stream: StreamId) -> Vec<u8> {
        self.shared.streams[stream.index()].lock().hard_state().to_vec()
    }

    /// Writes and syncs everything, marks the log as cleanly ended, and ends the threads.
    pub fn close(mut self) -> Result<(), JournalError> {
        self.shut_down()
    }

    fn change(&self, stream: StreamId, change: impl FnOnce(&mut StreamBuffer)) -> Group {
        let mut buffer = self.shared.streams[stream.index()].lock();
        change(&mut buffer);
        // A change that changed nothing opens no group: nobody must wait for one that never comes.
        let group = Group(buffer.group() - u64::from(buffer.is_empty()));
        if buffer.owes_report() {
            self.shared.take_report(&mut buffer);
        }
        drop(buffer);
        self.shared.front.sleeper.after_work();
        group
    }

    /// Asks the writer to write what has gathered; returns the ticket to wait for.
    fn ask_flush(&self) -> u64 {
        let ticket = self.shared.marks.flush_asked.fetch_add(1, Ordering::SeqCst) + 1;
        self.shared.front.sleeper.wake();
        ticket
    }

    fn start(
        &self,
        name: &str,
        run: impl FnOnce(&Shared) -> Result<(), JournalError> + Send + 'static,
    ) -> std::io::Result<JoinHandle<Result<(), JournalError>>> {
        let shared = Arc::clone(&self.shared);
        let label = name.to_owned();
        basalt_env::thread::spawn(name, move || {
            let guarded = std::panic::AssertUnwindSafe(|| run(&shared));
            std::panic::catch_unwind(guarded).unwrap_or_else(|_| {
                let failure = shared.poison(format!("thread {label} panicked"));
                shared.announce_failure();
                Err(failure)
            })
        })
    }

    fn shut_down(&mut self) -> Result<(), JournalError> {
        if let Some(steps) = self.steps.take() {
            self.shared.marks.closing.store(true, Ordering::Release);
            // Its last step seals the log.
            return steps.into_inner().make(&self.shared).map(|_| ());
        }
        let Some(writer) = self.writer.take() else { return Ok(()) };
        self.shared.marks.closing.store(true, Ordering::Release);
        self.shared.front.sleeper.wake();
        self.shared.segments.wake_all();
        let result = join(writer);
        self.shared.marks.stopping.store(true, Ordering::Release);
        self.shared.segments.wake_all();
        self.shared.sync.wake();
        for thread in self.others.drain(..) {
            join(thread)?;
        }
        result
    }
}

/// A panic is caught inside the thread, so joining fails only if that went wrong too.
fn join(thread: JoinHandle<Result<(), JournalError>>) -> Result<(), JournalError> {
    thread.join().unwrap_or_else(|_| Err(JournalError::Failed("a journal thread died".to_owned())))
}

impl Drop for Journal {
    fn drop(&mut self) {
        // A caller that wants to know calls `close`.
        let _ = self.shut_down();
    }
}
