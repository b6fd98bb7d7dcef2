//! A segment: a file that records are added to until it is full, and that is read until its last
//! living record has been moved.
//!
//! ```text
//! header, 64 bytes   "basalt values\n" zeros number:u32le at byte 60
//! records            each at a multiple of 16 bytes (`record`)
//! zeros              what was reserved and not written
//! ```
//! The header is for people: a record is known by its checksum, which has the segment's number.

use crate::error::{corrupt, io_error};
use crate::place::{Place, SizeClass, UNIT_BYTES};
use crate::record::{NoRecord, Record};
use basalt_cold::ColdError;
use basalt_env::DiskFile;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// Bytes before the first record.
pub(crate) const HEADER_BYTES: u64 = 64;

const TITLE: &[u8] = b"basalt values\n";
const NUMBER_AT: usize = 60;

/// What the first bytes of a segment are.
pub(crate) fn header(number: u32) -> [u8; HEADER_BYTES as usize] {
    let mut header = [0; HEADER_BYTES as usize];
    header[..TITLE.len()].copy_from_slice(TITLE);
    header[NUMBER_AT..].copy_from_slice(&number.to_le_bytes());
    header
}

/// See the head of this file.
pub(crate) struct Segment {
    pub(crate) number: u32,
    pub(crate) path: PathBuf,
    pub(crate) file: Arc<dyn DiskFile>,
    /// Bytes that records may stand in: those written, or those of a file from an earlier start.
    used_bytes: AtomicU64,
    /// Units of records that rows point to, as [`SizeClass`] counts them.
    live_units: AtomicU64,
    /// Somebody adds records, or has added some that no row points to yet.
    writers: AtomicU32,
    /// Nothing is added any more.
    is_sealed: AtomicBool,
    /// It has a living record that cannot be read, or is about to go.
    is_left_alone: AtomicBool,
}

impl Segment {
    pub(crate) fn new(number: u32, path: PathBuf, file: Arc<dyn DiskFile>) -> Segment {
        Segment {
            number,
            path,
            file,
            used_bytes: AtomicU64::new(HEADER_BYTES),
            live_units: AtomicU64::new(0),
            writers: AtomicU32::new(0),
            is_sealed: AtomicBool::new(false),
            is_left_alone: AtomicBool::new(false),
        }
    }

    /// One of an earlier start, of which nobody knows up to where it was written.
    pub(crate) fn sealed(
        number: u32,
        path: PathBuf,
        file: Arc<dyn DiskFile>,
        bytes: u64,
    ) -> Segment {
        let segment = Segment::new(number, path, file);
        segment.note_used(bytes);
        segment.seal();
        segment
    }

    /// Reads the record at a place of which the units are known, or no fewer; returns its value,
    /// or nothing if it is another key's.
    pub(crate) fn read(
        &self,
        place: Place,
        units: u64,
        key: &[u8],
    ) -> Result<Option<Vec<u8>>, ColdError> {
        let mut bytes = vec![0; self.bytes_at(place, units)];
        let read = self
            .file
            .read_at(&mut bytes, place.offset())
            .map_err(|error| io_error(&error, "read a value", &self.path))?;
        let damaged = |detail| corrupt(&self.path, place.offset(), detail);
        let record = match Record::decode(&bytes[..read], self.number) {
            Ok(record) => record,
            Err(NoRecord::Longer(_)) => return Err(damaged("the record is cut off")),
            Err(NoRecord::Zeros) => return Err(damaged("there is no record")),
            Err(NoRecord::Damaged(_)) => {
                return Err(damaged("the checksum of the record is wrong"));
            }
        };
        if record.key != key {
            return Ok(None);
        }
        match record.value() {
            Some(value) => Ok(Some(value.into_owned())),
            None => Err(damaged("the value cannot be decompressed")),
        }
    }

    /// Bytes to be read for a record of this many units, however many a damaged pointer says.
    pub(crate) fn bytes_at(&self, place: Place, units: u64) -> usize {
        (units * UNIT_BYTES).min(self.used_bytes().saturating_sub(place.offset())) as usize
    }

    pub(crate) fn used_bytes(&self) -> u64 {
        self.used_bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn note_used(&self, bytes: u64) {
        self.used_bytes.store(bytes, Ordering::Relaxed);
    }

    pub(crate) fn live_bytes(&self) -> u64 {
        self.live_units.load(Ordering::Relaxed) * UNIT_BYTES
    }

    pub(crate) fn add_live(&self, size: SizeClass) {
        self.live_units.fetch_add(size.units(), Ordering::Relaxed);
    }

    pub(crate) fn remove_live(&self, size: SizeClass) {
        let before = self.live_units.fetch_sub(size.units(), Ordering::Relaxed);
        debug_assert!(before >= size.units(), "segment {} lives less than nothing", self.number);
    }

    pub(crate) fn forget_live(&self) {
        self.live_units.store(0, Ordering::Relaxed);
    }

    pub(crate) fn begin_writing(&self) {
        self.writers.fetch_add(1, Ordering::Relaxed);
    }

    /// Whatever was written is known to the locator by now, or garbage.
    pub(crate) fn end_writing(&self) {
        self.writers.fetch_sub(1, Ordering::Release);
    }

    pub(crate) fn seal(&self) {
        self.is_sealed.store(true, Ordering::Relaxed);
    }

    pub(crate) fn may_be_gone_on_with(&self) -> bool {
        !self.is_sealed.load(Ordering::Relaxed)
    }

    pub(crate) fn leave_alone(&self) {
        self.is_left_alone.store(true, Ordering::Relaxed);
    }

    /// What the locator does not name of it is garbage, and it may go.
    pub(crate) fn may_be_collected(&self) -> bool {
        self.is_sealed.load(Ordering::Relaxed)
            && !self.is_left_alone.load(Ordering::Relaxed)
            && self.writers.load(Ordering::Acquire) == 0
    }
}
