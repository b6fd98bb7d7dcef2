//! bytes ▸ resp ▸ command ▸ engine ▸ log ▸ cold — [env lies under all of them]
//!
//! The outside world as traits: time, randomness and the few file operations of the journal. It
//! owns the real implementations and the simulated ones, so that a test can stop the clock, tear a
//! write in the middle or fill the disk. It must never know a format, a key or a command: it moves
//! bytes and numbers. Its invariant: whatever the simulated disk lets happen in a crash, a real
//! disk may do too. Read next: [`disk`] for the trait, `sim_disk` for what a power cut may leave
//! behind.
#![deny(unsafe_code)]

pub mod clock;
pub mod disk;
mod entropy;
mod instant;
pub mod priority;
pub mod random;
mod read_ring;
mod real_disk;
mod sim_disk;
mod sim_file;
mod slice;
pub mod thread;
mod uring;

pub use clock::{Clock, ManualClock, SystemClock};
pub use disk::{DirectoryLock, Disk, DiskFile, is_disk_full};
pub use entropy::{Entropy, SeededEntropy, SystemEntropy};
pub use instant::Instant;
pub use random::Random;
pub use read_ring::{BlockingRing, ReadAt, ReadDone, ReadRing, RingWaker};
pub use real_disk::RealDisk;
pub use sim_disk::{Fault, FaultKind, Operation, SimDisk};

use std::sync::Arc;

/// What the whole process takes from the outside and hands down: its clock and its seeds.
#[derive(Clone)]
pub struct Env {
    /// The one clock.
    pub clock: Arc<dyn Clock>,
    /// The one source of seeds.
    pub entropy: Arc<dyn Entropy>,
}

impl Env {
    /// The operating system's.
    pub fn system() -> Env {
        Env { clock: Arc::new(SystemClock::new()), entropy: Arc::new(SystemEntropy) }
    }

    /// A clock that a test moves, and seeds that follow from one number.
    pub fn manual(clock: &Arc<ManualClock>, seed: u64) -> Env {
        Env { clock: Arc::clone(clock) as _, entropy: Arc::new(SeededEntropy::new(seed)) }
    }
}
