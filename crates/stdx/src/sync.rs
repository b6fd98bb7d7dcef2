//! Atomics and waits: the standard library's, or with `--cfg loom` those of loom, which tries every
//! order in which threads may run and every value that a load may see (`tests/loom.rs`).

#[cfg(loom)]
pub(crate) use loom::{
    hint::spin_loop,
    sync::atomic,
    thread::{Thread, yield_now},
};
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
