//! The thread that serves the clients of network threads whose command takes long.
//!
//! It sleeps while commands take no time, and the first loan ([`Loan`]) wakes it. Then it looks at
//! all loans now and then, until there was none for a while. One that it sees twice is a command
//! that has taken a millisecond or more; from then on it looks five times a millisecond, until the
//! command has ended, and serves the thread's other clients (`beside.rs`) if nobody has since its
//! last look. A script does so by itself, unless it searches or copies for longer. Where nobody
//! does, it serves them ten times a millisecond.

use basalt_env::thread::JoinHandle;
use basalt_service::draws;
use basalt_stdx::loan::Loan;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::time::Duration;

/// Between two looks while commands run that may take long …
const LOOK_EVERY: Duration = Duration::from_millis(1);
/// … while one does that serves others by itself …
const WATCH_EVERY: Duration = Duration::from_micros(200);
/// … and while one does that does not.
const ATTEND_EVERY: Duration = Duration::from_micros(100);

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
        self.thread.thread().unpark();
        if self.thread.join().is_err() {
            tracing::error!("the relief thread had panicked");
        }
    }
}

fn run(loans: &[Arc<Loan>], stopped: &Receiver<()>) {
    let mut seen = vec![0; loans.len()];
    loop {
        let pauses = loans.iter().zip(&mut seen).filter_map(|(loan, seen)| look(loan, seen));
        let has_stopped = match pauses.min() {
            // What wakes it too early does not end the pause: two looks are that far apart.
            Some(pause) => stopped.recv_timeout(pause) != Err(RecvTimeoutError::Timeout),
            None => {
                let thread = std::thread::current();
                if loans.iter().zip(&seen).all(|(loan, &seen)| loan.wakes(&thread, seen)) {
                    std::thread::park();
                }
                stopped.try_recv() == Err(TryRecvError::Disconnected)
            }
        };
        if has_stopped {
            return;
        }
    }
}

/// Looks at a thread's loan; returns when to look again, if nothing else is a reason to.
fn look(loan: &Loan, seen: &mut u64) -> Option<Duration> {
    let count = loan.count();
    let before = std::mem::replace(seen, count);
    if !Loan::is_same(before, count) {
        // Short ones come and go.
        return (before != count).then_some(LOOK_EVERY);
    }
    if before != count {
        return Some(WATCH_EVERY);
    }
    if loan.step() {
        *seen = loan.count();
    }
    Some(ATTEND_EVERY)
}
