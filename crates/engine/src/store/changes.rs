//! HOT PATH
//! What a command has changed and has not appended to the log yet: the ChangeSet under
//! construction, and its way into the log.
//!
//! A long string is not copied: its record ends in a share of the value itself, which the log drops
//! when it has written it ([`ChangeSet::lend`]). A command that edits the string in place meanwhile
//! finds that somebody else holds it, and copies it ([`crate::store::copying`]).

use crate::log::Ticket;
use crate::residency::heads::KnownHeads;
use crate::residency::queue::Missing;
use crate::store::ask::Ask;
use crate::store::copying::StringCopy;
use crate::store::events::{EventClasses, KeyEvent};
use crate::store::key::Key;
use basalt_change::op::{self, EditStart, Op, Origin, Put};
use basalt_change::place::{PartitionId, ShardId};
use basalt_keyspace::interest::Called;
use basalt_stdx::lent::LentBytes;
use basalt_value::{Breaks, Kind};

/// A thread's buffer for the ChangeSet of the command that it runs. Reused, so that a write
/// allocates nothing.
#[derive(Default, Debug)]
pub struct ChangeSet {
    pub(crate) bytes: Vec<u8>,
    /// Where each record begins, and whose it is.
    pub(super) records: Vec<(Owner, usize)>,
    /// What the records end in that are [`Owner::Lending`], in their order.
    pub(super) lent: Vec<LentBytes>,
    /// How many bytes that are.
    lent_bytes: usize,
    /// The keys changed, by partition and hash; kept only when the log gates replies.
    pub(super) keys: Vec<(PartitionId, u64)>,
    /// Where the op that was begun last begins, behind the head of its record.
    op_start: usize,
    /// Where the edits of that op can be cut.
    pub(crate) breaks: Breaks,
    pub(super) appended: Vec<(u64, Ticket)>,
    /// Changes, for INFO's `rdb_changes_since_last_save`: one for each op on a key, and one for
    /// each edit of a collection, which is an element as a rule.
    pub(super) count: u64,
    appended_bytes: usize,
    /// Zeros that strings were given, as far as the engine has not been told.
    zeros: usize,
    /// What the command found that it has to wait for, having changed nothing.
    pub(crate) ask: Option<Ask>,
    /// Hashes of keys that the command puts unread, in ascending order.
    pub(super) unread: Vec<u64>,
    /// What is known of keys on disk only that the command may remove.
    pub(super) heads: Option<Box<KnownHeads>>,
    /// Whether the command has made a key that holds a short string.
    pub(super) has_made_short: bool,
    /// Whether the reply waits until the changes are on disk, whatever the log's policy.
    pub(super) wait_for_disk: bool,
    /// Whether the command runs where it may take long.
    pub(crate) runs_apart: bool,
    /// A copy that the command has asked for; when it has been looked at, what is to be dropped.
    pub(crate) copy: Option<StringCopy>,
    /// What is to be done when the locks are gone: clients to be woken, copies out of date.
    pub(crate) called: Called,
    /// The events that somebody wants, and those that there were.
    pub(crate) classes: EventClasses,
    events: Vec<KeyEvent>,
}

/// What is to be changed is more than the log takes at once. Nothing has changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the changes of one request are limited to {bytes_max} bytes")]
pub struct TooLarge {
    /// How much it takes.
    pub bytes_max: usize,
}

/// An end of a ChangeSet under construction.
#[derive(Clone, Copy)]
pub(crate) struct ChangesMark {
    bytes: usize,
    records: usize,
    lent: usize,
    keys: usize,
    count: u64,
}

/// The partition or partitions that a record belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Owner {
    /// A partition's.
    Partition(PartitionId),
    /// A partition's, and its last bytes are lent: no further op can follow in it.
    Lending(PartitionId),
    /// Of all partitions of a shard.
    Shard(ShardId),
}

