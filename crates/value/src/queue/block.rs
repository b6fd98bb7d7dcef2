//! HOT PATH
//! Messages of a lane that stand together: what a checkpoint writes as one row.
//!
//! ```text
//! bytes    record record …
//! offsets  of the record of each sequence from the block's first one on, GONE if it has left
//! record   flags:u8 put_ms:varint, since the block's first put
//!          [expire_ms:varint, since the put]  length:varint body
//! ```
//! Records are appended to the last block of a lane, and leave blocks everywhere: an offset becomes
//! GONE, and a block that has more of those than of others is written again. A message that stays
//! for long while all around it go therefore keeps up to 4 KiB beside itself, and the bytes of its
//! block's offsets.
//!
//! A block has the entries of its messages, too (`queue/entries.rs`): what finds one finds the
//! other.

use super::entries::{BlockSize, Entries};
use super::entry::Entry;
use crate::error::DecodeError;
use basalt_stdx::varint;

/// Bytes of records that a block has room for: with the header of its allocation 7 KiB, as the
/// chunks of lists. A larger message has a block of its own.
const BLOCK_BYTES: usize = (7 << 10) - 8;
/// Bytes that a block begins with: many queues have few messages.
const FIRST_BYTES: usize = 120;
/// Sequences that a block spans at most.
const SPAN_MAX: u64 = 4_096;
/// Bytes of records that have left, from which writing the others again is worth it.
const GONE_BYTES_MIN: usize = 4_000;

const GONE: u16 = u16::MAX;

/// The record says when its message expires.
const EXPIRES: u8 = 1;
/// The message was put with a delay: it has an entry from the beginning, and the lane's cursor
/// passes it over.
const BEGAN_DELAYED: u8 = 2;
/// The message was dead once: it does not expire, whatever its record says.
const EXPIRES_NO_MORE: u8 = 4;
const FLAGS: u8 = EXPIRES | BEGAN_DELAYED | EXPIRES_NO_MORE;

const BAD: DecodeError = DecodeError::Corrupt("a block of a queue");

/// What a message is, whatever becomes of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Record<'a> {
    flags: u8,
    pub(super) put_ms: u64,
    own_expire_ms: u64,
    pub(super) body: &'a [u8],
}

impl<'a> Record<'a> {
    #[inline]
    pub(super) fn new(
        put_ms: u64,
        expire_ms: u64,
        began_delayed: bool,
        body: &'a [u8],
    ) -> Record<'a> {
        let expires = if expire_ms == u64::MAX { 0 } else { EXPIRES };
        let delayed = if began_delayed { BEGAN_DELAYED } else { 0 };
        Record { flags: expires | delayed, put_ms, own_expire_ms: expire_ms, body }
    }

    /// When it expires, all ones for never.
    #[inline]
    pub(super) fn expire_ms(&self) -> u64 {
        if self.flags & EXPIRES_NO_MORE == 0 { self.own_expire_ms } else { u64::MAX }
    }

    #[inline]
    pub(super) fn began_delayed(&self) -> bool {
        self.flags & BEGAN_DELAYED != 0
    }

    /// Appends it, given the time that its block counts from.
    #[inline]
    pub(super) fn put(&self, base_ms: u64, out: &mut Vec<u8>) {
        out.push(self.flags);
        varint::put(out, self.put_ms.wrapping_sub(base_ms));
        if self.flags & EXPIRES != 0 {
            varint::put(out, self.own_expire_ms.wrapping_sub(self.put_ms));
        }
        varint::put(out, self.body.len() as u64);
        out.extend_from_slice(self.body);
    }

    /// Takes one off the front.
    #[inline]
    pub(super) fn take(base_ms: u64, rest: &mut &'a [u8]) -> Option<Record<'a>> {
        let (&flags, after) = rest.split_first()?;
        *rest = after;
        if flags & !FLAGS != 0 {
            return None;
        }
        let put_ms = base_ms.wrapping_add(varint::take(rest)?);
        let own_expire_ms = match flags & EXPIRES {
            0 => u64::MAX,
            _ => put_ms.wrapping_add(varint::take(rest)?),
        };
        let len = usize::try_from(varint::take(rest)?).ok()?;
        let (body, after) = rest.split_at_checked(len)?;
        *rest = after;
        Some(Record { flags, put_ms, own_expire_ms, body })
    }
}

