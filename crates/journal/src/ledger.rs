//! What is known about streams and segments: kept by recovery while it reads and by the writer
//! while it writes, by the same rules, because the one must come to the same end as the other.

use std::collections::VecDeque;

use crate::format::StreamState;
use crate::stream::StreamChanges;

/// All streams as of the last group, and what the current segment holds of them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ledger {
    pub(crate) streams: Vec<StreamLedger>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct StreamLedger {
    /// Position and hard state, as a segment header records them.
    pub(crate) state: StreamState,
    /// Highest sequence number of a record in the current segment, 0 if there is none.
    pub(crate) highest: u64,
}

/// A segment that gets no more groups.
#[derive(Debug)]
pub(crate) struct CompleteSegment {
    pub(crate) id: u64,
    pub(crate) file_bytes: u64,
    /// How many of them are log.
    pub(crate) used_bytes: u64,
    /// Each stream's highest record in the segment, 0 if there is none.
    pub(crate) highest: Box<[u64]>,
    /// Number of the first group after the segment. When it is on disk, so is the header that
    /// repeats all that must survive of this segment.
    pub(crate) next_group: u64,
}

/// Which segments there are, and from where on each stream is all there.
#[derive(Debug, Default)]
pub(crate) struct History {
    pub(crate) complete: VecDeque<CompleteSegment>,
    /// Each stream's position where a segment begins: the complete ones in order, then the current
    /// one.
    bases: VecDeque<Box<[u64]>>,
    /// Through here a stream's records are gone or never were; above it every one is in the log.
    pub(crate) missing_through: Box<[u64]>,
}

impl Ledger {
    pub(crate) fn at(states: &[StreamState]) -> Self {
        let start = |state: &StreamState| StreamLedger { state: state.clone(), highest: 0 };
        Self { streams: states.iter().map(start).collect() }
    }

    pub(crate) fn states(&self) -> Vec<StreamState> {
        self.streams.iter().map(|stream| stream.state.clone()).collect()
    }

    /// Each stream's position.
    pub(crate) fn positions(&self) -> Box<[u64]> {
        self.streams.iter().map(|stream| stream.state.last).collect()
    }

    /// Ends the current segment; returns the highest record of each stream in it.
    pub(crate) fn end_segment(&mut self) -> Box<[u64]> {
        self.streams.iter_mut().map(|stream| std::mem::take(&mut stream.highest)).collect()
    }
}

impl StreamLedger {
    pub(crate) fn appended(&mut self, last: u64) {
        self.state.last = last;
        self.highest = self.highest.max(last);
    }

    /// Does all that a group did to the stream.
    pub(crate) fn changed(&mut self, changes: &mut StreamChanges) {
        self.state.last = changes.last;
        self.highest = self.highest.max(changes.highest);
        if let Some(state) = changes.hard_state.take() {
            self.state.hard_state = state;
        }
    }
}

impl History {
    /// The log of a first segment that begins at these positions: what came before is not in it.
    pub(crate) fn beginning_at(base: Box<[u64]>) -> Self {
        let bases = VecDeque::from([base.clone()]);
        Self { complete: VecDeque::new(), bases, missing_through: base }
    }

    /// The current segment is complete, and the next one begins at these positions.
    pub(crate) fn go_on(&mut self, complete: CompleteSegment, next_base: Box<[u64]>) {
        self.complete.push_back(complete);
        self.bases.push_back(next_base);
    }

    /// A stream's records from `from` on are gone, and will be written again.
    pub(crate) fn truncated(&mut self, stream: usize, from: u64) {
        let last = from.saturating_sub(1);
        for base in self.bases.iter_mut().chain([&mut self.missing_through]) {
            base[stream] = base[stream].min(last);
        }
    }

    /// A stream goes on after `last`, and has nothing before it.
    pub(crate) fn raised(&mut self, stream: usize, last: u64) {
        self.missing_through[stream] = last;
    }

    /// The oldest segment, if no stream needs it: each is done with its records through a position,
    /// and all groups through `synced` are on disk.
    pub(crate) fn trimmable(&self, through: &[u64], synced: u64) -> Option<&CompleteSegment> {
        let oldest = self.complete.front()?;
        let needed = oldest.highest.iter().zip(through).any(|(highest, through)| highest > through);
        (!needed && synced >= oldest.next_group).then_some(oldest)
    }

    /// The oldest segment has been given back.
    pub(crate) fn forget_oldest(&mut self) {
        self.complete.pop_front();
        self.bases.pop_front();
        if let Some(base) = self.bases.front() {
            for (missing, base) in self.missing_through.iter_mut().zip(base) {
                *missing = (*missing).max(*base);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complete(id: u64, highest: u64, next_group: u64) -> CompleteSegment {
        CompleteSegment { id, file_bytes: 0, used_bytes: 0, highest: [highest].into(), next_group }
    }

    #[test]
    fn only_the_oldest_goes_and_only_when_done_with_and_repeated_on_disk() {
        let mut history = History::beginning_at([0].into());
        history.go_on(complete(1, 10, 5), [10].into());
        history.go_on(complete(2, 12, 7), [12].into());
        assert!(history.trimmable(&[9], 100).is_none(), "record 10 is needed");
        assert!(history.trimmable(&[12], 4).is_none(), "the next header may be lost");
        assert_eq!(history.trimmable(&[10], 5).map(|segment| segment.id), Some(1));
        history.forget_oldest();
        assert_eq!(*history.missing_through, [10]);
        assert!(history.trimmable(&[11], 100).is_none());
    }

    #[test]
    fn a_truncation_makes_positions_available_again() {
        let mut history = History::beginning_at([0].into());
        history.go_on(complete(1, 60, 5), [60].into());
        history.go_on(complete(2, 100, 7), [100].into());
        history.truncated(0, 51);
        history.forget_oldest();
        history.forget_oldest();
        assert_eq!(*history.missing_through, [50]);
        history.raised(0, 200);
        assert_eq!(*history.missing_through, [200]);
    }
}
