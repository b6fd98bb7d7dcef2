//! What is tidied up ten times a second: what has expired, what clients and flushes have left, what
//! reads have not found; and twice a second what has been put unread.

use crate::engine::Engine;
use crate::expiry::ExpiryCycle;
use crate::expiry::fields::FieldExpiryCycle;
use basalt_change::place::{PARTITIONS, PartitionId};
use std::ops::Range;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// How often a round is made.
pub(crate) const HOUSEKEEPING_EVERY: Duration = Duration::from_millis(100);
/// How much of that time expiry may use …
const EXPIRY_BUDGET: Duration = Duration::from_millis(25);
/// … and that of fields, if the keys have left nothing of it.
const FIELD_EXPIRY_BUDGET_MIN: Duration = Duration::from_millis(5);
/// Partitions of which each round forgets what reads did not find: all of them in six seconds.
const SWEPT_A_ROUND: usize = 16;
/// Rounds from one time to the next that keys are settled which were put unread. With more, more
/// keys of a partition come together, whose rows share blocks; but as long counts may be wrong.
const SETTLED_EVERY: u32 = 5;

/// How far the rounds have come.
#[derive(Default)]
pub(crate) struct Housekeeping {
    expiry: ExpiryCycle,
    field_expiry: FieldExpiryCycle,
    swept: Range<u16>,
    rounds: u32,
}

impl Housekeeping {
    /// Makes a round.
    pub(crate) fn round(&mut self, engine: &Engine) {
        let start = engine.env.clock.now();
        self.expiry.run(engine, EXPIRY_BUDGET);
        let left = EXPIRY_BUDGET.saturating_sub(engine.env.clock.since(start));
        self.field_expiry.run(engine, left.max(FIELD_EXPIRY_BUDGET_MIN));
        let took = engine.env.clock.since(start).as_nanos() as u64;
        // Relaxed: a figure by itself.
        engine.longest_expiry_round_ns.fetch_max(took, Ordering::Relaxed);
        engine.clear_leftovers();
        self.rounds = self.rounds.wrapping_add(1);
        if self.rounds.is_multiple_of(SETTLED_EVERY) {
            engine.settle_soon();
        }
        engine.free_flushed();
        engine.retired.free();
        if self.swept.is_empty() {
            self.swept = 0..PARTITIONS as u16;
        }
        let partitions = self.swept.by_ref().take(SWEPT_A_ROUND).filter_map(PartitionId::new);
        partitions.for_each(|id| engine.forget_absences(id));
    }
}
