//! What commands ask of the process: memory, CPU time, options that reach outside, the way out.

use crate::allocator;
use crate::allowance::Allowance;
use crate::cgroup::LimitFiles;
use crate::logging::LevelHandle;
use crate::peer::Peers;
use crate::process;
use basalt_config::{Fsync, Settings};
use basalt_env::Clock;
use basalt_journal::{FsyncPolicy, Health};
use basalt_journal_log::JournalLog;
use basalt_net::Listening;
use basalt_observe::histogram::Distribution;
use basalt_service::host::{
    Host, HostCpu, HostFigures, HostIdentity, HostMemory, JournalFigures, Shutdown,
};
use basalt_service::peer::{Answered, PeerCall};
use basalt_tls::ServerTls;
use std::path::PathBuf;
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
    /// Where the data is.
    pub dir: PathBuf,
    /// The limits of the memory that the process may have.
    pub(crate) limits: LimitFiles,
    /// By which sessions of TLS grow old.
    pub clock: Arc<dyn Clock>,
    /// Calls to other servers.
    pub(crate) peers: Peers,
}

impl Process {
    /// Makes again what TLS handshakes are made by, if the options say something else now, or have
    /// been set again so that their files are read again; `None` if all stays as it is.
    fn renewed_tls(
        &self,
        before: &Settings,
        after: &Settings,
    ) -> Result<Option<ServerTls>, (String, String)> {
        let is_changed = before.tls != after.tls || !before.speaks_tls();
        if !after.speaks_tls() || !is_changed {
            return Ok(None);
        }
        ServerTls::new(&after.tls, &self.clock).map(Some).map_err(|error| {
            tracing::warn!(%error, option = error.option(), "TLS stays as it is");
            (error.option().to_owned(), format!("Unable to update TLS configuration: {error}"))
        })
    }
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
        let rss = process::rss_bytes();
        HostMemory {
            allocated: rss,
            active: rss,
            resident: rss,
            rss,
            system_total: process::system_bytes(),
        }
    }

    fn machine_memory(&self) -> Option<u64> {
        Some(Allowance::now(&self.limits).budget_bytes())
    }

    fn give_memory_back(&self) {
        allocator::give_back();
    }

    fn cpu(&self) -> HostCpu {
        process::cpu()
    }

    fn shut_down(&self, how: Shutdown) {
        // The main thread has gone only when the process is ending anyway.
        let _ = self.shutdown.send(how);
    }

    fn apply(&self, before: &Settings, after: &Settings) -> Result<(), (String, String)> {
        let tls = self.renewed_tls(before, after)?;
        let (old, new) = (&before.network, &after.network);
        let cannot_listen = "Unable to listen on this port. Check server logs.";
        let moved = [
            ("port", old.port != new.port, cannot_listen),
            ("tls-port", old.tls_port != new.tls_port, cannot_listen),
            ("bind", old.bind != new.bind, "Failed to bind to specified addresses."),
        ];
        // A socket that opens finds them there; one that cannot open has them taken back.
        let earlier = tls.map(|tls| self.listening.exchange_tls(Some(tls)));
        if let Some((name, _, reason)) = moved.iter().find(|(_, changed, _)| *changed)
            && let Err(error) = self.listening.rebind(new)
        {
            if let Some(earlier) = earlier {
                self.listening.exchange_tls(earlier);
            }
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

    fn figures(&self) -> HostFigures {
        let stats = self.journal.stats();
        let journal = JournalFigures {
            written_bytes: stats.written_bytes,
            groups: stats.groups,
            syncs: stats.fsync_durations,
            buffered_bytes: stats.buffered_bytes,
            replay_bytes: stats.log_bytes,
            segments: stats.segments,
            is_healthy: self.journal.health() == Health::Ok,
        };
        HostFigures { journal: Some(journal), ..process::figures(&self.dir) }
    }

    fn ask_peer(&self, call: PeerCall, answered: Answered) {
        self.peers.ask(call, answered);
    }

    fn journal_buffer_bytes(&self) -> u64 {
        self.journal.stats().buffered_bytes
    }

    fn syncs(&self) -> Option<Distribution> {
        Some(self.journal.stats().fsync_durations)
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
