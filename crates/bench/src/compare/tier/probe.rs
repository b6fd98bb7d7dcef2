//! What a server's report says, and what the system says of its reads, writes and memory.

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use crate::error::BenchError;
use crate::process::Memory;
use crate::target::{Client, Target};

/// How often memory is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// A number of the report for monitoring systems that has no labels.
pub(super) fn metric(target: &Target, name: &str) -> Result<f64, BenchError> {
    let report = Client::connect(target)?.text(&["METRICS"])?;
    metric_in(&report, name).ok_or_else(|| BenchError::Handshake {
        command: "METRICS".into(),
        reply: format!("there is no {name}"),
    })
}

fn metric_in(report: &str, name: &str) -> Option<f64> {
    let value = |line: &str| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok();
    report.lines().find_map(value)
}

/// Bytes that a process has had read from disks.
pub(super) fn bytes_read(pid: u32) -> u64 {
    io_field(pid, "read_bytes")
}

/// Bytes that a process has had written to disks, those that were removed before included.
pub(super) fn bytes_written(pid: u32) -> u64 {
    io_field(pid, "write_bytes")
}

/// 0 if the process is gone.
fn io_field(pid: u32, name: &str) -> u64 {
    io_number(&fs::read_to_string(format!("/proc/{pid}/io")).unwrap_or_default(), name)
}

fn io_number(text: &str, name: &str) -> u64 {
    let pairs = || text.lines().filter_map(|line| line.split_once(": "));
    let bytes = pairs().find(|&(found, _)| found == name).and_then(|(_, bytes)| bytes.parse().ok());
    bytes.unwrap_or(0)
}

/// The most memory that a process has ever had resident, from its start until `work` is done.
pub(super) fn watching_memory<R>(pid: u32, work: impl FnOnce() -> R) -> (R, u64) {
    watching(pid, |memory| memory.resident_bytes.max(memory.resident_bytes_peak), work)
}

/// The most resident memory that was seen of a process while `work` went on.
pub(super) fn watching_resident<R>(pid: u32, work: impl FnOnce() -> R) -> (R, u64) {
    watching(pid, |memory| memory.resident_bytes, work)
}

fn watching<R>(pid: u32, bytes: fn(Memory) -> u64, work: impl FnOnce() -> R) -> (R, u64) {
    let (is_over, most) = (AtomicBool::new(false), AtomicU64::new(0));
    let result = thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                most.fetch_max(bytes(Memory::of(pid)), Ordering::Relaxed);
                thread::sleep(LOOK_EVERY);
            }
        });
        let result = work();
        is_over.store(true, Ordering::Relaxed);
        result
    });
    (result, most.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_is_found_by_its_whole_name() {
        let report = "# TYPE a_total counter\na_total{of=\"x\"} 1\na_total_b 2\na_total 37\n";
        assert_eq!(metric_in(report, "a_total"), Some(37.0));
        assert_eq!(metric_in(report, "b_total"), None);
    }

    #[test]
    fn bytes_of_a_process_are_found_by_their_whole_name() {
        let text = "wchar: 7\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 1\n";
        assert_eq!((io_number(text, "read_bytes"), io_number(text, "write_bytes")), (4096, 8192));
        assert_eq!(io_number("", "read_bytes"), 0);
    }
}
