//! What a server process has used so far, from `/proc`.
//!
//! CPU time comes from `schedstat` of every thread, in nanoseconds. Where the kernel does not keep
//! it, and for threads that have ended meanwhile, `stat` has clock ticks of 10 ms. Children (the
//! fork that rewrites an append-only file) are counted apart, in ticks.

use std::fs;
use std::path::PathBuf;

use serde::Serialize;

/// Nanoseconds of one clock tick of `/proc/PID/stat`; Linux fixes it at 100 a second for user
/// space.
const TICK_NS: u64 = 10_000_000;

/// CPU time in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct CpuTime {
    /// All threads of the process.
    pub(crate) own_ns: u64,
    /// Its children, those that have ended included.
    pub(crate) children_ns: u64,
    /// How long its threads were ready to run but the cpu was busy with something else.
    pub(crate) waited_ns: u64,
}

impl CpuTime {
    /// What `pid` has used since it started; zero if it is gone.
    pub(crate) fn of(pid: u32) -> Self {
        let ticks = Ticks::of(pid).unwrap_or_default();
        let living: u64 = children(pid)
            .into_iter()
            .filter_map(Ticks::of)
            .map(|child| child.own + child.reaped_children)
            .sum();
        // The sum over threads misses those that have ended; of two sums the larger one is right.
        let (ran_ns, waited_ns) = threads_ns(pid).unwrap_or_default();
        let own_ns = ran_ns.max(ticks.own.saturating_sub(1) * TICK_NS);
        Self { own_ns, children_ns: (ticks.reaped_children + living) * TICK_NS, waited_ns }
    }

    pub(crate) fn since(self, earlier: Self) -> Self {
        Self {
            own_ns: self.own_ns.saturating_sub(earlier.own_ns),
            children_ns: self.children_ns.saturating_sub(earlier.children_ns),
            waited_ns: self.waited_ns.saturating_sub(earlier.waited_ns),
        }
    }
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Ticks {
    own: u64,
    reaped_children: u64,
}

impl Ticks {
    fn of(pid: u32) -> Option<Self> {
        Self::parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    /// Fields 14 to 17 (proc(5)); the name in field 2 may hold blanks, so count from its end.
    fn parse(stat: &str) -> Option<Self> {
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
        Some(Self { own: field(14)? + field(15)?, reaped_children: field(16)? + field(17)? })
    }
}

/// Time on the cpu and time waiting for it, over all threads that live.
fn threads_ns(pid: u32) -> Option<(u64, u64)> {
    let (mut ran_ns, mut waited_ns) = (0, 0);
    for thread in fs::read_dir(format!("/proc/{pid}/task")).ok()? {
        let Ok(text) = fs::read_to_string(thread.ok()?.path().join("schedstat")) else { continue };
        let mut fields = text.split_whitespace().map(|field| field.parse::<u64>().ok());
        ran_ns += fields.next()??;
        waited_ns += fields.next()??;
    }
    Some((ran_ns, waited_ns))
}

/// Time on the cpu of the threads of `pid` with this name; zero if there is none.
pub(crate) fn thread_ran_ns(pid: u32, name: &str) -> u64 {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return 0 };
    let ran_ns = |folder: PathBuf| {
        let own = fs::read_to_string(folder.join("comm")).ok()?;
        let times = fs::read_to_string(folder.join("schedstat")).ok()?;
        let ran = times.split_whitespace().next()?.parse::<u64>().ok()?;
        (own.trim_end() == name).then_some(ran)
    };
    threads.flatten().filter_map(|thread| ran_ns(thread.path())).sum()
}

/// Whether `pid` has a living child, such as a background save.
pub(crate) fn has_children(pid: u32) -> bool {
    !children(pid).is_empty()
}

fn children(pid: u32) -> Vec<u32> {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    threads
        .flatten()
        .filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok())
        .flat_map(|text| {
            text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<u32>>()
        })
        .collect()
}

/// Memory of a process in bytes.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(crate) struct Memory {
    pub(crate) resident_bytes: u64,
    /// The most that has ever been resident.
    pub(crate) resident_bytes_peak: u64,
}

impl Memory {
    /// Zeroes if the process is gone.
    pub(crate) fn of(pid: u32) -> Self {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let field = |name: &str| {
            let line = status.lines().find(|line| line.starts_with(name))?;
            line.split_whitespace().nth(1)?.parse::<u64>().ok()
        };
        Self {
            resident_bytes: field("VmRSS:").unwrap_or(0) * 1024,
            resident_bytes_peak: field("VmHWM:").unwrap_or(0) * 1024,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_is_parsed_past_a_strange_name() {
        let stat = "42 (a) b (c) S 1 1 1 0 -1 0 0 0 0 0 11 22 33 44 20 0 5";
        assert_eq!(Ticks::parse(stat), Some(Ticks { own: 33, reaped_children: 77 }));
    }

    #[test]
    fn own_cpu_time_grows_with_work() {
        let pid = std::process::id();
        let before = CpuTime::of(pid);
        let mut sum = 0u64;
        while CpuTime::of(pid).since(before).own_ns < 20_000_000 {
            sum = std::hint::black_box(sum.wrapping_mul(31) + 1);
        }
        assert!(Memory::of(pid).resident_bytes > 0);
    }

    #[test]
    fn the_time_of_a_thread_is_found_by_its_name() {
        let (send, end) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::Builder::new().name("worker-of-test".to_owned());
        let thread = thread.spawn(move || {
            let mut sum = 0u64;
            while sum < 1_000_000 {
                sum = std::hint::black_box(sum + 1);
            }
            let _ = end.recv();
        });
        let pid = std::process::id();
        while thread_ran_ns(pid, "worker-of-test") == 0 {
            std::thread::yield_now();
        }
        assert_eq!(thread_ran_ns(pid, "no-such-thread"), 0);
        drop(send);
        thread.unwrap().join().unwrap();
    }
}