/// Some messages of a lane. See the head of this file.
#[derive(Default)]
pub(super) struct Block {
    bytes: Vec<u8>,
    offsets: Vec<u16>,
    base_ms: u64,
    live: u32,
    gone_bytes: u32,
    /// Once one of its messages has got an entry.
    entries: Option<Box<Entries>>,
}

/// How a message begins and ends: what its changes ask of its record, which need not be read for it
/// as a rule.
#[derive(Clone, Copy)]
pub(super) struct Term {
    pub(super) began_delayed: bool,
    /// All ones for never.
    pub(super) expire_ms: u64,
}

/// A message that has left its block.
pub(super) struct Removed {
    pub(super) body_bytes: usize,
    pub(super) began_delayed: bool,
    pub(super) expire_ms: u64,
    pub(super) entry: Option<Entry>,
}

impl Block {
    /// How many messages are in it.
    #[inline]
    pub(super) fn live(&self) -> u32 {
        self.live
    }

    /// How many sequences it spans.
    pub(super) fn span(&self) -> u64 {
        self.offsets.len() as u64
    }

    #[inline]
    pub(super) fn heap_bytes(&self) -> usize {
        let entries = |it: &Entries| size_of::<Entries>() + it.heap_bytes();
        self.bytes.capacity()
            + self.offsets.capacity() * size_of::<u16>()
            + self.entries.as_deref().map_or(0, entries)
    }

    /// Whether the message of the `index`th sequence goes into this block, too.
    #[inline]
    pub(super) fn has_room(&self, index: u64, record: &Record<'_>) -> bool {
        const RECORD_MAX: usize = 1 + 3 * varint::BYTES_MAX;
        index < SPAN_MAX
            && record.put_ms >= self.base_ms
            && self.bytes.len() + RECORD_MAX + record.body.len() <= BLOCK_BYTES
    }

    /// Appends the message of the `index`th sequence: behind all that were ever in it.
    pub(super) fn append(&mut self, index: u64, record: &Record<'_>) {
        if self.offsets.is_empty() {
            self.base_ms = record.put_ms;
        }
        self.offsets.resize(index as usize, GONE);
        self.offsets.push(self.bytes.len() as u16);
        self.make_room(record.body.len() + 1 + 3 * varint::BYTES_MAX);
        record.put(self.base_ms, &mut self.bytes);
        self.live += 1;
    }

    /// Grows twofold, but not beyond a block's size.
    #[inline]
    fn make_room(&mut self, bytes: usize) {
        let (len, capacity) = (self.bytes.len(), self.bytes.capacity());
        if capacity - len < bytes {
            let wanted = (2 * capacity).clamp(FIRST_BYTES, BLOCK_BYTES).max(len + bytes);
            self.bytes.reserve_exact(wanted - len);
        }
    }

    /// No message follows in this block.
    pub(super) fn close(&mut self) {
        self.offsets.shrink_to_fit();
        if let Some(entries) = &mut self.entries {
            entries.close();
        }
    }

