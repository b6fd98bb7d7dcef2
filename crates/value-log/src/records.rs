//! Going over the records of a segment, in order.

use crate::place::{Place, UNIT_BYTES};
use crate::record::{NoRecord, Record};
use crate::segment::{HEADER_BYTES, Segment};
use basalt_cold::ColdError;
use std::io;

/// Bytes that are read together.
const WINDOW_BYTES: usize = 1 << 20;

/// How far the records of a segment were gone over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Visited {
    /// All of them.
    All,
    /// The disk has failed, or what is no record looks like too many.
    Unreadable,
}

/// Bytes that are looked at although they turn out to be no record, as a multiple of the segment's:
/// each unit may say that it is long.
const WASTED_TIMES: u64 = 4;

/// Calls `visit` with each record and its place. What is none is passed over, unit by unit: behind
/// a damaged record there may be sound ones.
///
/// # Errors
/// Those of `visit`.
pub(crate) fn visit_records(
    segment: &Segment,
    visit: &mut dyn FnMut(Place, &Record<'_>) -> Result<(), ColdError>,
) -> Result<Visited, ColdError> {
    let end = segment.used_bytes();
    let mut window = Window { bytes: Vec::new(), from: HEADER_BYTES };
    let (mut at, mut wasted) = (HEADER_BYTES, 0);
    while at < end {
        if wasted > end * WASTED_TIMES {
            return Ok(Visited::Unreadable);
        }
        match Record::decode(window.at(at), segment.number) {
            Ok(record) => {
                let unit = (at / UNIT_BYTES) as u32;
                visit(Place { segment: segment.number, unit }, &record)?;
                at += u64::from(record.units()) * UNIT_BYTES;
            }
            Err(NoRecord::Longer(bytes)) if at + bytes as u64 <= end => {
                let is_long = bytes > WINDOW_BYTES;
                wasted += if is_long { bytes as u64 } else { 0 };
                if window.read(segment, at, bytes.max(WINDOW_BYTES), end).is_err() {
                    return Ok(Visited::Unreadable);
                }
            }
            Err(NoRecord::Damaged(bytes)) => {
                wasted += bytes as u64;
                at += UNIT_BYTES;
            }
            Err(NoRecord::Longer(_) | NoRecord::Zeros) => at += UNIT_BYTES,
        }
    }
    Ok(Visited::All)
}

struct Window {
    bytes: Vec<u8>,
    from: u64,
}

impl Window {
    fn at(&self, offset: u64) -> &[u8] {
        self.bytes.get((offset - self.from) as usize..).unwrap_or_default()
    }

    fn read(&mut self, segment: &Segment, from: u64, bytes: usize, end: u64) -> io::Result<()> {
        self.bytes.clear();
        self.bytes.resize((bytes as u64).min(end - from) as usize, 0);
        self.from = from;
        // What lies behind the file's end reads as zeros.
        segment.file.read_at(&mut self.bytes, from).map(drop)
    }
}
