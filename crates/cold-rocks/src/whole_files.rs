//! Files in which nothing lives are removed, not merged: the space of a flush is free in a moment.
//!
//! ```text
//! deleted ranges    ├──────┤   ├──────┤      ├────┤    one or two of a partition
//! rows that live                          x
//! stretches         ├─────────────────┤      ├────┤    joined where nothing lives in between
//! files             ··├──a──┤├─b─┤├───c───┤            a and b are removed, c is merged some day
//! ```
//!
//! To remove a file is to take back all that it says, also that rows are deleted, of which older
//! ones in another file would be there again. That other file may stay: where it lies partly
//! outside, in the youngest level, or in the hands of a merge. Hence
//!
//! 1. under the lock, so that nothing is committed, each stretch is looked at again;
//! 2. RocksDB begins no merges;
//! 3. each stretch gets a tombstone of its own, newer than all that is there. It changes nothing
//!    that a reader sees, for nothing lives in it;
//! 4. the files go. The tombstones' file is not one of them: its last key is the end of the last
//!    stretch, and no file goes that reaches the end of its stretch. Nor have the tombstones moved
//!    into other files, for no merge has begun since;
//! 5. merges begin again.
//!
//! A crash in between leaves the same rows, whenever it comes. Readers and backups that have begun
//! keep the files that they read.

use basalt_cold::{ColdError, KeyRange};
use rocksdb::{DB, LiveFile, ReadOptions, properties};
use std::slice;

use crate::{
    checkpoint::{ingest, tombstones},
    deleted::{Deleted, joined},
    error::cold_error,
    tier::RocksTier,
};

/// Where nothing lives, with the first and the last key of the files that lie in it.
struct Stretch {
    range: KeyRange,
    first: Vec<u8>,
    last: Vec<u8>,
}

/// What became of a look for files.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    Nothing,
    /// They are gone.
    Files,
    /// Not all of them went.
    MoreFiles,
}

impl RocksTier {
    /// Removes files of deleted ranges in which nothing lives; returns true if it found any.
    pub(crate) fn remove_whole_files(&self, db: &DB) -> Result<bool, ColdError> {
        let (ranges, is_second_time) = {
            let mut deleted = self.deleted().lock();
            let waits = deleted.waits_for_merges;
            if deleted.ranges.is_empty()
                || (waits && self.number(properties::NUM_RUNNING_COMPACTIONS) > 0)
            {
                return Ok(false);
            }
            deleted.waits_for_merges = false;
            (joined(std::mem::take(&mut deleted.ranges)), waits)
        };
        let found = self.remove_of(db, &ranges);
        // What a merge has in hand stays, and so may what it makes of that: once more, when none
        // runs. After an error it is tried again.
        if found.is_err() || (found == Ok(Found::MoreFiles) && !is_second_time) {
            let mut deleted = self.deleted().lock();
            deleted.note(ranges, 0);
            deleted.waits_for_merges = found.is_ok();
        }
        Ok(found? != Found::Nothing)
    }

    fn remove_of(&self, db: &DB, ranges: &[KeyRange]) -> Result<Found, ColdError> {
        let stretches = self.dead_stretches(db, ranges)?;
        let stretches = with_files(stretches, &live_files(self, db)?);
        if stretches.is_empty() {
            return Ok(Found::Nothing);
        }
        let mut deleted = self.deleted().lock();
        let mut dead = Vec::with_capacity(stretches.len());
        for stretch in stretches {
            // A row may have been committed there before the lock was ours.
            if !self.dead_stretches(db, slice::from_ref(&stretch.range))?.is_empty() {
                dead.push(stretch);
            }
        }
        if dead.is_empty() {
            return Ok(Found::Nothing);
        }
        self.set_merges(db, &mut deleted, Merges::Off)?;
        let removed = self.cover_and_remove(db, &dead);
        self.set_merges(db, &mut deleted, Merges::On)?;
        removed?;
        let ranges = dead.into_iter().map(|stretch| stretch.range).collect();
        let stay = with_files(ranges, &live_files(self, db)?);
        Ok(if stay.is_empty() { Found::Files } else { Found::MoreFiles })
    }

