//! HOT PATH. What a connection owes its client.
//!
//! Replies are written one after the other into one flat buffer. A big value is not copied: the
//! buffer holds its header and its line end, and a list says which value belongs between the two.
//!
//! ```text
//! flat    +OK\r\n $20000\r\n \r\n :1\r\n          sent as three slices of one writev
//! shared                    ^ offset 14, 20,000 bytes
//! ```
//!
//! A buffer that is full and large is put aside as a block, and another one begun, so that nothing
//! is copied as an output grows, and no more memory is held than a block beyond what is owed. That
//! is also where the bound is looked at: small replies do not pay for it.

use crate::block::Block;
use std::collections::VecDeque;
use std::io::IoSlice;
use std::ops::Range;
use std::sync::Arc;

/// A value of this many bytes or more is sent from where it lives instead of being copied. Below,
/// the copy is cheaper than a slice of its own and the reference counting.
pub const SHARED_BYTES_MIN: usize = 16 * 1024;

/// Bytes that are copied into an output at most, unless [`Output::set_copied_bytes_max`] has said
/// something else. Shared values do not count.
pub const COPIED_BYTES_MAX: usize = 1 << 30;

/// Capacity that an empty output may keep for ever.
const CAPACITY_KEPT: usize = 16 * 1024;
/// Capacity that an empty output never keeps: at this size allocating again is small beside filling
/// it.
const CAPACITY_NEVER_KEPT: usize = 1024 * 1024;
/// An output between the two shrinks after having used less than a quarter of its capacity this
/// many times running.
const SMALL_USES_MAX: u8 = 64;
/// A block that holds this many bytes does not grow: another one is begun.
const BLOCK_BYTES_MIN: usize = 256 * 1024;
/// Bytes of a block that is begun behind another.
const BLOCK_BYTES: usize = 512 * 1024;

/// Bytes to be sent, in order. Fill it through [`Reply`](crate::Reply), send what
/// [`Output::io_slices`] shows, then
/// [`Output::advance`] by what was sent.
#[derive(Debug)]
pub struct Output {
    /// What is written to.
    pub(crate) last: Block,
    /// What was written before, and is not wholly sent.
    full: VecDeque<Block>,
    /// Bytes of `full` that are not sent.
    full_bytes: usize,
    /// Bytes copied into `full`.
    full_copied_bytes: usize,
    copied_bytes_max: usize,
    /// More was to be copied than may be, and is not there.
    is_over: bool,
    /// How often running the output was emptied with most of its capacity unused.
    small_uses: u8,
}

/// An end of an output: see [`Output::cut`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct End {
    blocks: usize,
    flat: usize,
    shared: usize,
    is_over: bool,
}

impl Default for Output {
    fn default() -> Self {
        Output {
            last: Block::default(),
            full: VecDeque::new(),
            full_bytes: 0,
            full_copied_bytes: 0,
            copied_bytes_max: COPIED_BYTES_MAX,
            is_over: false,
            small_uses: 0,
        }
    }
}

impl Output {
    /// An empty output, which holds no memory.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how many bytes may be copied. The bound holds to a block: a little more may be copied
    /// before [`Output::is_over`] says so.
    #[inline]
    pub fn set_copied_bytes_max(&mut self, bytes: usize) {
        self.copied_bytes_max = bytes;
    }

    /// Whether more was to be copied than may be. Then what was written last is not whole, and must
    /// not be sent: it is cut, or all is cleared.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Count of bytes that are not sent.
    #[inline]
    pub fn len(&self) -> usize {
        self.last.len() + self.full_bytes
    }

