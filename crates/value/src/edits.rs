//! HOT PATH
//! Where an operation writes down what it changes.

use crate::item::Item;
use crate::touched::Touched;

/// Takes the edits of operations on one value. What it holds is what [`Collection::apply`] reads.
///
/// [`Collection::apply`]: crate::Collection::apply
#[derive(Debug)]
pub struct Edits<'a> {
    out: Option<&'a mut Vec<u8>>,
    touched: Option<&'a mut Touched>,
}

impl<'a> Edits<'a> {
    /// Appends edits to `out`.
    #[inline]
    pub fn to(out: &'a mut Vec<u8>) -> Edits<'a> {
        Edits { out: Some(out), touched: None }
    }

    /// Forgets edits: for a value that is put into the log as a whole.
    #[inline]
    pub fn none() -> Edits<'a> {
        Edits { out: None, touched: None }
    }

    /// Notes which elements change, too, if anybody wants to know.
    #[inline]
    pub fn noting(self, touched: Option<&'a mut Touched>) -> Edits<'a> {
        Edits { touched, ..self }
    }

    /// Writes one edit.
    #[inline]
    pub fn write(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        if let Some(out) = &mut self.out {
            write(out);
        }
    }

    /// Writes one edit of which the operation makes use itself. `write` may find something in the buffer
    /// already, and gives what the operation is to give.
    #[inline]
    pub fn write_through<R>(&mut self, write: impl FnOnce(&mut Vec<u8>) -> R) -> R {
        match &mut self.out {
            Some(out) => write(out),
            None => write(&mut Vec::new()),
        }
    }

    /// Somebody wants to know which elements change.
    #[inline]
    pub(crate) fn notes_elements(&self) -> bool {
        self.touched.is_some()
    }

    /// The element of this name is about to change, or has just done so: [`Touched::note`].
    #[inline]
    pub(crate) fn touch(&mut self, name: &[u8], was: impl FnOnce(&mut Vec<u8>) -> bool) {
        if let Some(touched) = &mut self.touched {
            touched.note(name, was);
        }
    }

    /// The same for an element whose name is an item.
    #[inline]
    pub(crate) fn touch_item(&mut self, name: Item<'_>, was: impl FnOnce(&mut Vec<u8>) -> bool) {
        if let Some(touched) = &mut self.touched {
            touched.note(name.spell(&mut Default::default()), was);
        }
    }
}
