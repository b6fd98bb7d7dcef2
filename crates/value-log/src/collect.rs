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
use basalt_cold::ColdError;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Pointers that are moved by one commit.
const POINTERS_A_COMMIT: usize = 16 << 10;
/// Where there is much garbage in all segments together, the worst is collected although it has
/// only this many percent.
const SHARE_MIN_LARGE: u64 = 20;

/// A record that was copied, and where it was.
struct Moved {
    key: Vec<u8>,
    hash: KeyHash,
    from: Place,
    to: Pointer,
    head: Vec<u8>,
}

impl ValueTier {
    /// Collects the segment with the largest share of garbage, if that is at least `percent_min`;
    /// returns whether there was one.
    pub(crate) fn collect_worst(&self, percent_min: u64) -> Result<bool, ColdError> {
        if !self.committing.lock().doubtful.is_empty() {
            return Ok(false);
        }
        let Some(victim) = self.worst(percent_min) else { return Ok(false) };
        let lived = victim.live_bytes() > 0;
        let moved = if lived { self.move_living(&victim)? } else { 0 };
        match self.living(&victim) {
            Some(0) => self.segments.remove(&victim)?,
            // It has a record that cannot be read, and the next command on its key hears of that.
            Some(_) if lived && moved == 0 => victim.leave_alone(),
            Some(_) | None => {}
        }
        Ok(true)
    }

    /// Bytes of it that rows point to; `None` if that is not known. A commit that is under way has
    /// had the locator forget what is in the rows still, and one that deletes much or fails may
    /// have it forget all.
    fn living(&self, victim: &Segment) -> Option<u64> {
        let _committing = self.committing.lock();
        self.locator.is_built().then(|| victim.live_bytes())
    }

    fn worst(&self, percent_min: u64) -> Option<Arc<Segment>> {
        let segments = self.segments.all();
        let is_large = Space::of_all(&segments).is_large();
        let percent_min = if is_large { percent_min.min(SHARE_MIN_LARGE) } else { percent_min };
        // Moving one without garbage would go on for ever.
        let percent_min = percent_min.max(1);
        let share = |segment: &Segment| {
            let garbage = segment.used_bytes().saturating_sub(segment.live_bytes());
            garbage * 100 / segment.used_bytes().max(1)
        };
        segments
            .into_iter()
            .filter(|segment| segment.may_be_collected() && share(segment) >= percent_min)
            .max_by_key(|segment| share(segment))
    }

    /// Returns how many records were moved.
    fn move_living(&self, victim: &Segment) -> Result<usize, ColdError> {
        let mut out = self.appender();
        let (mut moved, mut count) = (Vec::new(), 0);
        let visited = visit_records(victim, &mut |place, record| {
            let hash = self.locator.hash(record.key);
            if !self.is_at(hash, place) {
                return Ok(());
            }
            // Not to be read: it stays, and so does the segment.
            let Some(value) = record.value() else { return Ok(()) };
            let to = out.copy(record, value.len() as u32)?;
            let head = self.head_of(&value).to_vec();
            moved.push(Moved { key: record.key.to_vec(), hash, from: place, to, head });
            if moved.len() == POINTERS_A_COMMIT {
                count += self.move_pointers(&mut out, &mut moved)?;
            }
            Ok(())
        })?;
        if visited == Visited::Unreadable {
            // Else it would be tried first for ever.
            victim.leave_alone();
        }
        Ok(count + self.move_pointers(&mut out, &mut moved)?)
    }

    fn move_pointers(
        &self,
        out: &mut Appender<'_>,
        moved: &mut Vec<Moved>,
    ) -> Result<usize, ColdError> {
        // Before the rows that point there.
        out.sync()?;
        moved.sort_unstable_by(|one, other| one.key.cmp(&other.key));
        let mut learning = self.committing.lock();
        // What a commit that failed has brought is not to be followed by what was before.
        if !learning.doubtful.is_empty() {
            moved.clear();
        }
        moved.retain(|moved| self.is_at(moved.hash, moved.from));
        if moved.is_empty() {
            return Ok(0);
        }
        let count = moved.len();
        let mut rows = self.rows.checkpoint_writer()?;
        let mut row = Vec::new();
        for moved in &*moved {
            envelope::apart(moved.to, &moved.head, &mut row);
            rows.put(&moved.key, &row)?;
        }
        let prepared = rows.prepare()?;
        let _passing = self.moment.pass();
        prepared.commit().inspect_err(|_| out.leave_to(&mut learning.doubtful))?;
        for moved in moved.drain(..) {
            let located = Located { place: moved.to.place, size: SizeClass::of(moved.to.units) };
            self.locate(moved.hash, located);
        }
        self.figures.collected.fetch_add(out.take_bytes(), Ordering::Relaxed);
        Ok(count)
    }

    fn is_at(&self, hash: KeyHash, place: Place) -> bool {
        self.locator.find(hash).is_some_and(|located| located.place == place)
    }
}