    /// The ranges in which no row lives, joined where none lives between them either.
    fn dead_stretches(&self, db: &DB, ranges: &[KeyRange]) -> Result<Vec<KeyRange>, ColdError> {
        let Some((_, end)) = ranges.last() else { return Ok(Vec::new()) };
        let mut options = ReadOptions::default();
        options.set_iterate_upper_bound(end.as_slice());
        options.fill_cache(false);
        let mut living = db.raw_iterator_opt(options);
        let mut stretches: Vec<KeyRange> = Vec::new();
        // The iterator is at the first row that lives behind the last stretch.
        let mut follows = false;
        for (from, to) in ranges {
            let goes_on = follows && living.key().is_none_or(|key| key >= from.as_slice());
            if !goes_on {
                living.seek(from);
            }
            follows = living.key().is_none_or(|key| key >= to.as_slice());
            match stretches.last_mut() {
                Some((_, last)) if goes_on && follows => last.clone_from(to),
                _ if follows => stretches.push((from.clone(), to.clone())),
                _ => {}
            }
        }
        // An iterator that has failed has no row either.
        living.status().map_err(|error| cold_error(&error, "look for dead files", self.dir()))?;
        Ok(stretches)
    }

    /// Steps 3 and 4.
    fn cover_and_remove(&self, db: &DB, stretches: &[Stretch]) -> Result<(), ColdError> {
        let ranges: Vec<_> = stretches.iter().map(|stretch| stretch.range.clone()).collect();
        let (file, _) = tombstones(self, &ranges)?;
        ingest(self, db, slice::from_ref(&file))?;
        for stretch in stretches {
            db.delete_file_in_range(&stretch.first, &stretch.last)
                .map_err(|error| cold_error(&error, "remove dead files", self.dir()))?;
        }
        Ok(())
    }

    /// Whether RocksDB begins merges. Those that run go on.
    pub(crate) fn set_merges(
        &self,
        db: &DB,
        deleted: &mut Deleted,
        merges: Merges,
    ) -> Result<(), ColdError> {
        // Also if it fails: it may have been done, and is to be undone.
        deleted.merges_are_off = true;
        let value = if merges == Merges::Off { "true" } else { "false" };
        db.set_options(&[("disable_auto_compactions", value)])
            .map_err(|error| cold_error(&error, "stop or begin merges", self.dir()))?;
        deleted.merges_are_off = merges == Merges::Off;
        Ok(())
    }
}

/// See [`RocksTier::set_merges`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Merges {
    On,
    Off,
}

/// The stretches in which files lie, below the youngest level and before the end.
fn with_files(stretches: Vec<KeyRange>, files: &[LiveFile]) -> Vec<Stretch> {
    let mut found: Vec<Option<Stretch>> = stretches.iter().map(|_| None).collect();
    for file in files.iter().filter(|file| file.level > 0) {
        let (Some(first), Some(last)) = (&file.start_key, &file.end_key) else { continue };
        let behind = stretches.partition_point(|(from, _)| from <= first);
        let Some(index) = behind.checked_sub(1).filter(|&index| *last < stretches[index].1) else {
            continue;
        };
        match &mut found[index] {
            Some(stretch) => {
                if *first < stretch.first {
                    stretch.first.clone_from(first);
                }
                if *last > stretch.last {
                    stretch.last.clone_from(last);
                }
            }
            none => {
                let range = stretches[index].clone();
                *none = Some(Stretch { range, first: first.clone(), last: last.clone() });
            }
        }
    }
    found.into_iter().flatten().collect()
}

pub(crate) fn live_files(tier: &RocksTier, db: &DB) -> Result<Vec<LiveFile>, ColdError> {
    db.live_files().map_err(|error| cold_error(&error, "list files", tier.dir()))
}
