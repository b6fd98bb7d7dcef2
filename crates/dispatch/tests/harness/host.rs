//! A process that does nothing and has nothing.

use basalt_config::Settings;
use basalt_env::ManualClock;
use basalt_service::peer::{Answered, PeerCall};
use basalt_service::server::{Host, HostCpu, HostMemory, Shutdown};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// The host of a test server.
#[derive(Clone, Default)]
pub struct TestHost {
    shut_down: Arc<Mutex<Option<Shutdown>>>,
    applying: Arc<Mutex<Option<Applying>>>,
    /// Its memory, as far as tests say so.
    pub memory: Arc<TestMemory>,
    /// What another server is asked, and who waits for its answers.
    pub calls: Arc<Mutex<Vec<(PeerCall, Answered)>>>,
}

/// Memory of a test's process.
#[derive(Default)]
pub struct TestMemory {
    /// Bytes that are resident.
    pub resident_bytes: AtomicU64,
    /// What the machine lends it, in bytes; 0 if nobody knows.
    pub machine_bytes: AtomicU64,
    /// How often the allocator was to give back what is free.
    pub purges: AtomicU64,
}

/// How long it takes to apply options.
struct Applying {
    clock: Arc<ManualClock>,
    ms: u64,
}

impl TestHost {
    /// From now on CONFIG SET takes this many milliseconds on a server's clock.
    pub fn applying_takes(&self, clock: &Arc<ManualClock>, ms: u64) {
        *self.applying.lock() = Some(Applying { clock: Arc::clone(clock), ms });
    }
}

impl Host for TestHost {
    fn memory(&self) -> HostMemory {
        HostMemory { rss: self.memory.resident_bytes.load(Relaxed), ..HostMemory::default() }
    }

    fn machine_memory(&self) -> Option<u64> {
        Some(self.memory.machine_bytes.load(Relaxed)).filter(|&bytes| bytes != 0)
    }

    fn give_memory_back(&self) {
        self.memory.purges.fetch_add(1, Relaxed);
    }

    fn cpu(&self) -> HostCpu {
        HostCpu::default()
    }

    fn shut_down(&self, how: Shutdown) {
        *self.shut_down.lock() = Some(how);
    }

    fn apply(&self, _: &Settings, _: &Settings) -> Result<(), (String, String)> {
        if let Some(applying) = &*self.applying.lock() {
            applying.clock.advance_ms(applying.ms);
        }
        Ok(())
    }

    fn ask_peer(&self, call: PeerCall, answered: Answered) {
        self.calls.lock().push((call, answered));
    }

    fn journal_info(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    fn tcp_port(&self) -> u16 {
        6379
    }
}
