//! File descriptors, of which this process and the servers that it starts may have a limited
//! number.

use crate::missing::leave_out;
use rustix::process::{Resource, getrlimit, setrlimit};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// One test at a time has thousands: together they would need more than there may be.
static THOUSANDS: Mutex<()> = Mutex::new(());

/// The permission to open thousands of descriptors, as long as it lives.
#[derive(Debug)]
pub struct Thousands {
    _turn: MutexGuard<'static, ()>,
}

impl Thousands {
    /// Waits for its turn and raises the limit, which servers inherit that are started afterwards.
    /// `None` if it may not be that high and `BASALT_WITHOUT_DESCRIPTORS=1` permits to go without.
    ///
    /// # Panics
    /// It may not be that high, which is not permitted.
    pub fn open(count: u64) -> Option<Thousands> {
        // A test that had it and panicked has left nothing behind but a limit.
        let turn = THOUSANDS.lock().unwrap_or_else(PoisonError::into_inner);
        let mut limit = getrlimit(Resource::Nofile);
        if limit.current.is_some_and(|current| current < count) {
            limit.current = limit.maximum;
            let too_low = limit.maximum.is_some_and(|maximum| maximum < count);
            if too_low || setrlimit(Resource::Nofile, limit).is_err() {
                let what = format!("the limit of open files is too low for {count}");
                leave_out(&what, "BASALT_WITHOUT_DESCRIPTORS");
                return None;
            }
        }
        Some(Thousands { _turn: turn })
    }
}
