//! Giving space back: what is alive in the segment with most garbage is moved, then the segment
//! goes.
//!
//! ```text
//! records of the victim ─▶ named by the locator? ─▶ appended to another segment ─▶ synced
//!                               └ no: garbage
//! then, while nothing is committed: those that are still named get pointers to the new place
//! last living record gone ─▶ the victim is removed
//! ```

use crate::appender::Appender;
use crate::envelope::{self, Pointer};
use crate::locator::{KeyHash, Located};
use crate::place::{Place, SizeClass};
use crate::records::{Visited, visit_records};
use crate::segment::Segment;
use crate::space::Space;
use crate::tier::ValueTier;
use basalt_cold::{ColdError, Collecting};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A commit is a file in the youngest level of rows, and these are merged by their number, with all
/// rows of the next level: segments are collected together until there are as many pointers, or
/// segments. A pointer that waits takes some 200 bytes, so where there is little memory for what is
/// known of values, fewer wait.
const POINTERS_A_COMMIT_MIN: u64 = 16 << 10;
const POINTERS_A_COMMIT_MAX: u64 = 128 << 10;
const LOCATOR_BYTES_A_POINTER: u64 = 2 << 10;
const VICTIMS_A_COMMIT: usize = 8;
/// A segment may bring as many pointers on top of them; what it has beyond is moved by a commit in
/// between.
const POINTERS_BEYOND: usize = 64 << 10;
/// Where there is much garbage in all segments together, the worst is collected although it has
/// only this many percent.
const SHARE_MIN_LARGE: u64 = 20;

/// A segment whose records are being moved.
struct Victim {
    segment: Arc<Segment>,
    /// Something in it was alive when it was chosen.
    lived: bool,
    /// Its records that have a place elsewhere by now.
    moved: usize,
}

/// Victims, and what has been copied of them.
struct Moving<'t> {
    victims: Vec<Victim>,
    out: Appender<'t>,
    copied: Vec<Moved>,
}

/// A record that was copied, and where it was.
struct Moved {
    key: Vec<u8>,
    hash: KeyHash,
    from: Place,
    to: Pointer,
    head: Vec<u8>,
}

/// Pointers that are moved together, in a log with so much memory for where values are.
fn pointers_a_commit(locator_bytes_max: u64) -> usize {
    let pointers = locator_bytes_max / LOCATOR_BYTES_A_POINTER;
    pointers.clamp(POINTERS_A_COMMIT_MIN, POINTERS_A_COMMIT_MAX) as usize
}

impl Moving<'_> {
    fn has_room(&self, pointers: usize) -> bool {
        self.copied.len() < pointers && self.victims.len() < VICTIMS_A_COMMIT
    }

    /// What has been done.
    fn collecting(&self) -> Collecting {
        match self.victims.iter().any(|victim| victim.lived) {
            true => Collecting::GoesOn,
            false if self.victims.is_empty() => Collecting::Nothing,
            false => Collecting::Removed,
        }
    }

    fn note_moved(&mut self, from: Place) {
        let of = |victim: &&mut Victim| victim.segment.number == from.segment;
        self.victims.iter_mut().find(of).into_iter().for_each(|victim| victim.moved += 1);
    }
}

impl ValueTier {
    /// Collects the segments with the largest shares of garbage, if these are at least
    /// `percent_min`.
    pub(crate) fn collect_worst(&self, percent_min: u64) -> Result<Collecting, ColdError> {
        if !self.committing.lock().doubtful.is_empty() {
            return Ok(Collecting::Nothing);
        }
        let mut moving = Moving { victims: Vec::new(), out: self.appender(), copied: Vec::new() };
        let pointers = pointers_a_commit(self.options.locator_bytes_max);
        while moving.has_room(pointers)
            && let Some(segment) = self.worst(percent_min, &moving.victims)
        {
            let lived = segment.live_bytes() > 0;
            moving.victims.push(Victim { segment: Arc::clone(&segment), lived, moved: 0 });
            if lived {
                self.copy_living(&segment, &mut moving)?;
            }
        }
        self.move_pointers(&mut moving)?;
        for victim in &moving.victims {
            self.dispose_of(victim)?;
        }
        Ok(moving.collecting())
    }

