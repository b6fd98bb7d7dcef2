//! A load that goes on while something else is done.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;

use crate::error::BenchError;
use crate::plan::Plan;
use crate::run::{Observer, Outcome, run as run_load};
use crate::shared::Shared;

/// Does some work from when the load's warm-up is over, and ends the load then. The load should be
/// one that would go on for longer.
pub(super) fn beside<R>(
    load: &Plan,
    work: impl FnOnce() -> Result<R, BenchError>,
) -> Result<(R, Outcome), BenchError> {
    let is_over = AtomicBool::new(false);
    let (begun, beginning) = mpsc::channel();
    thread::scope(|scope| {
        let mut observer = UntilOver { begun, is_over: &is_over };
        let load = scope.spawn(move || run_load(load, &mut observer));
        // A load that cannot begin lets go of the channel, and has an error.
        let result = beginning.recv().ok().map(|()| work());
        // A flag on its own.
        is_over.store(true, Ordering::Relaxed);
        let outcome = load.join().expect("the load reports errors and does not panic")?;
        let result = result.expect("a load that ends well has begun");
        Ok((result?, outcome))
    })
}

/// Ends a run when told to.
struct UntilOver<'a> {
    begun: mpsc::Sender<()>,
    is_over: &'a AtomicBool,
}

impl Observer for UntilOver<'_> {
    fn measuring(&mut self) {
        // The receiver waits for exactly this.
        let _ = self.begun.send(());
    }

    fn tick(&mut self, shared: &Shared) {
        if self.is_over.load(Ordering::Relaxed) {
            shared.stop();
        }
    }
}
