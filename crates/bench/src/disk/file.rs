//! The file that is read, and how it is read: around the kernel's cache if the file system can.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::fs::{Advice, OFlags, fadvise, fcntl_getfl, fcntl_setfl, statvfs};
use rustix::io::Errno;
use serde::Serialize;

use crate::error::BenchError;
use crate::random::Random;

/// Where in memory direct reads may go: a multiple of every sector size in use.
pub(super) const ALIGNMENT: usize = 4_096;
/// Bytes that are written at a time.
const CHUNK_BYTES: usize = 1 << 20;
/// What is to stay free on the disk beside the file.
const LEFT_FREE_BYTES: u64 = 64 << 20;

/// How the file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Way {
    /// Around the kernel's cache.
    Direct,
    /// Through it, as was asked for.
    Buffered,
    /// Through it, because the file system has no other way for such blocks.
    NoDirect,
}

/// A file of random bytes without a name: it is gone as soon as the process is, even by a signal.
#[derive(Debug)]
pub(super) struct TestFile {
    file: File,
    bytes: u64,
}

impl TestFile {
    /// Writes `bytes`, a multiple of 1 MiB, has them on the disk and out of the kernel's cache.
    pub(super) fn write(dir: &Path, bytes: u64, seed: u64) -> Result<TestFile, BenchError> {
        let failed = |what| move |source: io::Error| BenchError::Disk { what, source };
        let space = statvfs(dir).map_err(|error| failed("look at the directory")(error.into()))?;
        let free_bytes = space.f_bavail.saturating_mul(space.f_frsize);
        if free_bytes.saturating_sub(LEFT_FREE_BYTES) < bytes {
            return Err(BenchError::Usage(format!(
                "{} has {} MiB free, and {} are to be written; choose smaller --bytes",
                dir.display(),
                free_bytes >> 20,
                bytes >> 20
            )));
        }
        let mut file = tempfile::tempfile_in(dir).map_err(failed("make the file"))?;
        let mut random = Random::new(seed, u64::MAX);
        let mut chunk = vec![0; CHUNK_BYTES];
        for _ in 0..bytes / CHUNK_BYTES as u64 {
            // Bytes that no disk can compress or has already.
            random.fill(&mut chunk);
            file.write_all(&chunk).map_err(failed("write the file"))?;
        }
        file.sync_all().map_err(failed("sync the file"))?;
        // Advice alone: without it buffered reads find more in the cache.
        let _ = fadvise(&file, 0, None, Advice::DontNeed);
        let _ = fadvise(&file, 0, None, Advice::Random);
        Ok(TestFile { file, bytes })
    }

    /// Has reads go around the kernel's cache, if the file system can read such blocks so.
    pub(super) fn go_direct(&mut self, blocks: &[usize]) -> Result<Way, BenchError> {
        let failed = |source: Errno| BenchError::Disk {
            what: "set the file's flags",
            source: source.into(),
        };
        let flags = fcntl_getfl(&self.file).map_err(failed)?;
        match fcntl_setfl(&self.file, flags | OFlags::DIRECT) {
            Ok(()) => {}
            Err(Errno::INVAL | Errno::OPNOTSUPP) => return Ok(Way::NoDirect),
            Err(error) => return Err(failed(error)),
        }
        // File systems that take the flag may still refuse blocks that are smaller than theirs.
        for &block_bytes in blocks {
            let second = block_bytes as u64 % self.bytes;
            let read = self.read(&mut Buffer::new(block_bytes), second);
            if read.is_err_and(|error| error.raw_os_error() == Some(Errno::INVAL.raw_os_error())) {
                fcntl_setfl(&self.file, flags).map_err(failed)?;
                return Ok(Way::NoDirect);
            }
        }
        Ok(Way::Direct)
    }

    /// How many blocks of this size there are.
    pub(super) fn blocks(&self, block_bytes: usize) -> u64 {
        self.bytes / block_bytes as u64
    }

    /// Fills the buffer with what stands at an offset.
    pub(super) fn read(&self, buffer: &mut Buffer, offset: u64) -> io::Result<()> {
        self.file.read_exact_at(buffer.window(), offset)
    }
}

/// Memory of one block for direct reads: a vector that is larger by what its aligned part needs.
#[derive(Debug)]
pub(super) struct Buffer {
    bytes: Vec<u8>,
    start: usize,
    len: usize,
}

impl Buffer {
    pub(super) fn new(len: usize) -> Buffer {
        let bytes = vec![0; len + ALIGNMENT];
        let start = bytes.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
        Buffer { bytes, start, len }
    }

    /// The aligned part. The vector never moves: it is never changed in length.
    pub(super) fn window(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.start + self.len]
    }
}
