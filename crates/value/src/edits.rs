//! HOT PATH
//! Where an operation writes down what it changes.
//!
//! One operation may write more than a record of the log may hold: SPOP of a million members, a set
//! put under a key. [`Breaks`] therefore notes where one edit ends and the next begins, about every
//! that many bytes, so that the edits can be cut there.

use crate::dirty::DirtyElements;
use crate::item::Item;
use crate::version_clock::VersionClock;

/// Takes the edits of operations on one value. What it holds is what [`Collection::apply`] reads.
///
/// [`Collection::apply`]: crate::Collection::apply
#[derive(Debug)]
pub struct Edits<'a> {
    out: Option<&'a mut Vec<u8>>,
    dirty: Option<&'a mut DirtyElements>,
    breaks: Option<&'a mut Breaks>,
    clock: Option<&'a mut VersionClock>,
    /// The length of `out` at which the next edit is worth a break.
    break_at: usize,
    count: u32,
}

/// Places between edits at which these can be cut, as lengths of the buffer.
#[derive(Debug, Default)]
pub struct Breaks {
    places: Vec<usize>,
    every: usize,
}

impl Breaks {
    /// Forgets the places. From now on at least `every` bytes are between two.
    pub fn restart(&mut self, every: usize) {
        self.places.clear();
        self.every = every;
    }

    /// The places, ascending.
    pub fn places(&self) -> &[usize] {
        &self.places
    }
}

impl<'a> Edits<'a> {
    /// Appends edits to `out`.
    #[inline]
    pub fn to(out: &'a mut Vec<u8>) -> Edits<'a> {
        Edits {
            out: Some(out),
            dirty: None,
            breaks: None,
            clock: None,
            break_at: usize::MAX,
            count: 0,
        }
    }

    /// Forgets edits: for a value that is put into the log as a whole.
    #[inline]
    pub fn none() -> Edits<'a> {
        Edits { out: None, dirty: None, breaks: None, clock: None, break_at: usize::MAX, count: 0 }
    }

    /// Notes which elements change, too, if anybody wants to know.
    #[inline]
    pub fn noting(self, dirty: Option<&'a mut DirtyElements>) -> Edits<'a> {
        Edits { dirty, ..self }
    }

    /// Appends edits to `out`, from its end on, and notes in `breaks` where they can be cut; notes
    /// which elements change, if anybody wants to know; elements that have versions and change get
    /// others, if there is a clock. All is said at once, since to move what has just been written
    /// stalls the processor.
    #[inline]
    pub fn to_log(
        out: &'a mut Vec<u8>,
        breaks: &'a mut Breaks,
        dirty: Option<&'a mut DirtyElements>,
        clock: Option<&'a mut VersionClock>,
    ) -> Edits<'a> {
        let break_at = out.len().saturating_add(breaks.every);
        Edits { out: Some(out), dirty, breaks: Some(breaks), clock, break_at, count: 0 }
    }

    /// Elements that have versions and change get others, if there is a clock.
    #[inline]
    pub fn versioning(self, clock: Option<&'a mut VersionClock>) -> Edits<'a> {
        Edits { clock, ..self }
    }

    /// Versions are given.
    #[inline]
    pub(crate) fn has_clock(&self) -> bool {
        self.clock.is_some()
    }

    /// The time by which elements have expired, if anybody says it.
    #[inline]
    pub(crate) fn now_ms(&self) -> Option<u64> {
        self.clock.as_ref().map(|clock| clock.now_ms())
    }

    /// A version for an element that has one and has changed, if versions are given.
    pub(crate) fn next_version(&mut self) -> Option<u64> {
        self.clock.as_mut().map(|clock| clock.give(None))
    }

    /// This version for an element, or the next one.
    ///
    /// # Panics
    /// If no versions are given.
    pub(crate) fn give_version(&mut self, wanted: Option<u64>) -> u64 {
        let clock = self.clock.as_mut().expect("a command that asks for versions brings a clock");
        clock.give(wanted)
    }

    /// Writes one edit.
    #[inline]
    pub fn write(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        self.note_break();
        if let Some(out) = &mut self.out {
            write(out);
        }
    }

    /// How many edits have been written.
    #[inline]
    pub fn count(&self) -> u32 {
        self.count
    }

    #[inline]
    fn note_break(&mut self) {
        self.count = self.count.wrapping_add(1);
        if self.out.as_ref().is_some_and(|out| out.len() >= self.break_at) {
            self.note_break_here();
        }
    }

    #[cold]
    fn note_break_here(&mut self) {
        if let (Some(out), Some(breaks)) = (&self.out, &mut self.breaks) {
            breaks.places.push(out.len());
            self.break_at = out.len().saturating_add(breaks.every);
        }
    }

    /// Writes one edit of which the operation makes use itself. `write` may find something in the
    /// buffer already, and returns what the operation is to return.
    #[inline]
    pub fn write_through<R>(&mut self, write: impl FnOnce(&mut Vec<u8>) -> R) -> R {
        self.note_break();
        match &mut self.out {
            Some(out) => write(out),
            None => write(&mut Vec::new()),
        }
    }

    /// Somebody wants to know which elements change.
    #[inline]
    pub(crate) fn notes_elements(&self) -> bool {
        self.dirty.is_some()
    }

    /// The element of this name is about to change, or has just done so: [`DirtyElements::note`].
    #[inline]
    pub(crate) fn touch(&mut self, name: &[u8], was: impl FnOnce(&mut Vec<u8>) -> bool) {
        if let Some(dirty) = &mut self.dirty {
            dirty.note(name, was);
        }
    }

    /// The element that has this item for its name is about to change, or has just done so.
    #[inline]
    pub(crate) fn touch_item(&mut self, name: Item<'_>, was: impl FnOnce(&mut Vec<u8>) -> bool) {
        if let Some(dirty) = &mut self.dirty {
            dirty.note(name.spell(&mut Default::default()), was);
        }
    }
}