/// What an EDIT is about.
#[derive(Clone, Copy)]
pub(crate) struct EditOf<'k> {
    pub(crate) db: u8,
    pub(crate) key: &'k Key<'k>,
    pub(crate) kind: Kind,
}

/// How long the pieces of a long op are: each repeats the key, so they are not shorter than that.
#[inline]
pub(super) fn piece_bytes(record_bytes_max: usize, key: &[u8]) -> usize {
    record_bytes_max.max(key.len())
}

impl Owner {
    pub(super) fn shard(self) -> ShardId {
        match self {
            Owner::Partition(partition) | Owner::Lending(partition) => partition.shard(),
            Owner::Shard(shard) => shard,
        }
    }
}

impl ChangeSet {
    /// The next op is about this key. [`ChangeSet::end_op`] is due when it is written.
    #[inline]
    pub(crate) fn begin_op(&mut self, key: &Key<'_>, gated: bool) {
        self.go_on(key.partition);
        self.note_change(key, gated);
    }

    /// The key changes. What that is is written by [`ChangeSet::lend`] or after
    /// [`ChangeSet::go_on`].
    #[inline]
    pub(crate) fn note_change(&mut self, key: &Key<'_>, gated: bool) {
        self.count += 1;
        if gated {
            self.keys.push((key.partition, key.hash));
        }
    }

    /// The next op is of this partition.
    #[inline]
    pub(crate) fn go_on(&mut self, partition: PartitionId) {
        let owner = Owner::Partition(partition);
        if self.records.last().map(|&(owner, _)| owner) != Some(owner) {
            self.records.push((owner, self.bytes.len()));
            op::begin(&mut self.bytes, partition);
        }
        self.op_start = self.bytes.len();
    }

    /// The op that was begun is written.
    #[inline]
    pub(crate) fn end_op(&mut self, record_bytes_max: usize) {
        if self.bytes.len() > record_bytes_max {
            self.bound_record(record_bytes_max);
        }
    }

    /// Moves the op that was written last to a record of its own if it has made its record too
    /// long, and cuts it if it is too long by itself and can be cut. What cannot, a single element
    /// or a key, is as long as a request may make it.
    #[cold]
    fn bound_record(&mut self, bytes_max: usize) {
        let Some(&(Owner::Partition(partition), start)) = self.records.last() else { return };
        if self.bytes.len() - start <= bytes_max {
            return;
        }
        if self.op_start > start + op::EMPTY_RECORD_BYTES {
            let mut head = Vec::with_capacity(op::EMPTY_RECORD_BYTES);
            op::begin(&mut head, partition);
            self.bytes.splice(self.op_start..self.op_start, head);
            self.records.push((Owner::Partition(partition), self.op_start));
            self.op_start += op::EMPTY_RECORD_BYTES;
        }
        if self.bytes.len() - self.op_start > bytes_max {
            self.cut_op(partition, bytes_max);
        }
    }

    fn cut_op(&mut self, partition: PartitionId, bytes_max: usize) {
        let Some(Ok(op)) = op::ops(&self.bytes[self.op_start..]).next() else { return };
        let bytes_max = piece_bytes(bytes_max, op.key());
        if !op.can_be_cut(bytes_max) {
            return;
        }
        let whole = self.bytes.split_off(self.op_start);
        let Some(Ok(op)) = op::ops(&whole).next() else { return };
        op.cut(bytes_max, |piece| {
            self.go_on(partition);
            piece.encode(&mut self.bytes);
            self.end_op(bytes_max);
        });
    }

    /// Writes an op whose payload is `lent`, which is not copied. It has a record of its own, or
    /// several if it is cut.
    #[cold]
    pub(crate) fn lend(
        &mut self,
        key: &Key<'_>,
        op: Op<'_>,
        mut lent: LentBytes,
        record_bytes_max: usize,
    ) {
        debug_assert_eq!(op.payload().len(), lent.len());
        op.cut(piece_bytes(record_bytes_max, key.bytes), |piece| {
            self.records.push((Owner::Lending(key.partition), self.bytes.len()));
            op::begin(&mut self.bytes, key.partition);
            piece.encode_without_payload(&mut self.bytes);
            let front = lent.take_front(piece.payload().len());
            self.lent_bytes += front.len();
            self.lent.push(front);
        });
    }

