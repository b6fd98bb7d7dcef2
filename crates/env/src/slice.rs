//! JUSTIFICATION for `unsafe`: the system call has no safe name.
//!
//! How long a thread runs before the scheduler has others have its core, if others wait for it.
#![expect(unsafe_code, reason = "the system call has no safe name")]

use std::time::Duration;

/// Of which `libc::sched_attr` begins with what is known here.
const SIZE: u32 = size_of::<libc::sched_attr>() as u32;

/// The calling thread has such slices from now on, of 0.1 to 100 ms. Its share of the time is the
/// same. A thread of shorter ones that has something to do does not wait for the end of another
/// one's slice (Linux 6.12 and later; before it, nothing happens). Returns whether the system took
/// it.
pub(crate) fn set(slice: Duration) -> bool {
    let Some(mut attributes) = attributes() else { return false };
    if attributes.sched_policy != libc::SCHED_OTHER as u32 {
        return false;
    }
    attributes.sched_runtime = slice.as_nanos() as u64;
    // SAFETY: the calling thread, attributes that the system has given, and no flag.
    unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) == 0 }
}

fn attributes() -> Option<libc::sched_attr> {
    // SAFETY: it is made of numbers, of which each may be 0.
    let mut attributes: libc::sched_attr = unsafe { std::mem::zeroed() };
    // SAFETY: the calling thread, and as many bytes as there are to be written.
    let result = unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &raw mut attributes, SIZE, 0) };
    (result == 0).then_some(attributes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_concerns_the_calling_thread_alone_and_keeps_its_share() {
        let before = attributes().expect("readable");
        let set = || {
            assert!(set(Duration::from_micros(100)));
            attributes().expect("readable")
        };
        let after = std::thread::spawn(set).join().expect("no panic");
        // Older systems tell of none.
        assert!([0, 100_000].contains(&after.sched_runtime), "{}", after.sched_runtime);
        assert_eq!(after.sched_nice, before.sched_nice);
        let own = attributes().expect("readable");
        assert_eq!(own.sched_runtime, before.sched_runtime);
    }
}
