//! A HyperLogLog being changed.

use super::dense::{self, DENSE_BYTES, RegisterPatch};
use super::element::Element;
use super::estimate::Registers;
use super::sparse::{self, Outcome, Place};
use super::view::{COUNT_FIELD, DENSE, ENCODING_AT, Encoding, Hll, MAGIC, OUT_OF_DATE, SPARSE};
use super::{Corrupted, HEADER_BYTES};

/// What adding an element takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// One or two bytes of a dense string.
    Dense(RegisterPatch),
    /// A run of a sparse string.
    Sparse(Element, Place),
    /// A sparse string becomes dense: the element's count is too high for it.
    Promote(Element),
}

/// A HyperLogLog of one's own.
#[derive(Clone, Debug)]
pub struct HllBuf {
    string: Vec<u8>,
}

impl Default for HllBuf {
    /// An empty one, sparse, with a valid count of 0.
    fn default() -> Self {
        let mut string = vec![0; HEADER_BYTES];
        string[..MAGIC.len()].copy_from_slice(&MAGIC);
        string[ENCODING_AT] = SPARSE;
        string.extend_from_slice(&sparse::all_zero());
        HllBuf { string }
    }
}

impl From<Hll<'_>> for HllBuf {
    fn from(hll: Hll<'_>) -> HllBuf {
        // The longest that one element makes a sparse string grow.
        const GROWTH_BYTES_MAX: usize = 4;
        let mut string = Vec::with_capacity(hll.bytes().len() + GROWTH_BYTES_MAX);
        string.extend_from_slice(hll.bytes());
        HllBuf { string }
    }
}

impl HllBuf {
    /// The HyperLogLog, to be read.
    #[inline]
    pub fn hll(&self) -> Hll<'_> {
        Hll::new(&self.string).expect("made of a HyperLogLog and changed like one")
    }

    /// The string.
    pub fn bytes(&self) -> &[u8] {
        &self.string
    }

    /// Makes a change that [`Hll::change_for`] has just asked for. A sparse string of more than
    /// `sparse_bytes_max` bytes becomes dense instead. After an error nothing has changed.
    pub fn apply(&mut self, change: Change, sparse_bytes_max: usize) -> Result<(), Corrupted> {
        match change {
            Change::Dense(patch) => self.write(patch),
            Change::Sparse(Element { index, count }, place) => {
                match place.set(&mut self.string, index, count, sparse_bytes_max) {
                    Outcome::Done => {}
                    Outcome::TooLong => self.promote(Element { index, count })?,
                }
            }
            Change::Promote(element) => self.promote(element)?,
        }
        self.invalidate_count();
        Ok(())
    }

    /// Adds an element; says whether anything changed.
    pub fn add(&mut self, element: Element, sparse_bytes_max: usize) -> Result<bool, Corrupted> {
        match self.hll().change_for(element)? {
            Some(change) => self.apply(change, sparse_bytes_max).map(|()| true),
            None => Ok(false),
        }
    }

    /// Makes it dense; says whether it was not. The count stays as it was.
    pub fn make_dense(&mut self) -> Result<bool, Corrupted> {
        if self.hll().encoding() == Encoding::Dense {
            return Ok(false);
        }
        let registers = self.hll().registers()?;
        self.become_dense(&registers);
        Ok(true)
    }

    /// Raises the registers to those of `registers` that are higher. `encoding` is what it shall be
    /// at least: one that is dense stays so.
    pub fn raise(
        &mut self,
        registers: &Registers,
        encoding: Encoding,
        sparse_bytes_max: usize,
    ) -> Result<(), Corrupted> {
        if encoding == Encoding::Dense || self.hll().encoding() == Encoding::Dense {
            let mut all = self.hll().registers()?;
            all.0.iter_mut().zip(registers.0.iter()).for_each(|(old, new)| *old = (*new).max(*old));
            self.become_dense(&all);
        } else {
            for (index, &count) in registers.0.iter().enumerate() {
                if count > 0 {
                    self.add(Element { index, count }, sparse_bytes_max)?;
                }
            }
        }
        self.invalidate_count();
        Ok(())
    }

    /// Says that the cached count is out of date.
    pub fn invalidate_count(&mut self) {
        self.string[COUNT_FIELD.end - 1] |= OUT_OF_DATE;
    }

    fn promote(&mut self, element: Element) -> Result<(), Corrupted> {
        self.make_dense()?;
        self.write(dense::set_register(&self.string, element.index, element.count));
        Ok(())
    }

    fn become_dense(&mut self, registers: &Registers) {
        self.string.truncate(HEADER_BYTES);
        self.string.reserve_exact(DENSE_BYTES - HEADER_BYTES);
        self.string[ENCODING_AT] = DENSE;
        dense::append(&mut self.string, &registers.0);
    }

    fn write(&mut self, patch: RegisterPatch) {
        let end = patch.at() + patch.bytes().len();
        self.string[patch.at()..end].copy_from_slice(patch.bytes());
    }
}
