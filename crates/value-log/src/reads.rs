//! How values are found: by the locator, with one read; or by their rows, with two.

use crate::envelope::{Pointer, Stored};
use crate::error::corrupt;
use crate::locator::Located;
use crate::place::Place;
use crate::record::Record;
use crate::tier::ValueTier;
use basalt_cold::{Beginning, ColdError, Head, Probe, RowPlace, Visit, VisitHead};
use basalt_env::ReadAt;
use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

type Rows = Vec<Option<Vec<u8>>>;

impl ValueTier {
    pub(crate) fn read_rows(&self, keys: &[Vec<u8>]) -> Result<Rows, ColdError> {
        if let Some(rows) = self.read_located(keys)? {
            return Ok(rows);
        }
        // Before the rows are read, so that what they point to stays.
        let _scanning = self.segments.begin_scan();
        self.read_by_rows(keys)
    }

    /// Of each key the row alone is read, so it does not matter where its value goes meanwhile.
    pub(crate) fn read_beginnings(
        &self,
        keys: &[Vec<u8>],
    ) -> Result<Vec<Option<Beginning>>, ColdError> {
        let beginning = |(key, row): (&Vec<u8>, Option<Vec<u8>>)| {
            row.map(|row| {
                let (bytes, value_bytes) = match self.stored(key, &row)? {
                    Stored::Inline(value) => (value, value.len() as u64),
                    Stored::Apart(pointer, head) => (head, u64::from(pointer.value_bytes)),
                };
                Ok(Beginning { bytes: bytes.to_vec(), value_bytes })
            })
            .transpose()
        };
        std::iter::zip(keys, self.rows.read_many(keys)?).map(beginning).collect()
    }

    /// Returns nothing if it cannot be said that all is of one moment.
    fn read_located(&self, keys: &[Vec<u8>]) -> Result<Option<Rows>, ColdError> {
        let Some(moment) = self.moment.now().filter(|_| self.locator.is_built()) else {
            return Ok(None);
        };
        let located: Vec<_> =
            keys.iter().map(|key| self.locator.find(self.locator.hash(key))).collect();
        let mut others = self.read_others(keys, &located)?.into_iter();
        let mut rows = Vec::with_capacity(keys.len());
        for (key, located) in std::iter::zip(keys, located) {
            let Some(located) = located else {
                let row = others.next().flatten();
                match row.map(|row| self.inline(key, row)).transpose()? {
                    // It was put in the meantime.
                    Some(None) => return Ok(None),
                    Some(value) => rows.push(value),
                    None => rows.push(None),
                }
                continue;
            };
            // Another key's, or its segment has been collected.
            match self.read_record(located.place, located.size.units(), key)? {
                Some(value) => rows.push(Some(value)),
                None => return Ok(None),
            }
        }
        Ok(self.moment.is_still(moment).then_some(rows))
    }

    /// Where the record of a key is now.
    pub(crate) fn place_of(&self, key: &[u8]) -> Option<RowPlace> {
        let moment = self.moment.now().filter(|_| self.locator.is_built())?;
        let Located { place, size } = self.locator.find(self.locator.hash(key))?;
        let segment = self.segments.get(place.segment)?;
        // Relaxed: a figure.
        self.figures.reads.fetch_add(1, Ordering::Relaxed);
        let (offset, bytes) = (place.offset(), segment.bytes_at(place, size.units()));
        // Relaxed: a guess at what is best.
        let is_direct = self.reads_directly.load(Ordering::Relaxed);
        let read = ReadAt { file: Arc::clone(&segment.file), offset, bytes, is_direct };
        Some(RowPlace { read, moment, file: place.segment })
    }

