//! HOT PATH. What a connection owes its client.
//!
//! Replies are written one after the other into one flat buffer. A big value is not copied: the
//! buffer holds its header and its line end, and a list says which value belongs between the two.
//!
//! ```text
//! flat    +OK\r\n $20000\r\n \r\n :1\r\n          sent as three slices of one writev
//! shared                    ^ offset 14, 20,000 bytes
//! ```

use std::collections::VecDeque;
use std::io::IoSlice;
use std::sync::Arc;

/// A value of this many bytes or more is sent from where it lives instead of being copied. Below,
/// the copy is cheaper than a slice of its own and the reference counting.
pub const SHARED_BYTES_MIN: usize = 16 * 1024;

/// Capacity that an empty output may keep for ever.
const CAPACITY_KEPT: usize = 16 * 1024;
/// Capacity that an empty output never keeps: at this size allocating again is small beside filling
/// it.
const CAPACITY_NEVER_KEPT: usize = 1024 * 1024;
/// An output between the two shrinks after having used less than a quarter of its capacity this
/// many times running.
const SMALL_USES_MAX: u8 = 64;
/// Sent bytes are cut off the front of an output that is never empty, once there are this many.
const CUT_BYTES_MIN: usize = 64 * 1024;

/// Bytes to be sent, in order. Fill it through [`Reply`](crate::Reply), send what
/// [`Output::io_slices`] shows, then
/// [`Output::advance`] by what was sent.
#[derive(Debug, Default)]
pub struct Output {
    /// Everything but the shared values.
    pub(crate) flat: Vec<u8>,
    /// Bytes of `flat` that are sent.
    flat_sent: usize,
    /// The shared values that are not wholly sent.
    shared: VecDeque<Shared>,
    /// Bytes of the first shared value that are sent.
    shared_sent: usize,
    /// Bytes of all shared values that are not sent.
    shared_bytes: usize,
    /// How often running the output was emptied with most of its capacity unused.
    small_uses: u8,
}

/// An end of an output: see [`Output::cut`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct End {
    flat: usize,
    shared: usize,
}

/// A value that belongs before `flat[offset]`.
#[derive(Debug)]
struct Shared {
    offset: usize,
    value: Arc<Vec<u8>>,
}

impl Output {
    /// An empty output, which holds no memory.
    pub fn new() -> Self {
        Self::default()
    }

    /// Count of bytes that are not sent.
    #[inline]
    pub fn len(&self) -> usize {
        self.flat.len() - self.flat_sent + self.shared_bytes
    }

