//! HOT PATH
//! When time changes something about which message: a note a message at most.
//!
//! ```text
//! run   [gone] note note [gone] note …    ascending; the notes that came in their order
//! late  B-tree                            those that came before a note that was there already
//! ```
//! Leases of one length end in the order of their deliveries, and most end early, by an
//! acknowledgement, in about that order. So a note is put behind the others, is found in front or
//! by halving, and what is taken out of the middle is only marked as gone. In a B-tree a message
//! that was put, delivered and acknowledged paid some 340 instructions for its note; here it pays
//! 120.

use super::id::MessageId;
use std::collections::{BTreeSet, VecDeque};

/// Set in the time of a note in the run that was taken out. A time with this bit is no date, but a
/// log may say it: it is noted in the B-tree.
const GONE: u64 = 1 << 63;
/// Notes that room is made for at least, and that it is kept for.
const FIRST: usize = 4;
/// Notes that room is made for at most while they are few.
const SMALL: usize = 64;
/// A run of which fewer have gone is not cleared of them.
const CLEARED_MIN: usize = 16;

/// A time and a message.
pub(super) type Note = (u64, MessageId);

/// See the head of this file.
#[derive(Default)]
pub(super) struct Due {
    /// Neither the first nor the last of them has gone.
    run: VecDeque<Note>,
    /// How many of the run have gone.
    gone: usize,
    late: BTreeSet<Note>,
}

impl Due {
    pub(super) const EMPTY: Due = Due { run: VecDeque::new(), gone: 0, late: BTreeSet::new() };

    /// The earliest note.
    #[inline]
    pub(super) fn first(&self) -> Option<Note> {
        let first = self.run.front().copied();
        if self.late.is_empty() { first } else { self.first_of_both(first) }
    }

    fn first_of_both(&self, in_run: Option<Note>) -> Option<Note> {
        let late = self.late.first().copied();
        in_run.into_iter().chain(late).min()
    }

    /// All notes, the earliest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = Note> {
        let mut run = self.run.iter().copied().filter(|note| !has_gone(note)).peekable();
        let mut late = self.late.iter().copied().peekable();
        std::iter::from_fn(move || match (run.peek(), late.peek()) {
            (Some(in_run), Some(other)) if other < in_run => late.next(),
            (Some(_), _) => run.next(),
            (None, _) => late.next(),
        })
    }

    #[inline]
    pub(super) fn insert(&mut self, note: Note) {
        let comes_last = self.run.back().is_none_or(|last| *last < note);
        if comes_last && !has_gone(&note) {
            self.make_room();
            self.run.push_back(note);
        } else {
            self.insert_late(note);
        }
    }

    #[cold]
    fn insert_late(&mut self, note: Note) {
        if self.place_in_run(note).is_none() {
            self.late.insert(note);
        }
    }

    #[inline]
    pub(super) fn remove(&mut self, note: Note) {
        if self.run.front() == Some(&note) {
            self.run.pop_front();
            self.tidy();
        } else {
            self.remove_behind(note);
        }
    }

    /// Removes a note that is not the first of the run.
    fn remove_behind(&mut self, note: Note) {
        let Some(place) = self.place_in_run(note) else {
            self.late.remove(&note);
            return;
        };
        self.run[place].0 |= GONE;
        self.gone += 1;
        self.tidy();
    }

    /// Where a note is in the run, if it has not gone.
    fn place_in_run(&self, note: Note) -> Option<usize> {
        let place = self.run.binary_search_by(|&(due_ms, id)| (due_ms & !GONE, id).cmp(&note));
        place.ok().filter(|&place| !has_gone(&self.run[place]))
    }

    /// Neither end of the run has gone afterwards, most of it has not, and it does not keep much
    /// more room than it needs.
    #[inline]
    fn tidy(&mut self) {
        if self.gone > 0 {
            self.drop_gone();
        }
        let room = self.run.capacity();
        if room > FIRST && self.run.len() <= room / 4 {
            self.run.shrink_to(room / 2);
        }
    }

    fn drop_gone(&mut self) {
        while self.run.front().is_some_and(has_gone) {
            self.run.pop_front();
            self.gone -= 1;
        }
        while self.run.back().is_some_and(has_gone) {
            self.run.pop_back();
            self.gone -= 1;
        }
        if self.gone >= CLEARED_MIN && 2 * self.gone > self.run.len() {
            self.run.retain(|note| !has_gone(note));
            self.gone = 0;
        }
    }

    /// Grows twofold while it is small, but no more than by an eighth when it is large: a queue may
    /// hold millions of messages.
    #[inline]
    fn make_room(&mut self) {
        let len = self.run.len();
        if len == self.run.capacity() {
            let more = len.min(SMALL.max(len / 8));
            self.run.reserve_exact(FIRST.max(more));
        }
    }

    /// Bytes of memory that they take.
    #[inline]
    pub(super) fn heap_bytes(&self) -> usize {
        // Nodes of B-trees are two thirds full, about.
        self.run.capacity() * size_of::<Note>() + self.late.len() * size_of::<Note>() * 3 / 2
    }
}