    /// Begins an EDIT: what is appended to the bytes until [`ChangeSet::end_edit`] are its edits,
    /// which note in `breaks` where they can be cut.
    #[inline]
    pub(crate) fn begin_edit(
        &mut self,
        of: EditOf<'_>,
        origin: Origin,
        bytes_max: usize,
    ) -> EditStart {
        self.breaks.restart(piece_bytes(bytes_max, of.key.bytes));
        op::begin_edit(&mut self.bytes, of.db, of.key.bytes, of.kind as u8, origin)
    }

    /// The op that was begun last has these edits, each of which is a change.
    #[inline]
    pub(crate) fn count_edits(&mut self, edits: u32) {
        self.count += u64::from(edits.saturating_sub(1));
    }

    /// Ends an EDIT, which becomes several if its edits are long.
    #[inline]
    pub(crate) fn end_edit(&mut self, of: EditOf<'_>, start: EditStart, bytes_max: usize) {
        if self.breaks.places().is_empty() {
            op::end_edit(&mut self.bytes, start);
            self.end_op(bytes_max);
        } else {
            self.end_edit_in_pieces(of, start, bytes_max);
        }
    }

    #[cold]
    fn end_edit_in_pieces(&mut self, of: EditOf<'_>, start: EditStart, bytes_max: usize) {
        let breaks = std::mem::take(&mut self.breaks);
        let first = breaks.places()[0];
        let rest = self.bytes.split_off(first);
        op::end_edit(&mut self.bytes, start);
        self.end_op(bytes_max);
        let ends = breaks.places()[1..].iter().map(|place| place - first).chain([rest.len()]);
        let mut begin = 0;
        for end in ends {
            self.go_on(of.key.partition);
            let (db, kind) = (of.db, of.kind as u8);
            let start = op::begin_edit(&mut self.bytes, db, of.key.bytes, kind, Origin::Existing);
            self.bytes.extend_from_slice(&rest[begin..end]);
            op::end_edit(&mut self.bytes, start);
            self.end_op(bytes_max);
            begin = end;
        }
    }

