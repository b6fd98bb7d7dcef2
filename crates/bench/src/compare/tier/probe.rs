//! What a server says of its reads, and what the system says of its memory.

use std::collections::BTreeMap;
use std::fs;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use crate::error::BenchError;
use crate::process::Memory;
use crate::target::{Client, Target};

/// How often memory is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Numbers of INFO.
pub(super) struct Info(BTreeMap<String, f64>);

impl Info {
    pub(super) fn ask(target: &Target) -> Result<Info, BenchError> {
        let text = Client::connect(target)?.text(&["INFO", "everything"])?;
        let pairs = text.lines().filter_map(|line| line.split_once(':'));
        let numbers =
            pairs.filter_map(|(name, value)| Some((name.to_owned(), value.parse().ok()?)));
        Ok(Info(numbers.collect()))
    }

    /// 0 if it is not told.
    pub(super) fn number(&self, name: &str) -> f64 {
        self.0.get(name).copied().unwrap_or(0.0)
    }

    pub(super) fn since(&self, before: &Info, name: &str) -> f64 {
        self.number(name) - before.number(name)
    }
}

/// Bytes that a process has had read from disks.
pub(super) fn bytes_read(pid: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/io")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("read_bytes:"));
    line.and_then(|bytes| bytes.trim().parse().ok()).unwrap_or(0)
}

/// The most resident memory that was seen of a process while `work` went on.
pub(super) fn watching_memory<R>(pid: u32, work: impl FnOnce() -> R) -> (R, u64) {
    let (is_over, most) = (AtomicBool::new(false), AtomicU64::new(0));
    let result = thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                let memory = Memory::of(pid);
                let peak = memory.resident_bytes.max(memory.resident_bytes_peak);
                most.fetch_max(peak, Ordering::Relaxed);
                thread::sleep(LOOK_EVERY);
            }
        });
        let result = work();
        is_over.store(true, Ordering::Relaxed);
        result
    });
    (result, most.into_inner())
}
