//! What can go wrong.

use std::io;
use std::path::PathBuf;

use crate::types::{Seq, StreamId};

/// Why a journal could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// An option is out of its limits.
    #[error("journal options: {0}")]
    Options(&'static str),
    /// Another process has the directory.
    #[error("journal directory {} is in use by another process: stop that one first", .0.display())]
    Locked(PathBuf),
    /// The operating system refused.
    #[error("journal: cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On which file or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A group that had been made durable is damaged or missing. Start-up stops here, because to
    /// cut the log at this place would silently drop acknowledged records.
    #[error(
        "journal is corrupt: file {}, offset {offset}: {detail}; restore the file from a backup or a \
         replica, or start with --accept-data-loss yes to end the journal there",
        file.display()
    )]
    Corrupt {
        /// The damaged segment file.
        file: PathBuf,
        /// Where in it the first unreadable group begins.
        offset: u64,
        /// What was found there.
        detail: String,
    },
    /// The journal was created with another number of streams.
    #[error("journal has {found} streams but {wanted} are configured: restore the old setting")]
    StreamsDiffer {
        /// As written in the files.
        found: u16,
        /// As asked for.
        wanted: u16,
    },
    /// The receiver of the records refused one.
    #[error("journal replay stopped: {0}")]
    Replay(#[from] ReplayError),
}

impl OpenError {
    pub(crate) fn io(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, path, source }
    }
}

/// Why the receiver of replayed records refused to go on.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// A record cannot be used.
    #[error("stream {} record {}: {reason}", stream.0, seq.0)]
    Record {
        /// Of this stream.
        stream: StreamId,
        /// At this position.
        seq: Seq,
        /// Why.
        reason: String,
    },
    /// The log is not the one that the receiver needs.
    #[error("{0}")]
    Refused(String),
    /// The log takes records back, and the receiver cannot.
    #[error(
        "stream {} was truncated from record {} on, as a cluster's logs are: open this data in cluster \
         mode",
        stream.0, from.0
    )]
    Truncated {
        /// This stream.
        stream: StreamId,
        /// The first record taken back.
        from: Seq,
    },
}

/// Why the journal could not do what was asked.
#[derive(Debug, Clone, thiserror::Error)]
pub enum JournalError {
    /// The journal is poisoned; nothing appended since is safe.
    #[error("journal failed: {0}; restart to recover from what is on disk")]
    Failed(String),
    /// The records wait in memory for disk space.
    #[error("journal has no disk space for the next segment: free some, it recovers by itself")]
    DiskFull,
    /// A trimmed segment could not be removed or recycled; a later trim tries again.
    #[error("journal could not give back segment {}: {reason}", file.display())]
    Trim {
        /// The segment file.
        file: PathBuf,
        /// What the system said.
        reason: String,
    },
}