    /// The value of a key, if that was its record, whole, and still is.
    pub(crate) fn value_in<'bytes>(
        &self,
        key: &[u8],
        place: &RowPlace,
        bytes: &'bytes [u8],
    ) -> Option<Cow<'bytes, [u8]>> {
        let record = Record::decode(bytes, place.file).ok().filter(|record| record.key == key)?;
        record.value().filter(|_| self.moment.is_still(place.moment))
    }

    /// Rows of keys that are not located, in their order.
    fn read_others(
        &self,
        keys: &[Vec<u8>],
        located: &[Option<Located>],
    ) -> Result<Rows, ColdError> {
        if located.iter().all(Option::is_none) {
            return self.rows.read_many(keys);
        }
        let others: Vec<Vec<u8>> = std::iter::zip(keys, located)
            .filter(|(_, located)| located.is_none())
            .map(|(key, _)| key.clone())
            .collect();
        if others.is_empty() { Ok(Vec::new()) } else { self.rows.read_many(&others) }
    }

    /// The rows are of one moment, and so are the values that they point to.
    fn read_by_rows(&self, keys: &[Vec<u8>]) -> Result<Rows, ColdError> {
        let mut values = Vec::with_capacity(keys.len());
        for (key, row) in std::iter::zip(keys, self.rows.read_many(keys)?) {
            let Some(mut row) = row else {
                values.push(None);
                continue;
            };
            values.push(Some(match self.stored(key, &row)? {
                Stored::Inline(value) => {
                    let bytes = value.len();
                    row.truncate(bytes);
                    row
                }
                Stored::Apart(pointer, _) => self.read_pointer(pointer, key)?,
            }));
        }
        Ok(values)
    }

    pub(crate) fn visit_rows(
        &self,
        from: &[u8],
        to: &[u8],
        visit: &mut Visit<'_>,
    ) -> Result<(), ColdError> {
        // Before the rows are opened, so that what they point to stays.
        let _scanning = self.segments.begin_scan();
        let mut failed = None;
        self.rows.scan(from, to, &mut |key, row| {
            let value = match self.stored(key, row) {
                Ok(Stored::Inline(value)) => return visit(key, value),
                Ok(Stored::Apart(pointer, _)) => self.read_pointer(pointer, key),
                Err(error) => Err(error),
            };
            match value {
                Ok(value) => visit(key, &value),
                Err(error) => {
                    failed = Some(error);
                    ControlFlow::Break(())
                }
            }
        })?;
        failed.map_or(Ok(()), Err)
    }

    pub(crate) fn visit_heads(
        &self,
        from: &[u8],
        to: &[u8],
        visit: &mut VisitHead<'_>,
    ) -> Result<(), ColdError> {
        let mut failed = None;
        self.rows.scan(from, to, &mut |key, row| match self.stored(key, row) {
            Ok(Stored::Inline(value)) => visit(key, Head::Whole(value)),
            Ok(Stored::Apart(_, head)) => visit(key, Head::Beginning(head)),
            Err(error) => {
                failed = Some(error);
                ControlFlow::Break(())
            }
        })?;
        failed.map_or(Ok(()), Err)
    }

    /// What a row that was in memory says.
    pub(crate) fn present(&self, key: &[u8], row: Vec<u8>) -> Probe {
        match self.inline(key, row) {
            Ok(Some(value)) => Probe::Present(value),
            // The error shows again in the read that follows.
            Ok(None) | Err(_) => Probe::Unknown,
        }
    }

    /// The value of a row that has it.
    fn inline(&self, key: &[u8], mut row: Vec<u8>) -> Result<Option<Vec<u8>>, ColdError> {
        let bytes = match self.stored(key, &row)? {
            Stored::Inline(value) => value.len(),
            Stored::Apart(..) => return Ok(None),
        };
        row.truncate(bytes);
        Ok(Some(row))
    }

    /// What a row points to; the row was read while its segments stay.
    fn read_pointer(&self, pointer: Pointer, key: &[u8]) -> Result<Vec<u8>, ColdError> {
        let place = pointer.place;
        self.read_record(place, u64::from(pointer.units), key)?.ok_or_else(|| {
            let path = self.dir.join(format!("segment {}", place.segment));
            corrupt(&path, place.offset(), "a row points to a record that is not there")
        })
    }

    fn read_record(
        &self,
        place: Place,
        units: u64,
        key: &[u8],
    ) -> Result<Option<Vec<u8>>, ColdError> {
        let Some(segment) = self.segments.get(place.segment) else { return Ok(None) };
        // Relaxed: a figure.
        self.figures.reads.fetch_add(1, Ordering::Relaxed);
        segment.read(place, units, key)
    }

    pub(crate) fn stored<'a>(&self, key: &[u8], row: &'a [u8]) -> Result<Stored<'a>, ColdError> {
        Stored::decode(row).ok_or_else(|| ColdError::Corrupt {
            place: format!("the row of {} in {}", key.escape_ascii(), self.dir.display()),
            detail: "it has no known form".to_owned(),
        })
    }
}
