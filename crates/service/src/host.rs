//! What the server asks of the process that it runs in.

use crate::peer::{Answered, PeerAnswers, PeerCall, PeerFailure};
use basalt_config::Settings;
use basalt_observe::histogram::Distribution;

/// What commands ask of the process that they run in.
pub trait Host: Send + Sync {
    /// Memory of the process.
    fn memory(&self) -> HostMemory;

    /// How much memory the machine lends the process, in bytes: what `maxmemory auto` stands for.
    /// `None` if nobody knows. May read files.
    fn machine_memory(&self) -> Option<u64> {
        None
    }

    /// Has the allocator give what is free back to the system now, if it can.
    fn give_memory_back(&self) {}

    /// CPU time of the process so far.
    fn cpu(&self) -> HostCpu;

    /// Ends the process in an orderly way, soon: connections are closed, the log is synced.
    fn shut_down(&self, how: Shutdown);

    /// Makes options take effect that are not simply read again: `appendfsync`, `loglevel`,
    /// `port`, `maxclients` …
    ///
    /// # Errors
    /// The name of the option, and why it cannot be.
    fn apply(&self, before: &Settings, after: &Settings) -> Result<(), (String, String)>;

    /// Lines of `name:value` for INFO's persistence section about the journal.
    fn journal_info(&self) -> Vec<(&'static str, String)>;

    /// The TCP port that is listened on, 0 for none.
    fn tcp_port(&self) -> u16;

    /// What monitoring asks of the process and its journal. May read files.
    fn figures(&self) -> HostFigures {
        HostFigures::default()
    }

    /// Asks another server, from another thread; `answered` is called with what came of it.
    fn ask_peer(&self, _: PeerCall, answered: Answered) {
        let failure = Some(PeerFailure::Connecting);
        answered(PeerAnswers { replies: Vec::new(), failure });
    }

    /// Bytes of changes that the journal has not written yet. Reads no files.
    fn journal_buffer_bytes(&self) -> u64 {
        0
    }

    /// How long syncs of the journal took since the start, if there is one. Reads no files.
    fn syncs(&self) -> Option<Distribution> {
        None
    }

    /// What the process is and runs on.
    fn identity(&self) -> HostIdentity {
        let executable = std::env::current_exe().unwrap_or_default();
        HostIdentity {
            os: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            allocator: "libc".to_owned(),
            executable: executable.to_string_lossy().into_owned(),
        }
    }
}

/// What the process is and runs on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HostIdentity {
    /// System, its version and the machine, as `uname -srm` says it.
    pub os: String,
    /// Name and version of the memory allocator.
    pub allocator: String,
    /// Path of the program.
    pub executable: String,
}

/// Memory of the process, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct HostMemory {
    /// Allocated by the program.
    pub allocated: u64,
    /// In pages with at least one allocation.
    pub active: u64,
    /// Physically resident, as the allocator sees it.
    pub resident: u64,
    /// Physically resident, as the system sees it.
    pub rss: u64,
    /// Of the machine.
    pub system_total: u64,
}

/// CPU time of the process, in seconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct HostCpu {
    /// In the program.
    pub user_s: f64,
    /// In the kernel for it.
    pub system_s: f64,
    /// In the program, of ended children.
    pub user_children_s: f64,
    /// In the kernel, of ended children.
    pub system_children_s: f64,
}

/// How to end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shutdown {
    /// With the log synced.
    Normal,
    /// With a checkpoint before.
    Save,
    /// With the log synced, without a grace period for clients.
    Now,
}

/// What monitoring asks of the process. A figure that the system does not tell is `None`.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct HostFigures {
    /// Memory that is mapped, in bytes.
    pub virtual_bytes: Option<u64>,
    /// Open file descriptors, and how many there may be.
    pub descriptors: Option<u64>,
    /// See there.
    pub descriptors_max: Option<u64>,
    /// CPU time of each thread so far, in seconds, by the thread's name.
    pub threads: Vec<(String, f64)>,
    /// Bytes that the process can still write where the data is.
    pub disk_free_bytes: Option<u64>,
    /// Size of the file system where the data is.
    pub disk_bytes: Option<u64>,
    /// The journal, if there is one.
    pub journal: Option<JournalFigures>,
}

/// What monitoring asks of the journal.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct JournalFigures {
    /// Bytes written since the start, padding left out.
    pub written_bytes: u64,
    /// Groups written since the start.
    pub groups: u64,
    /// How long syncs took.
    pub syncs: Distribution,
    /// Bytes that the kernel has not been given yet.
    pub buffered_bytes: u64,
    /// Bytes that a start would replay.
    pub replay_bytes: u64,
    /// Files that these are in.
    pub segments: u64,
    /// It takes changes.
    pub is_healthy: bool,
}
