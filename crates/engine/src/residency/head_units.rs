//! Rows of which it is read what they begin with, for one command that waits for all of them.
//!
//! ```text
//! rows ▸ units of up to 8 neighbours ▸ some in the queue, the others aside
//!   a unit that is done ▸ the next one of those behind all that waits
//! ```
//! So reads of other commands come between those of a command with very many keys, and what has
//! been read takes the place in memory of what is to be read.

use crate::error::EngineError;
use crate::residency::heads::ReadHeads;
use crate::residency::queue::{Done, Fetch, Fetching, KEYS_A_UNIT, Miss, MissQueue};
use parking_lot::Mutex;
use std::sync::Arc;

/// Units of one command that are in the queue at a time: more than there are threads.
const UNITS_QUEUED: usize = 256;

/// Rows of which one thread reads what they begin with.
pub(super) struct HeadUnit {
    pub(super) misses: Vec<Miss>,
    /// Where that is put.
    pub(super) read: Arc<ReadHeads>,
    asked: Asked,
    fetching: Fetching,
    rest: Rest,
}

/// Rows of which there are no units yet, the last one first.
type Rest = Arc<Mutex<Vec<Miss>>>;

/// Why a head is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked {
    /// The command that waits needs it.
    Now,
    /// Commands behind it will: one that does not find it asks again.
    Soon,
}

impl MissQueue {
    /// Has read what the rows of keys begin with, and those that `read` has been told to expect.
    pub(super) fn add_heads(&self, misses: Vec<Miss>, read: &Arc<ReadHeads>, done: Done) {
        let expected = std::mem::take(&mut *read.expected.lock());
        let asked = [(misses, Asked::Now), (expected, Asked::Soon)];
        let asked = asked.map(|(misses, asked)| (in_order(misses), asked));
        let count = asked.iter().map(|(misses, _)| units_of(misses)).sum();
        if count == 0 {
            return done(Ok(()));
        }
        let fetching = Fetch::of(count, done);
        let mut units = Vec::new();
        for (misses, asked) in asked {
            let rest = Arc::new(Mutex::new(misses));
            let next = || take_unit(&rest);
            units.extend(std::iter::from_fn(next).take(UNITS_QUEUED).map(|misses| {
                let (read, fetching) = (Arc::clone(read), Arc::clone(&fetching));
                HeadUnit { misses, read, asked, fetching, rest: Arc::clone(&rest) }
            }));
        }
        let queued = units.len();
        self.work.lock().heads.extend(units);
        for _ in 0..queued {
            self.added.notify_one();
        }
    }

    /// What a unit of [`MissQueue::add_heads`] wanted has been read, or could not be: then the
    /// command fails, and what is left of its rows is not read.
    pub(super) fn finish_heads(&self, unit: HeadUnit, result: &Result<(), EngineError>) {
        let result = if unit.asked == Asked::Now { result } else { &Ok(()) };
        let mut ended = 1;
        if result.is_err() {
            ended += units_of(&std::mem::take(&mut *unit.rest.lock()));
        } else if let Some(misses) = take_unit(&unit.rest) {
            let HeadUnit { read, asked, fetching, rest, .. } = &unit;
            let (read, fetching, rest) = (Arc::clone(read), Arc::clone(fetching), Arc::clone(rest));
            let next = HeadUnit { misses, read, asked: *asked, fetching, rest };
            self.work.lock().heads.push_back(next);
            self.added.notify_one();
        }
        for _ in 0..ended {
            MissQueue::finish(std::slice::from_ref(&unit.fetching), result);
        }
    }
}

/// Each row once, so that neighbours stand together and the first one is the last.
fn in_order(mut misses: Vec<Miss>) -> Vec<Miss> {
    misses.sort_unstable_by(|a, b| b.row_key.cmp(&a.row_key));
    misses.dedup_by(|a, b| a.row_key == b.row_key);
    misses
}

fn units_of(misses: &[Miss]) -> usize {
    misses.len().div_ceil(KEYS_A_UNIT)
}

/// The next neighbours, in their order.
fn take_unit(rest: &Rest) -> Option<Vec<Miss>> {
    let mut rest = rest.lock();
    let at = rest.len().saturating_sub(KEYS_A_UNIT);
    let mut unit = rest.split_off(at);
    unit.reverse();
    (!unit.is_empty()).then_some(unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::residency::queue::Unit;
    use basalt_change::place::PartitionId;
    use std::sync::mpsc::channel;

    const ROWS: u32 = 5_003;

    /// Has rows read, each of them twice; returns what becomes of that and the queue.
    fn asked() -> (MissQueue, std::sync::mpsc::Receiver<Result<(), EngineError>>) {
        let (queue, (sender, receiver)) = (MissQueue::default(), channel());
        let partition = PartitionId::new(1).expect("below the count");
        let miss = |number: u32| {
            let row_key = number.to_be_bytes().to_vec();
            Miss { partition, db: 0, cold_version: 0, hash: 0, row_key }
        };
        let done = Box::new(move |result| sender.send(result).expect("somebody waits"));
        let rows = (0..ROWS).chain(0..ROWS).map(miss).collect();
        queue.add_heads(rows, &Arc::default(), done);
        (queue, receiver)
    }

    fn take(queue: &MissQueue) -> Option<HeadUnit> {
        match queue.work.lock().take(1) {
            Some(Unit::Heads(unit)) => Some(unit),
            Some(_) => panic!("nothing else was asked for"),
            None => None,
        }
    }

    #[test]
    fn all_rows_are_read_once_in_their_order_and_few_are_in_the_queue() {
        let (queue, receiver) = asked();
        let mut seen = Vec::new();
        while let Some(unit) = take(&queue) {
            assert!(queue.work.lock().heads.len() < UNITS_QUEUED);
            assert!(receiver.try_recv().is_err(), "not all has been read");
            seen.extend(unit.misses.iter().map(|miss| miss.row_key.clone()));
            queue.finish_heads(unit, &Ok(()));
        }
        let all: Vec<_> = (0..ROWS).map(|number| number.to_be_bytes().to_vec()).collect();
        assert!(seen == all, "{} rows", seen.len());
        receiver.try_recv().expect("all has been read").expect("and nothing has failed");
    }

    #[test]
    fn a_command_of_which_a_row_cannot_be_read_is_told_when_no_other_is_being_read() {
        let (queue, receiver) = asked();
        let (first, second) = (take(&queue).expect("a unit"), take(&queue).expect("a unit"));
        queue.finish_heads(first, &Err(EngineError::Stopping));
        queue.finish_heads(second, &Ok(()));
        let mut units = 2;
        while let Some(unit) = take(&queue) {
            assert!(receiver.try_recv().is_err(), "a unit is being read");
            queue.finish_heads(unit, &Ok(()));
            units += 1;
        }
        assert_eq!(units, UNITS_QUEUED, "what was not in the queue is not read");
        receiver.try_recv().expect("it is told").expect_err("a unit has failed");
    }
}