    /// Bytes of the ChangeSet so far.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len() + self.lent_bytes
    }

    /// The ChangeSet of a command that puts one string and does nothing else; to be cleared then.
    #[inline(always)]
    pub(crate) fn only_put(&mut self, partition: PartitionId, put: &Put<'_>) -> &[u8] {
        self.count += 1;
        put.encode_record(partition, &mut self.bytes);
        &self.bytes
    }

    /// Where the ChangeSet ends now.
    #[inline]
    pub(crate) fn mark(&self) -> ChangesMark {
        let (bytes, records, keys) = (self.bytes.len(), self.records.len(), self.keys.len());
        ChangesMark { bytes, records, lent: self.lent.len(), keys, count: self.count }
    }

    /// Forgets what was appended since: nothing came of it.
    #[inline]
    pub(crate) fn reset(&mut self, to: ChangesMark) {
        self.bytes.truncate(to.bytes);
        self.records.truncate(to.records);
        for lent in self.lent.drain(to.lent..) {
            self.lent_bytes -= lent.len();
        }
        self.keys.truncate(to.keys);
        self.count = to.count;
    }

    /// Forgets [`ChangeSet::only_put`]: there is nothing else.
    #[inline]
    pub(crate) fn clear_only_put(&mut self) {
        debug_assert!(self.records.is_empty() && self.keys.is_empty() && !self.wait_for_disk);
        self.clear_bytes();
    }

    #[inline]
    fn clear_bytes(&mut self) {
        const KEPT_BYTES_MAX: usize = 1 << 20;
        self.appended_bytes += self.bytes.len();
        self.bytes.clear();
        if self.bytes.capacity() > KEPT_BYTES_MAX {
            self.bytes = Vec::new();
        }
    }

    #[inline]
    pub(crate) fn clear(&mut self) {
        if !self.lent.is_empty() {
            self.clear_lent();
        }
        self.clear_bytes();
        self.records.clear();
        self.keys.clear();
        self.wait_for_disk = false;
    }

    #[cold]
    fn clear_lent(&mut self) {
        self.appended_bytes += std::mem::take(&mut self.lent_bytes);
        self.lent = Vec::new();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.records.is_empty() && self.bytes.is_empty()
    }

    /// Whether clients wait for what the latest commands have put under keys, or keep copies of
    /// these. They are to be served, or told, when no partition is held.
    #[inline]
    pub fn has_called(&self) -> bool {
        !self.called.is_empty()
    }

    /// The clients that wait for what the latest commands have put under keys, in the order in
    /// which they were called, and the keys of which there are copies that are out of date.
    pub fn take_called(&mut self) -> Called {
        std::mem::take(&mut self.called)
    }

    /// The keys that the command has to wait for before it runs again, if it said so.
    pub fn take_missing(&mut self) -> Option<Missing> {
        match self.ask.take()? {
            Ask::Fetch(missing) => Some(missing),
            Ask::Ready(_) | Ask::Reach(_) | Ask::Copy(_) | Ask::Written | Ask::Apart => None,
        }
    }

    /// Whether the latest command has made a key that holds a short string: then it has replaced
    /// nothing, and freed nothing. Said once.
    #[inline]
    pub fn take_made_short(&mut self) -> bool {
        std::mem::take(&mut self.has_made_short)
    }

    /// From now on commands run where they may take long, or no longer.
    pub fn set_apart(&mut self, runs_apart: bool) {
        self.runs_apart = runs_apart;
    }

    /// The command that has asked for this copy runs again next.
    pub fn offer(&mut self, copy: StringCopy) {
        self.copy = Some(copy);
    }

    /// The command has run that a copy was offered to; no partition is held.
    pub fn drop_copy(&mut self) {
        self.copy = None;
    }

    /// From now on events of these classes are noted.
    pub fn listen_for(&mut self, classes: EventClasses) {
        self.classes = classes;
    }

    /// The classes of events that are noted.
    #[inline]
    pub fn event_classes(&self) -> EventClasses {
        self.classes
    }

    #[cold]
    pub(crate) fn note_event(&mut self, db: u8, name: &'static str, key: &[u8]) {
        self.events.push(KeyEvent { db, name, key: key.to_vec() });
    }

    /// The events of the command that has run, in order: to be taken out when it is committed.
    #[inline]
    pub fn events(&mut self) -> &mut Vec<KeyEvent> {
        &mut self.events
    }

    /// Strings were given zeros, which the log does not hold; returns how many the engine is to be
    /// told of.
    pub(super) fn note_zeros(&mut self, zeros: usize) -> Option<u64> {
        /// What one thread may keep to itself, which spares others the write.
        const TOLD_FROM: usize = 1 << 20;
        self.appended_bytes += zeros;
        self.zeros += zeros;
        (self.zeros >= TOLD_FROM).then(|| std::mem::take(&mut self.zeros) as u64)
    }

    /// Bytes of ChangeSets, and zeros, since the last call of [`ChangeSet::take_appended_bytes`]:
    /// what was changed takes as much memory at most, but for the overhead of small keys.
    #[inline]
    pub fn appended_bytes(&self) -> usize {
        self.appended_bytes
    }

    /// Counts [`ChangeSet::appended_bytes`] from zero again.
    pub fn take_appended_bytes(&mut self) -> usize {
        std::mem::take(&mut self.appended_bytes)
    }

    /// Changes of keys since the last call.
    pub fn take_count(&mut self) -> u64 {
        std::mem::take(&mut self.count)
    }
}
