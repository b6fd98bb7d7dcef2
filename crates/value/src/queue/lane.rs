//! HOT PATH
//! The messages of one priority, in the order in which they were put.
//!
//! ```text
//! sequences   1 ────────── cursor ─────────────── next
//!             delivered,   ready and never        not given yet
//!             or returned  delivered, but for those that began delayed
//! ```
//! A message that is not *fresh*, that is, ready and never delivered, has an entry in the queue.
//! One that returns keeps its sequence, and with it its place before younger ones.

use super::block::{Block, Record, Removed, Term};
use super::entry::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// See the head of this file.
pub(super) struct Lane {
    /// By the sequence that each begins with.
    pub(super) blocks: BTreeMap<u64, Block>,
    pub(super) next: u64,
    pub(super) cursor: u64,
    /// How many are fresh.
    pub(super) fresh: u64,
    /// Those that are ready and not fresh.
    pub(super) returned: BTreeSet<u64>,
    /// Bytes of memory of the blocks.
    pub(super) block_bytes: usize,
}

/// What a message was when it got an entry.
pub(super) struct Before {
    pub(super) entry: Option<Entry>,
    pub(super) expire_ms: u64,
    pub(super) is_fresh: bool,
}

/// The first sequence of a lane.
pub(super) const FIRST_SEQUENCE: u64 = 1;

impl Lane {
    pub(super) const EMPTY: Lane = Lane {
        blocks: BTreeMap::new(),
        next: FIRST_SEQUENCE,
        cursor: FIRST_SEQUENCE,
        fresh: 0,
        returned: BTreeSet::new(),
        block_bytes: 0,
    };

    /// Bytes of memory.
    #[inline]
    pub(super) fn heap_bytes(&self) -> usize {
        // Nodes of B-trees are two thirds full, about.
        const BLOCK: usize = (size_of::<u64>() + size_of::<Block>()) * 3 / 2;
        self.block_bytes + self.blocks.len() * BLOCK + self.returned.len() * size_of::<u64>()
    }

    /// How many are ready.
    #[inline]
    pub(super) fn ready(&self) -> u64 {
        self.fresh + self.returned.len() as u64
    }

    /// The first sequence of the block in which a message is, if it is there.
    #[inline]
    pub(super) fn block_of(&self, sequence: u64) -> Option<(u64, &Block)> {
        match self.blocks.last_key_value() {
            Some((&first, last)) if first <= sequence => Some((first, last)),
            _ => self.blocks.range(..=sequence).next_back().map(|(&first, block)| (first, block)),
        }
    }

    /// As [`Lane::block_of`], to be changed.
    #[inline]
    fn block_of_mut(&mut self, sequence: u64) -> Option<(u64, &mut Block)> {
        let is_in_last = self.blocks.last_key_value().is_some_and(|(&first, _)| first <= sequence);
        if is_in_last {
            let last = self.blocks.last_entry()?;
            return Some((*last.key(), last.into_mut()));
        }
        self.blocks.range_mut(..=sequence).next_back().map(|(&first, block)| (first, block))
    }

