//! The thread that keeps the process within its memory budget: `Server::keep_governing`.

use basalt_env::thread::JoinHandle;
use basalt_service::governor::Governor;
use basalt_service::server::Server;
use std::io;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The thread, until stopped.
pub(crate) struct MemoryThread {
    thread: JoinHandle<()>,
    stop: Arc<AtomicBool>,
}

impl MemoryThread {
    /// Starts it. Its first look is over when this returns: no command runs without a target.
    ///
    /// # Errors
    /// If the system has no thread left.
    pub(crate) fn start<S>(server: &Arc<S>) -> io::Result<MemoryThread>
    where
        S: Deref<Target = Server> + Send + Sync + 'static,
    {
        let server = Arc::clone(server);
        let stop = Arc::<AtomicBool>::default();
        let stopped = Arc::clone(&stop);
        let mut governor = Governor::default();
        server.govern(&mut governor);
        // At the priority of those whose memory it watches: it is late when they take the most.
        let thread = basalt_env::thread::spawn("memory", move || {
            server.keep_governing(&mut governor, &stopped);
        })?;
        Ok(MemoryThread { thread, stop })
    }

    /// Ends it. The last target stays.
    pub(crate) fn stop(self) {
        self.stop.store(true, Ordering::Release);
        self.thread.thread().unpark();
        if self.thread.join().is_err() {
            tracing::error!("the thread that watches memory had panicked");
        }
    }
}
