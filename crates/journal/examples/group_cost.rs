//! What a group costs under `always` at the least: the CPU time of a thread that writes and syncs
//! as many bytes as a group has, and does nothing else.
//!
//! `cargo run --release -p basalt-journal --example group_cost -- [directory [bytes [groups]]]`
//!
//! The bytes are in as many pieces as those of 64 streams, one for each. Space is that of a file
//! which was made longer and never written, or one that was written before, as a segment that is
//! used again. Writes go through the kernel's cache, or from memory of whole pages around it.
//! Beside its CPU time each row says how long a group took, which is the disk's affair.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::fs::{File, OpenOptions};
use std::io::IoSlice;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{FallocateFlags, OFlags, fallocate, fcntl_getfl, fcntl_setfl, fdatasync};
use rustix::io::pwritev;
use rustix::time::{ClockId, clock_gettime};

const PAGE_BYTES: usize = 4096;
const FILE_BYTES: usize = 64 << 20;
const STREAMS: usize = 64;
const BYTES: usize = 240 << 10;
const GROUPS: usize = 1000;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// What the groups are written to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Space {
    /// Reserved and never written.
    Reserved,
    /// Written before.
    Written,
}

/// How they are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// From 64 buffers, through the kernel's cache.
    Buffered,
    /// Copied to whole pages, and from there to the disk.
    Direct,
}

fn main() -> Outcome<()> {
    let mut args = std::env::args().skip(1);
    let dir = args.next().map_or_else(std::env::temp_dir, PathBuf::from);
    let bytes: usize = args.next().map_or(Ok(BYTES), |bytes| bytes.parse())?;
    let groups: usize = args.next().map_or(Ok(GROUPS), |groups| groups.parse())?;
    let bytes = bytes.clamp(PAGE_BYTES, FILE_BYTES).next_multiple_of(PAGE_BYTES);
    println!("groups of {bytes} bytes: CPU µs a group, µs a group, waits a group");
    for space in [Space::Reserved, Space::Written] {
        for way in [Way::Buffered, Way::Direct] {
            measure(&dir, bytes, groups, (space, way))?;
        }
    }
    Ok(())
}

fn measure(dir: &Path, bytes: usize, groups: usize, (space, way): (Space, Way)) -> Outcome<()> {
    let path = dir.join(format!("group-cost-{}", std::process::id()));
    let records = vec![7; bytes];
    let mut pages = Pages::new(bytes);
    let (mut cpu, mut elapsed, mut waits) = (Duration::ZERO, Duration::ZERO, 0);
    let mut left = groups;
    while left > 0 {
        let file = make(&path, space)?;
        if way == Way::Direct {
            fcntl_setfl(&file, fcntl_getfl(&file)? | OFlags::DIRECT)?;
        }
        let here = left.min(FILE_BYTES / bytes);
        let (cpu_before, before, waits_before) = (cpu_time(), Instant::now(), waits_so_far()?);
        for group in 0..here {
            let offset = (group * bytes) as u64;
            match way {
                Way::Buffered => write_pieces(&file, &records, offset)?,
                Way::Direct => file.write_all_at(pages.filled_with(&records), offset)?,
            }
            fdatasync(&file)?;
        }
        cpu += cpu_time() - cpu_before;
        elapsed += before.elapsed();
        waits += waits_so_far()? - waits_before;
        left -= here;
        std::fs::remove_file(&path)?;
    }
    let a_group = |time: Duration| time.as_secs_f64() * 1e6 / groups as f64;
    println!(
        "{:8} {:8} {:7.1} {:7.1} {:5.1}",
        if space == Space::Reserved { "reserved" } else { "written" },
        if way == Way::Buffered { "buffered" } else { "direct" },
        a_group(cpu),
        a_group(elapsed),
        waits as f64 / groups as f64
    );
    Ok(())
}

fn make(path: &Path, space: Space) -> Outcome<File> {
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(path)?;
    fallocate(&file, FallocateFlags::empty(), 0, FILE_BYTES as u64)?;
    if space == Space::Written {
        let zeros = vec![0; 1 << 20];
        for offset in (0..FILE_BYTES).step_by(zeros.len()) {
            file.write_all_at(&zeros, offset as u64)?;
        }
    }
    file.sync_all()?;
    Ok(file)
}

fn write_pieces(file: &File, records: &[u8], offset: u64) -> Outcome<()> {
    let pieces: Vec<IoSlice<'_>> =
        records.chunks(records.len().div_ceil(STREAMS)).map(IoSlice::new).collect();
    let written = pwritev(file, &pieces, offset)?;
    if written == records.len() { Ok(()) } else { Err("a short write".into()) }
}

/// Memory that begins with a page.
struct Pages {
    bytes: Vec<u8>,
    start: usize,
}

impl Pages {
    fn new(bytes: usize) -> Pages {
        let bytes = vec![0; bytes + PAGE_BYTES];
        let start = bytes.as_ptr().align_offset(PAGE_BYTES);
        Pages { bytes, start }
    }

    fn filled_with(&mut self, records: &[u8]) -> &[u8] {
        let pages = &mut self.bytes[self.start..self.start + records.len()];
        pages.copy_from_slice(records);
        pages
    }
}

fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// How often this thread has given up its core in order to wait.
fn waits_so_far() -> Outcome<u64> {
    let status = std::fs::read_to_string("/proc/thread-self/status")?;
    let waits = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    Ok(waits.unwrap_or("0").trim().parse()?)
}