    /// A message.
    #[inline]
    pub(super) fn record(&self, sequence: u64) -> Option<Record<'_>> {
        let (first, block) = self.block_of(sequence)?;
        block.record(sequence - first)
    }

    /// A message and its entry, if it has one.
    #[inline]
    pub(super) fn message(&self, sequence: u64) -> Option<(Record<'_>, Option<&Entry>)> {
        let (first, block) = self.block_of(sequence)?;
        Some((block.record(sequence - first)?, block.entry(sequence - first)))
    }

    /// The entry of a message.
    #[inline]
    pub(super) fn entry(&self, sequence: u64) -> Option<&Entry> {
        let (first, block) = self.block_of(sequence)?;
        block.entry(sequence - first)
    }

    /// A message is fresh: it has no entry.
    #[inline]
    pub(super) fn is_fresh(&self, sequence: u64, record: &Record<'_>) -> bool {
        sequence >= self.cursor && !record.began_delayed()
    }

    /// Messages from a sequence on.
    pub(super) fn records_from(&self, from: u64) -> impl Iterator<Item = (u64, Record<'_>)> {
        let begin = self.block_of(from).map_or(from, |(first, _)| first);
        self.blocks.range(begin..).flat_map(move |(&first, block)| {
            let records = block.records_from(from.saturating_sub(first));
            records.map(move |(index, record)| (first + index, record))
        })
    }

    /// Entries of messages from a sequence on.
    pub(super) fn entries_from(&self, from: u64) -> impl Iterator<Item = (u64, &Entry)> {
        let begin = self.block_of(from).map_or(from, |(first, _)| first);
        self.blocks.range(begin..).flat_map(move |(&first, block)| {
            let entries = block.entries_from(from.saturating_sub(first));
            entries.map(move |(index, entry)| (first + index, entry))
        })
    }

    /// The fresh messages.
    #[inline]
    pub(super) fn fresh(&self) -> impl Iterator<Item = (u64, Record<'_>)> {
        // Behind the last one only messages that began delayed may follow, however many.
        let from = if self.fresh == 0 { self.next } else { self.cursor };
        self.records_from(from).filter(|(_, record)| !record.began_delayed())
    }

    /// The first fresh message.
    #[inline]
    pub(super) fn first_fresh(&self) -> Option<u64> {
        if self.fresh == 0 {
            return None;
        }
        let at_cursor =
            self.block_of(self.cursor).and_then(|(first, block)| block.term(self.cursor - first));
        if at_cursor.is_some_and(|term| !term.began_delayed) {
            return Some(self.cursor);
        }
        self.fresh().next().map(|(sequence, _)| sequence)
    }

    /// The ready message that comes first.
    #[inline]
    pub(super) fn first_ready(&self) -> Option<u64> {
        match (self.returned.first().copied(), self.first_fresh()) {
            (Some(returned), Some(fresh)) => Some(returned.min(fresh)),
            (returned, fresh) => returned.or(fresh),
        }
    }

    /// The first sequence of the block that takes this message, which is put next, if it is not a
    /// new one.
    #[inline]
    pub(super) fn block_for(&self, record: &Record<'_>) -> Option<u64> {
        let (&first, block) = self.blocks.last_key_value()?;
        block.has_room(self.next - first, record).then_some(first)
    }

    /// Appends a message to the block that begins with `first`.
    #[inline]
    pub(super) fn append(&mut self, first: u64, record: &Record<'_>) {
        if first == self.next
            && let Some(mut last) = self.blocks.last_entry()
        {
            let before = last.get().heap_bytes();
            last.get_mut().close();
            self.block_bytes = self.block_bytes - before + last.get().heap_bytes();
        }
        let block = self.blocks.entry(first).or_default();
        let before = block.heap_bytes();
        block.append(self.next - first, record);
        if !record.began_delayed() {
            if self.fresh == 0 {
                // So that nobody walks over messages that began delayed to find it.
                self.cursor = self.next;
            }
            self.fresh += 1;
        }
        self.block_bytes = self.block_bytes - before + block.heap_bytes();
        self.next += 1;
    }

    /// Has a message have this entry: a fresh one leaves those that are fresh. Returns what it was
    /// before, or `None` if it is not there.
    #[inline]
    pub(super) fn put_entry(&mut self, sequence: u64, entry: Entry) -> Option<Before> {
        let cursor = self.cursor;
        let (first, block) = self.block_of_mut(sequence)?;
        let Term { began_delayed, expire_ms } = block.term(sequence - first)?;
        let before = block.heap_bytes();
        let entry = block.put_entry(sequence - first, entry);
        let after = block.heap_bytes();
        self.block_bytes = self.block_bytes - before + after;
        let is_fresh = sequence >= cursor && !began_delayed;
        if is_fresh {
            self.fresh -= 1;
            self.cursor = sequence + 1;
        }
        Some(Before { entry, expire_ms, is_fresh })
    }

    /// A message does not expire any more.
    pub(super) fn expires_no_more(&mut self, sequence: u64) {
        if let Some((first, block)) = self.block_of_mut(sequence) {
            block.expires_no_more(sequence - first);
        }
    }

    /// Removes a message, and its entry, from its block.
    #[inline]
    pub(super) fn remove(&mut self, sequence: u64) -> Option<Removed> {
        let cursor = self.cursor;
        let (first, block) = self.block_of_mut(sequence)?;
        let before = block.heap_bytes();
        let removed = block.remove(sequence - first)?;
        let (live, after) = (block.live(), block.heap_bytes());
        let is_fresh = sequence >= cursor && !removed.began_delayed && removed.entry.is_none();
        self.fresh -= u64::from(is_fresh);
        self.block_bytes -= before;
        if live > 0 {
            self.block_bytes += after;
        } else {
            self.blocks.remove(&first);
        }
        Some(removed)
    }
}
