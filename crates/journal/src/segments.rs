//! The segments as the threads share them: those in the log, and files that stand ready to be the
//! next.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use basalt_env::{Disk, DiskFile};
use parking_lot::{Condvar, Mutex};

use crate::error::JournalError;
use crate::ledger::History;
use crate::types::JournalId;

/// A file that stands ready to be the next segment.
pub(crate) struct PreparedFile {
    pub(crate) id: u64,
    pub(crate) file: Arc<dyn DiskFile>,
    pub(crate) bytes: u64,
}

pub(crate) struct Segments {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) dir: PathBuf,
    pub(crate) journal: JournalId,
    pub(crate) inner: Mutex<Inner>,
    /// A file was prepared or taken, or a trim was asked for or done.
    pub(crate) changed: Condvar,
}

pub(crate) struct Inner {
    pub(crate) history: History,
    pub(crate) prepared: VecDeque<PreparedFile>,
    /// The id of the next file that is created or recycled. Ids are given out once.
    pub(crate) next_id: u64,
    /// How many bytes of the current segment are log.
    pub(crate) active_used_bytes: u64,
    pub(crate) trim: TrimRequest,
}

/// What the housekeeper is asked to give back.
#[derive(Default)]
pub(crate) struct TrimRequest {
    pub(crate) through: Box<[u64]>,
    pub(crate) asked: u64,
    pub(crate) done: u64,
    /// What went wrong with the last request.
    pub(crate) error: Option<JournalError>,
}

impl Segments {
    /// Bytes of log that a recovery would read now.
    pub(crate) fn log_bytes(&self) -> u64 {
        let inner = self.inner.lock();
        let complete: u64 = inner.history.complete.iter().map(|segment| segment.used_bytes).sum();
        complete + inner.active_used_bytes
    }

    pub(crate) fn wake_all(&self) {
        // A thread that looked before this has begun to wait and hears the notice.
        drop(self.inner.lock());
        self.changed.notify_all();
    }

    /// Puts a file in line to become a segment.
    pub(crate) fn add_prepared(&self, prepared: PreparedFile) {
        self.inner.lock().prepared.push_back(prepared);
        self.changed.notify_all();
    }
}
