//! A process that does nothing and has nothing.

use basalt_config::Settings;
use basalt_env::ManualClock;
use basalt_service::peer::{Answered, PeerCall};
use basalt_service::server::{Host, HostCpu, HostMemory, Shutdown};
use parking_lot::Mutex;
use std::sync::Arc;

/// The host of a test server.
#[derive(Clone, Default)]
pub struct TestHost {
    shut_down: Arc<Mutex<Option<Shutdown>>>,
    applying: Arc<Mutex<Option<Applying>>>,
    /// What another server is asked, and who waits for its answers.
    pub calls: Arc<Mutex<Vec<(PeerCall, Answered)>>>,
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
        HostMemory::default()
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
