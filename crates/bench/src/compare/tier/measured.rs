//! A load with what the server read for it.

use std::time::Duration;

use super::figures::{Bound, ratio};
use super::probe;
use crate::compare::Arena;
use crate::compare::info::Info;
use crate::compare::server::Server;
use crate::error::BenchError;
use crate::plan::{Limit, Load, Plan};
use crate::process::CpuTime;
use crate::progress::Watch;
use crate::report::TestReport;
use crate::run::run as run_load;

/// A load before the one that is measured, so that memory holds what this load leaves in it.
const WARMED: Duration = Duration::from_secs(3);

/// Misses a GET of keys by chance. Nine of ten keys are on disk only: a load of which fewer miss
/// says nothing about misses.
pub(super) const MISSES: Bound = Bound::AtLeast(0.5);

/// What came of a load.
#[derive(Debug)]
pub(super) struct Measured {
    pub(super) report: TestReport,
    pub(super) reads: Reads,
    pub(super) server_cpu_ns: u64,
}

/// What the server has read, by its own count and by the system's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Reads {
    /// Keys that were read.
    pub(super) keys: f64,
    /// Keys that another command was having read already.
    pub(super) joined: f64,
    /// Blocks that were read from files; the kernel's cache may have answered.
    pub(super) blocks: f64,
    /// Bytes that the disk was asked for.
    pub(super) disk_bytes: f64,
}

/// Puts a load on a server, after one of a few seconds that is not counted.
pub(super) fn measure(
    arena: &Arena<'_>,
    server: &Server,
    plan: &Plan,
    duration: Duration,
) -> Result<Measured, BenchError> {
    let lasting = |duration| Plan { load: Load::Closed(Limit::Duration(duration)), ..plan.clone() };
    run_load(&lasting(WARMED), &mut Watch::new("warming", arena.display, None))?;
    let counted = Counted::begin(server)?;
    let plan = lasting(duration);
    let outcome = run_load(&plan, &mut Watch::new(&plan.workload.name, arena.display, None))?;
    let (reads, server_cpu_ns) = counted.end(server)?;
    Ok(Measured { report: TestReport::new(&plan, &outcome, None), reads, server_cpu_ns })
}

/// Counters of a server at the beginning of a load.
pub(super) struct Counted {
    info: Info,
    cpu: CpuTime,
    disk_bytes: u64,
}

impl Counted {
    pub(super) fn begin(server: &Server) -> Result<Counted, BenchError> {
        let info = Info::ask(&server.target())?;
        let pid = server.pid();
        Ok(Counted { info, cpu: CpuTime::of(pid), disk_bytes: probe::bytes_read(pid) })
    }

    /// What has been read since, and the server's CPU time in nanoseconds.
    pub(super) fn end(self, server: &Server) -> Result<(Reads, u64), BenchError> {
        let cpu_ns = CpuTime::of(server.pid()).since(self.cpu).own_ns;
        let disk_bytes = probe::bytes_read(server.pid()) - self.disk_bytes;
        let info = Info::ask(&server.target())?;
        let since = |name| info.since(&self.info, name);
        let reads = Reads {
            keys: since("tier_keys_read"),
            joined: since("tier_reads_joined"),
            blocks: since("cold_block_reads"),
            disk_bytes: disk_bytes as f64,
        };
        Ok((reads, cpu_ns))
    }
}

impl Measured {
    /// Requests, latency, CPU time.
    pub(super) fn load(&self) -> Vec<(&'static str, f64)> {
        let report = &self.report;
        let requests = report.requests as f64;
        vec![
            ("requests/s", report.requests_per_second),
            ("P50 µs", report.latency.p50_us),
            ("P99 µs", report.latency.p99_us),
            ("P99.9 µs", report.latency.p999_us),
            ("server CPU µs", ratio(self.server_cpu_ns as f64 / 1e3, requests)),
            ("nil", ratio(report.nulls as f64, requests)),
        ]
    }

    /// Keys a second that were read.
    pub(super) fn misses_per_second(&self) -> f64 {
        ratio(self.reads.keys, self.report.seconds)
    }

    /// Server CPU time of a key that was read, in microseconds, hits included.
    pub(super) fn cpu_us_a_miss(&self) -> f64 {
        ratio(self.server_cpu_ns as f64 / 1e3, self.reads.keys)
    }

    /// CPU time of the server and the load beside it, as a share of what the cores have.
    pub(super) fn cpu_share(&self, cores: usize) -> f64 {
        let client_ns = self.report.client_cpu_us_per_request * 1e3 * self.report.requests as f64;
        ratio(self.server_cpu_ns as f64 + client_ns, self.report.seconds * 1e9 * cores as f64)
    }
}

impl Reads {
    pub(super) fn blocks_a_miss(&self) -> f64 {
        ratio(self.blocks, self.keys)
    }

    /// The share of the keys that were asked for that were in memory.
    pub(super) fn hit_ratio(&self, asked: f64) -> f64 {
        1.0 - ratio(self.keys + self.joined, asked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_waits_for_the_read_of_another_is_a_miss_without_a_read() {
        let reads = Reads { keys: 80.0, joined: 20.0, blocks: 84.0, disk_bytes: 0.0 };
        assert_eq!(reads.blocks_a_miss(), 1.05);
        assert_eq!(reads.hit_ratio(400.0), 0.75);
    }

    #[test]
    fn without_misses_everything_is_a_hit() {
        let reads = Reads { keys: 0.0, joined: 0.0, blocks: 0.0, disk_bytes: 0.0 };
        assert_eq!((reads.blocks_a_miss(), reads.hit_ratio(10.0)), (0.0, 1.0));
    }
}
