//! What commands ask of the process: memory, CPU time, options that reach outside, the way out.

use crate::logging::LevelHandle;
use basalt_config::{Fsync, Settings};
use basalt_journal::{FsyncPolicy, Health};
use basalt_journal_log::JournalLog;
use basalt_net::Listening;
use basalt_service::server::{Host, HostCpu, HostIdentity, HostMemory, Shutdown};
use std::fs;
use std::sync::Arc;
use std::sync::mpsc::Sender;

/// As INFO names the allocator; its version is the one that `tikv-jemallocator` brings.
const ALLOCATOR_NAME: &str = "jemalloc-5.3.1";

/// See the head of this file.
pub struct Process {
    /// The journal.
    pub journal: Arc<JournalLog>,
    /// Changes the log level.
    pub log_level: LevelHandle,
    /// Tells the main thread to end.
    pub shutdown: Sender<Shutdown>,
    /// What listens.
    pub listening: Arc<Listening>,
}

/// The journal's policy for the settings.
pub fn fsync_policy(settings: &Settings) -> FsyncPolicy {
    match (settings.persistence.journal, settings.persistence.fsync) {
        (true, Fsync::Always) => FsyncPolicy::Always,
        (true, Fsync::EverySecond) => FsyncPolicy::EverySecond,
        _ => FsyncPolicy::Never,
    }
}

impl Host for Process {
    fn memory(&self) -> HostMemory {
        // The allocator is built without its statistics; the system's figure stands for them.
        let rss = rss_bytes();
        HostMemory { allocated: rss, active: rss, resident: rss, rss, system_total: system_bytes() }
    }

    fn cpu(&self) -> HostCpu {
        let own = cpu_ticks().unwrap_or_default();
        let tick_s = 1.0 / rustix::param::clock_ticks_per_second() as f64;
        HostCpu {
            user_s: own[0] as f64 * tick_s,
            system_s: own[1] as f64 * tick_s,
            user_children_s: own[2] as f64 * tick_s,
            system_children_s: own[3] as f64 * tick_s,
        }
    }

    fn shut_down(&self, how: Shutdown) {
        // The main thread has gone only when the process is ending anyway.
        let _ = self.shutdown.send(how);
    }

    fn apply(&self, before: &Settings, after: &Settings) -> Result<(), (String, String)> {
        let (old, new) = (&before.network, &after.network);
        let moved = [
            ("port", old.port != new.port, "Unable to listen on this port. Check server logs."),
            ("bind", old.bind != new.bind, "Failed to bind to specified addresses."),
        ];
        if let Some((name, _, reason)) = moved.iter().find(|(_, changed, _)| *changed)
            && let Err(error) = self.listening.rebind(new)
        {
            tracing::warn!(%error, "the listeners stay as they are");
            return Err((name.to_string(), reason.to_string()));
        }
        if fsync_policy(before) != fsync_policy(after) {
            self.journal.set_policy(fsync_policy(after));
        }
        if before.server.log_level != after.server.log_level {
            self.log_level.set(after.server.log_level);
        }
        Ok(())
    }

    fn journal_info(&self) -> Vec<(&'static str, String)> {
        let stats = self.journal.stats();
        let status = match self.journal.health() {
            Health::Ok => "ok",
            Health::DiskFull | Health::Failed(_) => "err",
        };
        vec![
            ("aof_last_write_status", status.to_owned()),
            ("aof_current_size", stats.log_bytes.to_string()),
            ("aof_buffer_length", stats.buffered_bytes.to_string()),
            ("journal_segments", stats.segments.to_string()),
            ("journal_groups", stats.groups.to_string()),
            ("journal_fsyncs", stats.fsyncs.to_string()),
        ]
    }

    fn tcp_port(&self) -> u16 {
        self.listening.tcp_port()
    }

    fn identity(&self) -> HostIdentity {
        let system = rustix::system::uname();
        let executable = std::env::current_exe().unwrap_or_default();
        let (name, release) = (system.sysname(), system.release());
        HostIdentity {
            os: [name, release, system.machine()].map(|part| part.to_string_lossy()).join(" "),
            allocator: ALLOCATOR_NAME.to_owned(),
            executable: executable.to_string_lossy().into_owned(),
        }
    }
}

fn rss_bytes() -> u64 {
    let pages = fs::read_to_string("/proc/self/statm")
        .ok()
        .and_then(|statm| statm.split(' ').nth(1)?.parse::<u64>().ok())
        .unwrap_or(0);
    pages * rustix::param::page_size() as u64
}

fn system_bytes() -> u64 {
    let info = rustix::system::sysinfo();
    info.totalram as u64 * u64::from(info.mem_unit)
}

/// User, system, children's user, children's system time in ticks.
fn cpu_ticks() -> Option<[u64; 4]> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The second field is the name in parentheses and may contain anything.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut next = || fields.next()?.parse().ok();
    Some([next()?, next()?, next()?, next()?])
}
