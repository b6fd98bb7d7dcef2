//! Giving space back: what is deleted takes space in files until these are merged, or removed.
//!
//! ```text
//! commit    notes the ranges that it deletes, and the bytes that stand in them
//! collect   1. removes files that lie wholly where nothing lives       (`whole_files.rs`)
//!           2. has the youngest level merged, if that frees enough of what it rewrites, or
//!              if it has gathered enough beside that
//! RocksDB   merges files further down that are deletions for the most part
//!           (`options.rs`), or cover much
//! ```
//!
//! RocksDB merges the youngest level once it has a number of files, and goes by what a file covers
//! only below it. So deletions could stay there for ever when no more is written. It is told to
//! merge what is there by lowering that number until its files of then have gone: its own threads
//! do it, with their priority and an end at shutdown, and nobody waits. While they do, the number
//! is what it was: else they would merge with one another the files that come meanwhile, which the
//! next merge reads anyway.

use basalt_cold::{ColdError, Collecting, IDLE_PERCENT, KeyRange};
use rocksdb::{BottommostLevelCompaction, CompactOptions, DB, LiveFile, Range, properties};

use crate::{
    deleted::{Deleted, Look},
    error::cold_error,
    options::{LEVEL0_FILES_MIN, LEVEL0_FILES_TO_MERGE, LEVEL0_FILES_TO_MERGE_OPTION},
    tier::{LEVELS, RocksTier},
    whole_files::{Merges, live_files},
};

impl RocksTier {
    /// Merges everything into the last level now and waits for it: for maintenance and tests.
    ///
    /// # Errors
    /// As [`basalt_cold::ColdTier::read_many`], and [`ColdError::NoSpace`].
    pub fn compact(&self) -> Result<(), ColdError> {
        let _deleted = self.deleted().lock();
        let mut options = CompactOptions::default();
        options.set_bottommost_level_compaction(BottommostLevelCompaction::Force);
        let before = self.numbers_above_the_last_level()?;
        loop {
            self.db()?.compact_range_opt(None::<&[u8]>, None::<&[u8]>, &options);
            self.wait_for_background_work()?;
            // RocksDB's C interface does not say that merging has failed, and what it failed for
            // may be forgiven by now.
            let now = self.numbers_above_the_last_level()?;
            if now.iter().all(|number| !before.contains(number)) {
                return Ok(());
            }
        }
    }

    /// The numbers of the files that [`RocksTier::compact`] has to merge.
    fn numbers_above_the_last_level(&self) -> Result<Vec<u64>, ColdError> {
        let files = live_files(self, self.db()?)?;
        let above = files.iter().filter(|file| (file.level as usize) < LEVELS - 1);
        Ok(above.map(number_of).collect())
    }

    /// Bytes of files that stand in ranges that do not overlap, as indexes say.
    pub(crate) fn bytes_in(&self, db: &DB, ranges: &[KeyRange]) -> u64 {
        let ranges: Vec<_> = ranges.iter().map(|(from, to)| Range::new(from, to)).collect();
        if ranges.is_empty() { 0 } else { db.get_approximate_sizes(&ranges).into_iter().sum() }
    }

    /// See [`basalt_cold::ColdTier::collect`].
    pub(crate) fn give_space_back(&self, percent_min: u64) -> Result<Collecting, ColdError> {
        let db = self.db()?;
        let mut deleted = self.deleted().lock();
        if deleted.merges_are_off {
            self.set_merges(db, &mut deleted, Merges::On)?;
        }
        drop(deleted);
        if self.remove_whole_files(db)? {
            return Ok(Collecting::Removed);
        }
        self.merge_youngest(db, percent_min)?;
        Ok(Collecting::Nothing)
    }

    fn merges_running(&self) -> u64 {
        self.number(properties::NUM_RUNNING_COMPACTIONS)
    }