    /// What lived in it has moved.
    fn dispose_of(&self, victim: &Victim) -> Result<(), ColdError> {
        match self.living(&victim.segment) {
            Some(0) => self.segments.remove(&victim.segment)?,
            // It has a record that cannot be read, and the next command on its key hears of that.
            Some(_) if victim.lived && victim.moved == 0 => victim.segment.leave_alone(),
            Some(_) | None => {}
        }
        Ok(())
    }

    /// Bytes of it that rows point to; `None` if that is not known. A commit that is under way has
    /// had the locator forget what is in the rows still, and one that deletes much or fails may
    /// have it forget all.
    fn living(&self, victim: &Segment) -> Option<u64> {
        let _committing = self.committing.lock();
        self.locator.is_built().then(|| victim.live_bytes())
    }

    fn worst(&self, percent_min: u64, chosen: &[Victim]) -> Option<Arc<Segment>> {
        let segments = self.segments.all();
        let is_large = Space::of_all(&segments).is_large();
        let percent_min = if is_large { percent_min.min(SHARE_MIN_LARGE) } else { percent_min };
        // Moving one without garbage would go on for ever.
        let percent_min = percent_min.max(1);
        let share = |segment: &Segment| {
            let garbage = segment.used_bytes().saturating_sub(segment.live_bytes());
            garbage * 100 / segment.used_bytes().max(1)
        };
        let is_chosen =
            |number| chosen.iter().any(|victim: &Victim| victim.segment.number == number);
        segments
            .into_iter()
            .filter(|segment| segment.may_be_collected() && share(segment) >= percent_min)
            .filter(|segment| !is_chosen(segment.number))
            .max_by_key(|segment| share(segment))
    }

    /// Copies what lives in it, and moves pointers where these are many.
    fn copy_living(&self, victim: &Segment, moving: &mut Moving<'_>) -> Result<(), ColdError> {
        let visited = visit_records(victim, &mut |place, record| {
            let hash = self.locator.hash(record.key);
            if !self.is_at(hash, place) {
                return Ok(());
            }
            // Not to be read: it stays, and so does the segment.
            let Some(value) = record.value() else { return Ok(()) };
            let to = moving.out.copy(record, value.len() as u32)?;
            let head = self.head_of(&value).to_vec();
            moving.copied.push(Moved { key: record.key.to_vec(), hash, from: place, to, head });
            if moving.copied.len()
                >= POINTERS_BEYOND + pointers_a_commit(self.options.locator_bytes_max)
            {
                self.move_pointers(moving)?;
            }
            Ok(())
        })?;
        if visited == Visited::Unreadable {
            // Else it would be tried first for ever.
            victim.leave_alone();
        }
        Ok(())
    }

    fn move_pointers(&self, moving: &mut Moving<'_>) -> Result<(), ColdError> {
        // Before the rows that point there.
        moving.out.sync()?;
        let mut copied = std::mem::take(&mut moving.copied);
        copied.sort_unstable_by(|one, other| one.key.cmp(&other.key));
        let mut learning = self.committing.lock();
        // What a commit that failed has brought is not to be followed by what was before.
        if !learning.doubtful.is_empty() {
            return Ok(());
        }
        copied.retain(|moved| self.is_at(moved.hash, moved.from));
        if copied.is_empty() {
            return Ok(());
        }
        let mut rows = self.rows.checkpoint_writer()?;
        let mut row = Vec::new();
        for moved in &copied {
            envelope::apart(moved.to, &moved.head, &mut row);
            rows.put(&moved.key, &row)?;
        }
        let prepared = rows.prepare()?;
        let _passing = self.moment.pass();
        prepared.commit().inspect_err(|_| moving.out.leave_to(&mut learning.doubtful))?;
        for moved in copied {
            let located = Located { place: moved.to.place, size: SizeClass::of(moved.to.units) };
            self.locate(moved.hash, located);
            moving.note_moved(moved.from);
        }
        self.figures.collected.fetch_add(moving.out.take_bytes(), Ordering::Relaxed);
        Ok(())
    }

    fn is_at(&self, hash: KeyHash, place: Place) -> bool {
        self.locator.find(hash).is_some_and(|located| located.place == place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_pointers_wait_where_memory_is_small() {
        for (locator_bytes_max, pointers) in
            [(0, 16 << 10), (25 << 20, 16 << 10), (64 << 20, 32 << 10), (u64::MAX, 128 << 10)]
        {
            assert_eq!(pointers_a_commit(locator_bytes_max), pointers, "{locator_bytes_max}");
        }
    }
}
