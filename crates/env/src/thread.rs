//! The one door through which threads are started.
//!
//! What runs on them is made of steps that another caller could make as well: a test and a
//! simulator start none.

use rustix::thread::set_current_timer_slack;
use rustix::time::{ClockId, clock_gettime};
use std::io;
use std::num::NonZeroU64;
pub use std::thread::JoinHandle;
use std::time::Duration;

/// What Linux takes.
const SHORTEST_SLICE: Duration = Duration::from_micros(100);

/// Starts a thread of this name (15 bytes of it are seen in `top -H` and in a debugger).
///
/// # Errors
/// The system has no thread left.
pub fn spawn<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    std::thread::Builder::new().name(name.to_owned()).spawn(work)
}

/// Has this thread's sleeps end when they are to: by default the system wakes it up to 50 µs later,
/// together with others. Where the system does not know how, it stays as it is.
pub fn wake_on_time() {
    let _ = set_current_timer_slack(NonZeroU64::new(1));
}

/// Has this thread run as soon as there is something to do, rather than at the end of the slice of
/// another one that has its core, of milliseconds. Where the system does not know how, it stays as
/// it is.
pub fn run_at_once() {
    crate::slice::set(SHORTEST_SLICE);
}

/// For how long this thread has run since it began. Takes a call of the system.
pub fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(test)]
mod tests {
    #[test]
    fn its_time_goes_on_while_it_runs_and_not_while_it_sleeps() {
        let before = super::cpu_time();
        while super::cpu_time() - before < super::Duration::from_millis(5) {}
        let before = super::cpu_time();
        std::thread::sleep(super::Duration::from_millis(30));
        assert!(super::cpu_time() - before < super::Duration::from_millis(20));
    }

    #[test]
    fn it_has_its_name() {
        let thread = super::spawn("worker-7", || std::thread::current().name().map(str::to_owned));
        let name = thread.expect("there is a thread").join().expect("no panic");
        assert_eq!(name.as_deref(), Some("worker-7"));
    }
}