    /// The message of the `index`th sequence.
    #[inline]
    pub(super) fn record(&self, index: u64) -> Option<Record<'_>> {
        Record::take(self.base_ms, &mut self.bytes.get(self.offset(index)?..)?)
    }

    /// Where the record of the `index`th sequence is, unless it has left.
    #[inline]
    fn offset(&self, index: u64) -> Option<usize> {
        let &offset = self.offsets.get(usize::try_from(index).ok()?)?;
        (offset != GONE).then_some(usize::from(offset))
    }

    /// How the message of the `index`th sequence begins and ends.
    #[inline]
    pub(super) fn term(&self, index: u64) -> Option<Term> {
        let offset = self.offset(index)?;
        let &flags = self.bytes.get(offset)?;
        if flags & EXPIRES != 0 {
            let record = self.record(index)?;
            let (began_delayed, expire_ms) = (record.began_delayed(), record.expire_ms());
            return Some(Term { began_delayed, expire_ms });
        }
        Some(Term { began_delayed: flags & BEGAN_DELAYED != 0, expire_ms: u64::MAX })
    }

    /// All messages from the `index`th sequence on.
    #[inline]
    pub(super) fn records_from(&self, index: u64) -> impl Iterator<Item = (u64, Record<'_>)> {
        let last = self.offsets.len() as u64;
        (index..last).filter_map(|index| Some((index, self.record(index)?)))
    }

    /// The entry of the message of the `index`th sequence.
    #[inline]
    pub(super) fn entry(&self, index: u64) -> Option<&Entry> {
        self.entries.as_ref()?.at(index)
    }

    /// All entries from the `index`th sequence on.
    pub(super) fn entries_from(&self, index: u64) -> impl Iterator<Item = (u64, &Entry)> {
        self.entries.iter().flat_map(move |entries| entries.from(index))
    }

    /// Has a message, the `index`th, have this entry; returns that which it had.
    #[inline]
    pub(super) fn put_entry(&mut self, index: u64, entry: Entry) -> Option<Entry> {
        let size = BlockSize { live: self.live as usize, span: self.offsets.len() };
        self.entries.get_or_insert_default().put(index as usize, entry, size)
    }

    /// Removes the message of the `index`th sequence with its entry.
    #[inline]
    pub(super) fn remove(&mut self, index: u64) -> Option<Removed> {
        let record = self.record(index)?;
        let (body_bytes, began_delayed) = (record.body.len(), record.began_delayed());
        let expire_ms = record.expire_ms();
        self.offsets[index as usize] = GONE;
        self.live -= 1;
        self.gone_bytes = self.gone_bytes.saturating_add(body_bytes as u32 + 1);
        let gone = self.gone_bytes as usize;
        if gone >= GONE_BYTES_MIN && 2 * gone >= self.bytes.len() && self.live > 0 {
            self.rewrite();
        }
        let entry = self.entries.as_mut().and_then(|entries| entries.remove(index));
        Some(Removed { body_bytes, began_delayed, expire_ms, entry })
    }

    /// The message of the `index`th sequence does not expire any more.
    pub(super) fn expires_no_more(&mut self, index: u64) {
        if let Some(&offset) = self.offsets.get(index as usize)
            && offset != GONE
        {
            self.bytes[usize::from(offset)] |= EXPIRES_NO_MORE;
        }
    }

    #[cold]
    fn rewrite(&mut self) {
        let mut bytes = Vec::with_capacity(self.bytes.len() - self.gone_bytes as usize);
        for offset in self.offsets.iter_mut().filter(|offset| **offset != GONE) {
            let before = &self.bytes[usize::from(*offset)..];
            let mut rest = before;
            *offset = bytes.len() as u16;
            if Record::take(0, &mut rest).is_some() {
                bytes.extend_from_slice(&before[..before.len() - rest.len()]);
            }
        }
        bytes.shrink_to_fit();
        self.bytes = bytes;
        self.gone_bytes = 0;
    }

    /// Appends its messages as a row: what [`Block::decode`] reads.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        varint::put(out, self.base_ms);
        let mut next = 0;
        for (index, record) in self.records_from(0) {
            varint::put(out, index - next);
            next = index + 1;
            record.put(self.base_ms, out);
        }
    }

    /// Reads a block of at least one message; `fits` is asked of the index of each.
    pub(super) fn decode(
        row: &[u8],
        mut fits: impl FnMut(u64, &Record<'_>) -> bool,
    ) -> Result<Block, DecodeError> {
        let mut rest = row;
        let base_ms = varint::take(&mut rest).ok_or(DecodeError::Truncated)?;
        let mut block = Block { base_ms, ..Block::default() };
        let mut next = 0u64;
        while !rest.is_empty() {
            let gap = varint::take(&mut rest).ok_or(DecodeError::Truncated)?;
            let record = Record::take(base_ms, &mut rest).ok_or(DecodeError::Truncated)?;
            let index = next.checked_add(gap).filter(|&index| index < SPAN_MAX).ok_or(BAD)?;
            if block.bytes.len() >= usize::from(GONE) || !fits(index, &record) {
                return Err(BAD);
            }
            block.offsets.resize(index as usize, GONE);
            block.offsets.push(block.bytes.len() as u16);
            record.put(base_ms, &mut block.bytes);
            block.live += 1;
            next = index + 1;
        }
        if block.live == 0 { Err(BAD) } else { Ok(block) }
    }
}
