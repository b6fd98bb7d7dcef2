//! A partition that a thread has not got.

/// Somebody holds a partition for longer than the thread waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Held;
