//! What can go wrong below the keyspace, sorted by what the caller can do about it.
//!
//! The texts are written out rather than derived: a derive macro below `cold-rocks` changes the
//! features of `quote` on the build host, of which RocksDB's build script is built, and so costs
//! every such change another half hour of compiling C++.

use std::{error::Error, fmt, path::PathBuf};

/// Why the cold tier could not do as asked.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ColdError {
    /// The disk is full. Nothing of the checkpoint is visible; the same rows may be written again
    /// later, in a new checkpoint: the back end resumes by itself when space returns.
    NoSpace {
        /// What the back end said.
        detail: String,
    },
    /// Stored bytes are not what was written. The tier must not be written any further.
    Corrupt {
        /// The damaged file, or what is known about it.
        place: String,
        /// What the back end said.
        detail: String,
    },
    /// Somebody else has the directory open.
    Locked {
        /// The directory.
        dir: PathBuf,
    },
    /// A checkpoint's keys did not come in strictly ascending byte order.
    KeyOrder,
    /// A row is over [`ROW_BYTES_MAX`](crate::ROW_BYTES_MAX).
    RowTooBig {
        /// Key and value together.
        bytes: usize,
        /// The limit.
        bytes_max: usize,
    },
    /// The tier was closed.
    Closed,
    /// The disk or the back end failed in another way. What was committed is intact; the operation
    /// did not happen.
    Failed {
        /// What was attempted: "open", "commit a checkpoint", ...
        operation: &'static str,
        /// What the back end said.
        detail: String,
    },
}

impl Error for ColdError {}

impl fmt::Display for ColdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSpace { detail } => write!(
                f,
                "the disk of the cold tier is full: free some space, writing resumes by itself \
                 ({detail})"
            ),
            Self::Corrupt { place, detail } => write!(
                f,
                "the cold tier is corrupt at {place}: keep a copy of the directory, check the \
                 disk, and restore from a backup or from a replica ({detail})"
            ),
            Self::Locked { dir } => write!(
                f,
                "the cold tier {} is in use by another process: stop that process first",
                dir.display()
            ),
            Self::KeyOrder => write!(
                f,
                "checkpoint rows must come in strictly ascending key order: sort and merge them \
                 first"
            ),
            Self::RowTooBig { bytes, bytes_max } => write!(
                f,
                "a row of {bytes} bytes exceeds the cold tier's limit of {bytes_max}: split it"
            ),
            Self::Closed => write!(f, "the cold tier is closed: open it again"),
            Self::Failed { operation, detail } => write!(
                f,
                "the cold tier failed to {operation}: look at the disk and its logs ({detail})"
            ),
        }
    }
}
