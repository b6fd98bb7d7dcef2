//! Adding records to segments: those of a checkpoint, or of a collection.
//!
//! An appender has a segment to itself. So nobody waits for another, and the records of a
//! checkpoint stand in the order of its rows.

use crate::envelope::Pointer;
use crate::error::io_error;
use crate::locator::UNIT_MAX;
use crate::place::{Place, UNIT_BYTES};
use crate::record::{self, Record};
use crate::segment::{HEADER_BYTES, Segment};
use crate::segments::Segments;
use basalt_cold::ColdError;
use std::io::IoSlice;
use std::sync::Arc;

/// Bytes that are written together.
const BUFFER_BYTES: usize = 1 << 20;

/// See the head of this file.
pub(crate) struct Appender<'t> {
    segments: &'t Segments,
    /// A segment is sealed when it has as many.
    segment_bytes: u64,
    current: Option<Arc<Segment>>,
    /// Those that are full, and whose records need not be durable yet.
    full: Vec<Arc<Segment>>,
    /// Of the current one.
    buffer: Vec<u8>,
    bytes: u64,
    /// An error leaves nobody knows what in the current one.
    has_failed: bool,
}

impl<'t> Appender<'t> {
    pub(crate) fn new(segments: &'t Segments, segment_bytes: u64) -> Appender<'t> {
        Appender {
            segments,
            // Room for the beginning of a record, and no more than its place can say.
            segment_bytes: segment_bytes
                .clamp(HEADER_BYTES + UNIT_BYTES, u64::from(UNIT_MAX) * UNIT_BYTES),
            current: None,
            full: Vec::new(),
            buffer: Vec::new(),
            bytes: 0,
            has_failed: false,
        }
    }

    /// Adds a value; it is durable after [`Appender::sync`].
    pub(crate) fn append(&mut self, key: &[u8], value: &[u8]) -> Result<Pointer, ColdError> {
        let place = self.make_room()?;
        let units = record::encode(key, value, place.segment, &mut self.buffer);
        self.note(place, units, value.len() as u32)
    }

    /// Adds a record of another segment, whose value has `value_bytes`.
    pub(crate) fn copy(
        &mut self,
        from: &Record<'_>,
        value_bytes: u32,
    ) -> Result<Pointer, ColdError> {
        let place = self.make_room()?;
        let units = from.copy_to(place.segment, &mut self.buffer);
        self.note(place, units, value_bytes)
    }

    /// Makes all that was added durable.
    pub(crate) fn sync(&mut self) -> Result<(), ColdError> {
        let synced = self.write().and_then(|()| {
            self.full.iter().chain(&self.current).try_for_each(|segment| {
                let failed = |error| io_error(&error, "sync values", &segment.path);
                segment.file.sync_data().map_err(failed)
            })
        });
        self.has_failed |= synced.is_err();
        synced
    }

    /// Bytes of records that were added.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes of records that were added since this was asked last.
    pub(crate) fn take_bytes(&mut self) -> u64 {
        std::mem::take(&mut self.bytes)
    }

    /// Whether rows point to what was added is known after the next start only.
    pub(crate) fn leave_to(&mut self, doubtful: &mut Vec<Arc<Segment>>) {
        self.has_failed = true;
        for segment in self.full.iter().chain(&self.current) {
            segment.begin_writing();
            doubtful.push(Arc::clone(segment));
        }
    }

    /// Where the next record begins.
    fn make_room(&mut self) -> Result<Place, ColdError> {
        loop {
            let Some(segment) = &self.current else {
                debug_assert!(self.buffer.is_empty());
                self.current = Some(self.segments.begin()?);
                continue;
            };
            let end = self.end(segment);
            // One that somebody has stopped in may be full, too.
            if end < self.segment_bytes {
                let unit = (end / UNIT_BYTES) as u32;
                return Ok(Place { segment: segment.number, unit });
            }
            self.write()?;
            self.full.extend(self.current.take().inspect(|segment| segment.seal()));
        }
    }

    fn end(&self, segment: &Segment) -> u64 {
        segment.used_bytes() + self.buffer.len() as u64
    }

    fn note(&mut self, place: Place, units: u32, value_bytes: u32) -> Result<Pointer, ColdError> {
        self.bytes += u64::from(units) * UNIT_BYTES;
        if self.buffer.len() >= BUFFER_BYTES {
            self.write()?;
        }
        Ok(Pointer { place, units, value_bytes })
    }

    /// Writes what is in the buffer.
    fn write(&mut self) -> Result<(), ColdError> {
        let Some(segment) = self.current.as_ref().filter(|_| !self.buffer.is_empty()) else {
            return Ok(());
        };
        let (from, end) = (segment.used_bytes(), self.end(segment));
        // Twice as much each time, so that a small directory has small files.
        let reserved = end.next_power_of_two().min(self.segment_bytes.max(end));
        let written = segment
            .file
            .reserve(reserved)
            .and_then(|()| segment.file.write_all_at(&[IoSlice::new(&self.buffer)], from));
        self.has_failed |= written.is_err();
        written.map_err(|error| io_error(&error, "write values", &segment.path))?;
        segment.note_used(end);
        self.buffer.clear();
        Ok(())
    }
}

impl Drop for Appender<'_> {
    fn drop(&mut self) {
        if let Some(segment) = self.current.take() {
            // What is still in the buffer has a place by now that nobody else may get.
            if self.has_failed || !self.buffer.is_empty() {
                segment.seal();
            }
            segment.end_writing();
            if segment.may_be_gone_on_with() {
                self.segments.put_back(segment);
            }
        }
        self.full.drain(..).for_each(|segment| segment.end_writing());
    }
}
