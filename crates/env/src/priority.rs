//! The CPU priority of threads.

/// How far threads that can wait step back. A third of a normal thread's share: enough to finish.
const STEP: i32 = 5;

/// Lowers the priority of the calling thread, for work that nobody waits for. Locks that it takes
/// should be short ones whose waiters sleep, so that it gets the CPU to let go of them.
pub fn step_back() {
    // On Linux this concerns the calling thread alone. Where it is refused, the priority stays as
    // it is.
    if let Ok(niceness) = rustix::process::getpriority_process(None) {
        let _ = rustix::process::setpriority_process(None, niceness + STEP);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_concerns_the_calling_thread_alone() {
        let niceness = || rustix::process::getpriority_process(None).expect("readable");
        let before = niceness();
        let stepped = std::thread::spawn(move || {
            step_back();
            niceness()
        });
        assert_eq!(stepped.join().expect("no panic"), (before + STEP).min(19));
        assert_eq!(niceness(), before);
    }
}
