//! A process that does nothing and has nothing.

use basalt_config::Settings;
use basalt_service::server::{Host, HostCpu, HostMemory, Shutdown};
use parking_lot::Mutex;

/// The host of a test server.
#[derive(Default)]
pub struct TestHost {
    shut_down: Mutex<Option<Shutdown>>,
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
        Ok(())
    }

    fn journal_info(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    fn tcp_port(&self) -> u16 {
        6379
    }
}
