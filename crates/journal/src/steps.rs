//! The journal's work as steps, for a caller that makes them itself.
//!
//! The threads make the same steps in loops, and sleep between them.

use crate::error::JournalError;
use crate::housekeeper::Housekeeper;
use crate::shared::Shared;
use crate::sync::Syncer;
use crate::writer::{Step, Writer};

/// What the three threads would be.
pub(crate) struct Steps {
    pub(crate) writer: Writer,
    pub(crate) syncer: Syncer,
    pub(crate) housekeeper: Housekeeper,
}

impl Steps {
    /// Does what there is to do now; returns false if there was nothing, or if a full disk keeps it
    /// from being done.
    pub(crate) fn make(&mut self, shared: &Shared) -> Result<bool, JournalError> {
        let mut has_worked = self.housekeeper.step(shared);
        // Without the next file the writer might have to wait for it.
        if !shared.segments.inner.lock().prepared.is_empty() {
            has_worked |= self.writer.step()? == Step::Worked;
        }
        has_worked |= self.syncer.step(shared)?;
        Ok(has_worked)
    }
}
