//! Atomics, locks and waits: those of every program, or with `--cfg loom` those of loom, which
//! tries every order in which threads may run and every value that a load may see
//! (`tests/loom.rs`).

#[cfg(loom)]
pub(crate) use loom::{
    hint::spin_loop,
    sync::atomic,
    thread::{Thread, yield_now},
};
#[cfg(not(loom))]
pub(crate) use parking_lot::Mutex;
use std::time::Duration;
#[cfg(not(loom))]
pub(crate) use std::{
    hint::spin_loop,
    sync::atomic,
    thread::{Thread, yield_now},
};

/// Sleeps this long. In loom no time passes: it lets the others run.
pub(crate) fn sleep(time: Duration) {
    #[cfg(loom)]
    let _ = time;
    #[cfg(loom)]
    yield_now();
    #[cfg(not(loom))]
    std::thread::sleep(time);
}

/// Waits until this thread is unparked, this long at most. In loom as long as it takes, so that a
/// wake-up that is lost shows as a deadlock.
pub(crate) fn park_timeout(limit: Duration) {
    #[cfg(loom)]
    let _ = limit;
    #[cfg(loom)]
    loom::thread::park();
    #[cfg(not(loom))]
    std::thread::park_timeout(limit);
}

/// Loom's lock, taken as `parking_lot`'s is.
#[cfg(loom)]
#[derive(Debug, Default)]
pub(crate) struct Mutex<T>(loom::sync::Mutex<T>);

#[cfg(loom)]
impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Mutex<T> {
        Mutex(loom::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> loom::sync::MutexGuard<'_, T> {
        self.0.lock().expect("a model ends with its first panic")
    }
}
