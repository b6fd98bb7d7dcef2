//! Checkpoints: values into the log, pointers into rows.

use crate::appender::Appender;
use crate::envelope::{self, Stored};
use crate::locator::{KeyHash, Located, Locator};
use crate::place::SizeClass;
use crate::record::{KEY_BYTES_MAX, VALUE_BYTES_MAX};
use crate::tier::ValueTier;
use basalt_cold::{CheckpointWriter, ColdError, KeyRange, PreparedCheckpoint, RowCheck};
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

/// When the ranges that a commit deletes have at least this many percent of all rows, these are not
/// gone over, while nothing else can be committed: the locator is cleared and built again from the
/// rows that stay, in the background. Of a flushed database that was the only one nothing stays.
const LEARN_AGAIN_PERCENT: u64 = 25;

/// Rows that change, for the locator.
#[derive(Default)]
struct Changes {
    /// Those whose values have records.
    apart: Vec<(KeyHash, Located)>,
    /// Those that have none.
    others: Vec<KeyHash>,
}

impl Changes {
    fn rows(&self) -> u64 {
        (self.apart.len() + self.others.len()) as u64
    }
}

pub(crate) struct ValueWriter<'t> {
    tier: &'t ValueTier,
    rows: Box<dyn CheckpointWriter<'t> + 't>,
    check: RowCheck,
    values: Appender<'t>,
    changes: Changes,
    ranges: Vec<KeyRange>,
    row: Vec<u8>,
}

impl<'t> ValueWriter<'t> {
    pub(crate) fn new(tier: &'t ValueTier) -> Result<ValueWriter<'t>, ColdError> {
        Ok(ValueWriter {
            tier,
            rows: tier.rows.checkpoint_writer()?,
            check: RowCheck::default(),
            values: tier.appender(),
            changes: Changes::default(),
            ranges: Vec::new(),
            row: Vec::new(),
        })
    }
}

impl<'t> CheckpointWriter<'t> for ValueWriter<'t> {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), ColdError> {
        self.check.check(key, value.len())?;
        let is_apart = value.len() >= self.tier.options.value_bytes_min
            && key.len() <= KEY_BYTES_MAX
            && value.len() <= VALUE_BYTES_MAX
            && self.tier.has_room();
        let hash = self.tier.locator.hash(key);
        if is_apart {
            let pointer = self.values.append(key, value)?;
            envelope::apart(pointer, self.tier.head_of(value), &mut self.row);
            let located = Located { place: pointer.place, size: SizeClass::of(pointer.units) };
            self.changes.apart.push((hash, located));
        } else {
            envelope::inline(value, &mut self.row);
            self.changes.others.push(hash);
        }
        self.rows.put(key, &self.row)
    }

    fn delete(&mut self, key: &[u8]) -> Result<(), ColdError> {
        self.check.check(key, 0)?;
        self.rows.delete(key)?;
        self.changes.others.push(self.tier.locator.hash(key));
        Ok(())
    }

    fn delete_range(&mut self, from: &[u8], to: &[u8]) -> Result<(), ColdError> {
        if from < to {
            self.ranges.push((from.to_vec(), to.to_vec()));
        }
        self.rows.delete_range(from, to)
    }

    fn begin_file(&mut self) -> Result<(), ColdError> {
        self.rows.begin_file()
    }

    /// Values count for a quarter: what is gathered here makes a file of the rows, and many small
    /// ones would be merged more often than there is need.
    fn bytes(&self) -> u64 {
        self.rows.bytes() + self.values.bytes() / 4
    }

    fn prepare(mut self: Box<Self>) -> Result<Box<dyn PreparedCheckpoint + 't>, ColdError> {
        // No row is to point to what is not durable.
        self.values.sync()?;
        let rows = self.rows.prepare()?;
        let (tier, values) = (self.tier, self.values);
        Ok(Box::new(PreparedValues {
            tier,
            rows,
            values,
            changes: self.changes,
            ranges: self.ranges,
        }))
    }
}

