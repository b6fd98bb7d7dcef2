//! The thread that writes reports when somebody asks. It gathers them by itself, and waits for no
//! partition: a report is written while a script holds all.

use crate::figures::Figures;
use crate::text::text;
use basalt_env::priority;
use basalt_env::thread::JoinHandle;
use basalt_service::reports::Reports;
use basalt_service::server::Server;
use std::io;
use std::ops::Deref;
use std::sync::Arc;

/// The thread, until stopped.
pub struct Reporter {
    thread: JoinHandle<()>,
    reports: Arc<Reports>,
}

impl Reporter {
    /// Starts it.
    ///
    /// # Errors
    /// If the system has no thread left.
    pub fn start<S>(server: &Arc<S>) -> io::Result<Reporter>
    where
        S: Deref<Target = Server> + Send + Sync + 'static,
    {
        let server = Arc::clone(server);
        let reports = Arc::clone(&server.reports);
        reports.begin();
        let thread = basalt_env::thread::spawn("report", move || {
            // Nobody waits for it but monitoring.
            priority::step_back();
            run(&server);
        });
        if thread.is_err() {
            reports.end();
        }
        Ok(Reporter { thread: thread?, reports })
    }

    /// Ends it; clients that wait are told that there is no report.
    pub fn stop(self) {
        self.reports.end();
        if self.thread.join().is_err() {
            tracing::error!("the thread of reports had panicked");
        }
    }
}

fn run(server: &Server) {
    while let Some(form) = server.reports.next() {
        // Its low priority does not take the CPU away from it when a network thread on the same one
        // gets something to do: that waits for the end of a slice of the scheduler, which is longer
        // than a report takes. So it gives the CPU away itself, each hundred microseconds or so.
        let figures = Figures::gather(server);
        std::thread::yield_now();
        let text = text(&figures, form, std::thread::yield_now);
        server.reports.publish(form, server.env.clock.now(), text);
    }
}
