//! The thread that serves the clients of network threads whose command takes long.
//!
//! It looks at the threads' loans ([`Loan`]) now and then. A loan that it sees twice, and that
//! nobody has used meanwhile as a script does, is a command that has taken ten milliseconds or
//! more; from then on it serves the thread's other clients each millisecond (`beside.rs`) until the
//! command has ended.

use basalt_env::thread::JoinHandle;
use basalt_service::draws;
use basalt_stdx::loan::Loan;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// Between two looks while commands run that may take long …
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// … while the clients of one are served …
const ATTEND_EVERY: Duration = Duration::from_millis(1);
/// … and while there are none.
const IDLE_EVERY: Duration = Duration::from_millis(50);

/// The thread.
pub(crate) struct Relief {
    thread: JoinHandle<()>,
    stop: Sender<()>,
}

impl Relief {
    /// Starts it for the threads that lend here; what its commands draw follows from `seed`.
    ///
    /// # Errors
    /// If the system has no thread left.
    pub(crate) fn start(loans: Vec<Arc<Loan>>, seed: u64) -> io::Result<Relief> {
        let (stop, stopped) = channel();
        let thread = basalt_env::thread::spawn("relief", move || {
            draws::begin(seed);
            run(&loans, &stopped);
        })?;
        Ok(Relief { thread, stop })
    }

    /// Ends it, when the network threads have ended.
    pub(crate) fn stop(self) {
        drop(self.stop);
        if self.thread.join().is_err() {
            tracing::error!("the relief thread had panicked");
        }
    }
}

fn run(loans: &[Arc<Loan>], stopped: &Receiver<()>) {
    let mut seen = vec![0; loans.len()];
    let mut pause = IDLE_EVERY;
    while stopped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
        pause = IDLE_EVERY;
        for (loan, seen) in loans.iter().zip(&mut seen) {
            pause = pause.min(look(loan, seen));
        }
    }
}

/// Looks at a thread's loan; returns when to look again.
fn look(loan: &Loan, seen: &mut u64) -> Duration {
    let count = loan.count();
    let before = std::mem::replace(seen, count);
    let is_lent = count % 2 == 1;
    match (is_lent, before == count) {
        (true, true) if loan.step() => {
            *seen = loan.count();
            ATTEND_EVERY
        }
        (true, _) => LOOK_EVERY,
        // Short ones come and go.
        (false, false) => LOOK_EVERY,
        (false, true) => IDLE_EVERY,
    }
}
