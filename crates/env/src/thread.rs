//! The one door through which threads are started.
//!
//! What runs on them is made of steps that another caller could make as well: a test and a
//! simulator start none.

use std::io;
pub use std::thread::JoinHandle;

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

#[cfg(test)]
mod tests {
    #[test]
    fn it_has_its_name() {
        let thread = super::spawn("worker-7", || std::thread::current().name().map(str::to_owned));
        let name = thread.expect("there is a thread").join().expect("no panic");
        assert_eq!(name.as_deref(), Some("worker-7"));
    }
}