    /// Whether everything is sent.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.flat.len() == self.flat_sent && self.shared.is_empty()
    }

    /// Bytes of memory that this output holds, the shared values not counted.
    pub fn memory_bytes_used(&self) -> usize {
        self.flat.capacity() + self.shared.capacity() * size_of::<Shared>()
    }

    /// Forgets everything and lets go of the shared values.
    pub fn clear(&mut self) {
        self.shared.clear();
        self.shared_sent = 0;
        self.shared_bytes = 0;
        self.recycle();
    }

    /// Where the output ends now.
    pub(crate) fn end(&self) -> End {
        End { flat: self.flat.len(), shared: self.shared.len() }
    }

    /// Forgets what was written since the output ended there; nothing has been sent since.
    pub(crate) fn cut(&mut self, end: End) {
        self.flat.truncate(end.flat);
        for Shared { value, .. } in self.shared.drain(end.shared..) {
            self.shared_bytes -= value.len();
        }
    }

    /// Takes out what was written since the output ended there; nothing has been sent since.
    pub(crate) fn split_off(&mut self, end: End) -> Output {
        let flat = self.flat.split_off(end.flat);
        let moved = |shared: Shared| Shared { offset: shared.offset - end.flat, ..shared };
        let shared: VecDeque<Shared> = self.shared.drain(end.shared..).map(moved).collect();
        let shared_bytes = shared.iter().map(|shared| shared.value.len()).sum();
        self.shared_bytes -= shared_bytes;
        Output { flat, shared, shared_bytes, ..Output::default() }
    }

    /// Bytes of memory that are kept for this output alone, or may be: a shared value may have no
    /// other owner any more.
    pub fn memory_bytes_held(&self) -> usize {
        self.memory_bytes_used()
            + self.shared.iter().map(|shared| shared.value.len()).sum::<usize>()
    }

    /// Fills `slices` with what is to be sent next and returns how many it filled. They hold all
    /// that is owed unless all of `slices` were filled.
    pub fn io_slices<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
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
        for Shared { offset, value } in &self.shared {
            if !(add(&self.flat[flat_done..*offset]) && add(&value[value_done..])) {
                return count;
            }
            flat_done = *offset;
            value_done = 0;
        }
        add(&self.flat[flat_done..]);
        count
    }

    /// Takes note that `bytes` more are sent.
    ///
    /// # Panics
    /// If `bytes` is more than [`Output::len`].
    pub fn advance(&mut self, bytes: usize) {
        assert!(bytes <= self.len(), "more bytes were sent than were owed");
        let mut left = bytes;
        while let Some(first) = self.shared.front() {
            let flat = left.min(first.offset - self.flat_sent);
            self.flat_sent += flat;
            left -= flat;
            let value = left.min(first.value.len() - self.shared_sent);
            self.shared_sent += value;
            self.shared_bytes -= value;
            left -= value;
            if self.flat_sent < first.offset || self.shared_sent < first.value.len() {
                return;
            }
            self.shared.pop_front();
            self.shared_sent = 0;
        }
        self.flat_sent += left;
        if self.flat_sent == self.flat.len() {
            self.recycle();
        } else if self.flat_sent >= CUT_BYTES_MIN && self.flat_sent >= self.flat.len() / 2 {
            self.cut_sent();
        }
    }

    /// Puts what `other` owes behind what is there; nothing of it has been sent.
    pub(crate) fn append(&mut self, other: Output) {
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
        self.shared.push_back(Shared { offset: self.flat.len(), value });
    }

    /// Puts `header` before `flat[offset]`, and thus before whatever was written since the flat
    /// part had that length.
    pub(crate) fn insert(&mut self, offset: usize, header: &[u8], shared_before: usize) {
        self.flat.splice(offset..offset, header.iter().copied());
        for shared in self.shared.iter_mut().skip(shared_before) {
            shared.offset += header.len();
        }
    }

    /// Count of shared values that are not wholly sent.
    pub(crate) fn shared_count(&self) -> usize {
        self.shared.len()
    }

    /// Starts again at the front of the buffer, and frees memory after a burst.
    fn recycle(&mut self) {
        let (used, capacity) = (self.flat.len(), self.flat.capacity());
        self.flat.clear();
        self.flat_sent = 0;
        if capacity <= CAPACITY_KEPT {
            return;
        }
        self.small_uses = if used < capacity / 4 { self.small_uses + 1 } else { 0 };
        if self.small_uses >= SMALL_USES_MAX || capacity >= CAPACITY_NEVER_KEPT {
            self.flat.shrink_to(CAPACITY_KEPT);
            self.shared.shrink_to(0);
            self.small_uses = 0;
        }
    }

    /// Moves the rest to the front: at most as many bytes as were sent since the last time.
    fn cut_sent(&mut self) {
        self.flat.drain(..self.flat_sent);
        for shared in &mut self.shared {
            shared.offset -= self.flat_sent;
        }
        self.flat_sent = 0;
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
        let mut output = Output::new();
        let mut reply = Reply::new(&mut output, Protocol::Resp2);
        reply.bulk_shared(Arc::clone(&big));
        reply.ok();
        let mark = reply.mark();
        reply.integer(7);
        reply.bulk_shared(Arc::clone(&big));
        reply.integer(8);
        let mut taken = reply.split_off(mark);
        reply.integer(9);
        let value = [format!("${SHARED_BYTES_MIN}\r\n").as_bytes(), &big[..], b"\r\n"].concat();
        assert!(drain(&mut taken, 1000, 3) == [b":7\r\n", &value[..], b":8\r\n"].concat());
        assert!(drain(&mut output, 1000, 3) == [&value[..], b"+OK\r\n:9\r\n"].concat());
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
    fn memory_is_given_back_after_a_burst() {
        let mut output = Output::new();
        output.flat.resize(2_000_000, b'x');
        output.advance(2_000_000);
        assert!(output.memory_bytes_used() <= CAPACITY_KEPT);

        output.flat.reserve_exact(200_000);
        for _ in 1..SMALL_USES_MAX {
            output.flat.push(b'x');
            output.advance(1);
        }
        assert!(output.memory_bytes_used() >= 200_000);
        output.flat.push(b'x');
        output.clear();
        assert!(output.memory_bytes_used() <= CAPACITY_KEPT);
    }

    #[test]
    #[should_panic(expected = "more bytes were sent than were owed")]
    fn more_than_is_owed_cannot_be_sent() {
        Output::new().advance(1);
    }
}