    /// Sees to it that the youngest level is merged if that is worth the work, and only so long.
    fn merge_youngest(&self, db: &DB, percent_min: u64) -> Result<(), ColdError> {
        let mut deleted = self.deleted().lock();
        let covered_bytes = deleted.covered_bytes;
        let look = Look { commits: self.commits(), covered_bytes, percent_min };
        if deleted.merging_through.is_none() && deleted.left == Some(look) {
            return Ok(());
        }
        let files = live_files(self, db)?;
        let newest = files.iter().filter(|file| file.level == 0).map(number_of).max();
        if let Some(through) = deleted.merging_through {
            let is_there = |file: &LiveFile| file.level == 0 && number_of(file) <= through;
            if files.iter().any(is_there) {
                let has_begun = self.merges_running() > 0;
                let to_merge = if has_begun { LEVEL0_FILES_TO_MERGE } else { 1 };
                return self.set_files_to_merge(db, &mut deleted, to_merge);
            }
            self.set_files_to_merge(db, &mut deleted, LEVEL0_FILES_TO_MERGE)?;
            deleted.merging_through = None;
            deleted.covered_bytes = 0;
            return Ok(());
        }
        if newest.is_none() {
            deleted.covered_bytes = 0;
        } else if is_worth(&files, deleted.covered_bytes, percent_min) {
            self.set_files_to_merge(db, &mut deleted, 1)?;
            deleted.merging_through = newest;
            return Ok(());
        }
        deleted.left = Some(Look { covered_bytes: deleted.covered_bytes, ..look });
        Ok(())
    }

    /// How many files of the youngest level are merged.
    fn set_files_to_merge(
        &self,
        db: &DB,
        deleted: &mut Deleted,
        files: i32,
    ) -> Result<(), ColdError> {
        // RocksDB writes all of its options into a new file each time.
        if deleted.files_to_merge == files {
            return Ok(());
        }
        db.set_options(&[(LEVEL0_FILES_TO_MERGE_OPTION, &files.to_string())])
            .map_err(|error| cold_error(&error, "have files merged", self.dir()))?;
        deleted.files_to_merge = files;
        Ok(())
    }
}

/// The number in a file's name; RocksDB counts upwards.
fn number_of(file: &LiveFile) -> u64 {
    let digits = file.name.bytes().filter(u8::is_ascii_digit);
    digits.fold(0, |number, digit| number.saturating_mul(10) + u64::from(digit - b'0'))
}

/// Merging the youngest level into the next one frees at least `percent_min` of what it rewrites,
/// or the youngest has at least half as much as the next one: each merge rewrites that whole, so
/// what is merged later is merged more rarely. What is left unmerged costs a look into each file,
/// so where nothing is committed it is merged whatever it has. Not where the disk is nearly full:
/// there a merge takes room for both until it ends.
fn is_worth(files: &[LiveFile], covered_bytes: u64, percent_min: u64) -> bool {
    let (mut youngest_files, mut bytes, mut entries, mut deletions, mut youngest_bytes) =
        (0, 0u64, 0u64, 0u64, 0u64);
    for file in files {
        bytes += file.size as u64;
        entries += file.num_entries;
        if file.level == 0 {
            youngest_files += 1;
            youngest_bytes += file.size as u64;
            deletions += file.num_deletions;
        }
    }
    let next = files.iter().map(|file| file.level).filter(|&level| level > 0).min();
    let next_bytes: u64 =
        files.iter().filter(|file| Some(file.level) == next).map(|file| file.size as u64).sum();
    let has_much = 2 * youngest_bytes >= next_bytes;
    if youngest_files >= LEVEL0_FILES_MIN && (has_much || percent_min == IDLE_PERCENT) {
        return true;
    }
    // A row that is deleted takes as much as any.
    let deleted_bytes = deletions.saturating_mul(bytes / entries.max(1));
    let garbage = deleted_bytes.saturating_add(covered_bytes);
    let rewritten = youngest_bytes + next_bytes;
    garbage.saturating_mul(100) >= rewritten.saturating_mul(percent_min.max(1))
}