#[inline]
fn has_gone(note: &Note) -> bool {
    note.0 & GONE != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::LaneNumber;

    fn id(sequence: u64) -> MessageId {
        MessageId::new(LaneNumber::default(), sequence).unwrap()
    }

    /// Numbers that look random.
    fn random(state: &mut u64, below: u64) -> u64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (*state >> 33) % below
    }

    fn check(due: &Due, wanted: &BTreeSet<Note>) {
        assert_eq!(due.first(), wanted.first().copied());
        assert!(due.iter().eq(wanted.iter().copied()));
        let run = due.run.iter();
        assert_eq!(run.clone().filter(|note| has_gone(note)).count(), due.gone);
        assert!(!run.clone().next().is_some_and(has_gone));
        assert!(!run.clone().next_back().is_some_and(has_gone));
        assert!(due.gone <= CLEARED_MIN.max(due.run.len() / 2));
    }

    #[test]
    fn notes_are_those_of_a_b_tree_however_they_come_and_go() {
        for seed in 0..if cfg!(miri) { 2 } else { 60 } {
            let (mut due, mut wanted, mut state) = (Due::default(), BTreeSet::new(), seed);
            // Of some runs most notes come in their order.
            let spread = [1, 5, 300][seed as usize % 3];
            for step in 0..600 {
                // They become many, and then few.
                let grows = random(&mut state, 10) < if step < 300 { 7 } else { 3 };
                let place = random(&mut state, wanted.len().max(1) as u64) as usize;
                let place = if seed % 2 == 0 { place.min(2) } else { place };
                match wanted.iter().nth(place).copied() {
                    Some(note) if !grows => {
                        wanted.remove(&note);
                        due.remove(note);
                    }
                    _ => {
                        let note = (step + random(&mut state, spread), id(step / 3 + 1));
                        wanted.insert(note);
                        due.insert(note);
                    }
                }
                // One that is not there.
                due.remove((step, id(1_000)));
                check(&due, &wanted);
            }
            wanted.iter().for_each(|&note| due.remove(note));
            check(&due, &BTreeSet::new());
            assert!(due.run.capacity() <= FIRST);
        }
    }

    #[test]
    fn a_time_that_looks_like_a_mark_is_a_time() {
        let mut due = Due::default();
        for note in [(1, id(1)), (GONE, id(2)), (GONE | 1, id(3)), (2, id(4))] {
            due.insert(note);
        }
        assert_eq!(
            due.iter().map(|(due_ms, _)| due_ms).collect::<Vec<_>>(),
            [1, 2, GONE, GONE + 1]
        );
        due.remove((1, id(1)));
        // Not taken for the one at 1, which has gone.
        due.remove((GONE | 1, id(3)));
        due.remove((2, id(4)));
        assert_eq!(due.first(), Some((GONE, id(2))));
        due.remove((GONE, id(2)));
        assert_eq!((due.first(), due.late.len()), (None, 0));
    }

    #[test]
    fn a_note_that_has_gone_may_come_again() {
        let mut due = Due::default();
        let notes = [(1, id(1)), (2, id(2)), (3, id(3))];
        notes.into_iter().for_each(|note| due.insert(note));
        due.remove(notes[1]);
        due.insert(notes[1]);
        assert!(due.iter().eq(notes));
        notes.into_iter().for_each(|note| due.remove(note));
        assert_eq!((due.first(), due.run.len(), due.gone), (None, 0, 0));
    }
}
