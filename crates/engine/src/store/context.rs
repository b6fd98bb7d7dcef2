//! For whom, when and how a command runs.

use basalt_stdx::short_lock::LockWait;

/// For whom and when a command runs.
#[derive(Clone, Copy, Debug)]
pub struct CommandContext {
    /// Number of the selected database.
    pub db: u8,
    /// Now, in unix milliseconds.
    pub now_ms: u64,
    /// Whether reading a key counts as using it (`CLIENT NO-TOUCH`).
    pub touch: Touch,
    /// Largest value that a command may make, in bytes (`proto-max-bulk-len`).
    pub value_bytes_max: usize,
    /// Number of the client, 0 for the server itself.
    pub client: u64,
    /// Whether the command has waited for its keys.
    pub attempt: Attempt,
    /// How long its thread waits for a partition.
    pub lock_wait: LockWait,
    /// What has issued the command.
    pub issuer: Issuer,
}

/// What issues a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Issuer {
    /// A client, also as one of a transaction, or the server itself.
    Client,
    /// A script.
    Script,
}

/// Whether a command runs for the first time or has waited for its keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Attempt {
    /// It runs for the first time and may wait.
    First,
    /// It has waited and may wait on.
    Again,
    /// It has waited and its time is over.
    Last,
}

impl CommandContext {
    /// For what the server does by itself: leaves no trace, waits for nothing and has no limits.
    pub fn background(db: u8, now_ms: u64) -> CommandContext {
        CommandContext {
            db,
            now_ms,
            touch: Touch::No,
            value_bytes_max: usize::MAX,
            client: 0,
            attempt: Attempt::First,
            lock_wait: LockWait::Endless,
            issuer: Issuer::Client,
        }
    }
}

/// Whether reading a key counts as using it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Touch {
    /// It does.
    Yes,
    /// It does not.
    No,
}

/// Whether a command runs by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RunMode {
    /// It does, and may ask to be run again.
    Alone,
    /// It is one of several that run as one, and everything is there that it may touch.
    Transaction,
    /// It is one of several that run as one, and every key is there.
    Everything,
}
