//! Building the locator after a start: all rows are gone over once, a piece at a time, while
//! nothing is committed. What is committed in between the locator hears of anyway.

use crate::format_file::TOP;
use crate::segment::Segment;
use crate::tier::ValueTier;
use basalt_cold::ColdError;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Rows of a piece: about 20 ms, for which a checkpoint may have to wait.
const ROWS_A_PIECE: usize = 32 << 10;

/// Where values stand in rows they take longer.
const BYTES_A_PIECE: usize = 8 << 20;

/// Where to go on, if there is something left.
pub(crate) struct Learning {
    next: Option<Vec<u8>>,
    /// Segments of commits that failed, and that the next start might find, until one has not.
    pub(crate) doubtful: Vec<Arc<Segment>>,
}

impl Default for Learning {
    fn default() -> Learning {
        Learning { next: Some(Vec::new()), doubtful: Vec::new() }
    }
}

impl Learning {
    /// A commit has not failed: those that have are gone.
    pub(crate) fn settle(&mut self) {
        self.doubtful.drain(..).for_each(|segment| segment.end_writing());
    }
}

impl ValueTier {
    /// Goes over some rows.
    pub(crate) fn learn_a_piece(&self) -> Result<(), ColdError> {
        let mut learning = self.committing.lock();
        let Some(from) = learning.next.take() else { return Ok(()) };
        let (mut rows, mut bytes, mut next) = (0, 0, None);
        let scanned = self.rows.scan(&from, &TOP, &mut |key, row| {
            if rows == ROWS_A_PIECE || bytes >= BYTES_A_PIECE {
                next = Some(key.to_vec());
                return ControlFlow::Break(());
            }
            self.learn_row(key, row);
            rows += 1;
            bytes += row.len();
            ControlFlow::Continue(())
        });
        learning.next = if scanned.is_err() { Some(from) } else { next };
        scanned?;
        if learning.next.is_none() {
            self.locator.set_built();
        }
        Ok(())
    }

    /// It is not known any more what the locator lacks: it is built again from the start. The
    /// caller commits.
    pub(crate) fn learn_all_again(&self, learning: &mut Learning) {
        self.locator.clear();
        self.segments.all().iter().for_each(|segment| segment.forget_live());
        learning.next = Some(Vec::new());
    }
}
