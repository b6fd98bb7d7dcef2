//! HOT PATH. A piece of an output: bytes that were copied, and values that stand between them.

use std::collections::VecDeque;
use std::io::IoSlice;
use std::ops::Range;
use std::sync::Arc;

/// Sent bytes are cut off the front of a block that is never empty, once there are this many.
const CUT_BYTES_MIN: usize = 64 * 1024;

/// Bytes to be sent, in order.
#[derive(Debug, Default)]
pub(crate) struct Block {
    /// Everything but the shared values.
    pub(crate) flat: Vec<u8>,
    /// Bytes of `flat` that are sent.
    pub(crate) flat_sent: usize,
    /// The shared values that are not wholly sent.
    pub(crate) shared: VecDeque<Shared>,
    /// Bytes of the first shared value that are sent.
    shared_sent: usize,
    /// Bytes of all shared values that are not sent.
    shared_bytes: usize,
}

/// A value, or a part of it, that belongs before `flat[offset]`.
#[derive(Debug)]
pub(crate) struct Shared {
    offset: usize,
    value: Arc<Vec<u8>>,
    part: Range<usize>,
}

impl Shared {
    #[inline]
    fn bytes(&self) -> &[u8] {
        &self.value[self.part.clone()]
    }
}

impl Block {
    /// Count of bytes that are not sent.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.flat.len() - self.flat_sent + self.shared_bytes
    }

    /// Whether everything is sent.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.flat.len() == self.flat_sent && self.shared.is_empty()
    }

    pub(crate) fn memory_bytes_used(&self) -> usize {
        self.flat.capacity() + self.shared.capacity() * size_of::<Shared>()
    }

    pub(crate) fn shared_bytes_held(&self) -> usize {
        self.shared.iter().map(|shared| shared.value.len()).sum::<usize>()
    }

    /// Lets go of the shared values.
    pub(crate) fn clear_shared(&mut self) {
        self.shared.clear();
        self.shared_sent = 0;
        self.shared_bytes = 0;
    }

    /// Forgets what stands behind this many bytes and shared values, which are not sent.
    pub(crate) fn cut(&mut self, flat: usize, shared: usize) {
        self.flat.truncate(flat);
        let kept = shared.min(self.shared.len());
        for shared in self.shared.drain(kept..) {
            self.shared_bytes -= shared.part.len();
        }
    }

    /// Takes out what stands behind this many bytes and shared values, which is not sent.
    pub(crate) fn split_off(&mut self, flat: usize, shared: usize) -> Block {
        let flat = flat.min(self.flat.len());
        let kept = shared.min(self.shared.len());
        let moved = |shared: Shared| Shared { offset: shared.offset - flat, ..shared };
        let shared: VecDeque<Shared> = self.shared.drain(kept..).map(moved).collect();
        let shared_bytes = shared.iter().map(|shared| shared.part.len()).sum();
        self.shared_bytes -= shared_bytes;
        Block { flat: self.flat.split_off(flat), shared, shared_bytes, ..Block::default() }
    }

    /// Fills `slices` with what is to be sent next and returns how many it filled.
    pub(crate) fn io_slices<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        let mut count = 0;
        let mut add = |bytes: &'a [u8]| {
            if !bytes.is_empty() && count < slices.len() {
                slices[count] = IoSlice::new(bytes);
                count += 1;
            }
            count < slices.len()
        };
        let mut flat_done = self.flat_sent;
        let mut value_done = self.shared_sent;
        for shared in &self.shared {
            let offset = shared.offset;
            if !(add(&self.flat[flat_done..offset]) && add(&shared.bytes()[value_done..])) {
                return count;
            }
            flat_done = offset;
            value_done = 0;
        }
        add(&self.flat[flat_done..]);
        count
    }

    /// Takes note that `bytes` more are sent, which are owed.
    pub(crate) fn advance(&mut self, bytes: usize) {
        let mut left = bytes;
        while let Some(first) = self.shared.front() {
            let flat = left.min(first.offset - self.flat_sent);
            self.flat_sent += flat;
            left -= flat;
            let value = left.min(first.part.len() - self.shared_sent);
            self.shared_sent += value;
            self.shared_bytes -= value;
            left -= value;
            if self.flat_sent < first.offset || self.shared_sent < first.part.len() {
                return;
            }
            self.shared.pop_front();
            self.shared_sent = 0;
        }
        self.flat_sent += left;
    }

    /// Puts what another block owes behind what is there; nothing of it has been sent.
    pub(crate) fn append(&mut self, other: Block) {
        debug_assert!(other.flat_sent == 0 && other.shared_sent == 0);
        let offset = self.flat.len();
        self.flat.extend_from_slice(&other.flat);
        self.shared_bytes += other.shared_bytes;
        let moved = |shared: Shared| Shared { offset: offset + shared.offset, ..shared };
        self.shared.extend(other.shared.into_iter().map(moved));
    }

    /// Puts `value` behind what is there, without copying it.
    pub(crate) fn push_shared(&mut self, value: Arc<Vec<u8>>) {
        self.shared_bytes += value.len();
        let part = 0..value.len();
        self.shared.push_back(Shared { offset: self.flat.len(), value, part });
    }

    /// Of the last shared value, of which nothing is sent, leaves these bytes; `false` if there is
    /// none.
    pub(crate) fn narrow_shared(&mut self, range: Range<usize>) -> bool {
        let Some(last) = self.shared.back_mut() else { return false };
        let part = last.part.start + range.start..last.part.start + range.end;
        assert!(part.start <= part.end && part.end <= last.part.end, "it has these bytes");
        self.shared_bytes -= last.part.len() - part.len();
        last.part = part;
        true
    }

    /// The last shared value, whole, whatever part of it is to be sent.
    pub(crate) fn last_shared(&self) -> Option<&Arc<Vec<u8>>> {
        self.shared.back().map(|shared| &shared.value)
    }

    /// Takes back the last bytes of `flat`, which are not sent and behind all shared values.
    #[inline]
    pub(crate) fn shorten(&mut self, bytes: usize) {
        let len = self.flat.len() - bytes;
        let shared = self.shared.back().map_or(0, |shared| shared.offset);
        assert!(len >= self.flat_sent.max(shared), "they are the last ones");
        self.flat.truncate(len);
    }

    /// Puts `header` before `flat[offset]`, behind this many shared values.
    pub(crate) fn insert(&mut self, offset: usize, header: &[u8], shared_before: usize) {
        self.flat.reserve_exact(header.len());
        self.flat.splice(offset..offset, header.iter().copied());
        for shared in self.shared.iter_mut().skip(shared_before) {
            shared.offset += header.len();
        }
    }

    /// Moves the rest to the front, if much is sent: at most as many bytes as were sent since the
    /// last time.
    #[inline]
    pub(crate) fn cut_sent(&mut self) {
        if self.flat_sent >= CUT_BYTES_MIN && self.flat_sent >= self.flat.len() / 2 {
            self.flat.drain(..self.flat_sent);
            for shared in &mut self.shared {
                shared.offset -= self.flat_sent;
            }
            self.flat_sent = 0;
        }
    }
}
