//! Reads of which many are under way at a time, for one thread.

use crate::disk::DiskFile;
use parking_lot::{Condvar, Mutex};
use std::io;
use std::sync::Arc;

/// Bytes of a file that are to be read.
#[derive(Clone)]
pub struct ReadAt {
    /// Where they are.
    pub file: Arc<dyn DiskFile>,
    /// Where they begin in it, in bytes.
    pub offset: u64,
    /// How many there are.
    pub bytes: usize,
    /// The page cache is not to be asked for them, nor to keep them.
    pub is_direct: bool,
}

/// Receives the number of a read, and what it has read: fewer bytes where the file ends.
pub type ReadDone<'a> = dyn FnMut(usize, io::Result<&[u8]>) + 'a;

/// Has another thread's [`ReadRing::wait`] return, now or the next time.
pub type RingWaker = Arc<dyn Fn() + Send + Sync>;

/// See the head of this file. It belongs to the thread that has made it.
pub trait ReadRing {
    /// How many reads it takes before one of those under way is done.
    fn room(&self) -> usize;

    /// Has bytes read, from [`ReadRing::wait`] on; returns the number of the read, which is below
    /// the depth of the ring and no other's before this one is done. `None` if it has no room, or
    /// cannot read that file.
    fn push(&mut self, read: &ReadAt) -> Option<usize>;

    /// Waits until a read is done or it is woken, and visits some that are done.
    ///
    /// # Errors
    /// The system does not go on with reads: those under way are lost.
    fn wait(&mut self, done: &mut ReadDone<'_>) -> io::Result<()>;

    /// What wakes it.
    fn waker(&self) -> RingWaker;
}

/// A ring of which each read is made when it is waited for, for disks that are none.
pub struct BlockingRing {
    reads: Vec<(usize, ReadAt)>,
    free: Vec<usize>,
    woken: Arc<Woken>,
}

#[derive(Default)]
struct Woken {
    is_woken: Mutex<bool>,
    changed: Condvar,
}

impl BlockingRing {
    /// One that has this many reads under way at most.
    pub fn new(depth: usize) -> BlockingRing {
        BlockingRing { reads: Vec::new(), free: (0..depth).collect(), woken: Arc::default() }
    }
}

impl ReadRing for BlockingRing {
    fn room(&self) -> usize {
        self.free.len()
    }

    fn push(&mut self, read: &ReadAt) -> Option<usize> {
        let number = self.free.pop()?;
        self.reads.push((number, read.clone()));
        Some(number)
    }

    fn wait(&mut self, done: &mut ReadDone<'_>) -> io::Result<()> {
        if self.reads.is_empty() {
            let mut is_woken = self.woken.is_woken.lock();
            self.woken.changed.wait_while(&mut is_woken, |is_woken| !*is_woken);
            *is_woken = false;
        }
        // The last one first: nobody may rely on their order.
        while let Some((number, ReadAt { file, offset, bytes, .. })) = self.reads.pop() {
            let mut buffer = vec![0; bytes];
            self.free.push(number);
            match file.read_at(&mut buffer, offset) {
                Ok(read) => done(number, Ok(&buffer[..read])),
                Err(error) => done(number, Err(error)),
            }
        }
        Ok(())
    }

    fn waker(&self) -> RingWaker {
        let woken = Arc::clone(&self.woken);
        Arc::new(move || {
            *woken.is_woken.lock() = true;
            woken.changed.notify_one();
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::Disk;
    use crate::real_disk::RealDisk;
    use crate::sim_disk::SimDisk;
    use std::collections::HashMap;
    use std::io::IoSlice;
    use std::path::Path;

    const DEPTH: usize = 8;
    const FILE_BYTES: usize = 1 << 20;

    fn byte_at(place: usize) -> u8 {
        (place * 7 + place / 251) as u8
    }

    fn file(disk: &dyn Disk, dir: &Path) -> Arc<dyn DiskFile> {
        let file = disk.create(&dir.join("a"), FILE_BYTES as u64).expect("is made");
        let bytes: Vec<u8> = (0..FILE_BYTES).map(byte_at).collect();
        file.write_all_at(&[IoSlice::new(&bytes)], 0).expect("is written");
        file.sync_data().expect("is synced");
        file
    }

    /// Reads at places and of lengths that are no multiples of anything, more than there is room
    /// for.
    fn read_all(ring: &mut dyn ReadRing, file: &Arc<dyn DiskFile>, is_direct: bool) {
        let places = (0..300).map(|number| (number * 3_491, 1 + number * 37 % 5_000));
        let mut wanted: Vec<(usize, usize)> = places.collect();
        // The end of the file, and what lies behind it.
        wanted.extend([(FILE_BYTES - 10, 20), (FILE_BYTES + 5_000, 10), (5, 100_000)]);
        let (mut under_way, mut done) = (HashMap::new(), 0);
        let all = wanted.len();
        while done < all {
            while ring.room() > 0
                && let Some((offset, bytes)) = wanted.pop()
            {
                let file = Arc::clone(file);
                let read = ReadAt { file, offset: offset as u64, bytes, is_direct };
                let number = ring.push(&read).expect("there is room");
                assert!(number < DEPTH && under_way.insert(number, (offset, bytes)).is_none());
            }
            ring.wait(&mut |number, read| {
                let (offset, bytes) = under_way.remove(&number).expect("is under way");
                let read = read.expect("is read");
                let there = bytes.min(FILE_BYTES.saturating_sub(offset));
                assert_eq!(read.len(), there, "{bytes} bytes at {offset}");
                assert!((offset..).zip(read).all(|(place, &byte)| byte == byte_at(place)));
                done += 1;
            })
            .expect("goes on");
        }
        assert!(under_way.is_empty() && ring.room() == DEPTH);
    }

    /// Another thread wakes one that waits for nothing.
    fn is_woken(ring: &mut dyn ReadRing) {
        let waker = ring.waker();
        for _ in 0..3 {
            std::thread::scope(|scope| {
                scope.spawn(|| waker());
                ring.wait(&mut |_, _| panic!("nothing is read")).expect("is woken");
            });
        }
    }

    #[test]
    fn a_simulated_disk_has_a_ring() {
        let disk = SimDisk::default();
        let mut ring = disk.read_ring(DEPTH).expect("a ring");
        read_all(&mut *ring, &file(&disk, Path::new("/")), false);
        is_woken(&mut *ring);
    }

    #[test]
    fn the_systems_ring_reads_with_the_page_cache_and_past_it() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let file = file(&RealDisk, dir.path());
        // Some systems refuse it, and the server does without.
        let Ok(mut ring) = RealDisk.read_ring(DEPTH) else { return };
        read_all(&mut *ring, &file, false);
        RealDisk.remove(&dir.path().join("a")).expect("is removed");
        read_all(&mut *ring, &file, true);
        is_woken(&mut *ring);
        let read = ReadAt { file, offset: 0, bytes: 70_000, is_direct: true };
        assert!(ring.push(&read).is_some());
        // It may end while a read is under way.
        drop(ring);
    }

    #[test]
    fn a_file_that_is_none_of_the_systems_is_left_to_others() {
        let Ok(mut ring) = RealDisk.read_ring(DEPTH) else { return };
        let file = file(&SimDisk::default(), Path::new("/"));
        assert!(ring.push(&ReadAt { file, offset: 0, bytes: 1, is_direct: true }).is_none());
        assert_eq!(ring.room(), DEPTH);
    }
}
