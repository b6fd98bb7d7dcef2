//! What a journal should hold: the plainest data structures that can say it.

use std::collections::BTreeMap;

use basalt_journal::{Journal, ReplayError, ReplaySink, Seq, StreamId};

/// A change to the journal, in the order of calls.
#[derive(Debug, Clone)]
pub enum Op {
    Append(Vec<(u16, Vec<u8>)>),
    Truncate(u16, u64),
    Raise(u16, u64),
    HardState(u16, Vec<u8>),
}

#[derive(Debug, Clone, Default)]
pub struct ModelStream {
    pub last: u64,
    pub records: BTreeMap<u64, Vec<u8>>,
    pub hard_state: Vec<u8>,
    /// Through here positions were skipped.
    pub skipped: u64,
}

#[derive(Debug, Clone, Default)]
pub struct Model {
    pub streams: Vec<ModelStream>,
}

impl Model {
    pub fn new(streams: usize) -> Self {
        Self { streams: vec![ModelStream::default(); streams] }
    }

    pub fn apply(&mut self, op: &Op) {
        match op {
            Op::Append(records) => {
                for (stream, bytes) in records {
                    let stream = &mut self.streams[usize::from(*stream)];
                    stream.last += 1;
                    stream.records.insert(stream.last, bytes.clone());
                }
            }
            Op::Truncate(stream, from) => self.streams[usize::from(*stream)].truncate(*from),
            Op::Raise(stream, last) => {
                let stream = &mut self.streams[usize::from(*stream)];
                if *last > stream.last {
                    (stream.last, stream.skipped) = (*last, *last);
                }
            }
            Op::HardState(stream, state) => {
                self.streams[usize::from(*stream)].hard_state.clone_from(state);
            }
        }
    }

    /// Why an opened journal, which replayed `heard`, is not this; `trimmed` may be missing.
    pub fn differs(&self, journal: &Journal, heard: &Model, trimmed: &[u64]) -> Option<String> {
        let positions = journal.positions();
        let available = journal.first_available();
        for (index, expected) in self.streams.iter().enumerate() {
            let (last, first) = (positions[index].0, available[index].0);
            if last != expected.last {
                return Some(format!("stream {index} ends at {last}, not {}", expected.last));
            }
            let allowed = trimmed[index].max(expected.skipped) + 1;
            if first > allowed {
                return Some(format!("stream {index} begins at {first}, not {allowed}"));
            }
            let found = heard.streams[index].records.range(first..);
            if !found.eq(expected.records.range(first..)) {
                return Some(format!("stream {index} holds other records from {first} to {last}"));
            }
            if journal.hard_state(StreamId(index as u16)) != expected.hard_state {
                return Some(format!("stream {index} has another hard state"));
            }
        }
        None
    }
}

impl ModelStream {
    fn truncate(&mut self, from: u64) {
        if from <= self.last {
            self.records.split_off(&from);
            self.last = from - 1;
            self.skipped = self.skipped.min(self.last);
        }
    }
}

/// A model is also what a replay can fill.
impl ReplaySink for Model {
    fn record(&mut self, stream: StreamId, seq: Seq, bytes: &[u8]) -> Result<(), ReplayError> {
        let stream = &mut self.streams[usize::from(stream.0)];
        stream.last = seq.0;
        stream.records.insert(seq.0, bytes.to_vec());
        Ok(())
    }

    fn truncate_suffix(&mut self, stream: StreamId, from: Seq) -> Result<(), ReplayError> {
        self.streams[usize::from(stream.0)].records.split_off(&from.0);
        Ok(())
    }

    fn raise(&mut self, stream: StreamId, last: Seq) -> Result<(), ReplayError> {
        self.streams[usize::from(stream.0)].last = last.0;
        Ok(())
    }
}
