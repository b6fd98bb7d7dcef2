//! Why a client's requests do not run.

use basalt_service::wait::Wait;

/// Why requests of a client that stand in the batch do not run.
#[derive(Debug)]
pub enum Halt {
    /// A command has ended the connection.
    Closed,
    /// They run another time: the client is owed too much already, or the batch has made more
    /// replies than other clients should wait for.
    Later,
    /// A command waits, or has run and its answer waits. It ends at `end`.
    Waits {
        /// For what.
        wait: Wait,
        /// Where the command ends in the client's bytes.
        end: usize,
    },
}
