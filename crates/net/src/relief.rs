//! The thread that serves the clients of network threads whose command takes long.
//!
//! It sleeps while commands take no time, and the first loan ([`Loan`]) wakes it. Then it looks at
//! all loans now and then, until there was none for a while. One that it sees twice is a command
//! that has taken a millisecond or more; from then on it looks five times a millisecond, until the
//! command has ended, and serves the thread's other clients (`beside.rs`) if nobody has since its
//! last look. A script does so by itself, unless it searches or copies for longer. Where nobody
//! does, it serves them ten times a millisecond.
//!
//! A client that calls one such command is likely to call it again: for a while the thread sees the
//! next ones ten times sooner ([`Pace`]).

use basalt_env::thread::JoinHandle;
use basalt_service::draws;
use basalt_stdx::loan::Loan;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::time::Duration;

/// Between two looks while commands run that may take long …
const LOOK_EVERY: Duration = Duration::from_millis(1);
/// … while they do that, and one took long lately …
const LOOK_AGAIN_EVERY: Duration = Duration::from_micros(100);
/// … while one does that serves others by itself …
const WATCH_EVERY: Duration = Duration::from_micros(200);
/// … and while one does that does not.
const ATTEND_EVERY: Duration = Duration::from_micros(100);

/// What lately means: this number of rounds of looks after one that met a command that takes long,
/// 0.2 s if none of them does.
const ROUNDS_AFTER: u32 = 2000;

/// How soon a command that has begun is looked at again. 40 scripts a second, each of which copied
/// for 26 ms, kept others for a millisecond or two at the beginning of each.
#[derive(Default)]
struct Pace {
    /// Rounds that are still to come sooner, however many threads each looks at.
    sooner: u32,
}

impl Pace {
    fn a_command_takes_long(&mut self) {
        self.sooner = ROUNDS_AFTER;
    }

    fn end_round(&mut self) {
        self.sooner = self.sooner.saturating_sub(1);
    }

    /// The pause before the next look, while nothing is known to take long.
    fn pause(&self) -> Duration {
        if self.sooner > 0 { LOOK_AGAIN_EVERY } else { LOOK_EVERY }
    }
}

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
            // Its pauses are of 0.1 ms.
            basalt_env::thread::wake_on_time();
            basalt_env::thread::run_at_once();
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
    let mut pace = Pace::default();
    loop {
        let looked_at = loans.iter().zip(&mut seen);
        let pauses = looked_at.filter_map(|(loan, seen)| look(loan, seen, &mut pace));
        let pause = pauses.min();
        pace.end_round();
        let has_stopped = match pause {
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
fn look(loan: &Loan, seen: &mut u64, pace: &mut Pace) -> Option<Duration> {
    let count = loan.count();
    let before = std::mem::replace(seen, count);
    if !Loan::is_same(before, count) {
        // Short ones come and go.
        return (before != count).then(|| pace.pause());
    }
    pace.a_command_takes_long();
    if before != count {
        return Some(WATCH_EVERY);
    }
    if loan.step() {
        *seen = loan.count();
    }
    Some(ATTEND_EVERY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use basalt_stdx::loan::Step;

    struct Turns(u32);

    impl Step for Turns {
        fn step(&mut self) {
            self.0 += 1;
        }
    }

    #[test]
    fn after_one_that_took_long_the_next_ones_are_seen_sooner_for_a_while() {
        let (loan, mut turns) = (Loan::default(), Turns(0));
        let (mut seen, mut pace) = (loan.count(), Pace::default());
        for _ in 0..2 {
            loan.during(&mut turns, || {
                assert_eq!(look(&loan, &mut seen, &mut pace), Some(LOOK_EVERY));
            });
        }
        loan.during(&mut turns, || {
            assert_eq!(look(&loan, &mut seen, &mut pace), Some(LOOK_EVERY));
            assert_eq!(look(&loan, &mut seen, &mut pace), Some(ATTEND_EVERY));
        });
        assert_eq!(turns.0, 1);
        for _ in 0..ROUNDS_AFTER {
            loan.during(&mut turns, || {
                assert_eq!(look(&loan, &mut seen, &mut pace), Some(LOOK_AGAIN_EVERY));
            });
            pace.end_round();
        }
        loan.during(&mut turns, || {
            assert_eq!(look(&loan, &mut seen, &mut pace), Some(LOOK_EVERY));
        });
        assert_eq!(turns.0, 1);
    }
}
