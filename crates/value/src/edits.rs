//! HOT PATH
//! Where an operation writes down what it changes.

/// Takes the edits of operations on one value. What it holds is what [`Collection::apply`] reads.
///
/// [`Collection::apply`]: crate::Collection::apply
#[derive(Debug)]
pub struct Edits<'a> {
    out: Option<&'a mut Vec<u8>>,
}

impl<'a> Edits<'a> {
    /// Appends edits to `out`.
    #[inline]
    pub fn to(out: &'a mut Vec<u8>) -> Edits<'a> {
        Edits { out: Some(out) }
    }

    /// Forgets edits: for a value that is put into the log as a whole.
    #[inline]
    pub fn none() -> Edits<'a> {
        Edits { out: None }
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
}
