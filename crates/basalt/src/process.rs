//! What the system says about the process: files under `/proc`, limits, the disk.

use basalt_service::host::{HostCpu, HostFigures};
use rustix::fd::AsFd;
use rustix::fs::{CWD, Dir, Mode, OFlags, openat};
use rustix::process::{Resource, getrlimit};
use std::borrow::Cow;
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
    let mut buffer = Buffer::default();
    let stat = read_once(CWD, "/proc/self/stat", &mut buffer).unwrap_or_default();
    let [user_s, system_s, user_children_s, system_children_s] =
        Stat::parse(&stat).map(|stat| stat.cpu_seconds).unwrap_or_default();
    HostCpu { user_s, system_s, user_children_s, system_children_s }
}

/// All but the journal, for data in this folder.
pub fn figures(dir: &Path) -> HostFigures {
    let disk = rustix::fs::statvfs(dir).ok();
    HostFigures {
        virtual_bytes: statm_bytes(0),
        descriptors: descriptors(),
        descriptors_max: getrlimit(Resource::Nofile).current,
        threads: threads(),
        disk_free_bytes: disk.as_ref().map(|disk| disk.f_bavail * disk.f_frsize),
        disk_bytes: disk.as_ref().map(|disk| disk.f_blocks * disk.f_frsize),
        journal: None,
    }
}

/// A field of `statm`, which counts pages.
fn statm_bytes(field: usize) -> Option<u64> {
    let mut buffer = Buffer::default();
    let statm = read_once(CWD, "/proc/self/statm", &mut buffer)?;
    let pages: u64 = statm.split(' ').nth(field)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

/// Open files. Linux says it since 6.2 as the size of the folder, without a walk over thousands.
fn descriptors() -> Option<u64> {
    let size = rustix::fs::stat("/proc/self/fd").ok()?.st_size as u64;
    if size > 0 {
        return Some(size);
    }
    fs::read_dir("/proc/self/fd").ok().map(|files| files.count() as u64)
}

/// CPU time of threads, added up for those with the same name.
fn threads() -> Vec<(String, f64)> {
    let mut by_name: BTreeMap<String, f64> = BTreeMap::new();
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(folder) = openat(CWD, "/proc/self/task", flags, Mode::empty()) else {
        return Vec::new();
    };
    let tasks = Dir::read_from(&folder).into_iter().flatten().flatten();
    for task in tasks.take(THREADS_MAX) {
        let path = format!("{}/stat", task.file_name().to_string_lossy());
        let mut buffer = Buffer::default();
        // One that has ended meanwhile is left out, as are the folder itself and the one above.
        let stat = read_once(&folder, &path, &mut buffer).unwrap_or_default();
        let Some(stat) = Stat::parse(&stat) else { continue };
        let [user_s, system_s, ..] = stat.cpu_seconds;
        *by_name.entry(stat.name.to_owned()).or_default() += user_s + system_s;
    }
    by_name.into_iter().collect()
}

/// What is read of a file: more than `stat` has up to the last field that is asked for.
struct Buffer([u8; 512]);

impl Default for Buffer {
    fn default() -> Buffer {
        Buffer([0; 512])
    }
}

/// The beginning of a file of the system, by one read. `std` takes six or seven calls for a file,
/// and a report reads one for each thread.
fn read_once<'a>(folder: impl AsFd, path: &str, buffer: &'a mut Buffer) -> Option<Cow<'a, str>> {
    let file = openat(folder, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let length = rustix::io::read(&file, &mut buffer.0).ok()?;
    Some(String::from_utf8_lossy(&buffer.0[..length]))
}

/// Of `stat` of a process or a thread.
struct Stat<'a> {
    name: &'a str,
    /// User, system, children's user, children's system time.
    cpu_seconds: [f64; 4],
}

impl Stat<'_> {
    fn parse(stat: &str) -> Option<Stat<'_>> {
        // The second field is the name in parentheses and may contain anything.
        let (start, fields) = stat.rsplit_once(')')?;
        let (_, name) = start.split_once('(')?;
        let mut fields = fields.split_whitespace().skip(11);
        let tick_s = 1.0 / rustix::param::clock_ticks_per_second() as f64;
        let mut next = || fields.next()?.parse::<u64>().ok().map(|ticks| ticks as f64 * tick_s);
        Some(Stat { name, cpu_seconds: [next()?, next()?, next()?, next()?] })
    }
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

    #[test]
    fn open_files_are_counted() {
        let before = descriptors().unwrap();
        // Other tests open and close some, but not this many.
        let files: Vec<_> = (0..100).map(|_| fs::File::open("/proc/self/stat").unwrap()).collect();
        assert!(descriptors().unwrap() >= before + 50);
        drop(files);
    }

    #[test]
    fn each_thread_is_there_by_its_name() {
        let (send, end) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::Builder::new().name("a ) name (".to_owned());
        let thread = thread.spawn(move || end.recv().unwrap_err()).unwrap();
        while !threads().iter().any(|(name, _)| name == "a ) name (") {
            std::thread::yield_now();
        }
        drop(send);
        thread.join().unwrap();
    }

    #[test]
    fn the_times_are_those_behind_the_name() {
        let line = "7 (a (b) c) S 1 7 8 0 -1 4194304 12 0 2 0 300 200 100 50 20 0 38";
        let stat = Stat::parse(line).unwrap();
        assert_eq!(stat.name, "a (b) c");
        let ticks = stat.cpu_seconds.map(|seconds| {
            (seconds * rustix::param::clock_ticks_per_second() as f64).round() as u64
        });
        assert_eq!(ticks, [300, 200, 100, 50]);
        assert!(Stat::parse("7 (a) S 1").is_none());
    }
}
