//! The thread that keeps the process within its memory budget: `Server::govern`, again and again.

use basalt_env::thread::JoinHandle;
use basalt_service::governor::{Governor, LOOK_EVERY};
use basalt_service::server::Server;
use std::io;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};

/// The thread, until stopped.
pub(crate) struct MemoryThread {
    thread: JoinHandle<()>,
    /// The thread ends when this is gone.
    stop: Sender<()>,
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
        let (stop, stopped) = channel();
        let mut governor = Governor::default();
        server.govern(&mut governor);
        // At the priority of those whose memory it watches: it is late when they take the most.
        let thread = basalt_env::thread::spawn("memory", move || {
            while stopped.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
                server.govern(&mut governor);
            }
        })?;
        Ok(MemoryThread { thread, stop })
    }

    /// Ends it. The last target stays.
    pub(crate) fn stop(self) {
        drop(self.stop);
        if self.thread.join().is_err() {
            tracing::error!("the thread that watches memory had panicked");
        }
    }
}