struct PreparedValues<'t> {
    tier: &'t ValueTier,
    rows: Box<dyn PreparedCheckpoint + 't>,
    /// Keeps its segments from being collected until the locator knows what is in them.
    values: Appender<'t>,
    changes: Changes,
    ranges: Vec<KeyRange>,
}

impl PreparedCheckpoint for PreparedValues<'_> {
    fn commit(self: Box<Self>) -> Result<(), ColdError> {
        let PreparedValues { tier, rows, mut values, changes, ranges } = *self;
        let mut learning = tier.committing.lock();
        let _passing = tier.moment.pass();
        let learns_again = tier.is_large_share(&ranges);
        let forgotten = match learns_again {
            true => Ok(()),
            // While the rows of the ranges are there, to say which values go with them.
            false => ranges.iter().try_for_each(|(from, to)| tier.forget_range(from, to)),
        };
        if let Err(error) = forgotten.and_then(|()| rows.commit()) {
            values.leave_to(&mut learning.doubtful);
            if !learns_again && tier.learn_ranges_again(&ranges).is_err() {
                // What it lacks would be taken for garbage.
                tier.learn_all_again(&mut learning);
            }
            return Err(error);
        }
        learning.settle();
        if learns_again {
            tier.learn_all_again(&mut learning);
        }
        tier.apply(&changes);
        let figures = &tier.figures;
        figures.commits.fetch_add(1, Ordering::Relaxed);
        figures.rows.fetch_add(changes.rows() + ranges.len() as u64, Ordering::Relaxed);
        figures.written.fetch_add(values.bytes(), Ordering::Relaxed);
        Ok(())
    }

    fn discard(self: Box<Self>) {
        self.rows.discard();
    }
}

impl ValueTier {
    /// The rows are committed.
    fn apply(&self, changes: &Changes) {
        changes.apart.iter().for_each(|&(hash, located)| self.locate(hash, located));
        changes.others.iter().for_each(|&hash| self.forget(hash));
    }

    /// A row points to a record. It may be known already.
    pub(crate) fn locate(&self, hash: KeyHash, located: Located) {
        if let Some(segment) = self.segments.get(located.place.segment) {
            segment.add_live(located.size);
        }
        let replaced = self.locator.insert(hash, located);
        replaced.into_iter().for_each(|replaced| self.bury(replaced));
    }

    fn forget(&self, hash: KeyHash) {
        self.locator.remove(hash).into_iter().for_each(|removed| self.bury(removed));
    }

    fn bury(&self, located: Located) {
        if let Some(segment) = self.segments.get(located.place.segment) {
            segment.remove_live(located.size);
        }
    }

    /// It takes less time to go over the rows that stay than over those of the ranges.
    fn is_large_share(&self, ranges: &[KeyRange]) -> bool {
        !ranges.is_empty()
            && self.locator.values() > 0
            && self.rows.share_percent(ranges).is_some_and(|share| share >= LEARN_AGAIN_PERCENT)
    }

    /// Rows of a range are about to go.
    fn forget_range(&self, from: &[u8], to: &[u8]) -> Result<(), ColdError> {
        if self.locator.values() == 0 {
            return Ok(());
        }
        self.rows.scan(from, to, &mut |key, row| {
            if let Some(Stored::Apart(..)) = Stored::decode(row) {
                self.forget(self.locator.hash(key));
            }
            ControlFlow::Continue(())
        })
    }

    /// They have stayed.
    fn learn_ranges_again(&self, ranges: &[KeyRange]) -> Result<(), ColdError> {
        ranges.iter().try_for_each(|(from, to)| {
            self.rows.scan(from, to, &mut |key, row| {
                self.learn_row(key, row);
                ControlFlow::Continue(())
            })
        })
    }

    pub(crate) fn learn_row(&self, key: &[u8], row: &[u8]) {
        if let Some(Stored::Apart(pointer, _)) = Stored::decode(row)
            && Locator::can_hold(pointer.place)
        {
            let located = Located { place: pointer.place, size: SizeClass::of(pointer.units) };
            self.locate(self.locator.hash(key), located);
        }
    }
}
