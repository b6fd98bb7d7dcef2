//! JUSTIFICATION for `unsafe`: the kernel writes into the buffers of reads that are under way. It
//! takes half of the CPU time of a read by a thread (`docs/decisions/0040-ring-of-reads.md`).
//!
//! The kernel's ring of reads, io_uring: one system call for as many reads as there are.
//!
//! ```text
//! push ▸ submission queue ─┐                              ┌─▸ completion queue ▸ done
//!                          └─▸ wait: one system call ─────┘
//! another thread's waker ▸ eventfd, of which a read is always under way
//! ```
#![expect(unsafe_code, reason = "the kernel writes into the buffers of reads")]

use crate::disk::DiskFile;
use crate::read_ring::{ReadAt, ReadDone, ReadRing, RingWaker};
use io_uring::types::Fd;
use io_uring::{IoUring, opcode, squeue};
use rustix::event::{EventfdFlags, eventfd};
use rustix::io::Errno;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;

/// Number of the read that is done when somebody wakes the ring.
const WAKE: u64 = u64::MAX;
const WAKE_BYTES: usize = 8;
/// Reads that are visited before others are begun: the disk is not to wait while many are answered,
/// nor are the first of them to wait for the last.
const VISITS_MAX: usize = 4;
/// Buffers that are larger are not kept for other reads.
const KEPT_BYTES_MAX: usize = 16 << 10;

/// See the head of this file.
pub(crate) struct Uring {
    ring: IoUring,
    slots: Box<[Slot]>,
    free: Vec<usize>,
    waker: Arc<OwnedFd>,
    woken: Vec<u8>,
    /// A read of `waker` is under way.
    listens: bool,
    /// What has been done, as number and result; kept for its memory.
    done: Vec<(u64, i32)>,
}

/// One read, if it has a file.
#[derive(Default)]
struct Slot {
    /// Keeps its descriptor.
    file: Option<Arc<dyn DiskFile>>,
    buffer: Vec<u8>,
    /// Where in the buffer what is wanted begins, and its bytes.
    start: usize,
    wanted: usize,
    /// Bytes before what is wanted, which were read with it.
    skipped: usize,
}

impl Uring {
    /// One that has this many reads under way at most.
    ///
    /// # Errors
    /// The system has none, or refuses it: many containers do.
    pub(crate) fn new(depth: usize) -> io::Result<Uring> {
        let entries = (depth + 1).next_power_of_two() as u32;
        // What is done is seen when this thread asks, and interrupts it at no other time; since
        // Linux 6.1.
        let ring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .build(entries)
            .or_else(|_| IoUring::new(entries))?;
        Ok(Uring {
            ring,
            slots: std::iter::repeat_with(Slot::default).take(depth).collect(),
            free: (0..depth).rev().collect(),
            waker: Arc::new(eventfd(0, EventfdFlags::CLOEXEC)?),
            woken: vec![0; WAKE_BYTES],
            listens: false,
            done: Vec::new(),
        })
    }

    fn listen(&mut self) {
        if !self.listens {
            let to = self.woken.as_mut_ptr();
            let read = opcode::Read::new(Fd(self.waker.as_raw_fd()), to, WAKE_BYTES as u32);
            self.listens = self.submit(read.build().user_data(WAKE));
        }
    }

    /// Returns false if there is no room, which does not happen: there is an entry for each slot.
    fn submit(&mut self, entry: squeue::Entry) -> bool {
        // SAFETY: what an entry reads into stays until it is done: a slot's buffer is changed only
        // when it has no file, `woken` only when nobody listens, and both are leaked by `drop` if
        // reads are under way.
        unsafe { self.ring.submission().push(&entry).is_ok() }
    }
}

impl Slot {
    /// Gets ready to read these bytes, from multiples of `align`, to such in memory; returns where
    /// to, how many and from which offset.
    fn prepare(&mut self, offset: u64, bytes: usize, align: usize) -> (*mut u8, u32, u64) {
        let from = offset / align as u64 * align as u64;
        self.skipped = (offset - from) as usize;
        self.wanted = bytes;
        let all = (self.skipped + bytes).next_multiple_of(align);
        if self.buffer.len() < all + align {
            self.buffer = vec![0; all + align];
        }
        self.start = self.buffer.as_ptr().align_offset(align);
        (self.buffer[self.start..][..all].as_mut_ptr(), all as u32, from)
    }

    /// What a read has brought of what was wanted.
    fn read(&self, result: i32) -> io::Result<&[u8]> {
        if result < 0 {
            return Err(io::Error::from_raw_os_error(-result));
        }
        let read = (result as usize).saturating_sub(self.skipped).min(self.wanted);
        Ok(&self.buffer[self.start + self.skipped..][..read])
    }
}

impl ReadRing for Uring {
    fn room(&self) -> usize {
        self.free.len()
    }

    fn push(&mut self, read: &ReadAt) -> Option<usize> {
        let (fd, align) = read.file.for_ring(read.is_direct)?;
        let fd = Fd(fd.as_raw_fd());
        let number = self.free.pop()?;
        let (to, bytes, from) = self.slots[number].prepare(read.offset, read.bytes, align);
        let entry = opcode::Read::new(fd, to, bytes).offset(from).build();
        if !self.submit(entry.user_data(number as u64)) {
            self.free.push(number);
            return None;
        }
        self.slots[number].file = Some(Arc::clone(&read.file));
        Some(number)
    }

    fn wait(&mut self, done: &mut ReadDone<'_>) -> io::Result<()> {
        self.listen();
        let is_done = !self.ring.completion().is_empty();
        let has_more = !self.ring.submission().is_empty();
        if has_more || !is_done {
            match self.ring.submit_and_wait(usize::from(!is_done)) {
                Ok(_) => {}
                Err(error) if is_passing(&error) => {}
                Err(error) => return Err(error),
            }
        }
        let mut all = std::mem::take(&mut self.done);
        let done_now = self.ring.completion().take(VISITS_MAX);
        all.extend(done_now.map(|entry| (entry.user_data(), entry.result())));
        for (number, result) in all.drain(..) {
            if number == WAKE {
                self.listens = false;
                continue;
            }
            let number = number as usize;
            self.slots[number].file = None;
            done(number, self.slots[number].read(result));
            if self.slots[number].buffer.len() > KEPT_BYTES_MAX {
                self.slots[number].buffer = Vec::new();
            }
            self.free.push(number);
        }
        self.done = all;
        Ok(())
    }

    fn waker(&self) -> RingWaker {
        let waker = Arc::clone(&self.waker);
        // Nothing else can be done about it if it fails; it does if it was woken 2^64 times.
        Arc::new(move || {
            let _ = rustix::io::write(&*waker, &1u64.to_ne_bytes());
        })
    }
}

/// It was interrupted, or is to take what is done first.
fn is_passing(error: &io::Error) -> bool {
    let passing = [Errno::INTR, Errno::AGAIN, Errno::BUSY];
    error.raw_os_error().is_some_and(|code| passing.iter().any(|it| it.raw_os_error() == code))
}

impl Drop for Uring {
    fn drop(&mut self) {
        // The kernel may still write into these.
        for slot in self.slots.iter_mut().filter(|slot| slot.file.is_some()) {
            std::mem::forget(std::mem::take(&mut slot.buffer));
        }
        if self.listens {
            std::mem::forget(std::mem::take(&mut self.woken));
        }
    }
}