    /// Whether everything is sent.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.last.is_empty() && self.full.is_empty()
    }

    /// Bytes that were copied here, and may be sent already as far as their block is not.
    pub fn copied_bytes(&self) -> usize {
        self.full_copied_bytes + self.last.flat.len()
    }

    /// Bytes of memory that this output holds, the shared values not counted.
    pub fn memory_bytes_used(&self) -> usize {
        let full = self.full.iter().map(Block::memory_bytes_used).sum::<usize>();
        self.last.memory_bytes_used() + full + self.full.capacity() * size_of::<Block>()
    }

    /// Forgets everything and lets go of the shared values.
    pub fn clear(&mut self) {
        self.forget_full();
        self.last.clear_shared();
        self.is_over = false;
        self.recycle();
    }

    /// Where the output ends now.
    #[inline]
    pub(crate) fn end(&self) -> End {
        let Block { flat, shared, .. } = &self.last;
        End {
            blocks: self.full.len(),
            flat: flat.len(),
            shared: shared.len(),
            is_over: self.is_over,
        }
    }

    /// Forgets what was written since the output ended there; nothing has been sent since.
    pub(crate) fn cut(&mut self, end: End) {
        while self.full.len() > end.blocks
            && let Some(block) = self.full.pop_back()
        {
            self.full_bytes -= block.len();
            self.full_copied_bytes -= block.flat.len();
            self.last = block;
        }
        self.last.cut(end.flat, end.shared);
        self.is_over = end.is_over;
    }

    /// What was copied since the output ended there, if that lies together.
    #[inline]
    pub(crate) fn flat_since(&mut self, end: End) -> Option<&mut [u8]> {
        if self.full.len() != end.blocks {
            return None;
        }
        self.last.flat.get_mut(end.flat..)
    }

    /// Takes back the last bytes that were copied.
    #[inline]
    pub(crate) fn shorten(&mut self, bytes: usize) {
        self.last.shorten(bytes);
    }

    /// Of the last shared value, leaves these bytes; `false` if there was none since the output
    /// ended there.
    pub(crate) fn narrow_shared(&mut self, end: End, range: Range<usize>) -> bool {
        let is_there = self.full.len() == end.blocks && self.last.shared.len() > end.shared;
        is_there && self.last.narrow_shared(range)
    }

    /// The last value that was not copied, if that was since the output ended there.
    pub(crate) fn last_shared(&self, end: End) -> Option<&Arc<Vec<u8>>> {
        let is_there = self.full.len() == end.blocks && self.last.shared.len() > end.shared;
        self.last.last_shared().filter(|_| is_there)
    }

    /// Takes out what was written since the output ended there; nothing has been sent since.
    pub(crate) fn split_off(&mut self, end: End) -> Output {
        let mut taken = Output { is_over: self.is_over && !end.is_over, ..Output::default() };
        let mut full = self.full.split_off(end.blocks.min(self.full.len()));
        if let Some(first) = full.pop_front() {
            taken.last = std::mem::replace(&mut self.last, first);
        }
        let rest = self.last.split_off(end.flat, end.shared);
        if taken.last.is_empty() && full.is_empty() {
            taken.last = rest;
        } else {
            full.push_front(rest);
        }
        taken.full = full;
        for output in [&mut *self, &mut taken] {
            output.full_bytes = output.full.iter().map(Block::len).sum();
            output.full_copied_bytes = output.full.iter().map(|block| block.flat.len()).sum();
        }
        self.is_over = end.is_over;
        taken
    }

    /// Bytes of memory that are kept for this output alone, or may be: a shared value may have no
    /// other owner any more.
    pub fn memory_bytes_held(&self) -> usize {
        let shared = self.full.iter().chain([&self.last]).map(Block::shared_bytes_held);
        self.memory_bytes_used() + shared.sum::<usize>()
    }

    /// Fills `slices` with what is to be sent next and returns how many it filled. They hold all
    /// that is owed unless all of `slices` were filled.
    pub fn io_slices<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        let mut count = 0;
        for block in &self.full {
            count += block.io_slices(&mut slices[count..]);
        }
        count + self.last.io_slices(&mut slices[count..])
    }

    /// All bytes that are not sent, if none of them is in a shared value or in an earlier block.
    #[inline]
    pub fn one_piece(&self) -> Option<&[u8]> {
        let Block { flat, flat_sent, shared, .. } = &self.last;
        (self.full.is_empty() && shared.is_empty()).then(|| &flat[*flat_sent..])
    }

    /// Takes note that `bytes` more are sent.
    ///
    /// # Panics
    /// If `bytes` is more than [`Output::len`].
    pub fn advance(&mut self, mut bytes: usize) {
        assert!(bytes <= self.len(), "more bytes were sent than were owed");
        while let Some(first) = self.full.front_mut() {
            let taken = bytes.min(first.len());
            first.advance(taken);
            bytes -= taken;
            self.full_bytes -= taken;
            if !first.is_empty() {
                return;
            }
            self.full_copied_bytes -= first.flat.len();
            self.full.pop_front();
        }
        self.last.advance(bytes);
        if self.last.is_empty() {
            self.recycle();
        } else {
            self.last.cut_sent();
        }
    }

    /// Puts what `other` owes behind what is there; nothing of it has been sent.
    pub(crate) fn append(&mut self, other: Output) {
        for block in other.full {
            self.append_block(block);
        }
        self.append_block(other.last);
        self.is_over |= other.is_over;
    }

    fn append_block(&mut self, block: Block) {
        if block.flat.len() < BLOCK_BYTES_MIN {
            if self.has_room_for(block.flat.len()) {
                self.last.append(block);
            }
        } else if self.is_within(block.flat.len()) {
            self.put_aside();
            self.last = block;
        }
    }

    /// Puts `value` behind what is there, without copying it.
    pub(crate) fn push_shared(&mut self, value: Arc<Vec<u8>>) {
        self.last.push_shared(value);
    }

    /// Puts `header` where the output ended then, and thus before whatever was written since.
    pub(crate) fn insert(&mut self, end: End, header: &[u8]) {
        let block = match self.full.get_mut(end.blocks) {
            Some(block) => {
                self.full_bytes += header.len();
                self.full_copied_bytes += header.len();
                block
            }
            None => &mut self.last,
        };
        // What goes beyond the bound is not there, and nothing of it is sent.
        if end.flat <= block.flat.len() {
            block.insert(end.flat, header, end.shared);
        }
    }

    /// Sees to it that `bytes` can be written without more memory; false if they are too many.
    #[inline]
    pub(crate) fn has_room_for(&mut self, bytes: usize) -> bool {
        let flat = &self.last.flat;
        flat.capacity() - flat.len() >= bytes || self.make_room(bytes)
    }

    /// Makes room for `bytes`; false if they are too many. Where they are, what was written behind
    /// the bound is forgotten, so that a command that goes on writing takes no more memory.
    #[cold]
    #[inline(never)]
    pub(crate) fn make_room(&mut self, bytes: usize) -> bool {
        if !self.is_within(bytes) {
            self.last.cut(0, 0);
            return self.last.flat.capacity() >= bytes;
        }
        if self.last.flat.len() >= BLOCK_BYTES_MIN {
            self.put_aside();
            self.last.flat.reserve_exact(bytes.max(BLOCK_BYTES));
        } else {
            self.last.flat.reserve(bytes);
        }
        true
    }

    /// Whether `bytes` more may be copied. Where the bound is passed, what is there is put aside:
    /// earlier replies may be among it.
    fn is_within(&mut self, bytes: usize) -> bool {
        let is_over = self.copied_bytes().saturating_add(bytes) > self.copied_bytes_max;
        if is_over && !self.is_over {
            self.is_over = true;
            self.put_aside();
            self.last.flat.reserve_exact(BLOCK_BYTES);
        }
        !self.is_over
    }

    fn put_aside(&mut self) {
        let block = std::mem::take(&mut self.last);
        self.full_bytes += block.len();
        self.full_copied_bytes += block.flat.len();
        self.full.push_back(block);
    }

    fn forget_full(&mut self) {
        self.full = VecDeque::new();
        self.full_bytes = 0;
        self.full_copied_bytes = 0;
    }

    /// Starts again at the front of the buffer, and frees memory after a burst.
    fn recycle(&mut self) {
        let Block { flat, shared, flat_sent, .. } = &mut self.last;
        let (used, capacity) = (flat.len(), flat.capacity());
        flat.clear();
        *flat_sent = 0;
        if capacity <= CAPACITY_KEPT {
            return;
        }
        self.small_uses = if used < capacity / 4 { self.small_uses + 1 } else { 0 };
        if self.small_uses >= SMALL_USES_MAX || capacity >= CAPACITY_NEVER_KEPT {
            flat.shrink_to(CAPACITY_KEPT);
            shared.shrink_to(0);
            self.small_uses = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CAPACITY_KEPT, Output, SHARED_BYTES_MIN, SMALL_USES_MAX};
    use crate::{Protocol, Reply};
    use std::io::IoSlice;
    use std::sync::Arc;

    /// What the client would get if the kernel took `step` bytes at a time and `slices` slices.
    fn drain(output: &mut Output, step: usize, slices_max: usize) -> Vec<u8> {
        let mut sent = Vec::new();
        while !output.is_empty() {
            let len = output.len();
            let mut slices = vec![IoSlice::new(&[]); slices_max];
            let count = output.io_slices(&mut slices);
            let shown: usize = slices[..count].iter().map(|slice| slice.len()).sum();
            assert!(count > 0 && (count == slices_max || shown == len));
            let bytes = slices[..count].iter().flat_map(|slice| slice.iter().copied());
            let taken: Vec<u8> = bytes.take(step).collect();
            output.advance(taken.len());
            assert_eq!(output.len(), len - taken.len());
            sent.extend(taken);
        }
        assert_eq!(output.len(), 0);
        sent
    }

    #[test]
    fn shared_values_are_sent_in_their_place_however_the_kernel_takes_them() {
        let big = Arc::new(vec![b'x'; SHARED_BYTES_MIN]);
        let mut expected = b"+OK\r\n".to_vec();
        for _ in 0..2 {
            expected.extend(format!("${SHARED_BYTES_MIN}\r\n").bytes());
            expected.extend(big.iter());
            expected.extend(b"\r\n");
        }
        expected.extend(b"$3\r\nabc\r\n:7\r\n");
        for step in [1, 7, 4096, 16384, 16400, usize::MAX] {
            for slices_max in [1, 2, 3, 16] {
                let mut output = Output::new();
                let mut reply = Reply::new(&mut output, Protocol::Resp2);
                reply.ok();
                let mut part = Output::new();
                Reply::new(&mut part, Protocol::Resp2).bulk_shared(Arc::clone(&big));
                reply.append(part);
                reply.bulk_shared(Arc::clone(&big));
                reply.bulk_shared(Arc::new(b"abc".to_vec()));
                let mut tail = Output::new();
                Reply::new(&mut tail, Protocol::Resp2).integer(7);
                reply.append(tail);
                assert_eq!(output.len(), expected.len());
                assert!(drain(&mut output, step, slices_max) == expected, "{step} {slices_max}");
                assert_eq!(Arc::strong_count(&big), 1);
            }
        }
    }

    #[test]
    fn what_is_split_off_has_its_shared_values_in_their_place() {
        let big = Arc::new(vec![b'x'; SHARED_BYTES_MIN]);
        for more in [0, 300_000] {
            split_off(&big, &vec![b'y'; more]);
        }
    }

    /// Splits off what is in one block, or in several.
    fn split_off(big: &Arc<Vec<u8>>, more: &[u8]) {
        let more_is = [format!("${}\r\n", more.len()).as_bytes(), more, b"\r\n"].concat();
        let mut output = Output::new();
        let mut reply = Reply::new(&mut output, Protocol::Resp2);
        reply.bulk_shared(Arc::clone(big));
        reply.ok();
        let mark = reply.mark();
        reply.bulk(more);
        reply.bulk(more);
        reply.bulk(more);
        reply.integer(7);
        reply.bulk_shared(Arc::clone(big));
        reply.integer(8);
        let mut taken = reply.split_off(mark);
        reply.integer(9);
        let value = [format!("${SHARED_BYTES_MIN}\r\n").as_bytes(), &big[..], b"\r\n"].concat();
        let expected = [&more_is.repeat(3)[..], b":7\r\n", &value, b":8\r\n"].concat();
        assert!(drain(&mut taken, 1000, 3) == expected);
        assert!(drain(&mut output, 1000, 3) == [&value[..], b"+OK\r\n:9\r\n"].concat());
    }

    #[test]
    fn what_was_written_since_a_mark_is_changed_in_its_place() {
        let big = Arc::new((0..SHARED_BYTES_MIN).map(|at| at as u8).collect::<Vec<u8>>());
        let mut output = Output::new();
        let mut reply = Reply::new(&mut output, Protocol::Resp3);
        reply.ok();
        let mark = reply.mark();
        assert!(!reply.narrow_shared(mark, 0..1), "none has been written since");
        reply.bulk_shared(Arc::clone(&big));
        let copied = reply.copied_since(mark).expect("it lies together");
        let header = format!("${SHARED_BYTES_MIN}\r\n");
        assert_eq!(copied, [header.as_bytes(), b"\r\n"].concat());
        copied[..header.len()].fill(b'-');
        reply.shorten(2);
        assert_eq!(reply.last_shared(mark), Some(&big));
        assert!(reply.narrow_shared(mark, 10..15));
        reply.integer(7);
        let line = "-".repeat(header.len());
        let expected = [b"+OK\r\n", line.as_bytes(), &big[10..15], b":7\r\n"].concat();
        assert_eq!(output.len(), expected.len());
        assert_eq!(drain(&mut output, 3, 2), expected);
        let mut reply = Reply::new(&mut output, Protocol::Resp3);
        let mark = reply.mark();
        (0..600).for_each(|_| reply.bulk(&[b'x'; 1000]));
        assert!(reply.copied_since(mark).is_none(), "it lies in several blocks");
    }

    #[test]
    fn an_output_that_is_never_empty_does_not_grow() {
        let mut output = Output::new();
        let big = Arc::new(vec![b'x'; SHARED_BYTES_MIN]);
        let (mut written, mut sent) = (Vec::new(), Vec::new());
        for round in 0..2000u32 {
            let mut reply = Reply::new(&mut output, Protocol::Resp2);
            let value = vec![round as u8; 1000];
            reply.bulk(&value);
            written.extend([b"$1000\r\n", &value[..], b"\r\n"].concat());
            if round % 50 == 0 {
                reply.bulk_shared(Arc::clone(&big));
                written.extend([b"$16384\r\n", &big[..], b"\r\n"].concat());
            }
            // Always leaves some bytes unsent.
            while output.len() > 20_000 {
                let mut slices = [IoSlice::new(&[]); 4];
                let count = output.io_slices(&mut slices);
                let bytes: Vec<u8> =
                    slices[..count].iter().flat_map(|s| s.to_vec()).take(5000).collect();
                output.advance(bytes.len());
                sent.extend(bytes);
            }
        }
        assert!(output.memory_bytes_used() < 400_000, "{}", output.memory_bytes_used());
        sent.extend(drain(&mut output, 4096, 4));
        assert!(sent == written);
    }

    #[test]
    fn what_is_cut_off_is_forgotten_and_the_rest_is_sent() {
        let mut output = Output::new();
        let big = Arc::new(vec![b'x'; SHARED_BYTES_MIN]);
        let mut reply = Reply::new(&mut output, Protocol::Resp2);
        reply.bulk_shared(Arc::clone(&big));
        reply.ok();
        let (mark, bytes) = (reply.mark(), reply.bytes_owed());
        reply.array(2);
        reply.bulk_shared(Arc::clone(&big));
        reply.ok();
        reply.cut(mark);
        assert_eq!(reply.bytes_owed(), bytes);
        reply.integer(7);
        let header = format!("${SHARED_BYTES_MIN}\r\n");
        let expected = [header.as_bytes(), &big[..], b"\r\n+OK\r\n:7\r\n"].concat();
        assert!(drain(&mut output, usize::MAX, 16) == expected);
        assert_eq!(Arc::strong_count(&big), 1);
    }

    #[test]
    fn a_large_output_holds_little_more_than_is_owed() {
        let (mut output, mut written) = (Output::new(), Vec::new());
        let mut reply = Reply::new(&mut output, Protocol::Resp2);
        let outer = reply.array_deferred();
        let value = vec![b'x'; 1000];
        for number in 0..10_000i64 {
            reply.bulk(&value);
            reply.integer(number);
            written.extend(
                [b"$1000\r\n", &value[..], format!("\r\n:{number}\r\n").as_bytes()].concat(),
            );
        }
        reply.array_end(outer, 20_000);
        let used = output.memory_bytes_used();
        assert!(used < output.len() * 21 / 20, "{used} bytes for {}", output.len());
        written.splice(0..0, *b"*20000\r\n");
        assert!(drain(&mut output, 100_000, 16) == written);
        assert!(output.memory_bytes_used() < 600_000);
    }

    #[test]
    fn what_is_beyond_the_bound_takes_no_memory_and_can_be_cut() {
        let mut output = Output::new();
        output.set_copied_bytes_max(1_000_000);
        let mut reply = Reply::new(&mut output, Protocol::Resp2);
        reply.ok();
        let before = reply.mark();
        let place = reply.array_deferred();
        for round in 0..10_000 {
            reply.bulk(&[b'x'; 1000]);
            reply.bulk(b"short");
            if round % 1000 == 0 {
                reply.bulk_shared(Arc::new(vec![b'y'; SHARED_BYTES_MIN]));
                let mut part = Output::new();
                Reply::new(&mut part, Protocol::Resp2).bulk(&vec![b'x'; 300_000]);
                reply.append(part);
            }
        }
        let beyond = reply.mark();
        reply.bulk(&vec![b'x'; 10_000_000]);
        let inner = reply.array_deferred();
        reply.array_end(inner, 0);
        reply.cut(beyond);
        assert!(reply.is_over(), "what is before the mark is not whole");
        reply.array_end(place, 20_010);
        assert!(output.memory_bytes_used() < 2_100_000, "{}", output.memory_bytes_used());
        let mut reply = Reply::new(&mut output, Protocol::Resp2);
        reply.cut(before);
        assert!(!reply.is_over());
        reply.integer(7);
        assert_eq!(drain(&mut output, 3, 2), b"+OK\r\n:7\r\n");
    }

    #[test]
    fn memory_is_given_back_after_a_burst() {
        let mut output = Output::new();
        output.last.flat.resize(2_000_000, b'x');
        output.advance(2_000_000);
        assert!(output.memory_bytes_used() <= CAPACITY_KEPT);

        output.last.flat.reserve_exact(200_000);
        for _ in 1..SMALL_USES_MAX {
            output.last.flat.push(b'x');
            output.advance(1);
        }
        assert!(output.memory_bytes_used() >= 200_000);
        output.last.flat.push(b'x');
        output.clear();
        assert!(output.memory_bytes_used() <= CAPACITY_KEPT);
    }

    #[test]
    #[should_panic(expected = "more bytes were sent than were owed")]
    fn more_than_is_owed_cannot_be_sent() {
        Output::new().advance(1);
    }
}
