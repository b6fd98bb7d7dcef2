//! What the system says about the process: files under `/proc`, limits, the disk.

use basalt_service::host::{HostCpu, HostFigures};
use rustix::process::{Resource, getrlimit};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Most threads whose CPU time is looked at: there are some dozens.
const THREADS_MAX: usize = 1024;

/// Physically resident memory.
pub fn rss_bytes() -> u64 {
    statm_bytes(1).unwrap_or(0)
}

/// Memory of the machine.
pub fn system_bytes() -> u64 {
    let info = rustix::system::sysinfo();
    info.totalram as u64 * u64::from(info.mem_unit)
}

/// CPU time so far.
pub fn cpu() -> HostCpu {
    let [user_s, system_s, user_children_s, system_children_s] =
        cpu_seconds(Path::new("/proc/self/stat")).unwrap_or_default();
    HostCpu { user_s, system_s, user_children_s, system_children_s }
}

/// All but the journal, for data in this folder.
pub fn figures(dir: &Path) -> HostFigures {
    let disk = rustix::fs::statvfs(dir).ok();
    HostFigures {
        virtual_bytes: statm_bytes(0),
        descriptors: fs::read_dir("/proc/self/fd").ok().map(|files| files.count() as u64),
        descriptors_max: getrlimit(Resource::Nofile).current,
        threads: threads(),
        disk_free_bytes: disk.as_ref().map(|disk| disk.f_bavail * disk.f_frsize),
        disk_bytes: disk.as_ref().map(|disk| disk.f_blocks * disk.f_frsize),
        journal: None,
    }
}

/// A field of `statm`, which counts pages.
fn statm_bytes(field: usize) -> Option<u64> {
    let statm = fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split(' ').nth(field)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

/// CPU time of threads, added up for those with the same name.
fn threads() -> Vec<(String, f64)> {
    let mut by_name: BTreeMap<String, f64> = BTreeMap::new();
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    for task in tasks.take(THREADS_MAX) {
        let (name, stat) = (task.path().join("comm"), task.path().join("stat"));
        // One that has ended meanwhile is left out.
        let (Ok(name), Some([user_s, system_s, ..])) = (fs::read(name), cpu_seconds(&stat)) else {
            continue;
        };
        let name = String::from_utf8_lossy(&name).trim_end().to_owned();
        *by_name.entry(name).or_default() += user_s + system_s;
    }
    by_name.into_iter().collect()
}

/// User, system, children's user, children's system time.
fn cpu_seconds(stat: &Path) -> Option<[f64; 4]> {
    let stat = fs::read_to_string(stat).ok()?;
    // The second field is the name in parentheses and may contain anything.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let tick_s = 1.0 / rustix::param::clock_ticks_per_second() as f64;
    let mut next = || fields.next()?.parse::<u64>().ok().map(|ticks| ticks as f64 * tick_s);
    Some([next()?, next()?, next()?, next()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_says_it_all() {
        let figures = figures(Path::new("."));
        assert!(figures.virtual_bytes.unwrap() >= rss_bytes() && rss_bytes() > 0);
        assert!(figures.descriptors.unwrap() >= 3);
        assert!(figures.disk_free_bytes.unwrap() <= figures.disk_bytes.unwrap());
        assert!(!figures.threads.is_empty());
    }
}
