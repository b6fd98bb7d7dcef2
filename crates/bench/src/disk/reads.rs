//! Threads that read blocks at random places, one block at a time each.

use std::io;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use rustix::time::{ClockId, clock_gettime};

use super::file::{Buffer, TestFile};
use crate::error::BenchError;
use crate::random::Random;
use crate::stats::latency_histogram;

/// What is read, and for how long.
#[derive(Debug, Clone, Copy)]
pub(super) struct Load {
    pub(super) block_bytes: usize,
    /// Threads.
    pub(super) depth: usize,
    pub(super) duration: Duration,
    pub(super) seed: u64,
}

/// What the threads saw.
#[derive(Debug)]
pub(super) struct Measured {
    pub(super) latencies: Histogram<u64>,
    /// From the start of the first thread to the end of the last.
    pub(super) elapsed: Duration,
    /// CPU time of all threads.
    pub(super) cpu_ns: u64,
}

/// What one thread saw.
struct Seen {
    latencies: Histogram<u64>,
    cpu_ns: u64,
    begun: Instant,
    ended: Instant,
}

/// Reads at a depth until the time is over.
pub(super) fn measure(file: &TestFile, load: &Load) -> Result<Measured, BenchError> {
    let start = Barrier::new(load.depth);
    let seen: Vec<io::Result<Seen>> = thread::scope(|scope| {
        let threads: Vec<_> = (0..load.depth as u64)
            .map(|number| {
                let random = Random::new(load.seed, number);
                scope.spawn(|| read_until_late(file, load, random, &start))
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("readers do not panic")).collect()
    });
    let (mut latencies, mut cpu_ns) = (latency_histogram(), 0);
    let (mut begun, mut ended) = (None, None);
    for seen in seen {
        let seen = seen.map_err(|source| BenchError::Disk { what: "read the file", source })?;
        latencies.add(&seen.latencies).expect("all latency histograms have the same bounds");
        cpu_ns += seen.cpu_ns;
        begun = Some(begun.map_or(seen.begun, |begun: Instant| begun.min(seen.begun)));
        ended = ended.max(Some(seen.ended));
    }
    let elapsed = ended.zip(begun).map(|(ended, begun)| ended - begun).unwrap_or_default();
    Ok(Measured { latencies, elapsed, cpu_ns })
}

fn read_until_late(
    file: &TestFile,
    load: &Load,
    mut random: Random,
    start: &Barrier,
) -> io::Result<Seen> {
    let mut buffer = Buffer::new(load.block_bytes);
    let mut latencies = latency_histogram();
    let blocks = file.blocks(load.block_bytes);
    start.wait();
    let (begun, cpu_from_ns) = (Instant::now(), thread_cpu_ns());
    let mut now = begun;
    while now - begun < load.duration {
        file.read(&mut buffer, random.below(blocks) * load.block_bytes as u64)?;
        let read = Instant::now();
        latencies.saturating_record((read - now).as_nanos() as u64);
        now = read;
    }
    Ok(Seen { latencies, cpu_ns: thread_cpu_ns() - cpu_from_ns, begun, ended: now })
}

fn thread_cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
